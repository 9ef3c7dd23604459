package shard

import (
	"sync"

	"github.com/sluicemq/sluice/internal/queue"
)

// waits measures how long messages have waited for their first receive, by queue. The owner does not read the records
// of messages, which contain the time of the send; so waits are measured where records are read.
type waits struct {
	mu sync.Mutex
	of map[queue.ID]*queue.Histogram
}

// received records the waits of messages that a consumer receives for the first time. Messages from another queue do
// not count, because they were already received there.
func (w *waits) received(id queue.ID, messages []Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range messages {
		m := &messages[i]
		if m.Receives != 1 || m.Source != "" {
			continue
		}
		h := w.of[id]
		if h == nil {
			if w.of == nil {
				w.of = make(map[queue.ID]*queue.Histogram)
			}
			h = new(queue.Histogram)
			w.of[id] = h
		}
		h.Observe(m.First.Sub(m.SentAt))
	}
}

// forget forgets a queue that was removed.
func (w *waits) forget(id queue.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.of, id)
}

// addTo sets Wait in the standings.
func (w *waits) addTo(standings []queue.Standing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range standings {
		if h := w.of[standings[i].ID]; h != nil {
			c := *h
			standings[i].Wait = &c
		}
	}
}
