package policy

import "fmt"

// Bounds on the cost of a decision, for all policies and requests. Both may come from an attacker: a policy is stored
// once and evaluated for every request.
const (
	// MaxFact is how many bytes of a value conditions and variables compare.
	MaxFact = 2048
	// MaxFactList is how many values of a key that has several they compare.
	MaxFactList = 256
	// maxExpanded is how many characters a pattern may have with the values of
	// its variables.
	maxExpanded = 16 << 10
	// maxSteps is how much work all comparisons of a decision may be together,
	// in characters read: some milliseconds.
	maxSteps = 1 << 20
	// operandSteps is the price of comparing one operand of any kind.
	operandSteps = 8
)

// spend takes steps from the remaining steps of the evaluation, and reports
// whether enough remained. If not, the comparison counts as unknown; see
// evaluation.unknown.
func (e *evaluation) spend(steps int) bool {
	if e.steps < steps {
		e.steps, e.unknown = 0, true
		return false
	}
	e.steps -= steps
	return true
}

// bounded reports whether v is short enough to be compared. If it is not, the comparison counts as unknown.
func (e *evaluation) bounded(v *Value) bool {
	ok := len(v.text) <= MaxFact && len(v.list) <= MaxFactList
	for i := 0; ok && i < len(v.list); i++ {
		ok = len(v.list[i]) <= MaxFact
	}
	if !ok {
		e.unknown = true
	}
	return ok
}

// maxQuoted is how many characters of something that was written in a document
// or sent in a request an explanation or an error repeats.
const maxQuoted = 256

// quote cuts a text that an explanation or an error repeats.
func quote(s string) string {
	n := 0
	for i := range s {
		if n == maxQuoted {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// quoteAll cuts the texts among the arguments of a message.
func quoteAll(args []any) []any {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = quote(arg)
		case actionPattern:
			args[i] = quote(string(arg))
		case fmt.Stringer:
			args[i] = quote(arg.String())
		case error:
			args[i] = quote(arg.Error())
		}
	}
	return args
}
