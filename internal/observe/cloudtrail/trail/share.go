package trail

import (
	"bytes"
	"context"

	"github.com/sluicemq/sluice/internal/control"
)

// removedAtOnce is how many events one change removes by their keys.
const removedAtOnce = 2000

// share divides room, in bytes of events, evenly between the accounts that have events of a class from a key on, and
// between their own calls and those of others. Each keeps its newest ones. So an account with many calls displaces no
// events of others.
func (t *Trail) share(c class, from string, room int) error {
	kept := make(map[string]int) // bytes by beneficiary
	err := t.scan(c, from, func(_ string, v []byte) bool {
		kept[beneficiary(v)] = 0
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

// sharing decides which events of a class are kept.
type sharing struct {
	kept map[string]int // bytes by beneficiary
	each int            // bytes that each may keep
}

// keep reports whether an event, which is the next newest, stays.
func (s *sharing) keep(event []byte) bool {
	of := beneficiary(event)
	s.kept[of] += len(event)
	return s.kept[of] <= s.each
}

// removal has the keys of an event and of its entry in the list of its account.
type removal struct{ event, entry string }

// shareOn removes events from a key on, and returns the key from which to continue, or "".
func (t *Trail) shareOn(c class, from string, s *sharing) (next string, err error) {
	var (
		remove []removal
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
			remove = append(remove, removal{k, listKey(recipient(v), k)})
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
		for i, r := range remove {
			if tx.Delete(r.entry); i < last {
				tx.Delete(r.event)
			}
		}
		if last < len(remove) {
			tx.DeleteRange(remove[last].event, hi)
		}
		return nil
	})
}

// beneficiary returns the share on which an event counts: that of the account that has it, or of its visitors. Refused
// calls of other accounts and of anonymous callers leave events with the owner of the resource; these displace none of
// its own.
func beneficiary(event []byte) string {
	account := recipient(event)
	if caller := first(event, `"accountId":"`); caller != account {
		return account + " visitors"
	}
	return account
}

// first returns the text behind the first occurrence of a name in an event. Only texts stand in front of the account of
// the caller, and texts cannot have the quotes.
func first(event []byte, name string) string {
	return textAt(event, bytes.Index(event, []byte(name)), name)
}

// last returns the text behind the last occurrence of a name. Input of a client stands in front of the account that has
// the event.
func last(event []byte, name string) string {
	return textAt(event, bytes.LastIndex(event, []byte(name)), name)
}

func textAt(event []byte, at int, name string) string {
	if at < 0 {
		return ""
	}
	text, _, _ := bytes.Cut(event[at+len(name):], []byte(`"`))
	return string(text)
}
