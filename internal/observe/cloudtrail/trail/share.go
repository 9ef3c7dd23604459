package trail

import (
	"bytes"
	"context"

	"github.com/sluicemq/sluice/internal/control"
)

// removedAtOnce is how many events one change removes by their keys.
const removedAtOnce = 2000

// share divides room, in bytes of events, evenly between the accounts that have events of a class from a key on. Each
// keeps its newest ones. So an account with many calls displaces no events of others.
func (t *Trail) share(c class, from string, room int) error {
	kept := make(map[string]int) // bytes by account
	err := t.scan(c, from, func(_ string, v []byte) bool {
		kept[recipient(v)] = 0
		return true
	})
	if err != nil || len(kept) == 0 {
		return err
	}
	s := sharing{kept: kept, each: room / len(kept)}
	for from != "" {
		if from, err = t.shareOn(c, from, &s); err != nil {
			return err
		}
	}
	return nil
}

// sharing is what accounts keep of a class.
type sharing struct {
	kept map[string]int // bytes by account
	each int            // bytes that an account may keep
}

// keep reports whether an event, which is the next newest, stays.
func (s *sharing) keep(event []byte) bool {
	account := recipient(event)
	s.kept[account] += len(event)
	return s.kept[account] <= s.each
}

// shareOn removes events from a key on, and returns the key from which to go on, or "".
func (t *Trail) shareOn(c class, from string, s *sharing) (next string, err error) {
	var (
		remove []string
		last   int // how many of these are in front of an event that stays
	)
	err = t.scan(c, from, func(k string, v []byte) bool {
		if len(remove) == removedAtOnce {
			next = k
			return false
		}
		if s.keep(v) {
			last = len(remove)
		} else {
			remove = append(remove, k)
		}
		return true
	})
	if err != nil || len(remove) == 0 {
		return "", err
	}
	hi := next
	if hi == "" {
		hi = end(c)
	}
	return next, t.control.Change(context.Background(), func(tx *control.Tx) error {
		for _, k := range remove[:last] {
			tx.Delete(k)
		}
		if last < len(remove) {
			tx.DeleteRange(remove[last], hi)
		}
		return nil
	})
}

// recipient returns the account of an event in its stored form. Input of a client stands in front of it, or cannot have
// the quotes.
func recipient(event []byte) string {
	const name = `"recipientAccountId":"`
	i := bytes.LastIndex(event, []byte(name))
	if i < 0 {
		return ""
	}
	account, _, _ := bytes.Cut(event[i+len(name):], []byte(`"`))
	return string(account)
}
