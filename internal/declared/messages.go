package declared

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Messages are how many a queue has.
type Messages struct{ Visible, InFlight, Delayed int64 }

// messagesOf returns how many messages a queue has, by its attributes.
func messagesOf(attributes map[string]string) Messages {
	count := func(state string) int64 {
		n, err := strconv.ParseInt(attributes["ApproximateNumberOfMessages"+state], 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	return Messages{count(""), count("NotVisible"), count("Delayed")}
}

// None reports whether the queue is empty.
func (m Messages) None() bool { return m == Messages{} }

// String says how many messages there are, by their states.
func (m Messages) String() string {
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

// KeepMessages returns an error that is ErrRefused if the plan deletes queues with messages.
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

// A name of a queue can be used again 60 seconds after its deletion.
const (
	deletedPause    = 2 * time.Second
	deletedPatience = 80 * time.Second
)

// createQueue makes a queue. If its name was deleted lately it waits until it can be used again.
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

// sleep is Session.Pause where nothing else is given.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
