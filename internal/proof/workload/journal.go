package workload

import (
	"fmt"
	"sync"

	"github.com/sluicemq/sluice/internal/proof/history"
)

// Journal is a history in progress.
type Journal struct {
	Clock

	mu      sync.Mutex
	history *history.History
	file    *history.Writer // or nil
	backlog map[string]int  // by queue or topic sent to: acknowledged sends less acknowledged deletes
}

// NewJournal returns a journal that fills h, and the file if there is one.
func NewJournal(c Clock, h *history.History, file *history.Writer) *Journal {
	return &Journal{Clock: c, history: h, file: file, backlog: make(map[string]int)}
}

// Add puts a call into the history.
func (j *Journal) Add(c *history.Call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.history.Calls = append(j.history.Calls, c)
	if j.file != nil {
		j.file.Call(c)
	}
	for _, e := range c.Entries {
		switch {
		case e.Outcome != history.Acknowledged:
		case c.Operation == history.Send:
			j.backlog[c.Queue]++
		case c.Operation == history.Publish:
			j.backlog[c.Queue] += j.subscribed(c.Queue)
		case c.Operation == history.Remove:
			j.backlog[history.SentTo(e.Name)]--
		}
	}
}

// subscribed returns how many queues a topic has.
func (j *Journal) subscribed(topic string) int {
	for _, t := range j.history.Topics {
		if t.Name == topic {
			return len(t.Queues)
		}
	}
	return 0
}

// waiting is the approximate number of messages sent to the queue that still exist, wherever they are now.
func (j *Journal) waiting(queue string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.backlog[queue]
}

// Trouble records that from now on the service is disturbed, until end is called: calls may go unanswered.
func (j *Journal) Trouble(kind, words string) (end func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	t := &history.Trouble{Kind: kind, Words: words, Began: j.Now()}
	for _, x := range j.history.Troubles {
		t.Began = max(t.Began, x.Began+1) // files know them by their beginnings
	}
	h := j.history
	h.Troubles = append(h.Troubles, t)
	write := func() {
		if j.file != nil && h == j.history {
			j.file.Trouble(t)
		}
	}
	write()
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		t.Ended = max(j.Now(), t.Began+1)
		write()
	}
}

// Note adds a violation that is known without looking at the whole history.
func (j *Journal) Note(rule, queue, name, format string, args ...any) {
	v := history.Violation{Rule: rule, Queue: queue, Name: name, Text: fmt.Sprintf(format, args...)}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.history.Notes = append(j.history.Notes, v)
	if j.file != nil {
		j.file.Note(v)
	}
}
