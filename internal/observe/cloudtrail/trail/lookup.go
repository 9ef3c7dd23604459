package trail

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/observe/budget"
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
	// Request counts the events that are read, and what is found. It may be nil.
	Request *budget.Request
}

// Found is an event and its stored form.
type Found struct {
	Event
	Text string // the event as JSON
}

// ErrCursor reports a cursor that Find has not returned.
var ErrCursor = errors.New("this is no cursor of the trail")

// eventsRead is the maximum number of events of each class that Find reads.
const eventsRead = 20_000

// eventFactor is how many times more memory than its JSON an event takes.
const eventFactor = 4

// Find returns events, the newest first, and the cursor of the next page, which is empty
// behind the last. It reads a bounded number of events: a page can have less than q.Max, or
// none, though there are more behind it.
func (t *Trail) Find(q Query) (found []Found, cursor string, err error) {
	after, err := decodeCursor(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	type hit struct {
		order string // time and id, which are in the key behind the class
		Found
	}
	var hits []hit
	stop := "" // a class was read only up to here
	for _, c := range []class{changes, others} {
		from := keyPrefix + string(c)
		if !q.To.IsZero() {
			from = before(c, q.To.Add(time.Millisecond-1))
		}
		if after != "" {
			from = max(from, keyPrefix+string(c)+after+"\x00")
		}
		n, taken := 0, 0
		var failed error
		err := t.scan(c, from, func(k string, v []byte) bool {
			if !q.From.IsZero() && timeOf(k).Before(q.From) {
				return false
			}
			order := k[keyTime:]
			if n++; n > eventsRead || taken > q.Max {
				if stop == "" || order < stop {
					stop = order
				}
				return false
			}
			if failed = q.Request.Work(1); failed != nil {
				return false
			}
			var e Event
			if failed = json.Unmarshal(v, &e); failed != nil {
				return false
			}
			if e.RecipientAccountID == q.Account && (q.Wanted == nil || q.Wanted(&e)) {
				if failed = q.Request.Hold(eventFactor * len(v)); failed != nil {
					return false
				}
				taken++
				hits = append(hits, hit{order, Found{e, string(v)}})
			}
			return true
		})
		if err = errors.Join(err, failed); err != nil {
			return nil, "", err
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return strings.Compare(a.order, b.order) })
	last := after
	for _, h := range hits {
		if stop != "" && h.order >= stop {
			break
		}
		if len(found) == q.Max {
			return found, encodeCursor(last), nil
		}
		found, last = append(found, h.Found), h.order
	}
	if stop != "" {
		return found, encodeCursor(previous(stop)), nil // to go on with the event at which the reading has stopped
	}
	return found, "", nil
}

// previous returns the greatest cursor behind which order is.
func previous(order string) string {
	b := []byte(order)
	for i := len(b) - 1; i >= 0; i-- {
		b[i]--
		if b[i] != 0xff {
			break
		}
	}
	return string(b)
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
