package policy

import "strings"

// segments is how many parts an ARN has:
// arn:partition:service:region:account:resource. The last may contain colons.
const segments = 6

// arn is an ARN of a request, cut into its parts.
type arn struct {
	text  string
	parts [segments]string
	n     int
}

func cutARN(s string) arn {
	a := arn{text: s}
	for rest := s; ; a.n++ {
		i := strings.IndexByte(rest, ':')
		if i < 0 || a.n == segments-1 {
			a.parts[a.n] = rest
			a.n++
			return a
		}
		a.parts[a.n], rest = rest[:i], rest[i+1:]
	}
}

// from returns the part at i and everything behind it.
func (a *arn) from(i int) string {
	skip := 0
	for _, p := range a.parts[:i] {
		skip += len(p) + 1
	}
	return a.text[skip:]
}

// arnPattern is a pattern for ARNs. Each of its parts is compared with the same
// part of the ARN, so that a * does not reach over a colon, save for the last
// part. One that has fewer parts and ends in * takes the rest of the ARN with
// its last.
type arnPattern struct {
	exact   string // if it has neither wildcards nor variables
	nothing bool   // it is not the form of an ARN, and stands for none
	parts   []pattern
}

// newARNPattern compiles s. It is divided before anything else is checked: a
// variable contains a colon.
func newARNPattern(s string, with syntax) (arnPattern, error) {
	var a arnPattern
	exact := true
	for rest := s; len(a.parts) < segments; {
		end := len(rest)
		if len(a.parts) < segments-1 {
			end = partEnd(rest, with)
		}
		p, err := newPattern(rest[:end], with)
		if err != nil {
			return arnPattern{}, err
		}
		a.parts = append(a.parts, p)
		exact = exact && p.form == literal
		if end == len(rest) {
			break
		}
		rest = rest[end+1:]
	}
	if exact {
		texts := make([]string, len(a.parts))
		for i := range a.parts {
			texts[i] = a.parts[i].text
		}
		a.exact = strings.Join(texts, ":")
	}
	return a, nil
}

// partEnd returns where the first part of s ends: at a colon outside variables.
func partEnd(s string, with syntax) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == ':':
			return i
		case with&variables != 0 && strings.HasPrefix(s[i:], "${"):
			_, length, err := cutVariable(s[i:])
			if err != nil {
				return len(s) // newPattern says what is wrong
			}
			i += length - 1
		}
	}
	return len(s)
}

// any reports whether a matches every ARN.
func (a *arnPattern) any() bool { return !a.nothing && len(a.parts) == 1 && a.parts[0].any() }

func (a *arnPattern) matches(e *evaluation, other *arn) bool {
	if a.nothing {
		return false
	}
	if a.exact != "" {
		return a.exact == other.text
	}
	if other.n < len(a.parts) {
		return false
	}
	last := len(a.parts) - 1
	if len(a.parts) < segments && !a.parts[last].endsInStar() {
		return false
	}
	for i := range a.parts[:last] {
		if !a.parts[i].matches(e, other.parts[i]) {
			return false
		}
	}
	return a.parts[last].matches(e, other.from(last))
}
