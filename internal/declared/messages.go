package declared

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Messages is the number of messages in a queue.
type Messages struct {
	Visible, InFlight, Delayed int64
	Unknown                    bool `json:",omitempty"` // the service does not say how many there are in one of the states
}

// messagesOf returns the number of messages in a queue, from its attributes.
func messagesOf(attributes map[string]string) (m Messages) {
	count := func(state string) int64 {
		n, err := strconv.ParseInt(attributes["ApproximateNumberOfMessages"+state], 10, 64)
		m.Unknown = m.Unknown || err != nil
		return n
	}
	m.Visible, m.InFlight, m.Delayed = count(""), count("NotVisible"), count("Delayed")
	return m
}

// None reports whether the queue is empty.
func (m Messages) None() bool { return m == Messages{} }

// String describes the numbers of messages by state.
func (m Messages) String() string {
	if m.Unknown {
		return "an unknown number of messages"
	}
	var parts []string
	for _, part := range []struct {
		n     int64
		state string
	}{{m.Visible, "visible"}, {m.InFlight, "in flight"}, {m.Delayed, "delayed"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.state))
		}
	}
	if len(parts) == 0 {
		return "no messages"
	}
	return "messages: " + strings.Join(parts, ", ")
}

// Losing returns the steps of a plan that delete queues with messages.
func (p *Plan) Losing() (steps []*Step) {
	for _, s := range p.Steps {
		if s.Action == Delete && !s.was.messages.None() {
			steps = append(steps, s)
		}
	}
	return steps
}

// KeepMessages returns an error that wraps ErrRefused if the plan deletes queues with messages.
func (p *Plan) KeepMessages() error {
	var why []error
	for _, s := range p.Losing() {
		why = append(why, fmt.Errorf("%s has %s, which a prune would delete with it: receive or move them first, or give --prune-non-empty",
			s.Ref, s.was.messages))
	}
	if len(why) == 0 {
		return nil
	}
	return refused(why)
}

// The name of a queue can be reused 60 seconds after its deletion.
const (
	deletedPause    = 2 * time.Second
	deletedPatience = 80 * time.Second
)

// createQueue creates a queue. If its name was deleted recently, it waits until the name can be reused.
func (s *Session) createQueue(ctx context.Context, r Ref, create func() error) error {
	for waited := time.Duration(0); ; waited += deletedPause {
		err := create()
		if !isRefusal(err, deletedRecently...) || waited >= deletedPatience {
			return err
		}
		if waited == 0 && s.Waiting != nil {
			s.Waiting(fmt.Sprintf("%s was deleted less than 60 seconds ago: waiting until its name can be used again", r))
		}
		if err := s.Pause(ctx, deletedPause); err != nil {
			return err
		}
	}
}
