package shard_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// Messages that are discarded while others are sent, received and returned are gone, each is counted once, and all
// others stay.
func TestDiscardBesideTraffic(t *testing.T) {
	r := openShard(t, queue.Config{ID: jobs, ARN: "jobs", Retention: time.Hour, Visibility: time.Minute})
	const messages = 600
	var chosen []queue.MessageID
	var all sync.WaitGroup
	for i := range messages {
		id := queue.MessageID{1, byte(i >> 8), byte(i)}
		if i%7 == 3 {
			chosen = append(chosen, id)
		}
		if _, err := r.Send(t.Context(), jobs, []queue.Outgoing{{Body: fmt.Sprint(i), ID: id}}); err != nil {
			t.Fatal(err)
		}
	}
	all.Go(func() {
		for range 50 {
			got, err := r.Receive(t.Context(), jobs, queue.Receive{Max: 10}, 0)
			if err != nil {
				t.Error(err)
			}
			var back []queue.Visibility
			for _, m := range got {
				back = append(back, queue.Visibility{Receipt: queue.Receipt{Position: m.Position, Number: m.Receipt}})
			}
			if _, err := r.ChangeVisibility(t.Context(), jobs, back); err != nil {
				t.Error(err)
			}
		}
	})
	var gone []queue.MessageID
	ask := queue.Locate{IDs: chosen}
	for {
		got, err := r.Discard(t.Context(), jobs, ask)
		if err != nil {
			t.Fatal(err)
		}
		gone = append(gone, got.IDs...)
		ask.IDs = slices.DeleteFunc(ask.IDs, func(id queue.MessageID) bool { return slices.Contains(gone, id) })
		if ask.After = got.Next; !got.More {
			break
		}
	}
	all.Wait()
	if len(ask.IDs) > 0 {
		t.Errorf("%d were not found", len(ask.IDs))
	}
	if n, err := r.Counts(t.Context(), jobs); err != nil || n.Visible != messages-uint64(len(gone)) {
		t.Errorf("%d are gone, and there are %+v, %v", len(gone), n, err)
	}
}
