package shard_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// large are messages of which an answer holds three: larger than SQS allows, as a program with other limits may have
// stored them.
func large(group string, n int) []queue.Outgoing {
	out := make([]queue.Outgoing, n)
	for i := range out {
		name := strconv.Itoa(i)
		out[i] = queue.Outgoing{
			Body: name, Trace: strings.Repeat("t", shard.MaxReceive/3-16), Group: group, Dedup: name,
		}
	}
	return out
}

func TestReceiveGivesWhatAnAnswerHolds(t *testing.T) {
	for id, group := range map[queue.ID]string{jobs: "", orders: "g"} {
		r := newRig(t)
		if _, err := r.Send(t.Context(), id, large(group, 8)); err != nil {
			t.Fatal(err)
		}
		for _, want := range [][]string{{"0", "1", "2"}, {"3", "4", "5"}, {"6", "7"}} {
			got, err := r.Receive(t.Context(), id, queue.Receive{Max: 10, Attempt: want[0]}, 0)
			if err != nil {
				t.Fatal(err)
			}
			var receipts []queue.Receipt
			for _, m := range got {
				if m.ReceiveCount() != 1 {
					t.Errorf("message %s was received %d times", m.Body, m.ReceiveCount())
				}
				receipts = append(receipts, queue.Receipt{Position: m.Position, Number: m.Receipt})
			}
			if id == jobs {
				// Messages whose receive was undone come before or after those that were never received.
				if len(got) != len(want) {
					t.Errorf("%d messages, want %d", len(got), len(want))
				}
			} else {
				equal(t, bodies(got), want...)
				again, err := r.Receive(t.Context(), id, queue.Receive{Max: 10, Attempt: want[0]}, 0)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, bodies(again), want...)
			}
			if _, err := r.Delete(t.Context(), id, receipts); err != nil {
				t.Fatal(err)
			}
		}
		left, err := r.Counts(t.Context(), id)
		if err != nil || left != (queue.Counts{}) {
			t.Errorf("left: %+v, %v", left, err)
		}
	}
}

func TestReceiveGivesOneMessageThatIsTooLarge(t *testing.T) {
	r := newRig(t)
	m := queue.Outgoing{Body: "m", Trace: strings.Repeat("t", shard.MaxReceive)}
	if _, err := r.Send(t.Context(), jobs, []queue.Outgoing{m, m}); err != nil {
		t.Fatal(err)
	}
	equal(t, r.receive(t, jobs, 10, 0), "m")
	equal(t, r.receive(t, jobs, 10, 0), "m")
}
