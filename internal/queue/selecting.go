package queue

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/search"
)

// A task with a Selection moves messages in the transactions of its shard, like any other. It does not look for them there:
// a caller decides what its filter costs, and all queues of the shard would wait. So it takes three steps,
// again and again:
//
//  1. Engine.Searches says which queues have a task that wants a search, and Engine.Search what has to be known for it.
//  2. Search.Run goes through a snapshot of what is stored, from the task's place on, in any goroutine. It finds positions.
//  3. Engine.Supply hands them to the task, which confirms each when it moves it; see moving.confirm.
//
// What was found is in memory only. The place of the task is stored with each message that was moved, so that after a restart
// the search begins behind it.

// Search is what has to be known to find messages for the running task of a queue.
type Search struct {
	queue          ID
	arn            string
	task           Instant // its start
	place          selectionPlace
	filter         string
	ids            []MessageID
	retention, now Instant
}

// Found is what a search has found, and how far it has come.
type Found struct {
	task          Instant
	from, reached selectionPlace
	messages      []selected
	scanned       uint64 // messages looked at behind the last of these
	unknownFilter bool
}

// selected is a message that the filter and the ids select.
type selected struct {
	place    selectionPlace // of the message
	scanned  uint64         // messages looked at, with it and behind the one before
	id       MessageID
	receives uint64 // when it was looked at
}

// foundAtOnce bounds what a search finds.
const foundAtOnce = 100

// Searches returns the queues whose tasks have begun to want a search since the last call. After a transaction that has failed
// it must not be called: the engine that is loaded then knows all of them.
func (e *Engine) Searches() []ID {
	ids := e.searches
	e.searches = nil
	return ids
}

// Search begins a search, or reports false if no task of the queue wants one. It changes nothing.
func (e *Engine) Search(id ID) (Search, bool) {
	q := e.queues[id]
	if q == nil {
		return Search{}, false
	}
	t := q.moves.searched()
	if t == nil {
		return Search{}, false
	}
	return Search{
		queue: id, arn: q.cfg.ARN, task: t.Started, place: t.place, filter: t.Selection.Filter, ids: t.Selection.IDs,
		retention: Instant(q.cfg.Retention.Milliseconds()), now: e.now,
	}, true
}

// Account returns the account that the queue belongs to.
func (s *Search) Account() string { return accountOf(s.arn) }

// Supply hands the running task of a queue what a search has found for it. It does not mind if the task has ended meanwhile.
func (e *Engine) Supply(id ID, f Found) {
	if q := e.queues[id]; q != nil {
		q.moves.supply(&f)
	}
}

// Run looks through a queue as r has it stored, which must not change meanwhile, from the place of the task on. It ends when it
// has found enough, and when proceed, which is called with the bytes of every message that was looked at, returns false.
func (s Search) Run(r Reader, proceed func(bytes int) bool) (Found, error) {
	x := &searching{Search: s, r: r, wanted: wantedIDs(s.ids), proceed: proceed, found: Found{task: s.task, from: s.place, reached: s.place}}
	var err error
	if x.query, err = search.Parse(s.filter); err != nil {
		x.found.unknownFilter = true
		return x.found, nil //nolint:nilerr // the task tells
	}
	b, err := r.Get(metaKey(s.queue))
	if err == nil && b != nil {
		err = x.meta.decode(b)
	}
	for at := &x.found.reached; err == nil && !x.enough && at.phase < selectEnd; {
		if err = x.scan(); err == nil && !x.enough {
			// A message of the line that is received before it is moved is left to a later look at those that are held.
			x.enough = at.phase == selectLine && len(x.found.messages) > 0
			at.phase++
			at.position = 0
		}
	}
	if err != nil {
		return Found{}, fmt.Errorf("search in queue %d: %w", s.queue, err)
	}
	return x.found, nil
}

// searching is a search under way.
type searching struct {
	Search
	r       Reader
	query   *search.Query
	wanted  map[MessageID]bool // nil: all
	proceed func(bytes int) bool
	meta    meta
	item    itemReader
	found   Found
	enough  bool
}

// scan looks at the messages of a phase behind the place.
func (x *searching) scan() error {
	id, at := x.queue, x.found.reached
	next := at.position + 1
	switch at.phase {
	case selectLine:
		if next, end := max(next, x.meta.line.head), min(at.lineEnd, x.meta.line.next); next < end {
			return x.scanMessages(next, end, nil)
		}
	case selectHeld:
		return x.scanHeld(next, min(at.lineEnd, indexedBit))
	case selectIndexed:
		if next = max(next, x.meta.index.head, indexedBit); next < at.indexedEnd {
			return x.scanMessages(next, at.indexedEnd, &heldAhead{r: x.r, queue: id, next: next})
		}
	}
	return nil
}

// scanMessages looks at stored messages, of which held knows which were received; nil: none.
func (x *searching) scanMessages(from, to Position, held *heldAhead) error {
	var bad error
	err := x.r.Scan(messageKey(x.queue, from), messageKey(x.queue, to), func(k, v []byte) bool {
		p := Position(tail(k, 0))
		var m *received
		if held != nil {
			m, bad = held.find(p)
		}
		bad = firstError(bad, x.look(p, v, m))
		return bad == nil && !x.enough
	})
	return firstError(err, bad)
}

// scanHeld looks at messages that were received.
func (x *searching) scanHeld(from, to Position) error {
	var bad error
	err := x.r.Scan(receivedKey(x.queue, from), receivedKey(x.queue, to), func(k, v []byte) bool {
		p := Position(tail(k, 0))
		m, _, err := decodeReceived(p, v)
		var value []byte
		if err == nil {
			value, err = x.r.Get(messageKey(x.queue, p))
		}
		if err == nil && value == nil {
			err = fmt.Errorf("message %v: %w", p, errMissing)
		}
		if bad = err; bad == nil {
			bad = x.look(p, value, m)
		}
		return bad == nil && !x.enough
	})
	return firstError(err, bad)
}

// look looks at one message. m is nil if it was not received.
func (x *searching) look(p Position, value []byte, m *received) error {
	f := &x.found
	f.reached.position = p
	f.scanned++
	if err := x.item.read(value, m, x.now); err != nil {
		return err
	}
	expired := Instant(x.item.Sent)+x.retention <= x.now
	if !expired && (x.wanted == nil || x.wanted[x.item.messageID]) && x.query.Match(&x.item.Item) {
		s := selected{place: f.reached, scanned: f.scanned, id: x.item.messageID}
		if m != nil {
			s.receives = m.receives
		}
		f.messages, f.scanned = append(f.messages, s), 0
	}
	x.enough = !x.proceed(len(value)) || len(f.messages) >= foundAtOnce
	return nil
}
