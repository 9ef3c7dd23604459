package control_test

import (
	"errors"
	"testing"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	c := control.New(control.Options{Store: storetest.Memory(t)})
	number, err := control.Decide(t.Context(), c.Change, func(tx *control.Tx) (int, error) {
		tx.Put("a", nil)
		return 7, nil
	})
	if number != 7 || err != nil {
		t.Errorf("got %d, %v", number, err)
	}
	refused := errors.New("no")
	number, err = control.Decide(t.Context(), c.Change, func(*control.Tx) (int, error) { return 8, refused })
	if number != 0 || !errors.Is(err, refused) {
		t.Errorf("refused: got %d, %v", number, err)
	}
}

// A caller that no longer waits for a blocked disk has an error and no value, whether the change is made or not. With a
// shared variable, the error could become nil before the caller read it, which the race detector reported.
func TestDecideOnABlockedDisk(t *testing.T) {
	t.Parallel()
	s, full := small(t)
	c := control.New(control.Options{Store: s})
	all := register(t, c, "")
	begun, goOn := make(chan struct{}), make(chan struct{})
	ended := make(chan struct{})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		value, err := control.Decide(t.Context(), c.Change, func(tx *control.Tx) (*string, error) {
			defer close(ended)
			close(begun)
			<-goOn
			v := "decided late"
			tx.Put("late", []byte(v))
			return &v, nil
		})
		if value != nil || !isStuck(err) {
			t.Errorf("got %v, %v", value, err)
		}
	}()
	<-begun
	full.Store(true)
	other := make(chan error, 1)
	go func() { // finds that the disk is full
		tx := s.Begin()
		defer tx.Release()
		tx.Set([]byte("other"), nil)
		other <- s.Commit(tx)
	}()
	<-answered
	close(goOn)
	<-ended
	full.Store(false)
	if err := <-other; err != nil {
		t.Error(err)
	}
	eventually.Succeeds(t, func() error { return put(c, "after", "x") })
	all[0].want(t, map[string]string{"late": "decided late", "after": "x"})
}
