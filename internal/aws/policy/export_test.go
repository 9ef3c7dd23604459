package policy

// GlobMatches compiles a pattern with * and ? and matches s with it.
func GlobMatches(pattern, s string) bool {
	p, err := newPattern(pattern, wildcards)
	return err == nil && p.matches(&evaluation{steps: maxSteps}, s)
}

// ActionMatches reports whether the action pattern, if it is one, stands for s.
func ActionMatches(pattern, s string) (matches, ok bool) {
	p, ok := newActionPattern(pattern)
	return ok && p.matches(&evaluation{steps: maxSteps}, s), ok
}

const MaxSteps = maxSteps

// Steps returns how many steps a decision takes.
func Steps(r *Request) int {
	e := newEvaluation(r)
	e.decide()
	return maxSteps - e.steps
}
