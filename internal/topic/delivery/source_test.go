package delivery

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// source is a shard in memory, with a clock that the test moves.
type source struct {
	mu       sync.Mutex
	now      time.Time
	messages map[queue.ID][]*stored
	ready    map[queue.ID]bool
	changed  chan struct{} // closed at each change
	position queue.Position
	failing  error
	max      map[queue.ID]int // the maximum requested at once
	counted  map[string][queue.TopicMetrics]uint64
}

type stored struct {
	shard.Message
	visible time.Time
}

func newSource() *source {
	return &source{
		now: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), messages: make(map[queue.ID][]*stored),
		ready: make(map[queue.ID]bool), changed: make(chan struct{}), max: make(map[queue.ID]int),
		counted: make(map[string][queue.TopicMetrics]uint64),
	}
}

// signal wakes all waiters; the caller holds mu.
func (s *source) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *source) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// advance moves the clock; messages become visible.
func (s *source) advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
	for id, list := range s.messages {
		for _, m := range list {
			if !m.visible.After(s.now) {
				s.ready[id] = true
			}
		}
	}
	s.signal()
}

// wait waits by the clock of the source.
func (s *source) wait(ctx context.Context, until time.Time) bool {
	s.mu.Lock()
	for s.now.Before(until) {
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
		s.mu.Lock()
	}
	s.mu.Unlock()
	return ctx.Err() == nil
}

func (s *source) put(id queue.ID, note Note, body string) {
	o := note.Outgoing(queue.MessageID(uuid.New()), body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.position++
	m := &stored{visible: s.now}
	m.ID, m.Sender, m.Body, m.Position = o.ID, o.Sender, o.Body, s.position
	s.messages[id] = append(s.messages[id], m)
	s.ready[id] = true
	s.signal()
}

// fail makes all calls fail from now on; nil ends that.
func (s *source) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = err
}

// next returns when the next message becomes visible, how many there are, and whether some are visible now.
func (s *source) next(id queue.ID) (in time.Duration, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.messages[id]
	if len(list) == 0 {
		return 0, 0
	}
	soonest := slices.MinFunc(list, func(a, b *stored) int { return a.visible.Compare(b.visible) })
	return soonest.visible.Sub(s.now), len(list)
}

// asked returns the maximum number of a queue's messages that one call has requested.
func (s *source) asked(id queue.ID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.max[id]
}

func (s *source) Ready(ctx context.Context) ([]queue.ID, error) {
	for {
		s.mu.Lock()
		var ids []queue.ID
		for id := range s.ready {
			ids = append(ids, id)
		}
		clear(s.ready)
		changed := s.changed
		s.mu.Unlock()
		if len(ids) > 0 {
			return ids, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (s *source) Receive(_ context.Context, id queue.ID, r queue.Receive, _ time.Duration) ([]shard.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing != nil {
		return nil, s.failing
	}
	s.max[id] = max(s.max[id], r.Max)
	var out []shard.Message
	for _, m := range s.messages[id] {
		if len(out) < r.Max && !m.visible.After(s.now) {
			m.visible = s.now.Add(*r.Timeout)
			m.Receives++
			m.Receipt++
			out = append(out, m.Message)
		}
	}
	return out, nil
}

func (s *source) Settle(_ context.Context, id queue.ID, receipts []queue.Receipt,
	c *queue.TopicCount) ([]error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing != nil {
		return nil, s.failing
	}
	if c != nil {
		sum := s.counted[c.Topic]
		for m, n := range c.Counts {
			sum[m] += n
		}
		s.counted[c.Topic] = sum
	}
	for _, r := range receipts {
		s.messages[id] = slices.DeleteFunc(s.messages[id], func(m *stored) bool { return m.Position == r.Position })
	}
	s.signal()
	return make([]error, len(receipts)), nil
}

func (s *source) ChangeVisibility(_ context.Context, id queue.ID, changes []queue.Visibility) ([]error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range changes {
		for _, m := range s.messages[id] {
			if m.Position == c.Position {
				m.visible = s.now.Add(c.Timeout)
				if c.Timeout == 0 {
					s.ready[id] = true
				}
			}
		}
	}
	s.signal()
	return make([]error, len(changes)), nil
}

func (s *source) Return(_ context.Context, id queue.ID, deliveries []queue.Delivery, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range deliveries {
		for _, m := range s.messages[id] {
			if m.Position == d.Position {
				m.visible = s.now
				m.Receives--
			}
		}
	}
	s.signal()
	return nil
}

// until waits for a condition, and checks it again at each change of the source.
func (s *source) until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	end := time.After(20 * time.Second)
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if condition() {
			return
		}
		select {
		case <-changed:
		case <-time.After(time.Millisecond): // not everything that is waited for is in the source
		case <-end:
			t.Fatalf("%s: not within 20 seconds", what)
		}
	}
}

var errShard = errors.New("the shard does not answer")
