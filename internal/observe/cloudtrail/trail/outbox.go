package trail

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/control"
)

// An outbox lists the events that still have to be delivered somewhere, in the order in which they were written. An
// event is put on the list in the commit that first writes it, so that none is missed, and each is listed once.
//
//	255 "trail/x" outbox (16 bytes) number (8 bytes)   time of the commit in ms (8 bytes), key of the event
//	255 "trail/n"                                      the last number that was given (8 bytes)
//
// Numbers grow from commit to commit, independent of clocks and of the node that owns the control store.
const (
	outboxPrefix = keyPrefix + "x"
	numberKey    = keyPrefix + "n"
	outboxLength = len(outboxPrefix) + 16 + 8
)

// maxOutbox is the approximate maximum size of an outbox on the disk, in bytes. If an outbox is not emptied, its oldest
// entries are dropped first.
const maxOutbox = 32 << 20

// Selector selects the outboxes of events.
type Selector interface {
	// Any reports whether there is any outbox.
	Any() bool
	// Select returns the outboxes for the event.
	Select(*Event) []uuid.UUID
}

// Waiting is an event in an outbox.
type Waiting struct {
	Event
	Number uint64
	Added  time.Time
	Text   []byte // the event as JSON
}

// SelectBy sets the selector for events from now on.
func (t *Trail) SelectBy(s Selector) { t.selector.Store(&s) }

// put adds an event, and its entry in the list of its account, to a change. If it is not stored yet, it is also added
// to its outboxes.
func (t *Trail) put(tx *control.Tx, e Entry, now time.Time) error {
	if s := t.selector.Load(); s != nil && (*s).Any() {
		was, err := tx.Get(e.Key)
		if err != nil {
			return err
		}
		if was == nil {
			if err := t.enlist(tx, *s, e, now); err != nil {
				return err
			}
		}
	}
	tx.Put(e.Key, e.Value)
	t.list(tx, e, now)
	return nil
}

func (t *Trail) enlist(tx *control.Tx, s Selector, e Entry, now time.Time) error {
	var event Event
	if err := json.Unmarshal(e.Value, &event); err != nil {
		return fmt.Errorf("an event cannot be read: %w", err)
	}
	outboxes := s.Select(&event)
	if len(outboxes) == 0 {
		return nil
	}
	number, err := NextNumber(tx)
	if err != nil {
		return err
	}
	value := binary.BigEndian.AppendUint64(nil, uint64(now.UnixMilli()))
	value = append(value, e.Key...)
	for _, id := range outboxes {
		tx.Put(outboxKey(id, number), value)
	}
	return nil
}

// NextNumber returns a number that is greater than all earlier ones.
func NextNumber(tx *control.Tx) (uint64, error) {
	last, err := tx.Get(numberKey)
	if err != nil {
		return 0, err
	}
	number := uint64(1)
	if len(last) == 8 {
		number += binary.BigEndian.Uint64(last)
	}
	tx.Put(numberKey, binary.BigEndian.AppendUint64(nil, number))
	return number, nil
}

func outboxKey(id uuid.UUID, number uint64) string {
	return string(binary.BigEndian.AppendUint64(append([]byte(outboxPrefix), id[:]...), number))
}

// Outbox returns the oldest events in an outbox that were added by a time: at most most of them, with at most size
// bytes of text together, or a single one. It skips events that are no longer stored because they were too old or too
// many; lost is their number. Last is the number of the last entry that was read, 0 if there is none.
func (t *Trail) Outbox(
	id uuid.UUID, most, size int, by time.Time,
) (waiting []Waiting, lost int, last uint64, err error) {
	var failed error
	err = t.store().Scan([]byte(outboxKey(id, 0)), []byte(outboxEnd(id)), func(k, v []byte) bool {
		added, key, ok := readOutbox(k, v)
		if !ok {
			failed = fmt.Errorf("the entry %x of an outbox cannot be read", k)
			return false
		}
		if added.After(by) || len(waiting) >= most {
			return false
		}
		number := binary.BigEndian.Uint64(k[outboxLength-8:])
		text, err := t.store().Get(key)
		if err != nil {
			failed = err
			return false
		}
		if text == nil {
			lost++
			last = number
			return true
		}
		if size -= len(text); size < 0 && len(waiting) > 0 {
			return false
		}
		w := Waiting{Number: number, Added: added, Text: text}
		if failed = json.Unmarshal(text, &w.Event); failed != nil {
			return false
		}
		waiting, last = append(waiting, w), number
		return true
	})
	if err == nil {
		err = failed
	}
	return waiting, lost, last, err
}

// Oldest returns when the oldest event in an outbox was added, and whether there is one.
func (t *Trail) Oldest(id uuid.UUID) (added time.Time, ok bool, err error) {
	err = t.store().Scan([]byte(outboxKey(id, 0)), []byte(outboxEnd(id)), func(k, v []byte) bool {
		added, _, ok = readOutbox(k, v)
		return false
	})
	return added, ok, err
}

func readOutbox(k, v []byte) (added time.Time, key []byte, ok bool) {
	if len(k) != outboxLength || len(v) != 8+keyLength || !bytes.HasPrefix(v[8:], []byte(keyPrefix)) {
		return added, nil, false
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(v))).UTC(), v[8:], true
}

// Delivered removes the entries of an outbox up to a number.
func Delivered(tx *control.Tx, id uuid.UUID, last uint64) {
	tx.DeleteRange(outboxKey(id, 0), outboxKey(id, last+1))
}

// Forget removes an outbox.
func Forget(tx *control.Tx, id uuid.UUID) { tx.DeleteRange(outboxKey(id, 0), outboxEnd(id)) }

// outboxEnd returns the key behind all entries of an outbox.
func outboxEnd(id uuid.UUID) string { return outboxKey(id, ^uint64(0)) + "\x00" }

// Outboxes returns the ids of the outboxes that have entries.
func (t *Trail) Outboxes() (ids []uuid.UUID, err error) {
	from, end := outboxPrefix, keyPrefix+"y"
	for {
		found := false
		err = t.store().Scan([]byte(from), []byte(end), func(k, _ []byte) bool {
			if found = len(k) == outboxLength; found {
				id := uuid.UUID(k[len(outboxPrefix):])
				ids = append(ids, id)
				from = outboxEnd(id)
			}
			return false
		})
		if err != nil || !found {
			return ids, err
		}
	}
}

// trimOutboxes removes the older half of each outbox that has become too long.
func (t *Trail) trimOutboxes() error {
	ids, err := t.Outboxes()
	if err != nil {
		return err
	}
	for _, id := range ids {
		use, err := t.store().DiskUse([]byte(outboxKey(id, 0)), []byte(outboxEnd(id)))
		if err != nil {
			return err
		}
		if use <= maxOutbox {
			continue
		}
		middle, n, err := t.middle(id)
		if err != nil {
			return err
		}
		t.log.Warn("events that wait to be brought to the bucket of a trail are dropped: they are too many", "outbox", id, "events", n)
		err = t.control.Change(context.Background(), func(tx *control.Tx) error {
			Delivered(tx, id, middle)
			return nil
		})
		if err != nil {
			return err
		}
		t.undelivered.Add(n)
	}
	return nil
}

// middle returns the number halfway between the first entry of an outbox and the last number, and how many entries
// there are up to it.
func (t *Trail) middle(id uuid.UUID) (middle, entries uint64, err error) {
	last, err := t.store().Get([]byte(numberKey))
	if err != nil || len(last) != 8 {
		return 0, 0, err
	}
	first := binary.BigEndian.Uint64(last)
	err = t.store().Scan([]byte(outboxKey(id, 0)), []byte(outboxEnd(id)), func(k, _ []byte) bool {
		first = binary.BigEndian.Uint64(k[outboxLength-8:])
		return false
	})
	if err != nil {
		return 0, 0, err
	}
	middle = first/2 + binary.BigEndian.Uint64(last)/2
	err = t.store().Scan([]byte(outboxKey(id, 0)), []byte(outboxKey(id, middle+1)), func(_, _ []byte) bool {
		entries++
		return true
	})
	return middle, entries, err
}
