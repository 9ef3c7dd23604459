package shard

import (
	"testing"

	"github.com/sluicemq/sluice/internal/queue"
)

// A long poll is never answered that too many messages are in flight, even if its consumer leaves while it is tried.
func TestPollOfFullQueueThatIsLeft(t *testing.T) {
	for _, left := range []bool{false, true} {
		p := &poll{end: 1}
		p.take()
		p.err = queue.ErrOverLimit
		p.left.Store(left)
		if waits := p.empty(); waits == left || p.err != nil {
			t.Errorf("consumer left: %t; poll waits: %t, %v", left, waits, p.err)
		}
	}
	p := &poll{}
	p.take()
	p.err = queue.ErrOverLimit
	if p.empty() || p.err == nil {
		t.Error("a receive that does not wait is not refused")
	}
}
