package queue

import (
	"errors"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/store"
)

// A missing row is never mistaken for an empty one: either all messages are delivered without it, or an operation
// fails. A recount misses only three rows: the mark that a message was received, and the record and the place of a FIFO
// group that is held back.
func TestLostRowIsNoticed(t *testing.T) {
	t.Parallel()
	r := populate(t)
	defer r.close()
	total := 0
	for k := range r.keys {
		if k[8] == tableMessage || k[8] == tableOutboxMessage {
			total++
		}
	}
	noticed := make(map[byte]int)
	for k, lost := range r.keys {
		if k[8] == tableReceived {
			continue
		}
		if isHeldBack(r, k, lost.value) {
			continue
		}
		delivered, err := deliverAll(t, r, k)
		switch {
		case errors.Is(err, ErrDamaged):
			noticed[k[8]]++
		case err != nil || delivered != total:
			t.Errorf("without key %q: %d of %d messages, %v", k, delivered, total, err)
		}
	}
	for _, table := range []byte{tableMeta, tableMessage, tableRota, tableMember, tableGroup, tableOutbox,
		tableOutboxMessage} {
		if noticed[table] == 0 {
			t.Errorf("no row of table %c was missed", table)
		}
	}
}

// isHeldBack reports whether a row belongs to a group that has a place in the rota and has had its turn.
func isHeldBack(r *rig, k string, v []byte) bool {
	id, _ := queueOf([]byte(k))
	switch q := r.engine.queues[id]; k[8] {
	case tableGroup:
		g, err := decodeGroupRecord(v)
		return err == nil && g.order < q.rota.head
	case tableRota:
		return tail([]byte(k), 0) < q.rota.head
	}
	return false
}

// deliverAll loads r's data without one key, and receives and deletes all messages, or forwards them.
func deliverAll(t *testing.T, r *rig, without string) (delivered int, err error) {
	t.Helper()
	s, err := store.OpenMemory(store.Options{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := r.now
	transact := func(f func(tx *store.Txn) error) error {
		tx := s.Begin()
		defer tx.Release()
		if err := f(tx); err != nil {
			return err
		}
		return s.Commit(tx)
	}
	var e *Engine
	err = transact(func(tx *store.Txn) (err error) {
		for k, v := range r.keys {
			if k != without {
				tx.Set([]byte(k), v.value)
			}
		}
		e, err = Load(tx, now, r.configs, r.isDeleted, r.keep)
		return err
	})
	for step := 0; step < 40 && err == nil; step++ {
		now = now.Add(5 * time.Second)
		err = transact(func(tx *store.Txn) error {
			e.Begin(tx, now)
			if err := e.Advance(); err != nil {
				return err
			}
			for _, cfg := range r.configs {
				if cfg.Elsewhere {
					n, err := forwardAll(e, cfg.ID)
					delivered += n
					if err != nil {
						return err
					}
					continue
				}
				given, err := e.Receive(cfg.ID, Receive{Max: 10})
				if err != nil {
					return err
				}
				var receipts []Receipt
				for _, d := range given {
					m, err := ReadMessage(tx.Get, cfg.ID, d.Position)
					if err != nil {
						return err
					}
					if m == nil && e.Holds(cfg.ID, d.Position) {
						return errMissing
					}
					receipts = append(receipts, Receipt{d.Position, d.Receipt})
				}
				delivered += len(given)
				if _, err := e.Delete(cfg.ID, receipts); err != nil {
					return err
				}
				for _, d := range given {
					if e.Holds(cfg.ID, d.Position) {
						t.Errorf("%v is held and was deleted", d.Position)
					}
				}
			}
			e.End()
			return nil
		})
	}
	return delivered, err
}

// forwardAll removes everything from an outbox.
func forwardAll(e *Engine, id ID) (int, error) {
	from, _, err := e.Outbox(id)
	if err != nil {
		return 0, err
	}
	all, err := ReadOutbox(e.tx, id, from, 1000, 1<<20)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	return len(all), e.Forwarded(id, all[len(all)-1].Position)
}

// If a record cannot be removed because it is missing, expiry does not continue as if it had been removed.
func TestLostRowIsNoticedByExpiry(t *testing.T) {
	t.Parallel()
	r := populate(t)
	defer r.close()
	for k := range r.keys {
		switch k[8] {
		case tableAge, tableMember, tableDelay:
		default:
			continue
		}
		tx := r.store.Begin()
		tx.Delete([]byte(k))
		e, err := Load(tx, r.now, r.configs, r.isDeleted, r.keep)
		for now := r.now.Add(2 * time.Hour); err == nil && e.NextWake() <= now; now++ {
			e.Begin(tx, now)
			err = e.Advance()
			e.End()
		}
		tx.Release()
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("without key %q: %v", k, err)
		}
	}
}
