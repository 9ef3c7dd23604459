package trail_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
)

// call makes an account read a resource or, with change, create one.
func (w *world) call(t *testing.T, name, account string, change bool) {
	t.Helper()
	r, _, op := w.begin(name, account)
	if change {
		put := func(tx *control.Tx) error { tx.Put("thing", nil); return nil }
		if err := w.control.Change(r.Changes(t.Context()), put); err != nil {
			t.Fatal(err)
		}
	}
	r.End(op.Elements(new(output)), nil)
}

// names returns the calls of an account, oldest first, and the number of events that were read to find them.
func (w *world) names(t *testing.T, account string) (names string, read int) {
	t.Helper()
	ctx, end := budget.New(budget.Size).Begin(t.Context(), account)
	defer end()
	found, cursor, err := w.Find(trail.Query{Account: account, Max: 1000, Request: budget.Of(ctx)})
	if err != nil || cursor != "" {
		t.Fatal(cursor, err)
	}
	for _, f := range found {
		names = f.EventName + " " + names
	}
	return strings.TrimSpace(names), budget.Of(ctx).Worked()
}

// older writes events as earlier programs did, which did not list the events of each account.
func (w *world) older(t *testing.T, make func(other *world)) {
	t.Helper()
	from := blocked(t)
	from.now = w.now
	make(from)
	from.Write(t.Context(), func(ctx context.Context, batch []trail.Entry) error {
		return w.control.Change(ctx, func(tx *control.Tx) error {
			for _, e := range batch {
				tx.Put(e.Key, e.Value)
			}
			return nil
		})
	})
}

func (w *world) trim(t *testing.T) {
	t.Helper()
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
}

// listed returns the number of events in the lists of accounts.
func (w *world) listed(t *testing.T) (n int) {
	t.Helper()
	err := w.control.Store().Scan([]byte("\xfftrail/a"), []byte("\xfftrail/b"),
		func(_, _ []byte) bool { n++; return true })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A look-up costs as much as the account has events, however many other accounts have.
func TestLookUpsReadTheEventsOfTheirAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.trim(t)
	w.call(t, "ListFirst", account, false)
	for i := range 300 {
		w.now = w.now.Add(time.Millisecond)
		w.call(t, "Many", other, i%2 == 0)
	}
	w.call(t, "CreateLast", account, true)
	w.Write(t.Context(), nil)
	if names, read := w.names(t, account); names != "ListFirst CreateLast" || read != 2 {
		t.Errorf("%d events were read for %q", read, names)
	}
	if names, read := w.names(t, other); strings.Count(names, "Many") != 300 || read != 300 {
		t.Errorf("%d events were read for those of the other account", read)
	}
}

// Events of older programs are found, before and after they are listed, whenever such a program has written them.
func TestEventsOfOlderProgramsAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := ""
	for i := range 3 {
		w.older(t, func(older *world) {
			older.call(t, fmt.Sprint("ListOld", i), account, false)
			older.call(t, "ListOther", other, false)
		})
		want = strings.TrimSpace(want + fmt.Sprint(" ListOld", i))
		if names, _ := w.names(t, account); names != want {
			t.Errorf("before they are listed: %q, want %q", names, want)
		}
		w.Trail = trail.New(trail.Options{Control: w.control, Now: func() time.Time { return w.now }})
		w.trim(t)
		w.now = w.now.Add(2 * time.Hour)
		w.call(t, fmt.Sprint("CreateNew", i), account, true)
		want += fmt.Sprint(" CreateNew", i)
		if names, read := w.names(t, account); names != want || read != 2*i+2 {
			t.Errorf("%d events were read for %q, want %q", read, names, want)
		}
		w.now = w.now.Add(10 * time.Minute)
	}
}

// So are those of an older program that has owned the control store only for a moment, whichever program is its owner
// now.
func TestEventsOfAnOlderOwnerOfAMomentAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.trim(t)
	w.call(t, "CreateFirst", account, true)
	w.now = w.now.Add(10 * time.Second)
	w.older(t, func(older *world) { older.call(t, "ListOld", account, false) })
	w.now = w.now.Add(10 * time.Second)
	if names, _ := w.names(t, account); names != "CreateFirst ListOld" {
		t.Errorf("while the older program is the owner: %q", names)
	}
	w.Trail = trail.New(trail.Options{Control: w.control, Now: func() time.Time { return w.now }})
	w.call(t, "ListNew", account, false)
	w.call(t, "CreateLast", account, true)
	w.Write(t.Context(), nil)
	want := "CreateFirst ListOld ListNew CreateLast"
	if names, _ := w.names(t, account); names != want {
		t.Errorf("before they are listed: %q, want %q", names, want)
	}
	w.trim(t)
	w.call(t, "CreateOther", other, true)
	if names, read := w.names(t, account); names != want || read != 4 {
		t.Errorf("%d events were read for %q, want %q", read, names, want)
	}
}

// Removed events are on no list.
func TestRemovedEventsAreNotListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.trim(t)
	for range 20 {
		w.call(t, "CreateThing", account, true)
		w.call(t, "ListThings", other, false)
		w.now = w.now.Add(time.Second)
	}
	w.Write(t.Context(), nil)
	if n := w.listed(t); n != 40 {
		t.Errorf("%d events are listed", n)
	}
	if err := w.Share(3000); err != nil {
		t.Fatal(err)
	}
	_, left := w.names(t, other)
	if n := w.listed(t); left == 0 || left == 20 || n != 20+left {
		t.Errorf("%d events are listed, and %d reads remain", n, left)
	}
	w.now = w.now.Add(trail.Retention)
	w.trim(t)
	if n := w.listed(t); n != 0 {
		t.Errorf("%d events are listed at the end", n)
	}
}
