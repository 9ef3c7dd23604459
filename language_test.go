package sluice_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// hiding are expressions that hide the subject of a sentence from its reader, and what to write instead.
var hiding = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(?:whoever|whatever|somebody|nobody)\b`), "name the thing or the person"},
	{regexp.MustCompile(`(?i)\b(?:is|are|was|were|be|been)\s+told\b`), "say who gets which call, answer or message"},
	{regexp.MustCompile(`(?i)\bhad\s+back\b`), "restored, returned"},
	{regexp.MustCompile(`(?i)\b(?:is|are)\s+that\s+of\b`), "repeat the noun"},
	{regexp.MustCompile(`(?i)\bthose\s+of\s+whom\b`), "repeat the noun"},
	{regexp.MustCompile(`(?i)\bdata\s+are\b`), "data is"},
	{regexp.MustCompile(`(?:^|[.:;!?)]\s+)(?:\*\*)?(?:Who|What|Whom)\s[^.?!]*(?:[.!]|$)`),
		"begin with the subject: a noun"},
}

// allowed are passages that stay, by the file and the expression, with the reason.
var allowed = map[[2]string]string{
	{"internal/auth/session/sessions.go", "Who returns the identity"}:       "the name of the method",
	{"internal/observe/consumers/consumer.go", "Who identifies a consumer"}: "the name of the type",
}

// A passage is a paragraph of a comment or a document.
type passage struct {
	line  int // of the file, where it begins
	lines []string
}

// Comments, documents in Markdown, and sentences in strings of Go programs name their subjects. The test reads no code
// in documents, and no strings of tests.
func TestSubjectsAreNamed(t *testing.T) {
	used := make(map[[2]string]bool)
	read := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", "dist", "node_modules", "testdata"}, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		passagesOf := readers[filepath.Ext(file)]
		if passagesOf == nil {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		passages := passagesOf(string(text))
		if filepath.Ext(file) == ".go" && !strings.HasSuffix(file, "_test.go") {
			passages = append(passages, sentences(string(text))...)
		}
		read += len(passages)
		for _, p := range passages {
			for _, found := range p.hidden() {
				if key, ok := allowing(file, p.text()); ok {
					used[key] = true
				} else {
					t.Errorf("%s:%s", file, found)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for key := range allowed {
		if !used[key] {
			t.Errorf("%s: %q is not there any more: remove it from the list of this test", key[0], key[1])
		}
	}
	if read < 10_000 {
		t.Errorf("only %d passages were read: are comments still recognized?", read)
	}
}

func allowing(file, text string) (key [2]string, ok bool) {
	for key := range allowed {
		if key[0] == filepath.ToSlash(file) && strings.Contains(text, key[1]) {
			return key, true
		}
	}
	return key, false
}

func TestHiddenSubjectsAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		ext, text string
		want      []string // line and expression
	}{
		"over two lines": {".go", "package p\n\n// The caller is\n// told.\nvar v int\n",
			[]string{"3: is told"}},
		"behind code": {".go", "package p\n\nvar v int // for somebody\n", []string{"3: somebody"}},
		"a relative clause": {".go", "package p\n\n// F fails. What is left\n// goes.\nfunc F() {}\n",
			[]string{"3: What is left goes."}},
		"a question":         {".go", "package p\n\n// What is left? Nothing.\nvar v int\n", nil},
		"code":               {".go", "package p\n\nvar v = \"nobody\"\n", nil},
		"an inner clause":    {".go", "package p\n\n// v is what is left.\nvar v int\n", nil},
		"code in a document": {".md", "The user `nobody`.\n\n```sh\nsu nobody # whatever\n```\n", nil},
		"a heading": {".md", "## What there is\n\nWhat there is\nis here.\n",
			[]string{"3: What there is is here."}},
		"a list": {".md", "Rules:\n\n- Nobody comes.\n- **Who asks.** They are told.\n",
			[]string{"3: Nobody", "4: are told", "4: **Who asks."}},
		"a table": {".md", "| what | who |\n|---|---|\n| a | the time is that of b |\n",
			[]string{"3: is that of"}},
		"a comment in YAML": {".yaml", "a: nobody\n# Whatever\nb: 1 # had\n", []string{"2: Whatever"}},
		"comments in a program": {".ts", "// for\n// whoever\nf('nobody'); // had back\n/* those of\n * whom */\n",
			[]string{"2: whoever", "3: had back", "4: those of whom"}},
	} {
		var got []string
		for _, p := range readers[c.ext](c.text) {
			for _, found := range p.hidden() {
				got = append(got, found[:strings.LastIndex(found, " (")])
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func (p *passage) text() string { return strings.Join(p.lines, "\n") }

// hidden returns the expressions that hide a subject, each after its line and before what to write instead.
func (p *passage) hidden() []string {
	var out []string
	text := p.text()
	for _, h := range hiding {
		for _, at := range h.pattern.FindAllStringIndex(text, -1) {
			found := strings.TrimLeft(text[at[0]:at[1]], ".:;!?) \n")
			start := at[1] - len(found)
			words := strings.Join(strings.Fields(found), " ")
			out = append(out, fmt.Sprintf("%d: %s (%s)", p.line+strings.Count(text[:start], "\n"), words, h.instead))
		}
	}
	return out
}

// readers take the passages out of the text of a file, by the end of its name.
var readers = map[string]func(text string) []passage{
	".go":   goPassages,
	".md":   markdownPassages,
	".yaml": func(text string) []passage { return commentPassages(text, "#") },
	".yml":  func(text string) []passage { return commentPassages(text, "#") },
	".ts":   func(text string) []passage { return commentPassages(text, "//") },
	".tsx":  func(text string) []passage { return commentPassages(text, "//") },
}

// collector combines lines to passages.
type collector struct {
	passages []passage
	open     bool
}

// add adds a line. An empty one, and one that does not follow the line before, ends the passage before it.
func (c *collector) add(line int, text string) {
	text = strings.TrimSpace(text)
	last := len(c.passages) - 1
	if c.open && text != "" && c.passages[last].line+len(c.passages[last].lines) == line {
		c.passages[last].lines = append(c.passages[last].lines, text)
		return
	}
	c.open = text != ""
	if c.open {
		c.passages = append(c.passages, passage{line, []string{text}})
	}
}

func goPassages(text string) []passage {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil // which the compiler reports
	}
	var c collector
	for _, group := range file.Comments {
		c.open = false
		for _, comment := range group.List {
			c.addComment(fset, comment)
		}
	}
	return c.passages
}

// sentences returns the strings of a Go file that have several words: help texts and errors.
func sentences(text string) []passage {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil // which the compiler reports
	}
	var c collector
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		words, err := strconv.Unquote(literal.Value)
		if err != nil || len(strings.Fields(words)) < 3 {
			return true
		}
		c.open = false
		for i, line := range strings.Split(words, "\n") {
			c.add(fset.Position(literal.Pos()).Line+i, line)
		}
		return true
	})
	return c.passages
}

var directive = regexp.MustCompile(`^//[a-z]+:[a-z]`)

func (c *collector) addComment(fset *token.FileSet, comment *ast.Comment) {
	if directive.MatchString(comment.Text) {
		return
	}
	body := strings.TrimSuffix(comment.Text[len("//"):], "*/")
	for i, line := range strings.Split(body, "\n") {
		c.add(fset.Position(comment.Pos()).Line+i, line)
	}
}

var (
	span = regexp.MustCompile("`[^`\n]*`")
	item = regexp.MustCompile(`^\s*(?:[-*]|\d+\.)\s+`)
)

func markdownPassages(text string) []passage {
	var c collector
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		marker := strings.HasPrefix(strings.TrimSpace(line), "```")
		fenced = fenced != marker
		switch {
		case fenced || marker || strings.HasPrefix(line, "#"):
			c.open = false
			continue
		case strings.HasPrefix(line, "|") || item.MatchString(line):
			c.open = false
		}
		line = item.ReplaceAllString(line, "")
		c.add(i+1, span.ReplaceAllStringFunc(line, func(s string) string { return strings.Repeat("_", len(s)) }))
	}
	return c.passages
}

// commentPassages reads the comments of a language without a parser: those after a mark, and in programs those between
// /* and */.
func commentPassages(text, mark string) []passage {
	var c collector
	block := false
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		start := strings.Index(line, "/*")
		switch at := strings.Index(" "+line, " "+mark+" "); {
		case block, mark == "//" && start >= 0:
			if !block {
				c.open = false
				trimmed = line[start+len("/*"):]
			}
			inside, _, ends := strings.Cut(trimmed, "*/")
			c.add(i+1, strings.TrimLeft(inside, "* "))
			block = !ends
			c.open = c.open && block
		case strings.HasPrefix(trimmed, mark):
			c.add(i+1, strings.TrimPrefix(trimmed, mark))
		case at >= 0:
			c.open = false
			c.add(i+1, line[at+len(mark):])
			c.open = false
		default:
			c.open = false
		}
	}
	return c.passages
}
