package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Wildcards among the characters of a pattern, and what a byte that is not
// UTF-8 is compared as. None of them is a character.
const (
	star   rune = -1 - iota // any run of characters, also an empty one
	single                  // exactly one character
	broken
)

// pattern is a text of a policy that is compared with one of a request:
// characters, wildcards, and variables whose values the request gives. It is
// put into the cheapest form when the policy is parsed.
type pattern struct {
	form  patternForm
	text  string // of a literal; of a prefix what stands before its star
	runes []rune // of a glob
	parts []part // of a template
}

type patternForm uint8

const (
	literal  patternForm = iota
	prefix               // text, then a star
	glob                 // runes
	template             // parts
)

// part is a piece of a template: runes if variable is nil.
type part struct {
	runes    []rune
	variable *variable
}

// variable is ${key} or ${key, 'default'}.
type variable struct {
	written    string
	key        key
	fallback   string
	hasDefault bool
}

// syntax is what a text of a policy may contain beside characters.
type syntax uint8

const (
	wildcards syntax = 1 << iota // * and ?
	variables                    // ${key}; ${*}, ${?} and ${$} are the characters themselves
)

// newPattern compiles s.
func newPattern(s string, with syntax) (pattern, error) {
	var parts []part
	var runes []rune
	for rest := s; rest != ""; {
		if with&variables != 0 && strings.HasPrefix(rest, "${") {
			inner, length, err := cutVariable(rest)
			if err != nil {
				return pattern{}, err
			}
			rest = rest[length:]
			if inner == "*" || inner == "?" || inner == "$" {
				runes = append(runes, rune(inner[0]))
				continue
			}
			v, err := newVariable(inner)
			if err != nil {
				return pattern{}, err
			}
			parts = append(parts, part{runes: runes}, part{variable: v})
			runes = nil
			continue
		}
		c, n := utf8.DecodeRuneInString(rest)
		rest = rest[n:]
		switch {
		case with&wildcards != 0 && c == '*':
			if len(runes) == 0 || runes[len(runes)-1] != star { // ** is *
				runes = append(runes, star)
			}
		case with&wildcards != 0 && c == '?':
			runes = append(runes, single)
		default:
			runes = append(runes, c)
		}
	}
	if parts != nil {
		return pattern{form: template, parts: append(parts, part{runes: runes})}, nil
	}
	wild := slices.IndexFunc(runes, func(c rune) bool { return c < 0 })
	switch {
	case wild < 0:
		return pattern{form: literal, text: string(runes)}, nil
	case wild == len(runes)-1 && runes[wild] == star:
		return pattern{form: prefix, text: string(runes[:wild])}, nil
	}
	return pattern{form: glob, runes: runes}, nil
}

// cutVariable returns what stands in the braces at the beginning of s, and how
// long it is with them. A default value may contain a brace.
func cutVariable(s string) (inner string, length int, err error) {
	quoted := false
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == '\'':
			quoted = !quoted
		case s[i] == '}' && !quoted:
			return s[2:i], i + 1, nil
		}
	}
	return "", 0, fmt.Errorf("the variable %s has no closing brace", s)
}

func newVariable(inner string) (*variable, error) {
	name, fallback, hasDefault := strings.Cut(inner, ",")
	v := &variable{written: "${" + inner + "}", key: newKey(strings.TrimSpace(name)), hasDefault: hasDefault}
	if strings.TrimSpace(name) == "" {
		return nil, fmt.Errorf("the variable %s names no key", v.written)
	}
	if hasDefault {
		quoted := strings.TrimSpace(fallback)
		v.fallback = strings.Trim(quoted, "'")
		if quoted != "'"+v.fallback+"'" {
			return nil, fmt.Errorf("the default of the variable %s needs single quotes", v.written)
		}
	}
	return v, nil
}

// any reports whether p matches everything.
func (p *pattern) any() bool { return p.form == prefix && p.text == "" }

// endsInStar reports whether p matches on if text is appended to what it matches.
func (p *pattern) endsInStar() bool {
	switch p.form {
	case prefix:
		return true
	case glob:
		return p.runes[len(p.runes)-1] == star
	case template:
		last := p.parts[len(p.parts)-1].runes
		return len(last) > 0 && last[len(last)-1] == star
	}
	return false
}

// matches reports whether p stands for s. A variable that has no value in the
// request stands for nothing, so that no text matches.
func (p *pattern) matches(e *evaluation, s string) bool {
	switch p.form {
	case literal:
		return p.text == s
	case prefix:
		return strings.HasPrefix(s, p.text)
	case glob:
		return globMatches(e, p.runes, s)
	}
	var buffer [128]rune
	runes, ok := p.expand(e, buffer[:0])
	return ok && globMatches(e, runes, s)
}

// matchesFold is matches without regard to case.
func (p *pattern) matchesFold(e *evaluation, s string) bool {
	if p.form == literal {
		return strings.EqualFold(p.text, s)
	}
	var buffer [128]rune
	runes, ok := p.expand(e, buffer[:0])
	return ok && strings.EqualFold(string(runes), s)
}

// expand appends p with the variables' values to runes. Characters of a value are never wildcards.
func (p *pattern) expand(e *evaluation, runes []rune) ([]rune, bool) {
	before := len(runes)
	for i := range p.parts {
		v := p.parts[i].variable
		if v == nil {
			runes = append(runes, p.parts[i].runes...)
			continue
		}
		var value Value
		text := v.fallback
		switch ok := e.lookup(&v.key, &value); {
		case ok && !e.bounded(&value):
			return nil, false
		case ok && value.kind != listValue:
			text = value.String()
		case ok || !v.hasDefault:
			e.unresolved = true
			return nil, false
		}
		if len(runes)+len(text) > maxExpanded {
			e.unknown = true
			return nil, false
		}
		for _, c := range text {
			runes = append(runes, c)
		}
		if !e.spend(len(text)) {
			return nil, false
		}
	}
	return runes, e.spend(len(runes) - before)
}

// globMatches reports whether p stands for s. When a star has taken too little,
// only the last one has to take more: what the earlier ones took is the
// shortest that does.
func globMatches(e *evaluation, p []rune, s string) bool {
	if !e.spend(operandSteps) {
		return false
	}
	at, afterStar, taken := 0, -1, 0
	for i := 0; i < len(s); {
		c, n := character(s[i:])
		switch {
		case at < len(p) && p[at] == star:
			at++
			afterStar, taken = at, i
		case at < len(p) && (p[at] == c || p[at] == single):
			at++
			i += n
		case afterStar < 0:
			return false
		default:
			if !e.spend(i - taken + 1) {
				return false
			}
			_, n := character(s[taken:])
			taken += n
			at, i = afterStar, taken
		}
	}
	for at < len(p) && p[at] == star {
		at++
	}
	return at == len(p)
}

func character(s string) (rune, int) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	c, n := utf8.DecodeRuneInString(s)
	if c == utf8.RuneError && n == 1 {
		c = broken
	}
	return c, n
}
