package sluice_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// longest is the maximum number of columns of a line. A tab counts as four.
const longest = 120

// longText is a string that is not broken: most are sentences that AWS uses, or that an operator would search for.
var longText = regexp.MustCompile(`"(?:\\.|[^"]){60,}|` + "`[^`]{60,}")

// Comments and code fit beside each other on a screen. Indented parts of comments are pictures
// and tables, which may be wider.
func TestLinesAreShort(t *testing.T) {
	read := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "dist", "node_modules", "testdata", ".venv"}, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(file) != ".go":
			return nil
		}
		read++
		code, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		quoted := false // in a string of several lines
		for i, line := range strings.Split(string(code), "\n") {
			if columns(line) > longest && !quoted && !mayBeLong(file, line) {
				t.Errorf("%s:%d: %d columns, %d are allowed", file, i+1, columns(line), longest)
			}
			if !strings.HasPrefix(strings.TrimLeft(line, "\t"), "//") {
				quoted = quoted != (strings.Count(line, "`")%2 == 1)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read == 0 {
		t.Error("no file was read")
	}
}

func columns(line string) int {
	return utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    "))
}

// mayBeLong reports whether a line of a file may be longer than others.
func mayBeLong(file, line string) bool {
	text, comment := strings.CutPrefix(strings.TrimLeft(line, "\t"), "//")
	if comment {
		return strings.HasPrefix(text, "go:") || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "  ") ||
			strings.HasSuffix(file, "example_test.go") && line[0] == '\t' // the output of an example
	}
	return longText.MatchString(line)
}
