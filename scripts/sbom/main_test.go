package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

const sum = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

func TestDocument(t *testing.T) {
	got, err := newDocument(&debug.BuildInfo{
		GoVersion: "go1.26.8",
		Main:      debug.Module{Path: "github.com/sluicemq/sluice", Version: "v1.2.3+dirty"},
		Deps: []*debug.Module{
			{Path: "github.com/BurntSushi/toml", Version: "v1.0.0", Sum: sum},
			{Path: "example.com/old", Version: "v1.0.0",
				Replace: &debug.Module{Path: "example.com/new", Version: "v2.0.0", Sum: sum}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if purl := got.Metadata.Component.PURL; purl != "pkg:golang/github.com/sluicemq/sluice@v1.2.3%2Bdirty" {
		t.Error(purl)
	}
	var purls []string
	for _, c := range got.Components {
		purls = append(purls, c.PURL)
	}
	if got, want := strings.Join(purls, " "),
		"pkg:golang/std@1.26.8 pkg:golang/github.com/burntsushi/toml@v1.0.0 pkg:golang/example.com/new@v2.0.0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if h := got.Components[1].Hashes; len(h) != 1 ||
		h[0].Content != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Error(h)
	}
}

func TestDocumentRefusesHashes(t *testing.T) {
	for _, sum := range []string{"h1:!", "h1:AAAA", "h2:" + sum} {
		if _, err := newDocument(&debug.BuildInfo{
			Deps: []*debug.Module{{Path: "example.com/m", Sum: sum}},
		}); err == nil {
			t.Errorf("%s is accepted", sum)
		}
	}
}

// This test is a program, too.
func TestWrite(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sbom.json")
	if err := write(program, file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil || d.Format != "CycloneDX" || len(d.Components) == 0 {
		t.Errorf("%v, %s", err, text)
	}
	if err := write("main.go", file); err == nil {
		t.Error("a file that is not a program is accepted")
	}
}
