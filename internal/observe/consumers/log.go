package consumers

import (
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// window is the number of minutes that are counted.
	window = 10
	// forgetAfter is how long an absent consumer is remembered.
	forgetAfter = time.Hour

	maxPerQueue = 100
	maxTotal    = 10_000
	// maxTimed is the maximum number of received messages that are timed until their delete.
	maxTimed            = 100_000
	maxTimedPerConsumer = 1_000
	maxText             = 256 // bytes of an address or agent
)

// Log holds the consumers of all queues. Its methods are safe for concurrent use; a nil Log records nothing.
type Log struct {
	mu     sync.Mutex
	queues map[uint64]map[Who]*entry
	total  int
	timed  int
}

// New returns an empty Log.
func New() *Log { return &Log{queues: make(map[uint64]map[Who]*entry)} }

// entry is a consumer of a queue.
type entry struct {
	first, last time.Time
	minutes     [window]Count
	minute      int64 // of the newest count, since 1970
	times       [classes]uint64
	received    map[uint64]time.Time // messages not deleted yet
}

// Receive is an answered receive.
type Receive struct {
	Waits    bool     // it would have waited for a message
	Max      int      // requested messages
	Messages []uint64 // received messages, by their positions
}

// Received records a receive.
func (l *Log) Received(queue uint64, who Who, now time.Time, r Receive) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entry(queue, who, now)
	c := e.count(now)
	empty := len(r.Messages) == 0
	c.Calls++
	c.Received += uint64(len(r.Messages))
	if empty {
		c.Empty++
	}
	if !r.Waits {
		c.ShortCalls++
	}
	if !r.Waits && empty {
		c.ShortEmpty++
	}
	if r.Max == 1 && !empty {
		c.SingleFull++
	}
	for _, m := range r.Messages {
		if _, again := e.received[m]; !again {
			if len(e.received) >= maxTimedPerConsumer { // it does not delete them: start again
				l.timed -= len(e.received)
				clear(e.received)
			}
			if l.timed >= maxTimed {
				continue
			}
			l.timed++
		}
		e.received[m] = now
	}
}

// Deleted records that messages were deleted.
func (l *Log) Deleted(queue uint64, who Who, now time.Time, messages []uint64) {
	if l == nil || len(messages) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entry(queue, who, now)
	e.count(now).Deleted += uint64(len(messages))
	for _, m := range messages {
		if at, timed := e.received[m]; timed {
			e.times[classOf(now.Sub(at))]++
			delete(e.received, m)
			l.timed--
		}
	}
}

// Queue returns the consumers of a queue, the busiest first.
func (l *Log) Queue(queue uint64, now time.Time) []Consumer {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	var out []Consumer
	for who, e := range l.queues[queue] {
		if now.Sub(e.last) >= forgetAfter {
			continue
		}
		e.count(now) // drops the minutes that are over
		c := Consumer{Who: who, First: e.first, Last: e.last, Times: slices.Clone(e.times[:])}
		c.Minutes = min(window, max(1, now.Sub(e.first).Minutes()))
		for i := range e.minutes {
			c.add(&e.minutes[i])
		}
		out = append(out, c)
	}
	l.mu.Unlock()
	return Merge(out)
}

// Drop forgets a queue.
func (l *Log) Drop(queue uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for who := range l.queues[queue] {
		l.remove(queue, who)
	}
}

// entry returns the entry of a consumer, and makes room for a new one.
func (l *Log) entry(queue uint64, who Who, now time.Time) *entry {
	who.Address, who.Agent = shorten(who.Address), shorten(who.Agent)
	of := l.queues[queue]
	e := of[who]
	if e == nil {
		if len(of) >= maxPerQueue || l.total >= maxTotal && len(of) > 0 {
			l.remove(queue, oldest(of))
		} else if l.total >= maxTotal {
			l.removeAny()
		}
		if of = l.queues[queue]; of == nil {
			of = make(map[Who]*entry)
			l.queues[queue] = of
		}
		// The texts of a request share the memory of its header.
		who = Who{strings.Clone(who.Principal), strings.Clone(who.Address), strings.Clone(who.Agent)}
		e = &entry{first: now, received: make(map[uint64]time.Time)}
		of[who] = e
		l.total++
	}
	e.last = now
	return e
}

// shorten bounds a text that a client has sent.
func shorten(s string) string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "")
	}
	return s
}

func oldest(of map[Who]*entry) (found Who) {
	var last time.Time
	for who, e := range of {
		if last.IsZero() || e.last.Before(last) {
			found, last = who, e.last
		}
	}
	return found
}

// removeAny makes room by removing the consumers of some queue.
func (l *Log) removeAny() {
	for queue, of := range l.queues {
		l.remove(queue, oldest(of))
		return
	}
}

func (l *Log) remove(queue uint64, who Who) {
	of := l.queues[queue]
	l.timed -= len(of[who].received)
	delete(of, who)
	l.total--
	if len(of) == 0 {
		delete(l.queues, queue)
	}
}

// count returns the count of the current minute, and removes old counts.
func (e *entry) count(now time.Time) *Count {
	minute := now.Unix() / 60
	for e.minute = max(e.minute, minute-window); e.minute < minute; e.minute++ {
		e.minutes[(e.minute+1)%window] = Count{}
	}
	return &e.minutes[e.minute%window]
}
