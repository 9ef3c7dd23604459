package fairshare_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/sluicemq/sluice/internal/tool/fairshare"
)

// Computations that cost little do not wait. Long ones take turns: after each slice, another name comes next.
func TestComputationsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := fairshare.NewSlices(fairshare.SliceOptions{Places: 1, Free: 10, Slice: 100})
		order := ""
		compute := func(name string, costs ...int) {
			go func() {
				c := s.Begin(t.Context(), name)
				defer c.End()
				for _, cost := range costs {
					if err := c.Spend(cost); err != nil {
						t.Error(err)
					}
					order += name
				}
			}()
			synctest.Wait()
		}
		holder := s.Begin(t.Context(), "other")
		if err := holder.Spend(11); err != nil {
			t.Fatal(err)
		}
		compute("s", 5, 5)
		compute("a", 60, 60, 60, 60)
		compute("a", 60, 60)
		compute("b", 60, 60)
		if order != "ss" {
			t.Errorf("%q did not wait", order)
		}
		holder.End()
		synctest.Wait()
		if order != "ssaabbaaaa" {
			t.Errorf("order: %s", order)
		}
	})
}

func TestAComputationEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := fairshare.NewSlices(fairshare.SliceOptions{Places: 1})
	holder := s.Begin(t.Context(), "a")
	defer holder.End()
	if err := holder.Spend(1); err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	waiting := s.Begin(ctx, "b")
	spent := make(chan error)
	go func() { spent <- waiting.Spend(1) }()
	cancel(gone)
	if err := <-spent; !errors.Is(err, gone) {
		t.Errorf("%v, want %v", err, gone)
	}
	if err := waiting.Spend(1); !errors.Is(err, gone) {
		t.Errorf("%v, want %v", err, gone)
	}
	waiting.End()
}
