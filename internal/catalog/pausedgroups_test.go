package catalog_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

// Groups are paused when all programs support it. A catalog that is opened again records that it has some.
func TestPausesWaitForAllPrograms(t *testing.T) {
	t.Parallel()
	ctl := control.New(control.Options{Store: storetest.Memory(t)})
	if err := ctl.Change(t.Context(), catalog.Initialise); err != nil {
		t.Fatal(err)
	}
	old, required := errors.New("old"), 0
	open := func(ctl *control.Control) *catalog.Catalog {
		c, err := catalog.Open(catalog.Options{Control: ctl, Formats: control.Formats{
			Ready: func(format int) error {
				if format == formats.PausedGroups {
					return old
				}
				return nil
			},
			Require: func(format int) error {
				if format == formats.PausedGroups {
					required++
				}
				return nil
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := open(ctl)
	q, err := create(c, named("q.fifo"), catalog.Attributes{FIFO: true}, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	pause := func(names ...string) error {
		_, err := c.PauseGroups(t.Context(), q, names)
		return err
	}
	if err := pause("a"); !errors.Is(err, old) || required != 0 || c.Find(q.Name).PausedGroups != nil {
		t.Errorf("%v, required %d times", err, required)
	}
	old = nil
	if err := pause("b", "a", "b"); err != nil || required != 1 {
		t.Errorf("%v, required %d times", err, required)
	}
	for _, shard := range []int{1, 2} {
		if got := fmt.Sprint(c.Find(q.Name).ConfigOn(shard).PausedGroups); got != "[a b]" {
			t.Errorf("shard %d: %s", shard, got)
		}
	}
}
