//go:build unix

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]+`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	marks   = regexp.MustCompile("[`*]|\\]\\([^)]*\\)")
)

// Links between the files of the project lead to an existing file, and to a heading in it. External links are not
// checked.
func TestLinks(t *testing.T) {
	list := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md")
	list.Dir = root()
	out, err := list.Output()
	if err != nil {
		t.Skipf("git does not say which files there are: %v", err)
	}
	pages := strings.Fields(string(out))
	if len(pages) < 20 {
		t.Fatalf("only %d pages", len(pages))
	}
	for _, page := range pages {
		text, err := os.ReadFile(source(page))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			if problem := follow(page, found[1]); problem != "" {
				t.Errorf("%s: %s: %s", page, found[1], problem)
			}
		}
	}
}

// follow returns the error of a page's link.
func follow(page, to string) string {
	if regexp.MustCompile(`^[a-z]+:`).MatchString(to) {
		return ""
	}
	file, anchor, _ := strings.Cut(to, "#")
	target := page
	if file != "" {
		target = filepath.Join(filepath.Dir(page), file)
	}
	switch info, err := os.Stat(source(target)); {
	case err != nil:
		return "there is no such file"
	case anchor == "":
		return ""
	case info.IsDir() || filepath.Ext(target) != ".md":
		return "only pages have headings"
	}
	text, err := os.ReadFile(source(target))
	if err != nil {
		return err.Error()
	}
	prose := regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(string(text), "")
	for _, found := range heading.FindAllStringSubmatch(prose, -1) {
		if slug(found[1]) == anchor {
			return ""
		}
	}
	return "there is no such heading"
}

// slug returns the anchor that GitHub, and the site in the same way, makes of a heading.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, marks.ReplaceAllString(heading, ""))
}

func TestFollow(t *testing.T) {
	for to, good := range map[string]bool{
		"docs/cluster.md": true, "docs/cluster-reference.md#what-success-means": true, "#two-commands": true,
		"https://example.com/x": true, "docs": true,
		"docs/nowhere.md": false, "docs/cluster.md#nowhere": false, "#nowhere": false, "LICENSE#license": false,
	} {
		if problem := follow("README.md", to); good != (problem == "") {
			t.Errorf("%s: %q", to, problem)
		}
	}
}
