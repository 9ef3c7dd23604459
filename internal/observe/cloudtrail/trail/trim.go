package trail

import (
	"context"
	"errors"
	"time"

	"github.com/sluicemq/sluice/internal/control"
)

const (
	// Retention is how long events are kept.
	Retention = 90 * 24 * time.Hour
	// trimEvery is how often old events are removed.
	trimEvery = time.Minute
)

// most is the approximate maximum size of the events of a class on the disk, in bytes.
var most = map[class]uint64{changes: 256 << 20, others: 64 << 20}

// Trim removes events that are older than Retention, or too many, at most once a minute. It does nothing if another
// node owns the control store.
func (t *Trail) Trim() error {
	now := t.now()
	if t.control.Elsewhere() || now.Before(t.trimmed.Add(trimEvery)) {
		return nil
	}
	t.trimmed = now
	return errors.Join(t.trim(changes, now), t.trim(others, now), t.trimOutboxes())
}

func (t *Trail) trim(c class, now time.Time) error {
	oldest := now.Add(-Retention)
	for span := now.Sub(oldest); ; {
		use, err := t.store().DiskUse([]byte(keyPrefix+string(c)), []byte(before(c, oldest)))
		if err != nil {
			return err
		}
		if use <= most[c] || span < time.Second {
			break
		}
		span = span * 7 / 8
		oldest = now.Add(-span)
	}
	lo, hi := before(c, oldest), end(c)
	old := false
	if err := t.scan(c, lo, func(string, []byte) bool { old = true; return false }); err != nil || !old {
		return err
	}
	return t.control.Change(context.Background(), func(tx *control.Tx) error {
		tx.DeleteRange(lo, hi)
		return nil
	})
}
