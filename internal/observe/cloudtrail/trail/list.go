package trail

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/sluicemq/sluice/internal/control"
)

// Each account has a list of its events of both classes, the newest first, so that a lookup reads no events of others.
//
//	255 "trail/a" account "/" time id (as in the key of the event) class   nothing
//	255 "trail/m"                                                          a time in ms (8 bytes)
//	255 "trail/u"                                                          nothing
//
// An event is put on the list in the commit that stores it. Programs that do not know lists store events without them,
// and may have owned the control store at any time. So a node that becomes its owner lists the events that they have
// left unlisted: everything if there is no mark, otherwise the events that are newer than the mark, with a margin of
// unlistedFor for those that waited. Events that it stores before it has done so are on their lists, but hide that
// others are not: the key "trail/u" says so. Lookups read the events of all accounts while there is that key or no
// mark, while events have left the mark behind, or while the newest event is on no list.
const (
	listPrefix = keyPrefix + "a"
	markKey    = keyPrefix + "m"
	unlisted   = keyPrefix + "u"
	// markEvery is how often the mark moves while events are stored.
	markEvery   = time.Minute
	unlistedFor = time.Hour
	// listedAtOnce is how many events one change lists.
	listedAtOnce = 2000
)

// listKey returns the entry of an event in the list of its account.
func listKey(account, event string) string {
	return listOf(account) + event[keyTime:] + event[keyTime-1:keyTime]
}

func listOf(account string) string { return listPrefix + account + "/" }

func endOfList(account string) string { return listPrefix + account + "0" } // which is behind the slash

// ofList returns the order and the key of the event of an entry of a list.
func ofList(account, entry string) (order, event string) {
	order, class := entry[len(listOf(account)):len(entry)-1], entry[len(entry)-1:]
	return order, keyPrefix + class + order
}

// recipient returns the account that an event belongs to.
func recipient(event []byte) string { return last(event, `"recipientAccountId":"`) }

// list adds an event to the list of its account, and moves the mark if the lists have all events.
func (t *Trail) list(tx *control.Tx, e Entry, now time.Time) {
	tx.Put(listKey(recipient(e.Value), e.Key), nil)
	if !t.listing.Load() {
		tx.Put(unlisted, nil)
	}
	if marked := t.marked.Load(); t.listing.Load() && now.UnixMilli()-marked >= markEvery.Milliseconds() {
		tx.Put(markKey, binary.BigEndian.AppendUint64(nil, uint64(now.UnixMilli())))
		t.marked.Store(now.UnixMilli())
	}
}

// mark returns the time up to which the lists have all events, or the zero time.
func (t *Trail) mark() (time.Time, error) {
	b, err := t.store().Get([]byte(markKey))
	if err != nil || len(b) != 8 {
		return time.Time{}, err
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(b))), nil
}

// listed reports whether the lists have all events, as far as the mark and the newest events show: a program without
// lists may own the control store at present.
func (t *Trail) listed() (bool, error) {
	mark, err := t.mark()
	if err != nil || mark.IsZero() {
		return false, err
	}
	if some, err := t.hasUnlisted(); some || err != nil {
		return false, err
	}
	for _, c := range []class{changes, others} {
		entry, at := "", time.Time{}
		err := t.scan(c, keyPrefix+string(c), func(k string, v []byte) bool {
			entry, at = listKey(recipient(v), k), timeOf(k)
			return false
		})
		if err != nil || at.After(mark.Add(2*markEvery)) {
			return false, err
		}
		if entry == "" {
			continue
		}
		if on, err := t.store().Get([]byte(entry)); on == nil || err != nil {
			return false, err
		}
	}
	return true, nil
}

// hasUnlisted reports whether events were stored by a program that had not yet listed those of others.
func (t *Trail) hasUnlisted() (bool, error) {
	b, err := t.store().Get([]byte(unlisted))
	return b != nil, err
}

// allListed removes the key that hasUnlisted looks for.
func (t *Trail) allListed() error {
	some, err := t.hasUnlisted()
	if !some || err != nil {
		return err
	}
	return t.control.Change(context.Background(), func(tx *control.Tx) error { tx.Delete(unlisted); return nil })
}

// listRest lists the events that programs without lists have stored, once for each time that this node begins to own
// the control store.
func (t *Trail) listRest() error {
	if t.listing.Load() {
		return t.allListed()
	}
	mark, err := t.mark()
	if err != nil {
		return err
	}
	for _, c := range []class{changes, others} {
		to := end(c)
		if !mark.IsZero() {
			to = before(c, mark.Add(-unlistedFor))
		}
		for from := keyPrefix + string(c); from != ""; {
			if from, err = t.listFrom(from, to); err != nil {
				return err
			}
		}
	}
	t.listing.Store(true) // the next event that is stored sets the mark
	return t.allListed()
}

// listFrom lists the events from a key up to another one that are on no list. It returns the key from which to
// continue, or "".
func (t *Trail) listFrom(from, to string) (next string, err error) {
	var add []string
	var failed error
	err = t.store().Scan([]byte(from), []byte(to), func(k, v []byte) bool {
		if len(add) == listedAtOnce {
			next = string(k)
			return false
		}
		entry := listKey(recipient(v), string(k))
		was, err := t.store().Get([]byte(entry))
		if was == nil {
			add = append(add, entry)
		}
		failed = err
		return err == nil
	})
	if err = errors.Join(err, failed); err != nil || len(add) == 0 {
		return "", err
	}
	return next, t.control.Change(context.Background(), func(tx *control.Tx) error {
		for _, entry := range add {
			tx.Put(entry, nil)
		}
		return nil
	})
}

// unlistBehind removes the entries of all lists from a time on, backwards.
func (t *Trail) unlistBehind(tx *control.Tx, at time.Time) error {
	behind := before(changes, at)[keyTime:]
	for from := listPrefix; from != ""; {
		account := ""
		err := t.store().Scan([]byte(from), []byte(keyPrefix+"b"), func(k, _ []byte) bool {
			account = string(k[len(listPrefix) : len(k)-(keyLength-keyTime)-2])
			return false
		})
		if err != nil {
			return err
		}
		if from = ""; account != "" {
			tx.DeleteRange(listOf(account)+behind, endOfList(account))
			from = endOfList(account)
		}
	}
	return nil
}
