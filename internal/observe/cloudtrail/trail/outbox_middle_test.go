package trail

import (
	"encoding/binary"
	"testing"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

// An outbox that is too long loses its older half. The number of lost events is known although all outboxes share one
// sequence of numbers.
func TestMiddleOfOutbox(t *testing.T) {
	t.Parallel()
	s := storetest.Memory(t)
	trail := New(Options{Control: control.New(control.Options{Store: s})})
	one, two := uuid.New(), uuid.New()
	err := trail.control.Change(t.Context(), func(tx *control.Tx) error {
		for n := uint64(11); n <= 30; n++ {
			id := one
			if n%4 == 0 {
				id = two
			}
			tx.Put(outboxKey(id, n), nil)
		}
		tx.Put(numberKey, binary.BigEndian.AppendUint64(nil, 30))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[uuid.UUID]uint64{one: 7, two: 3} { // of 11 to 20, and of 12 to 21
		middle, entries, err := trail.middle(id)
		if err != nil || entries != want {
			t.Errorf("up to %d there are %d entries, want %d; %v", middle, entries, want, err)
		}
	}
}
