package trail

import (
	"log/slog"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/tool/throttle"
)

// Limits of the events that wait to be written.
const (
	// MaxPending is the maximum number of events that the calls of one account may have waiting.
	MaxPending = 10_000
	// MaxPendingBytes is the maximum size of all waiting events. The calls of a single account may use half of it.
	MaxPendingBytes = 16 << 20
)

// Limits of one commit, and of one message to another node.
const (
	mostAtOnce  = 256
	bytesAtOnce = 1 << 20 // or a single event
)

// pending holds the events that wait to be written, in their order. Its methods are safe for concurrent use.
type pending struct {
	log *slog.Logger

	mu      sync.Mutex
	entries []Entry
	shares  map[string]share // by the account of the caller; none is empty
	bytes   int              // of all
	dropped uint64
	losing  throttle.Minute // log lines about it
}

// share is what one caller has waiting.
type share struct{ events, bytes int }

func newPending(log *slog.Logger) *pending { return &pending{log: log, shares: make(map[string]share)} }

// add adds events, as far as there is room for them, and drops the others.
func (p *pending) add(entries []Entry, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range entries {
		if !p.fits(e) {
			p.drop(e, now)
			continue
		}
		p.entries = append(p.entries, e)
		p.count(e, 1)
	}
}

// fits reports whether there is room for an event. A caller may use as many bytes as it leaves free for others.
func (p *pending) fits(e Entry) bool {
	of := p.shares[e.Caller]
	return of.events < MaxPending && of.bytes+e.size() <= MaxPendingBytes-p.bytes-e.size()
}

func (p *pending) drop(e Entry, now time.Time) {
	if p.losing.Allow(now) {
		p.log.Warn("events of calls are dropped: more come than can be written",
			"waiting", len(p.entries), "bytes", p.bytes, "account", e.Caller)
	}
	p.dropped++
}

// count counts an event that comes or, with -1, goes.
func (p *pending) count(e Entry, n int) {
	of := p.shares[e.Caller]
	of.events += n
	of.bytes += n * e.size()
	p.bytes += n * e.size()
	if p.shares[e.Caller] = of; of.events == 0 {
		delete(p.shares, e.Caller)
	}
}

// first returns the oldest events, as many as are written at once. They stay until written is called, which only the
// caller of first does.
func (p *pending) first() []Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, size := 0, 0
	for n < min(mostAtOnce, len(p.entries)) {
		if size += p.entries[n].size(); size > bytesAtOnce && n > 0 {
			break
		}
		n++
	}
	return p.entries[:n:n]
}

// written removes the oldest n events.
func (p *pending) written(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.entries[:n] {
		p.count(e, -1)
	}
	clear(p.entries[:n]) // the array keeps nothing of them
	if p.entries = p.entries[n:]; len(p.entries) == 0 {
		p.entries = nil
	}
}

func (p *pending) droppedSoFar() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropped
}
