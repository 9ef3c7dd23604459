package trail

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
)

// findUnlisted is Find for the time before the accounts have lists of all events: it reads eventsRead events of each
// class, of all accounts.
func (t *Trail) findUnlisted(q Query, after string) (found []Found, cursor string, err error) {
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
			if failed = q.Request.Decode(1); failed != nil {
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
		return found, encodeCursor(previous(stop)), nil // to continue with the event at which the reading has stopped
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
