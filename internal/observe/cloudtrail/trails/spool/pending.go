package spool

import (
	"log/slog"
	"slices"
	"sync"

	"github.com/google/uuid"
)

// pending holds the events that wait to be written. Text leaves it only after it was written, so that a failed write
// loses nothing. Its methods are safe for concurrent use.
type pending struct {
	log  *slog.Logger
	much chan struct{} // has an element when more than flushAt is waiting

	mu      sync.Mutex
	texts   map[uuid.UUID][]byte // lines, by trail
	waiting int                  // bytes in texts
	dropped uint64
	seen    uint64 // dropped, at the last call of reportDropped
	began   uint64 // dropped, before the last drop
	losing  bool   // events were dropped between the last two calls of reportDropped, or since the last
}

func newPending(log *slog.Logger) *pending {
	return &pending{log: log, much: make(chan struct{}, 1), texts: make(map[uuid.UUID][]byte)}
}

// add adds an event, or drops it if there is no room. A trail may use as many bytes as it leaves free for others.
func (p *pending) add(trail uuid.UUID, event []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, size := p.texts[trail], len(event)+1
	if len(text)+size > MaxPending-p.waiting {
		p.drop()
		return
	}
	p.texts[trail] = append(append(text, event...), '\n')
	if p.waiting += size; p.waiting >= flushAt && p.waiting-size < flushAt {
		select {
		case p.much <- struct{}{}:
		default:
		}
	}
}

// drop counts a dropped event. It logs the first of many.
func (p *pending) drop() {
	if !p.losing {
		p.losing, p.began = true, p.dropped
		p.log.Warn("data events are dropped: more come than can be written", "bytes", p.waiting)
	}
	p.dropped++
}

// reportDropped logs how many events were dropped, when no more are being dropped. It is called after each flush.
func (p *pending) reportDropped() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.losing && p.dropped == p.seen {
		p.losing = false
		p.log.Warn("data events are no longer dropped", "dropped", p.dropped-p.began)
	}
	p.seen = p.dropped
}

// trails returns the trails that have events here.
func (p *pending) trails() []uuid.UUID {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := make([]uuid.UUID, 0, len(p.texts))
	for id := range p.texts {
		ids = append(ids, id)
	}
	return ids
}

// text returns the lines of a trail. They stay until written is called, which only the caller of text does.
func (p *pending) text(trail uuid.UUID) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.texts[trail]
}

// written removes the first n bytes of a trail.
func (p *pending) written(trail uuid.UUID, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting -= n
	if rest := p.texts[trail][n:]; len(rest) > 0 {
		p.texts[trail] = slices.Clone(rest)
	} else {
		delete(p.texts, trail)
	}
}

func (p *pending) droppedSoFar() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropped
}
