package trail_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/store"
)

// blocked returns a trail whose events wait, because another node owns the control store.
func blocked(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	s, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	w.control = control.New(control.Options{Store: s, Follow: true})
	w.Trail = trail.New(trail.Options{Control: w.control})
	return w
}

// long makes an account call an operation with parameters that nearly fill an event, on a resource of another account
// if one is given.
func (w *world) long(account, on string) {
	r, c, op := w.begin("ListThings", account)
	if on != "" {
		c.About.ARN, c.About.Owner = "arn:aws:sqs:us-east-1:"+on+":jobs", on
	}
	r.Parameters([]byte(`{"accountId":"999999999999","x":"` + strings.Repeat("x", 23<<10) + `"}`))
	r.End(op.Elements(new(output)), nil)
}

// sent returns the waiting events of each caller, and their bytes.
func (w *world) sent(t *testing.T) (events map[string]int, size int) {
	t.Helper()
	events = make(map[string]int)
	w.Write(t.Context(), func(_ context.Context, batch []trail.Entry) error {
		before := size
		for _, e := range batch {
			var event trail.Event
			if err := json.Unmarshal(e.Value, &event); err != nil {
				t.Fatal(err)
			}
			events[event.UserIdentity.AccountID]++
			size += len(e.Value)
		}
		if n := size - before; n > 2<<20 {
			t.Errorf("a message of %d bytes", n)
		}
		return nil
	})
	return events, size
}

// While events cannot be written, those of all accounts together are bounded in bytes, and an account with many leaves
// room for the others', whichever account's resources its calls concern.
func TestWaitingIsFair(t *testing.T) {
	t.Parallel()
	w := blocked(t)
	for i := range 400 {
		w.long(account, fmt.Sprintf("%012d", i+1))
	}
	lost := w.Dropped()
	for range 100 {
		w.long(other, "")
	}
	if lost == 0 || w.Dropped() != lost {
		t.Errorf("%d events of the busy account are dropped, and %d of the other", lost, w.Dropped()-lost)
	}
	events, size := w.sent(t)
	if size > trail.MaxPendingBytes || events[other] != 100 || uint64(events[account])+lost != 800 {
		t.Errorf("%d bytes wait: %v", size, events)
	}
	for range 100 { // written events leave room
		w.long(account, "")
	}
	if events, _ = w.sent(t); events[account] != 100 {
		t.Errorf("then %v", events)
	}
}

// Unauthenticated callers can only guess passwords: their attempts do not use the room of the attacked account.
func TestFailedSignInsWaitWithThoseOfStrangers(t *testing.T) {
	t.Parallel()
	w := blocked(t)
	for range trail.MaxPending + 5 {
		w.BeginSignIn(&trail.SignIn{Account: account}).Failed("Failed authentication")
	}
	lost := w.Dropped()
	for range 100 {
		w.long(account, "")
	}
	if lost == 0 || w.Dropped() != lost {
		t.Errorf("%d attempts are dropped, and %d events of the account", lost, w.Dropped()-lost)
	}
}

// A node that owns the control store also divides the room for events between their callers.
func TestEventsOfOtherNodesWaitFairly(t *testing.T) {
	t.Parallel()
	from, to := blocked(t), blocked(t)
	pass := func() {
		from.Write(t.Context(), func(_ context.Context, batch []trail.Entry) error {
			var message bytes.Buffer
			var received []trail.Entry
			err := errors.Join(gob.NewEncoder(&message).Encode(batch), gob.NewDecoder(&message).Decode(&received))
			to.Append(received)
			return err
		})
	}
	for range 5 {
		for range 100 {
			from.long(account, "")
		}
		pass()
	}
	lost := to.Dropped()
	for range 100 {
		from.long(other, "")
	}
	pass()
	if lost == 0 || to.Dropped() != lost {
		t.Errorf("%d events of the busy account are dropped, and %d of the other", lost, to.Dropped()-lost)
	}
}
