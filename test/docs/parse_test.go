//go:build unix

package docs

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	fence := "```"
	blocks, err := parse("page.md", strings.Join([]string{
		"# Page", "", fence + "sh", "a", "", "b", fence, "",
		"<!-- example: status 2; output varies; with A=b -->", "", fence + "console",
		"$ jq a \\", "  b", "printed", "", "$ (aws c)", fence, "",
		"<!-- example: not run: it takes three machines; and time -->", fence + "sh", "git clone x", fence, "",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(blocks) != 3 {
		t.Fatalf("%d blocks, want 3", len(blocks))
	}
	if b := blocks[0]; b.String() != "page.md:4" || b.text != "a\n\nb\n" || !b.runnable() {
		t.Errorf("first block: %+v", b)
	}
	b := blocks[1]
	if b.status != 2 || !b.outputVaries || b.with != "A=b" {
		t.Errorf("second block: %+v", b)
	}
	commands, err := b.commands()
	if want := []command{{"jq a \\\n  b\n", "printed\n\n"}, {"(aws c)\n", ""}}; err != nil ||
		!slices.Equal(commands, want) {
		t.Errorf("its commands: %q, %v", commands, err)
	}
	if want := []string{"jq", "aws"}; !slices.Equal(b.needs(), want) {
		t.Errorf("it needs %q, want %q", b.needs(), want)
	}
	if b := blocks[2]; b.notRun != "it takes three machines; and time" || b.runnable() || b.needs() != nil {
		t.Errorf("third block: %+v", b)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"a block that is not closed":       "```sh\na\n",
		"a comment without a block":        "<!-- example: status 1 -->\ntext\n",
		"an unknown comment":               "<!-- example: surprise -->\n```sh\n```\n",
		"a status that is not a number":    "<!-- example: status x -->\n```sh\n```\n",
		"a comment that is misspelt":       "<!-- example status 1 -->\n```sh\n```\n",
		"a comment that is not at the end": "<!-- example: status 1 --> text\n```sh\n```\n",
	} {
		if blocks, err := parse("page.md", text); err == nil {
			t.Errorf("%s is parsed as %+v", name, blocks)
		}
	}
}
