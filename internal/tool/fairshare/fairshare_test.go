package fairshare_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/sluicemq/sluice/internal/tool/fairshare"
)

// taker takes a place as soon as it can, and records the holders.
type taker struct {
	*testing.T
	places *fairshare.Places
	order  chan func() // the functions that return the places, in the order of the takes
	names  chan string
}

func newTaker(t *testing.T, o fairshare.Options) *taker {
	return &taker{t, fairshare.New(o), make(chan func(), 1000), make(chan string, 1000)}
}

func (k *taker) take(n int, names ...string) {
	for range n {
		go func() {
			give, err := k.places.Take(k.Context(), names...)
			if err != nil {
				return
			}
			k.names <- names[0]
			k.order <- give
		}()
		synctest.Wait()
	}
}

func (k *taker) held(want int, names ...string) {
	k.Helper()
	if got := k.places.Held(names...); got != want {
		k.Errorf("%v hold %d places, want %d", names, got, want)
	}
}

// A name that wants many places does not delay one that wants few: each time a place is returned, the names take turns.
func TestNamesTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newTaker(t, fairshare.Options{Places: 1})
		k.take(10, "greedy")
		k.take(3, "modest")
		order := ""
		for range 13 {
			order += (<-k.names)[:1]
			(<-k.order)()
			synctest.Wait()
		}
		if order != "gmgmgmggggggg" {
			t.Errorf("order: %s", order)
		}
		k.held(0)
	})
}

// A name that returns again and again, each time after it has returned its place, does not overtake one that waits.
func TestThoseWhoComeAgainWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newTaker(t, fairshare.Options{Places: 1})
		k.take(1, "again")
		k.take(5, "waits")
		order := ""
		for range 10 {
			name := <-k.names
			order += name[:1]
			give := <-k.order
			if name == "again" {
				k.take(1, "again")
			}
			give()
			synctest.Wait()
		}
		if order != "awwawawawa" {
			t.Errorf("order: %s", order)
		}
		for len(k.order) > 0 { // let the rest end
			(<-k.order)()
			synctest.Wait()
		}
	})
}

// Names that hold their places for any length of time leave some for others, on each level.
func TestReserve(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newTaker(t, fairshare.Options{Places: 64, Reserve: true})
		for i := range 100 {
			k.take(1, "a", fmt.Sprint(i))
		}
		k.held(32, "a")
		k.take(100, "b", "one host")
		k.held(11, "b", "one host") // a third of b's possible places: 32 places are free
		k.take(1, "b", "another host")
		k.held(1, "b", "another host")
		k.take(1, "c", "host")
		k.held(1, "c")
		k.held(45)
	})
}

func TestFewerPlacesComeFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newTaker(t, fairshare.Options{Places: 4})
		k.take(10, "a")
		k.held(4, "a")
		k.take(2, "b")
		(<-k.order)()
		synctest.Wait()
		k.held(1, "b")
		(<-k.order)()
		synctest.Wait()
		k.held(2, "b")
		k.held(2, "a")
	})
}

// With any number of concurrent callers, no place is lost and none is taken twice.
func TestPlacesAreNeitherLostNorDoubled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		places := fairshare.New(fairshare.Options{Places: 3})
		var now, wrong atomic.Int64
		for i := range 300 {
			go func() {
				ctx, cancel := context.WithCancel(t.Context())
				if i%3 == 0 {
					go cancel()
				}
				defer cancel()
				give, err := places.Take(ctx, fmt.Sprint(i%7), fmt.Sprint(i%11))
				if err != nil {
					return
				}
				if now.Add(1) > 3 {
					wrong.Add(1)
				}
				now.Add(-1)
				give()
				give()
			}()
		}
		synctest.Wait()
		if n := places.Held(); n != 0 || wrong.Load() != 0 {
			t.Errorf("%d places are held at the end; %d times there were too many", n, wrong.Load())
		}
	})
}

func TestEachNameHasAFewPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newTaker(t, fairshare.Options{Places: 100, Each: 2})
		k.take(3, "a", "one")
		k.take(3, "a", "another")
		k.take(1, "b")
		k.held(2, "a")
		k.held(1, "b")
		(<-k.order)()
		synctest.Wait()
		k.held(2, "a")
	})
}
