package trail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/control"
)

const (
	// Retention is how long events are kept.
	Retention = 90 * 24 * time.Hour
	// trimEvery is how often old events are removed.
	trimEvery = time.Minute
)

// most is the approximate maximum size of the events of a class on the disk, in bytes. The newest events of all
// accounts take three quarters of it. In the last quarter each account keeps as many older events as the others.
var most = map[class]uint64{changes: 256 << 20, others: 64 << 20}

// Trim removes events that are older than Retention, or too many, at most once a minute. At first it lists events that
// are on no list. It does nothing if another node owns the control store.
func (t *Trail) Trim() error {
	now := t.now()
	if t.control.Elsewhere() {
		t.listing.Store(false)
		return nil
	}
	if err := t.listRest(); err != nil {
		return fmt.Errorf("list the events of each account: %w", err)
	}
	if now.Before(t.trimmed.Add(trimEvery)) {
		return nil
	}
	t.trimmed = now
	return errors.Join(t.trim(changes, now), t.trim(others, now), t.trimOutboxes())
}

func (t *Trail) trim(c class, now time.Time) error {
	if err := t.removeBehind(c, now.Add(-Retention)); err != nil {
		return err
	}
	behind, err := t.behindNewest(c, now)
	if err != nil || behind == "" {
		return err
	}
	room := most[c] / 4
	use, err := t.store().DiskUse([]byte(behind), []byte(end(c)))
	if err != nil || use <= room {
		return err
	}
	return t.share(c, behind, int(room))
}

// behindNewest returns the key behind the newest events, or "" if all events together fit into the room for the newest.
func (t *Trail) behindNewest(c class, now time.Time) (string, error) {
	for span := Retention; ; span = span * 7 / 8 {
		key := before(c, now.Add(-span))
		use, err := t.store().DiskUse([]byte(keyPrefix+string(c)), []byte(key))
		if err != nil {
			return "", err
		}
		if use > most[c]*3/4 && span >= time.Second {
			continue
		}
		if span == Retention {
			key = ""
		}
		return key, nil
	}
}

// removeBehind removes the events of a class from a time on, backwards.
func (t *Trail) removeBehind(c class, at time.Time) error {
	old, from := false, before(c, at)
	if err := t.scan(c, from, func(string, []byte) bool { old = true; return false }); err != nil || !old {
		return err
	}
	return t.control.Change(context.Background(), func(tx *control.Tx) error {
		tx.DeleteRange(from, end(c))
		return t.unlistBehind(tx, at)
	})
}
