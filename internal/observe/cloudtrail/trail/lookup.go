package trail

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/store"
)

// Query selects events of one account.
type Query struct {
	Account string
	// From and To are the times of the first and of the last event, inclusive. Zero means no limit.
	From, To time.Time
	// Wanted selects events. Nil selects all.
	Wanted func(*Event) bool
	Max    int
	// Cursor is the end of the previous page, empty for the first page.
	Cursor string
	// Request counts the events that are read and found. It may be nil.
	Request *budget.Request
}

// Found is an event and its stored form.
type Found struct {
	Event
	Text string // the event as JSON
}

// ErrCursor reports a cursor that Find has not returned.
var ErrCursor = errors.New("this is no cursor of the trail")

// eventsRead is the maximum number of events that Find reads.
const eventsRead = 20_000

// eventFactor is how many times more memory than its JSON an event takes.
const eventFactor = 4

// Find returns events, the newest first, and the cursor of the next page, which is empty behind the last. It reads a
// bounded number of the account's events, and none of others: a page can have fewer than q.Max, or none, though more
// follow it.
func (t *Trail) Find(q Query) (found []Found, cursor string, err error) {
	after, err := decodeCursor(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	listed, err := t.listed()
	if err != nil {
		return nil, "", err
	}
	if !listed {
		return t.findUnlisted(q, after)
	}
	return t.findListed(q, after)
}

func (t *Trail) findListed(q Query, after string) (found []Found, cursor string, err error) {
	r := reading{q: q, last: after}
	err = t.store().Scan([]byte(q.first(after)), []byte(endOfList(q.Account)), func(k, _ []byte) bool {
		order, key := ofList(q.Account, string(k))
		if !q.From.IsZero() && timeOf(key).Before(q.From) {
			return false
		}
		if len(r.found) == q.Max || r.read == eventsRead {
			r.more = true
			return false
		}
		r.failed = r.take(t.store(), order, key)
		return r.failed == nil
	})
	if err = errors.Join(err, r.failed); err != nil {
		return nil, "", err
	}
	if r.more {
		cursor = encodeCursor(r.last)
	}
	return r.found, cursor, nil
}

// first returns the key in the list of the account at which to begin.
func (q *Query) first(after string) string {
	from := listOf(q.Account)
	if !q.To.IsZero() {
		from += before(changes, q.To.Add(time.Millisecond-1))[keyTime:]
	}
	if after != "" {
		from = max(from, listOf(q.Account)+after+"\xff")
	}
	return from
}

// reading is a page in progress.
type reading struct {
	q      Query
	found  []Found
	last   string // the order of the event that was read last
	read   int
	more   bool // there are events behind the page
	failed error
}

// take reads an event, and adds it to the page if it is wanted. An older program may have removed it.
func (r *reading) take(s *store.Store, order, key string) error {
	r.read++
	if err := r.q.Request.Decode(1); err != nil {
		return err
	}
	text, err := s.Get([]byte(key))
	if err != nil {
		return err
	}
	r.last = order
	if text == nil {
		return nil
	}
	var e Event
	if err := json.Unmarshal(text, &e); err != nil {
		return fmt.Errorf("read an event: %w", err)
	}
	if r.q.Wanted != nil && !r.q.Wanted(&e) {
		return nil
	}
	if err := r.q.Request.Hold(eventFactor * len(text)); err != nil {
		return err
	}
	r.found = append(r.found, Found{e, string(text)})
	return nil
}

const cursorLength = keyLength - keyTime

func encodeCursor(order string) string { return base64.RawURLEncoding.EncodeToString([]byte(order)) }

func decodeCursor(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != cursorLength {
		return "", ErrCursor
	}
	return string(b), nil
}
