package declared

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/internal/tool/excerpt"
	"github.com/sluicemq/sluice/internal/tool/spelling"
)

// Limits of a file.
const (
	MaxFile      = 4 << 20 // bytes
	MaxResources = 20_000
	maxDepth     = 40
	maxNodes     = 1_000_000 // counted also where aliases are used
	maxProblems  = 20        // problems in one report
)

// Position is a place in a file.
type Position struct{ Line, Column int }

// Problem is a mistake in a file.
type Problem struct {
	File string
	Position
	Text string
}

// problem records a mistake at a place of the file.
func (f *File) problem(at Position, format string, args ...any) error {
	return &Problem{f.Path, at, fmt.Sprintf(format, args...)}
}

func (p *Problem) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// reader walks through the YAML of a file, and records mistakes.
type reader struct {
	file     string
	problems []error
	nodes    int
	depth    int
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	r.failAt(Position{n.Line, n.Column}, format, args...)
}

func (r *reader) failAt(at Position, format string, args ...any) {
	if len(r.problems) > 10*maxProblems {
		return
	}
	r.problems = append(r.problems, &Problem{r.file, at, fmt.Sprintf(format, args...)})
}

func (r *reader) err() error {
	if len(r.problems) > maxProblems {
		return errors.Join(
			append(r.problems[:maxProblems:maxProblems], fmt.Errorf("and %d more", len(r.problems)-maxProblems))...,
		)
	}
	return errors.Join(r.problems...)
}

// value returns the target of an alias, and counts.
func (r *reader) value(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	r.nodes++
	return n
}

// enter is called before the contents of a node. It reports whether they may be read.
func (r *reader) enter(n *yaml.Node) bool {
	if r.depth++; r.depth > maxDepth || r.nodes > maxNodes {
		if r.nodes <= maxNodes || len(r.problems) == 0 {
			r.fail(n, "this is nested too deeply, or repeated too often: at most %d deep, and %d values", maxDepth, maxNodes)
		}
		r.depth--
		return false
	}
	return true
}

func (r *reader) leave() { r.depth-- }

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// mapping calls each with the names and values of a mapping. A missing value is an empty mapping.
func (r *reader) mapping(n *yaml.Node, what string, each func(key, value *yaml.Node)) {
	n = r.value(n)
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fail(n, "want %s", what)
		return
	}
	if !r.enter(n) {
		return
	}
	defer r.leave()
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := r.value(n.Content[i]), n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || isNull(key):
			r.fail(key, "want a name")
		case key.Tag == "!!merge":
			r.fail(key, "<< is not understood: name each setting, or give all of a mapping by an alias")
		case seen[key.Value]:
			r.fail(key, "%s is there twice", shorten(key.Value))
		default:
			seen[key.Value] = true
			each(key, value)
		}
	}
}

// fields reads a mapping with known names. A name without a value, for example because the value is commented out, is
// ignored.
func (r *reader) fields(n *yaml.Node, what string, known map[string]func(*yaml.Node)) {
	r.mapping(n, what, func(key, value *yaml.Node) {
		read := known[key.Value]
		if read == nil {
			r.fail(key, "%s has no %s%s", what, shorten(key.Value), suggest(key.Value, slices.Sorted(maps.Keys(known))))
			return
		}
		if !isNull(r.value(value)) {
			read(value)
		}
	})
}

// list calls each with the elements of a list. A single value without a list is a list of one.
func (r *reader) list(n *yaml.Node, each func(*yaml.Node)) {
	n = r.value(n)
	if n.Kind != yaml.SequenceNode {
		each(n)
		return
	}
	if !r.enter(n) {
		return
	}
	defer r.leave()
	for _, one := range n.Content {
		each(one)
	}
}

// text returns the text of a scalar in its written form.
func (r *reader) text(n *yaml.Node, want string) (string, bool) {
	n = r.value(n)
	if n.Kind != yaml.ScalarNode || isNull(n) {
		r.fail(n, "want %s", want)
		return "", false
	}
	return n.Value, true
}

// suggest returns a question whether another name was meant.
func suggest(name string, names []string) string {
	if near := spelling.Nearest(name, names); near != "" {
		return "; did you mean " + near + "?"
	}
	if len(names) > 0 && len(names) <= 30 {
		return "; there are " + strings.Join(names, ", ")
	}
	return ""
}

// shorten cuts a text of the file to fit a line.
func shorten(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, excerpt.Of(text, 80))
}
