package control_test

import (
	"errors"
	"testing"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

// A change that With adds to a context is made with the main change, or not at all.
func TestWith(t *testing.T) {
	t.Parallel()
	c := control.New(control.Options{Store: storetest.Memory(t)})
	all := register(t, c, "")[0]
	refused := errors.New("no")
	var fault error
	ctx := control.With(t.Context(), func(tx *control.Tx) error {
		tx.Put("who", []byte("bob"))
		return fault
	})
	change := func(f func(*control.Tx) error) error { return c.Change(ctx, f) }
	if err := change(func(tx *control.Tx) error { tx.Put("what", nil); return refused }); !errors.Is(err, refused) {
		t.Fatal(err)
	}
	if err := change(func(*control.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	all.want(t, map[string]string{})
	if err := change(func(tx *control.Tx) error { tx.Put("what", nil); return nil }); err != nil {
		t.Fatal(err)
	}
	all.want(t, map[string]string{"what": "", "who": "bob"})
	fault = refused
	if err := change(func(tx *control.Tx) error { tx.Put("more", nil); return nil }); !errors.Is(err, refused) {
		t.Fatal(err)
	}
	all.want(t, map[string]string{"what": "", "who": "bob"})
	if len(all.told) != 1 {
		t.Errorf("notified of %v", all.told)
	}
}
