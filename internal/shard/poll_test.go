package shard

import (
	"testing"

	"github.com/sluicemq/sluice/internal/queue"
)

// That too many messages are in flight is no answer to a long poll, also not to one whose consumer goes while it is
// tried.
func TestPollOfFullQueueThatIsLeft(t *testing.T) {
	for _, left := range []bool{false, true} {
		p := &poll{end: 1}
		p.take()
		p.err = queue.ErrOverLimit
		p.left.Store(left)
		if waits := p.empty(); waits == left || p.err != nil {
			t.Errorf("its consumer has left: %t; it waits: %t, %v", left, waits, p.err)
		}
	}
	p := &poll{}
	p.take()
	p.err = queue.ErrOverLimit
	if p.empty() || p.err == nil {
		t.Error("a receive that does not wait is not refused")
	}
}
