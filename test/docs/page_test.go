//go:build unix

package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// block is one fenced block of a page.
type block struct {
	page, language string
	line           int // of the page, where its text begins
	text           string

	notRun        string // the reason
	server        bool
	serverStopped bool
	inSource      bool
	status        int
	outputVaries  bool
	from          string
	with          string
}

func (b *block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

var comment = regexp.MustCompile(`^<!-- example: (.*) -->$`)

// parse finds the blocks of a page.
func parse(page, text string) ([]*block, error) {
	var blocks []*block
	var open *block  // the block whose lines are being read
	var notes string // the comment before the next block
	for i, line := range strings.Split(text, "\n") {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case open != nil && line == "```":
			blocks, open = append(blocks, open), nil
		case open != nil:
			open.text += line + "\n"
		case fence:
			open = &block{page: page, line: i + 2, language: language}
			if err := open.note(notes); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", page, i+1, err)
			}
			notes = ""
		case comment.MatchString(line):
			notes = comment.FindStringSubmatch(line)[1]
		case strings.HasPrefix(line, "<!-- example"):
			return nil, fmt.Errorf("%s:%d: want <!-- example: ... --> on a line of its own", page, i+1)
		case notes != "" && line != "":
			return nil, fmt.Errorf("%s:%d: the comment before is not followed by a block", page, i+1)
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s: its block is not closed", open)
	}
	return blocks, nil
}

// note reads the comment in front of a block.
func (b *block) note(notes string) error {
	if reason, ok := strings.CutPrefix(notes, "not run: "); ok {
		b.notRun = reason
		return nil
	}
	for note := range strings.SplitSeq(notes, "; ") {
		word, argument, _ := strings.Cut(note, " ")
		var err error
		switch {
		case note == "":
		case note == "server":
			b.server = true
		case note == "server stopped":
			b.serverStopped = true
		case note == "in the source":
			b.inSource = true
		case note == "output varies":
			b.outputVaries = true
		case word == "status":
			b.status, err = strconv.Atoi(argument)
		case word == "from":
			b.from = argument
		case word == "with":
			b.with = argument
		default:
			err = fmt.Errorf("%q is not among the comments that doc.go lists", note)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// load reads a page of the project.
func load(t *testing.T, page string) []*block {
	t.Helper()
	text, err := os.ReadFile(source(page))
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := parse(page, string(text))
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// root is the root of the source.
var root = sync.OnceValue(func() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
})

// source is the path of a file of the project.
func source(path string) string { return filepath.Join(root(), path) }

// command is a command of a console block with its output.
type command struct{ text, output string }

// commands divides a console block.
func (b *block) commands() ([]command, error) {
	var all []command
	continued := false
	for line := range strings.Lines(b.text) {
		prompted, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case isCommand:
			all = append(all, command{text: prompted})
		case len(all) == 0:
			return nil, fmt.Errorf("%s: a console block begins with a command after \"$ \"", b)
		case continued:
			all[len(all)-1].text += line
		default:
			all[len(all)-1].output += line
		}
		continued = (isCommand || continued) && strings.HasSuffix(line, "\\\n")
	}
	return all, nil
}

// programs are the programs that examples use and that may be missing.
var programs = regexp.MustCompile(`(?m)(?:^|[$ ("|;&])(aws|curl|git|go|jq|openssl|python3) `)

// needs returns the programs that a block uses.
func (b *block) needs() []string {
	if b.notRun != "" || b.language != "sh" && b.language != "console" {
		return nil
	}
	var needs []string
	for _, found := range programs.FindAllStringSubmatch(b.text, -1) {
		needs = append(needs, found[1])
	}
	return needs
}
