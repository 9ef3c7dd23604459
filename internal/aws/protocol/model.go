package protocol

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// A model has the constraints of AWS's model of a service on the inputs of its operations: required members, lengths,
// characters and values. Its text, Service.Model, has a line for each type and operation. Types come before their use,
// and lines that begin with # are comments:
//
//	string     NAME [MIN..MAX] [sensitive] [says SENTENCE] [enum VALUE...] [pattern REGEXP]
//	number     NAME MIN..MAX
//	list       NAME ELEMENT [MIN..MAX]
//	structure  NAME MEMBER...
//	operation  NAME MEMBER...
//
// A MEMBER is the member's name, ! if it is required, and :TYPE if its type is in the model. MIN or MAX may be left
// out. A pattern is a Java pattern, extends to the end of the line, and matches the whole text. SENTENCE is a name in
// Service.Sentences: a text that does not match its pattern is refused with that sentence, once everything else is
// valid.
//
// Lines have the order of AWS's models: violations are listed in it.
type model struct {
	types      map[string]*rule
	operations map[string]*rule
}

// rule is the constraint of a model on a type.
type rule struct {
	min, max  *int // of a length, a number, or how many entries there are
	enum      []string
	pattern   *regexp.Regexp
	source    string // the pattern as AWS writes it
	sentence  string // replaces the words about the pattern; has a %s for the member
	sensitive bool   // its value is not in errors
	elem      *rule  // of a list; nil if the model has no rule for it
	members   []memberRule
}

// memberRule is the constraint of a model on a member of a structure.
type memberRule struct {
	name     string
	required bool
	rule     *rule // nil if the model has none
	field    *field
}

// parseModel reads the text of a model. It panics if that is not one: the text is part of the program.
func parseModel(text string, sentences map[string]string) *model {
	m := &model{types: make(map[string]*rule), operations: make(map[string]*rule)}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := m.parseLine(line, sentences); err != nil {
			panic(fmt.Sprintf("protocol: model: %q: %v", line, err))
		}
	}
	return m
}

func (m *model) parseLine(line string, sentences map[string]string) error {
	line, pattern, _ := strings.Cut(line, " pattern ")
	words := strings.Fields(line)
	if len(words) < 2 {
		return fmt.Errorf("no name")
	}
	kind, name, rest := words[0], words[1], words[2:]
	r := &rule{}
	in := m.types
	var err error
	switch kind {
	case "string", "number":
		err = r.parseText(rest, pattern, sentences)
	case "list":
		err = m.parseList(r, rest)
	case "operation":
		in = m.operations
		r.members, err = m.parseMembers(rest)
	case "structure":
		r.members, err = m.parseMembers(rest)
	default:
		err = fmt.Errorf("unknown kind %q", kind)
	}
	if err == nil && in[name] != nil {
		err = fmt.Errorf("the name is taken")
	}
	in[name] = r
	return err
}

// parseText reads the text after the name of a string or number.
func (r *rule) parseText(words []string, pattern string, sentences map[string]string) (err error) {
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch {
		case word == "sensitive":
			r.sensitive = true
		case word == "enum":
			r.enum, words = words, nil
		case word == "says" && len(words) > 0 && sentences[words[0]] != "":
			r.sentence, words = sentences[words[0]], words[1:]
		default:
			if err := r.parseRange(word); err != nil {
				return err
			}
		}
	}
	if pattern != "" {
		r.source = pattern
		r.pattern, err = regexp.Compile(`\A(?:` + goPattern(pattern) + `)\z`)
	}
	return err
}

// unicodeEscape is how Java writes a character; the models also have some of more digits than Java reads.
var unicodeEscape = regexp.MustCompile(`\\u(10FFFF|10000|[0-9A-Fa-f]{4})`)

// goPattern returns a pattern of Java as Go writes it.
func goPattern(pattern string) string { return unicodeEscape.ReplaceAllString(pattern, `\x{$1}`) }

// parseRange reads MIN..MAX.
func (r *rule) parseRange(word string) error {
	least, most, ok := strings.Cut(word, "..")
	if !ok {
		return fmt.Errorf("%q is no range", word)
	}
	for _, bound := range []struct {
		text string
		to   **int
	}{{least, &r.min}, {most, &r.max}} {
		if bound.text == "" {
			continue
		}
		n, err := strconv.Atoi(bound.text)
		if err != nil {
			return err
		}
		*bound.to = &n
	}
	return nil
}

func (m *model) parseList(r *rule, words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("a list needs the type of its elements")
	}
	r.elem = m.types[words[0]] // a type without a rule is not in the model
	if len(words) == 2 {
		return r.parseRange(words[1])
	}
	return nil
}

func (m *model) parseMembers(words []string) ([]memberRule, error) {
	var out []memberRule
	for _, word := range words {
		name, typ, typed := strings.Cut(word, ":")
		member := memberRule{name: name, rule: m.types[typ]}
		if typed && member.rule == nil {
			return nil, fmt.Errorf("no type %q", typ)
		}
		member.name, member.required = strings.CutSuffix(name, "!")
		out = append(out, member)
	}
	return out, nil
}

// bind returns a rule for the inputs of an operation, whose plan is p. It panics if they lack a member of the model.
func (r *rule) bind(p *plan, at string) *rule {
	if r == nil || p.shape != structShape && p.elem == nil {
		return r
	}
	bound := *r
	if p.elem != nil {
		bound.elem = r.elem.bind(p.elem, at)
		return &bound
	}
	bound.members = make([]memberRule, len(r.members))
	for i, member := range r.members {
		at := at + "." + member.name
		j, ok := p.json[member.name]
		if !ok {
			j, ok = p.query[member.name]
		}
		if !ok {
			panic(fmt.Sprintf("protocol: the input has no member %s, which is in the model", at))
		}
		member.field = &p.fields[j]
		member.rule = member.rule.bind(member.field.plan, at)
		bound.members[i] = member
	}
	return &bound
}

// lookup returns the rule for the member at a path of an Excess, or nil.
func (r *rule) lookup(path []string) *rule {
	if r == nil || len(path) == 0 {
		return r
	}
	if r.elem != nil {
		return r.elem.lookup(path[1:])
	}
	for _, member := range r.members {
		if member.name == path[0] {
			return member.rule.lookup(path[1:])
		}
	}
	return nil
}

// absent reports whether v, the value of a field, was not sent. A text, number or bool that is no pointer counts as
// sent unless it is zero.
func (f *field) absent(v reflect.Value) bool {
	switch {
	case f.plan.pointer || f.plan.collection() || f.plan.shape == blobShape:
		return v.IsNil()
	}
	return v.IsZero()
}
