package history

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// History holds all calls of a run, with their outcomes.
type History struct {
	Queues   []Queue // that are there from the beginning, and their rules
	Topics   []Topic // likewise
	Calls    []*Call
	Troubles []*Trouble
	Notes    []Violation   // violations that need no history
	Slack    time.Duration // how far the service's time may be from ours
	Grace    time.Duration // how long after a trouble calls may still go unanswered
}

// Queue is a queue of the service.
type Queue struct {
	Name        string `json:"name"`
	Dead        string `json:"dead,omitempty"` // name of the dead-letter queue
	MaxReceives int    `json:"maxReceives,omitempty"`
	Scoped      bool   `json:"scoped,omitempty"` // FIFO: each group has an order and deduplication of its own
}

// Topic is a topic of the service, with the queues that get its messages unchanged.
type Topic struct {
	Name   string   `json:"name"`
	Queues []string `json:"queues"`
}

// IsFIFO reports whether a queue or topic of that name is a FIFO queue or topic.
func IsFIFO(queue string) bool { return strings.HasSuffix(queue, ".fifo") }

// SentTo returns the queue or topic that a message was sent to. A message's name begins
// with it, and a slash.
func SentTo(name string) string {
	queue, _, _ := strings.Cut(name, "/")
	return queue
}

// Trouble is a span in which the service, or the way to it, was disturbed.
type Trouble struct {
	Kind  string        `json:"kind"`
	Words string        `json:"words,omitempty"` // the action and its target
	Began time.Duration `json:"began"`
	Ended time.Duration `json:"ended,omitempty"` // 0: it lasts
}

// over is when a trouble no longer excuses anything.
func (t *Trouble) over(grace time.Duration) time.Duration {
	if t.Ended == 0 {
		return always
	}
	return t.Ended + grace
}

// Outcome is the outcome of a call, as far as its caller knows.
type Outcome int

// The outcomes.
const (
	Unknown Outcome = iota // no answer: it was executed or it was not
	Acknowledged
	Refused // a definite no: nothing was changed
)

func (o Outcome) String() string { return [...]string{"UNKNOWN", "ok", "refused"}[o] }

// MarshalText writes the outcome as a word.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText is the opposite of MarshalText.
func (o *Outcome) UnmarshalText(text []byte) error {
	for _, known := range []Outcome{Unknown, Acknowledged, Refused} {
		if string(text) == known.String() {
			*o = known
			return nil
		}
	}
	return fmt.Errorf("outcome %q", text)
}

// Operation is the operation of a call.
type Operation string

// The operations.
const (
	Create  Operation = "create"
	Drop    Operation = "drop"
	Change  Operation = "change"  // of the attributes, tags or policies of a resource
	Inspect Operation = "inspect" // of a resource: Call.State is what was found
	Send    Operation = "send"
	Publish Operation = "publish" // to a topic, whose name stands in the place of a queue's
	Receive Operation = "receive"
	Remove  Operation = "delete"
	Hide    Operation = "change visibility"
	Purge   Operation = "purge"
	Move    Operation = "move"
	Cancel  Operation = "cancel"
	// UndoPurge and UndoDelete undo the last Purge or Drop of a queue. Call.State is the state that it must have then.
	UndoPurge  Operation = "undo purge"
	UndoDelete Operation = "undo delete"
)

// Call is one call of the service.
type Call struct {
	Worker    string        `json:"worker"`
	Node      string        `json:"node,omitempty"` // that was called
	Operation Operation     `json:"op"`
	Queue     string        `json:"queue"`             // or another resource
	State     string        `json:"state,omitempty"`   // of the resource: what it is to be or was found to be; empty: it is not there
	Timeout   time.Duration `json:"timeout,omitempty"` // of a receive or a change of visibility
	Wait      time.Duration `json:"wait,omitempty"`    // of a receive: how long it may wait for messages
	Began     time.Duration `json:"began"`
	Ended     time.Duration `json:"ended"`
	Outcome   Outcome       `json:"outcome"`
	Reason    string        `json:"reason,omitempty"`
	Entries   []*Entry      `json:"entries,omitempty"` // the messages it was about; a batch has an outcome for each
}

// Entry is the part of a call about one message.
type Entry struct {
	*Call    `json:"-"`
	Name     string        `json:"name"`
	Group    string        `json:"group,omitempty"`
	ID       string        `json:"id,omitempty"`
	Sequence string        `json:"sequence,omitempty"` // those of a queue are equally long
	Receives int           `json:"receives,omitempty"`
	Handle   string        `json:"handle,omitempty"`
	Delay    time.Duration `json:"delay,omitempty"`
	Outcome  Outcome       `json:"outcome"`
	Reason   string        `json:"reason,omitempty"`
}

// before reports whether c was over when d began.
func (c *Call) before(d *Call) bool { return c.Ended < d.Began }

// effective reports whether e may have been executed.
func (e *Entry) effective() bool { return e.Outcome != Refused }

// Refusal is a definite no, as an error of a call.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// The refusals that may be provoked. Any other breaks a promise.
const (
	NoQueue Refusal = "no such queue"
	Expired Refusal = "the receipt handle has expired"
	Absent  Refusal = "the message is not there"
	Stale   Refusal = "the receive call is not retryable"
	Purging Refusal = "purged less than a minute ago"
	Moving  Refusal = "a message move task is running"
	NoTask  Refusal = "no such message move task"
	Missing Refusal = "no such resource"
	Exists  Refusal = "the resource is there already"
	NotKept Refusal = "nothing is kept that an undo can bring back"
)

// OutcomeOf returns the outcome that an error of a call means, and the reason. An error that is not a refusal leaves it
// unknown whether the call was executed.
func OutcomeOf(err error) (Outcome, string) {
	if err == nil {
		return Acknowledged, ""
	}
	if r, ok := errors.AsType[Refusal](err); ok {
		return Refused, string(r)
	}
	return Unknown, err.Error()
}

// Tally counts the outcomes, by message in calls that have messages.
func (h *History) Tally() map[string]int {
	out := make(map[string]int)
	for _, c := range h.Calls {
		if len(c.Entries) == 0 {
			out[fmt.Sprint(c.Operation, " ", c.Outcome)]++
		}
		for _, e := range c.Entries {
			out[fmt.Sprint(c.Operation, " ", e.Outcome)]++
		}
	}
	return out
}

// Tell returns the story of a message: every call about it, the calls on its
// queues as a whole, and the troubles there were from then on.
func (h *History) Tell(name string) string {
	name, _ = splitCopy(name)
	queues := map[string]bool{SentTo(name): true}
	type line struct {
		at   time.Duration
		text string
	}
	var lines []line
	first := always
	for _, c := range h.Calls {
		for _, e := range c.Entries {
			if e.Name == name {
				queues[c.Queue] = true
				first = min(first, c.Began)
				lines = append(lines, line{c.Began, e.String()})
			}
		}
	}
	for _, t := range h.Troubles {
		if t.over(h.Grace) >= first {
			lines = append(lines, line{t.Began, t.String()})
		}
	}
	for _, c := range h.Calls {
		if len(c.Entries) == 0 && c.Operation != Receive && queues[c.Queue] {
			lines = append(lines, line{c.Began, c.String()})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "\t%s\n", l.text)
	}
	return b.String()
}

func (t *Trouble) String() string {
	end := "on"
	if t.Ended > 0 {
		end = "to " + t.Ended.String()
	}
	return strings.TrimRight(fmt.Sprintf("%v  from here %s: %s %s", t.Began, end, t.Kind, t.Words), " ")
}

// who names the client and the node of a call.
func (c *Call) who() string {
	if c.Node == "" {
		return c.Worker
	}
	return c.Worker + " at " + c.Node
}

func (c *Call) String() string {
	state := ""
	if c.State != "" {
		state = " as " + c.State
	}
	return fmt.Sprintf("%v-%v  %s: %s %s%s: %s %s", c.Began, c.Ended, c.who(), c.Operation, c.Queue, state, c.Outcome, c.Reason)
}

func (e *Entry) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v-%v  %s: %s %s: %s", e.Began, e.Ended, e.who(), e.Operation, e.Queue, e.Outcome)
	show := func(label string, value any, set bool) {
		if set {
			fmt.Fprintf(&b, " %s=%v", label, value)
		}
	}
	show("reason", e.Reason, e.Reason != "")
	show("group", e.Group, e.Group != "")
	show("delay", e.Delay, e.Delay > 0)
	show("id", e.ID, e.ID != "")
	show("sequence", e.Sequence, e.Sequence != "")
	show("count", e.Receives, e.Operation == Receive)
	show("timeout", e.Timeout, e.Operation == Receive || e.Operation == Hide)
	show("handle", e.Handle, e.Handle != "")
	return b.String()
}
