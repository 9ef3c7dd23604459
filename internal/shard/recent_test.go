package shard_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
)

// A recently sent message is not read from the store.
func TestRecentMessageFromMemory(t *testing.T) {
	for id, then := range map[queue.ID][]string{jobs: {"b", "c"}, orders: {"a", "b", "c"}} {
		r := newRig(t)
		r.send(t, id, "a", "b", "c")
		tx := r.store.Begin()
		tx.DeleteRange([]byte{0, 0, 0, 0, 0, 0, 0, byte(id), 'm'}, []byte{0, 0, 0, 0, 0, 0, 0, byte(id), 'm' + 1})
		if err := r.store.Commit(tx); err != nil {
			t.Fatal(err)
		}
		tx.Release()
		if id == jobs {
			equal(t, r.receive(t, id, 1, 0), "a")
		}
		equal(t, r.receive(t, id, 10, 0), then...)
	}
}

// A failed send and a later successful one have the same position. The consumer gets the second message.
func TestNoRecentMessageOfFailedSend(t *testing.T) {
	for _, second := range []string{"stored", strings.Repeat("long", 4096)} {
		r := newRig(t)
		broken := errors.New("the commit has failed")
		fail := func() error { return broken }
		r.commit.Store(&fail)
		if _, err := r.Send(t.Context(), jobs, []queue.Outgoing{{Body: "lost"}}); !errors.Is(err, broken) {
			t.Fatal(err)
		}
		r.commit.Store(nil)
		eventually.Succeeds(t, func() error { return r.Probe(t.Context()) }) // the shard is back
		r.send(t, jobs, second)
		equal(t, r.receive(t, jobs, 10, 0), second)
	}
}
