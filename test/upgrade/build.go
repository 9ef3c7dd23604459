package upgrade

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrNoHistory says that the program of a commit cannot be built because the repository's history is not there.
var ErrNoHistory = errors.New("the history of the repository is not here")

// Build builds the program of a commit of this repository in the directory dir, or takes the one of that name in the
// directory that SLUICE_TEST_OLD_PROGRAMS names.
func Build(ctx context.Context, commit, dir string) (binary string, err error) {
	if programs := os.Getenv("SLUICE_TEST_OLD_PROGRAMS"); programs != "" {
		return filepath.Join(programs, commit), nil
	}
	source := filepath.Join(dir, "source-"+commit)
	if err := export(ctx, commit, source); err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "sluice-"+commit)
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", binary, "./cmd/sluice")
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return binary, nil
}

// export writes the tree of a commit to a directory.
func export(ctx context.Context, commit, dir string) error {
	top, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err == nil {
		err = exec.CommandContext(ctx, "git", "cat-file", "-e", commit+"^{tree}").Run()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoHistory, err)
	}
	cmd := exec.CommandContext(ctx, "git", "archive", "--format=tar.gz", "-1", commit)
	cmd.Dir = string(bytes.TrimSpace(top)) // elsewhere the list would have only that directory
	packed, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("git archive: %w", err)
	}
	return Unpack(packed, dir)
}
