package crash

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// history is everything that was asked for in a run and what became of it.
type history struct {
	clock

	mu      sync.Mutex
	calls   []*call
	deaths  []time.Duration // of the service, by round
	backlog map[string]int  // by queue sent to: acknowledged sends less acknowledged deletes
	notes   []violation     // what is wrong whatever the rest of the history says
}

func newHistory(c clock) *history { return &history{clock: c, backlog: make(map[string]int)} }

// outcome is what became of a call, as far as its caller knows.
type outcome int

const (
	unknown outcome = iota // the service died: it was executed or it was not
	acknowledged
	refused
)

func (o outcome) String() string { return [...]string{"UNKNOWN", "ok", "refused"}[o] }

type operation string

const (
	opCreate  operation = "create"
	opDrop    operation = "drop"
	opSend    operation = "send"
	opReceive operation = "receive"
	opRemove  operation = "delete"
	opHide    operation = "change visibility"
	opPurge   operation = "purge"
	opMove    operation = "move"
	opCancel  operation = "cancel"
)

// call is one call of the service.
type call struct {
	worker    string
	round     int
	operation operation
	queue     string
	timeout   time.Duration // of a receive or a change of visibility
	began     time.Duration
	ended     time.Duration
	outcome   outcome
	reason    string
	entries   []*entry // the messages it was about; a batch has an outcome for each
}

// entry is what a call says of one message.
type entry struct {
	*call
	name     string
	group    string
	id       string
	sequence string
	receives int
	handle   string
	delay    time.Duration
	outcome  outcome
	reason   string
}

// before reports whether c was over when d began.
func (c *call) before(d *call) bool { return c.ended < d.began }

// effective reports whether e may have been executed.
func (e *entry) effective() bool { return e.outcome != refused }

func outcomeOf(err error) (outcome, string) {
	if err == nil {
		return acknowledged, ""
	}
	if r, ok := errors.AsType[refusal](err); ok {
		return refused, string(r)
	}
	return unknown, err.Error()
}

func (h *history) add(c *call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, c)
	for _, e := range c.entries {
		switch {
		case e.outcome != acknowledged:
		case c.operation == opSend:
			h.backlog[c.queue]++
		case c.operation == opRemove:
			h.backlog[sentTo(e.name)]--
		}
	}
}

// waiting is about how many messages that were sent to the queue still exist,
// wherever they are by now.
func (h *history) waiting(queue string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.backlog[queue]
}

// died notes that from now on the service does not answer.
func (h *history) died() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deaths = append(h.deaths, h.now())
}

// note adds a violation that is known without looking at the whole history.
func (h *history) note(rule, queue, name, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notes = append(h.notes, violation{rule: rule, queue: queue, name: name, text: fmt.Sprintf(format, args...)})
}

// tally counts the outcomes, by message where there are any.
func (h *history) tally() map[string]int {
	out := make(map[string]int)
	for _, c := range h.calls {
		if len(c.entries) == 0 {
			out[fmt.Sprint(c.operation, " ", c.outcome)]++
		}
		for _, e := range c.entries {
			out[fmt.Sprint(c.operation, " ", e.outcome)]++
		}
	}
	return out
}

// tell returns the story of a message: every call about it, and the calls on its
// queues as a whole.
func (h *history) tell(name string) string {
	queues := map[string]bool{sentTo(name): true}
	for _, c := range h.calls {
		for _, e := range c.entries {
			if e.name == name {
				queues[c.queue] = true
			}
		}
	}
	type line struct {
		at   time.Duration
		text string
	}
	var lines []line
	for i, at := range h.deaths {
		lines = append(lines, line{at, fmt.Sprintf("%v  the service dies (round %d)", at, i)})
	}
	for _, c := range h.calls {
		if len(c.entries) == 0 && c.operation != opReceive && queues[c.queue] {
			lines = append(lines, line{c.began, c.String()})
		}
		for _, e := range c.entries {
			if e.name == name {
				lines = append(lines, line{c.began, e.String()})
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "\t%s\n", l.text)
	}
	return b.String()
}

func (c *call) String() string {
	return fmt.Sprintf("%v-%v  round %d %s: %s %s: %s %s", c.began, c.ended, c.round, c.worker, c.operation, c.queue, c.outcome, c.reason)
}

func (e *entry) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v-%v  round %d %s: %s %s: %s", e.began, e.ended, e.round, e.worker, e.operation, e.queue, e.outcome)
	show := func(label string, value any, set bool) {
		if set {
			fmt.Fprintf(&b, " %s=%v", label, value)
		}
	}
	show("reason", e.reason, e.reason != "")
	show("group", e.group, e.group != "")
	show("delay", e.delay, e.delay > 0)
	show("id", e.id, e.id != "")
	show("sequence", e.sequence, e.sequence != "")
	show("count", e.receives, e.operation == opReceive)
	show("timeout", e.timeout, e.operation == opReceive || e.operation == opHide)
	show("handle", e.handle, e.handle != "")
	return b.String()
}
