package remote_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/sluicemq/sluice/internal/queue"
)

// A peek from another node finds the same as a local one, and continues where it has ended.
func TestPeek(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	for _, id := range []queue.ID{jobs, orders} {
		r.send(t, id, "a", "b", "c")
		if _, err := r.shard.Receive(ctx, id, queue.Receive{Max: 1}, 0); err != nil {
			t.Fatal(err)
		}
		p := queue.Peek{States: queue.AllStates, Filter: "-b", Max: 1, Bodies: true}
		for range 2 {
			want, err := r.shard.Peek(ctx, id, p)
			if err != nil || len(want.Messages) != 1 {
				t.Fatalf("%+v, %v", want, err)
			}
			got, err := r.Peek(ctx, id, p)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("found %+v, %v, want %+v", got, err, want)
			}
			p.After = got.Next
		}
	}
	if _, err := r.Peek(ctx, jobs, queue.Peek{Filter: "count>"}); err == nil {
		t.Error("an invalid filter is accepted")
	}
}
