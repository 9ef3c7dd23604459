package policy

import "strings"

// actionPattern is what Action and NotAction name: vendor:Name with wildcards,
// or *. It is kept in lower case, because case does not matter.
type actionPattern string

// newActionPattern reads an action, and reports whether it is one: the vendor
// in front of it is written out.
func newActionPattern(s string) (actionPattern, bool) {
	if s == "*" {
		return "*", true
	}
	vendor, name, found := strings.Cut(s, ":")
	ok := found && vendor != "" && name != "" && alphanumeric(vendor, "-") && alphanumeric(name, "*?")
	return actionPattern(strings.ToLower(s)), ok
}

// alphanumeric reports whether s has only ASCII letters, digits and the others.
func alphanumeric(s, others string) bool {
	for _, c := range []byte(s) {
		if ('a' > lower(c) || lower(c) > 'z') && ('0' > c || c > '9') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return true
}

// matches reports whether p stands for the action. It ignores case.
func (p actionPattern) matches(e *evaluation, action string) bool {
	at, afterStar, taken := 0, -1, 0
	for i := 0; i < len(action); {
		switch {
		case at < len(p) && p[at] == '*':
			at++
			afterStar, taken = at, i
		case at < len(p) && (p[at] == lower(action[i]) || p[at] == '?'):
			at++
			i++
		case afterStar < 0:
			return false
		default:
			if !e.spend(i - taken + 1) {
				return false
			}
			taken++
			at, i = afterStar, taken
		}
	}
	for at < len(p) && p[at] == '*' {
		at++
	}
	return at == len(p)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
