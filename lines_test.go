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

// The longest lines, in columns. A tab is four columns wide.
const (
	longestComment = 120
	longestCode    = 140
)

// longText is a string that is not broken into lines: most are sentences that AWS or an operator would search for.
var longText = regexp.MustCompile("\"[^\"]{60,}|`[^`]{60,}")

// Comments fit beside each other on a screen, and so does code, tests aside. Indented parts of comments are pictures
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
		for i, line := range strings.Split(string(code), "\n") {
			if most := mostColumns(file, line); columns(line) > most {
				t.Errorf("%s:%d: %d columns, %d are allowed", file, i+1, columns(line), most)
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

// mostColumns returns how long a line of a file may be.
func mostColumns(file, line string) int {
	const unlimited = 1 << 20
	text, comment := strings.CutPrefix(strings.TrimLeft(line, "\t"), "//")
	switch {
	case comment && (strings.HasPrefix(text, "go:") || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "  ")):
		return unlimited
	case comment && strings.HasSuffix(file, "example_test.go") && line[0] == '\t': // the output of an example
		return unlimited
	case comment:
		return longestComment
	case strings.HasSuffix(file, "_test.go"), longText.MatchString(line):
		return unlimited
	}
	return longestCode
}
