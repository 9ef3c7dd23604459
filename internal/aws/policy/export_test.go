package policy

// GlobMatches compiles a pattern with * and ? and matches s with it.
func GlobMatches(pattern, s string) bool {
	p, err := newPattern(pattern, wildcards)
	return err == nil && p.matches(&evaluation{steps: maxSteps}, s)
}

// ActionMatches reports whether s matches the action pattern, if it is one.
func ActionMatches(pattern, s string) (matches, ok bool) {
	p, ok := newActionPattern(pattern)
	return ok && p.matches(&evaluation{steps: maxSteps}, s), ok
}

const MaxSteps = maxSteps

// Steps returns the number of steps of a decision.
func Steps(r *Request) int {
	e := newEvaluation(r)
	e.decide()
	return maxSteps - e.steps
}
