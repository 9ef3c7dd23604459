package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// listed is a package as "go list" describes it. The ImportPath of a package that is recompiled for a test ends with
// the test's name.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string // from the path in the source to ImportPath, where they differ
	DepOnly         bool              // no pattern names it, but others import it
	Module          *struct{ GoVersion string }
}

// list returns the packages, their tests, and everything that they import: each package after its imports.
func list(dir, goos, goarch string, patterns []string) ([]listed, error) {
	cmd := exec.Command("go", append([]string{
		"list", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,DepOnly,Module",
	}, patterns...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the output of go list: %w", err)
		}
		if !strings.HasSuffix(p.ImportPath, ".test") { // go test writes that main function
			packages = append(packages, p)
		}
	}
}
