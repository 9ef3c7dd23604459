// Sbom writes the bill of materials of a Go program in the format of CycloneDX: the modules of which it was built, as
// recorded in the program by the Go tool.
//
//	go run ./scripts/sbom PROGRAM FILE
//
// The same program produces the same file, which has neither time nor serial number.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/sbom PROGRAM FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(program, file string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	d, err := newDocument(info)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// document is a bill of materials; see https://cyclonedx.org/docs/1.6/json.
type document struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

func newDocument(info *debug.BuildInfo) (document, error) {
	program, err := newComponent("application", info.Main)
	if err != nil {
		return document{}, err
	}
	d := document{
		Format:     "CycloneDX",
		Spec:       "1.6",
		Version:    1,
		Metadata:   metadata{program},
		Components: []component{standardLibrary(info.GoVersion)},
	}
	for _, module := range info.Deps {
		for module.Replace != nil {
			module = module.Replace
		}
		c, err := newComponent("library", *module)
		if err != nil {
			return document{}, err
		}
		d.Components = append(d.Components, c)
	}
	return d, nil
}

// standardLibrary is what the program has of Go itself.
func standardLibrary(version string) component {
	version = strings.TrimPrefix(version, "go")
	purl := "pkg:golang/std@" + version
	return component{Type: "library", Ref: purl, Name: "std", Version: version, PURL: purl}
}

// newComponent describes a module. Its hash is the one in go.sum: SHA-256 of the hashes of the module's files.
func newComponent(kind string, m debug.Module) (component, error) {
	purl := "pkg:golang/" + strings.ToLower(m.Path)
	if m.Version != "" && m.Version != "(devel)" {
		purl += "@" + strings.ReplaceAll(m.Version, "+", "%2B")
	}
	c := component{Type: kind, Ref: purl, Name: m.Path, Version: m.Version, PURL: purl}
	if m.Sum != "" {
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
		if err != nil || len(sum) != 32 {
			return component{}, fmt.Errorf("%s: its hash is %q", m.Path, m.Sum)
		}
		c.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum)}}
	}
	return c, nil
}
