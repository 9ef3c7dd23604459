package policy

// GlobMatches compiles a pattern with * and ? and matches s with it.
func GlobMatches(pattern, s string) bool {
	p, err := newPattern(pattern, wildcards)
	return err == nil && p.matches(nil, s)
}

// ActionMatches reports whether the action pattern, if it is one, stands for s.
func ActionMatches(pattern, s string) (matches, ok bool) {
	p, ok := newActionPattern(pattern)
	return ok && p.matches(s), ok
}
