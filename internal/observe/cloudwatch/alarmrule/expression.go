package alarmrule

import (
	"slices"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
)

// Expression is a rule that was read. It is safe for concurrent use.
type Expression struct {
	root     node
	children []string
}

// Children returns the names and ARNs of alarms as written, each once, in the order of the text.
func (e *Expression) Children() []string { return e.children }

// Holds reports whether the rule holds. state returns the state of an alarm by its name or ARN; it is called only for
// alarms on which the result depends.
func (e *Expression) Holds(state func(child string) alarm.State) bool { return e.root.holds(state) }

// node is a part of an expression.
type node interface {
	holds(state func(child string) alarm.State) bool
}

type constant bool

func (c constant) holds(func(string) alarm.State) bool { return bool(c) }

type allOf []node

func (all allOf) holds(state func(string) alarm.State) bool {
	return !slices.ContainsFunc(all, func(n node) bool { return !n.holds(state) })
}

type anyOf []node

func (some anyOf) holds(state func(string) alarm.State) bool {
	return slices.ContainsFunc(some, func(n node) bool { return n.holds(state) })
}

type not struct{ node }

func (n not) holds(state func(string) alarm.State) bool { return !n.node.holds(state) }

// is holds if an alarm is in a state.
type is struct {
	state alarm.State
	child string
}

func (i is) holds(state func(string) alarm.State) bool { return state(i.child) == i.state }

// atLeast holds if at least that many of some alarms are in a state, or are not.
type atLeast struct {
	least    int
	state    alarm.State
	not      bool
	children []string
}

func (a atLeast) holds(state func(string) alarm.State) bool {
	n := 0
	for _, child := range a.children {
		if (state(child) == a.state) != a.not {
			n++
		}
	}
	return n >= a.least
}
