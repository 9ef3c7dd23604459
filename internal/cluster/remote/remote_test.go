package remote_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/remote"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// A call returns the shard's own result, to the last field.
func TestCallsComeBackWhole(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	delay := time.Duration(0)
	full := queue.Outgoing{
		ID: queue.MessageID{1, 2, 3}, Sender: "AIDA", Group: "g", Dedup: "d", Trace: "Root=1", BodyMD5: [16]byte{9},
		Body: "body\x00\xff",
		Attributes: []queue.Attribute{{Name: "n", Type: "String", Value: "v"},
			{Name: "b", Type: "Binary", Value: "\x00"}},
		Delay: &delay,
	}
	for _, id := range []queue.ID{jobs, orders} {
		sent, err := r.Send(ctx, id,
			[]queue.Outgoing{full, {ID: queue.MessageID{4}, Body: "second", Group: "g", Dedup: "e"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(sent) != 2 || sent[0].ID != full.ID || (sent[0].Sequence != 0) != (id == orders) {
			t.Errorf("sent %+v", sent)
		}
		timeout := time.Duration(0)
		got, err := r.Receive(ctx, id, queue.Receive{Max: 2, Timeout: &timeout, Attempt: ""}, 0)
		if err != nil {
			t.Fatal(err)
		}
		m := got[0]
		if m.ID != full.ID || m.Sender != full.Sender || m.Group != full.Group || m.Trace != full.Trace ||
			m.Body != full.Body ||
			m.BodyMD5 != full.BodyMD5 || !reflect.DeepEqual(m.Attributes, full.Attributes) || m.SentAt == 0 ||
			m.First == 0 {
			t.Errorf("received %+v", m)
		}
	}
	again, err := r.Send(ctx, orders, []queue.Outgoing{full})
	if err != nil || !again[0].Duplicate {
		t.Errorf("sent again: %+v, %v", again, err)
	}

	got, err := r.Receive(ctx, orders, queue.Receive{Max: 1, Attempt: "a"}, 0)
	if err != nil || len(got) != 1 {
		t.Fatalf("%d received, %v", len(got), err)
	}
	same, err := r.Receive(ctx, orders, queue.Receive{Max: 1, Attempt: "a"}, 0)
	if err != nil || len(same) != 1 || same[0].Receipt != got[0].Receipt {
		t.Errorf("the repeated attempt returns %+v, %v", same, err)
	}
	if err := r.Return(ctx, orders, []queue.Delivery{same[0].Delivery}, "a"); err != nil {
		t.Fatal(err)
	}
	if c, err := r.Counts(ctx, orders); err != nil || c != r.counts(t, orders) || c.InFlight != 0 || c.Visible != 2 {
		t.Errorf("counts %+v, %v", c, err)
	}

	got, err = r.Receive(ctx, jobs, queue.Receive{Max: 1}, 0)
	if err != nil || len(got) != 1 {
		t.Fatalf("%d received, %v", len(got), err)
	}
	receipt := queue.Receipt{Position: got[0].Position, Number: got[0].Receipt}
	results, err := r.ChangeVisibility(ctx, jobs, []queue.Visibility{
		{Receipt: receipt, Timeout: time.Minute}, {Receipt: receipt, Timeout: 13 * time.Hour},
		{Receipt: queue.Receipt{Position: 999}},
	})
	if err != nil || !reflect.DeepEqual(results, []error{nil, queue.ErrVisibilityTotal, queue.ErrNotReceived}) {
		t.Errorf("change of visibility: %v, %v", results, err)
	}
	if results, err := r.Delete(ctx, jobs, []queue.Receipt{receipt, receipt}); err != nil ||
		!reflect.DeepEqual(results, []error{nil, nil}) {
		t.Errorf("delete: %v, %v", results, err)
	}

	if err := r.StartMove(ctx, jobs, queue.MoveTask{
		ID: "task", Rate: 1, Destination: "arn:aws:sqs:us-east-1:000000000000:jobs.fifo",
	}); err != nil {
		t.Fatal(err)
	}
	if err := r.StartMove(ctx, jobs, queue.MoveTask{ID: "other"}); !errors.Is(err, queue.ErrTaskRunning) {
		t.Errorf("second task: %v", err)
	}
	task, err := r.CancelMove(ctx, jobs, "task")
	if err != nil || task.ID != "task" || task.Status != queue.MoveCancelled || task.Rate != 1 || task.Started == 0 ||
		task.ToMove != 1 {
		t.Errorf("cancelled %+v, %v", task, err)
	}
	list, err := r.Moves(ctx, jobs)
	if direct, _ := r.shard.Moves(ctx, jobs); err != nil || !reflect.DeepEqual(list, direct) {
		t.Errorf("tasks %+v, %v", list, err)
	}
	body := "edited"
	chosen := queue.MoveTask{ID: "chosen", Rate: 1, Destination: "arn:aws:sqs:us-east-1:000000000000:jobs.fifo",
		Sources: []queue.ID{jobs}, Selection: &queue.Selection{
			Filter: "count>=0", IDs: []queue.MessageID{{9}}, Edit: &queue.Edit{
				Body: &body, BodyMD5: [16]byte{1}, Set: []queue.Attribute{{Name: "n", Type: "String", Value: "v"}},
				Remove: []string{"b"}, MaxSize: 7, MaxAttributes: 8,
			},
		}}
	if err := r.StartMove(ctx, jobs, chosen); err != nil {
		t.Fatal(err)
	}
	list, err = r.Moves(ctx, jobs)
	if direct, _ := r.shard.Moves(ctx, jobs); err != nil || list[0].Selection == nil ||
		list[0].Selection.Filter != "count>=0" || list[0].Selection.Chosen != 1 {
		t.Errorf("tasks %+v, %v; %+v", list, err, direct)
	}
	if s := list[0].Selection; list[0].Status == queue.MoveRunning &&
		!reflect.DeepEqual(s.Edit, chosen.Selection.Edit) {
		t.Errorf("the edit is %+v", s.Edit)
	}
	if got, err := r.Peek(ctx, jobs, queue.Peek{
		States: queue.AllStates, Max: 5, IDs: []queue.MessageID{{4}},
	}); err != nil || len(got.Messages) != 1 || got.Messages[0].ID != (queue.MessageID{4}) {
		t.Errorf("found %+v, %v", got, err)
	}
	if _, err := r.CancelMove(ctx, jobs, "chosen"); err != nil && !errors.Is(err, queue.ErrNoTask) {
		t.Fatal(err)
	}
	letter := queue.Message{
		ID: queue.MessageID{7}, Source: "arn:x", Body: "letter", SentAt: queue.At(time.Now()), PriorReceives: 3,
		PriorFirst: 2, Sender: "AIDA",
	}
	for range 2 { // which counts once
		if err := r.Accept(ctx, jobs, queue.FromShard{Shard: 3},
			[]queue.Transfer{{Position: 5, Message: letter}}); err != nil {
			t.Fatal(err)
		}
	}
	got, err = r.Receive(ctx, jobs, queue.Receive{Max: 10}, 0)
	arrived := func(m shard.Message) bool { return reflect.DeepEqual(m.Message, letter) }
	if err != nil || len(got) != 2 || !slices.ContainsFunc(got, arrived) {
		t.Errorf("arrived: %+v, %v", got, err)
	}
	before, _ := r.shard.Uses(ctx, []queue.ID{jobs, 99})
	used, err := r.Uses(ctx, []queue.ID{jobs, 99})
	if err != nil || len(used) != 1 || used[0].Messages == 0 || used[0].Last < before[0].Last {
		t.Fatalf("used %+v, %v; before %+v", used, err, before)
	}
	before[0].Last = used[0].Last // the last use of a queue in use is now
	if !reflect.DeepEqual(used, before) {
		t.Errorf("used %+v, want %+v", used, before)
	}
	if err := r.MayUndoPurge(ctx, jobs); !errors.Is(err, queue.ErrNothingKept) {
		t.Errorf("an undo before a purge would get %v", err)
	}
	if err := r.MayPurge(ctx, jobs); err != nil {
		t.Fatal(err)
	}
	if last, err := r.PurgeOutbox(ctx, jobs); err != nil || last != 0 {
		t.Fatal(last, err)
	}
	if err := r.PurgeAfter(ctx, jobs, []queue.Mark{{From: queue.FromShard{Shard: 3}, UpTo: 9}}); err != nil {
		t.Fatal(err)
	}
	if err := r.Accept(ctx, jobs, queue.FromShard{Shard: 3},
		[]queue.Transfer{{Position: 9, Message: letter}}); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Counts(ctx, jobs); err != nil || n != (queue.Counts{}) {
		t.Errorf("after a purge: %+v, %v", n, err)
	}
	if err := r.MayPurge(ctx, jobs); !errors.Is(err, queue.ErrPurgeInProgress) {
		t.Errorf("a second purge would get %v", err)
	}
	if err := r.Purge(ctx, jobs); !errors.Is(err, queue.ErrPurgeInProgress) {
		t.Errorf("second purge: %v", err)
	}
	if err := r.MayUndoPurge(ctx, jobs); err != nil {
		t.Errorf("an undo would get %v", err)
	}
	if err := r.Purge(ctx, 99); !errors.Is(err, queue.ErrNoQueue) {
		t.Errorf("purge of an unknown queue: %v", err)
	}
}

// publishes records the publications to a shard.
type publishes struct {
	remote.Shard
	got []queue.Publication
}

func (p *publishes) Publish(ctx context.Context, all []queue.Publication) ([]queue.Published, error) {
	p.got = append(p.got, all...)
	return p.Shard.Publish(ctx, all)
}

func TestPublish(t *testing.T) {
	r := newRig(t)
	seen := &publishes{Shard: r.shard}
	r.own(seen)
	publications := []queue.Publication{{Topic: orders, ID: queue.MessageID{9}, Group: "g", Dedup: "p",
		Copies: []queue.Copy{
			{Queue: orders, Message: queue.Outgoing{Body: "copy", Group: "g", Dedup: "c"}, Tail: "!"},
		}}}
	published, err := r.Publish(t.Context(), publications)
	if err != nil || len(published) != 1 || published[0].ID != publications[0].ID || published[0].Sequence == 0 {
		t.Errorf("published: %+v, %v", published, err)
	}
	again, err := r.Publish(t.Context(), publications)
	if err != nil || len(again) != 1 ||
		again[0] != (queue.Published{ID: published[0].ID, Sequence: published[0].Sequence, Duplicate: true}) {
		t.Errorf("published again: %+v, %v", again, err)
	}
	publications[0].Dedup, publications[0].Count = "counted",
		&queue.TopicCount{Topic: "topic", Counts: [queue.TopicMetrics]uint64{
			queue.TopicPublished: 1, queue.TopicPublishedBytes: 9, queue.TopicFilteredInvalidBody: 3,
		}}
	publications = append(publications, queue.Publication{Topic: orders, Group: "g", Dedup: "not counted"})
	if _, err := r.Publish(t.Context(), publications); err != nil {
		t.Fatal(err)
	}
	if got := seen.got[len(seen.got)-2:]; !reflect.DeepEqual(got[0].Count, publications[0].Count) ||
		got[1].Count != nil {
		t.Errorf("counted: %+v", got)
	}
	for range 2 { // whose deduplication id applies here
		if err := r.Accept(t.Context(), orders, queue.FromShard{Shard: 3},
			[]queue.Transfer{{Position: 5, Copy: true,
				Message: queue.Message{Body: "n", Group: "g", Dedup: "c"}}}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := r.Receive(t.Context(), orders, queue.Receive{Max: 10}, 0)
	if err != nil || !slices.ContainsFunc(got, func(m shard.Message) bool { return m.Body == "copy!" }) ||
		slices.ContainsFunc(got, func(m shard.Message) bool { return m.Body == "n" }) {
		t.Errorf("the copies: %+v, %v", got, err)
	}
}

// failing fails every call with one error.
type failing struct {
	remote.Shard
	err error
}

func (f failing) Purge(context.Context, queue.ID) error { return f.err }
func (f failing) Delete(context.Context, queue.ID, []queue.Receipt) ([]error, error) {
	return []error{nil, f.err}, nil
}

func TestErrorsSurviveTheTrip(t *testing.T) {
	r := newRig(t)
	stuck := &shard.BlockedError{Reason: "it is full", Cause: errors.New("/a/path")}
	for _, tc := range []struct {
		err      error
		is       error
		certain  bool
		isStuck  bool
		inDetail string
	}{
		{err: queue.ErrNoQueue, is: queue.ErrNoQueue},
		{err: queue.ErrOverLimit, is: queue.ErrOverLimit},
		{err: queue.ErrReceiptExpired, is: queue.ErrReceiptExpired},
		{err: queue.ErrNotReceived, is: queue.ErrNotReceived},
		{err: queue.ErrVisibilityTotal, is: queue.ErrVisibilityTotal},
		{err: queue.ErrAttemptStale, is: queue.ErrAttemptStale},
		{err: queue.ErrPurgeInProgress, is: queue.ErrPurgeInProgress},
		{err: queue.ErrTaskRunning, is: queue.ErrTaskRunning},
		{err: fmt.Errorf("wrapped: %w", queue.ErrNoTask), is: queue.ErrNoTask},
		{err: shard.ErrUnavailable, is: shard.ErrUnavailable},
		{err: fmt.Errorf("%w: the log is gone", shard.ErrUnavailable), is: shard.ErrUnavailable,
			inDetail: "the shard is not available: node there: the log is gone"},
		{err: shard.ErrNotBegun, is: shard.ErrNotBegun, certain: true},
		{err: fmt.Errorf("%w: %w", shard.ErrUnavailable, stuck), is: shard.ErrUnavailable, isStuck: true},
		{err: fmt.Errorf("%w: %w", shard.ErrNotBegun, stuck), is: shard.ErrNotBegun, certain: true, isStuck: true},
		{err: errors.New("something else"), inDetail: "node there: something else"},
	} {
		r.own(failing{err: tc.err})
		whole := r.Purge(t.Context(), jobs)
		entries, err := r.Delete(t.Context(), jobs, nil)
		if err != nil || len(entries) != 2 || entries[0] != nil {
			t.Errorf("%v: entries %v, %v", tc.err, entries, err)
			continue
		}
		for _, got := range []error{whole, entries[1]} {
			disk, isStuck := errors.AsType[*shard.BlockedError](got)
			if got == nil || tc.is != nil && !errors.Is(got, tc.is) ||
				errors.Is(got, shard.ErrNotBegun) != tc.certain ||
				isStuck != tc.isStuck || isStuck && disk.Reason != stuck.Reason ||
				tc.inDetail != "" && got.Error() != tc.inDetail {
				t.Errorf("%v becomes %v", tc.err, got)
			}
		}
	}
}

// An error says that nothing was done only if no node can have done it.
func TestWhatIsCertain(t *testing.T) {
	r := newRig(t)
	want := func(err error) {
		t.Helper()
		if !errors.Is(err, shard.ErrNotBegun) {
			t.Errorf("got %v", err)
		}
	}
	m := []queue.Outgoing{{Body: "m"}}

	r.own(nil)
	_, err := r.Send(t.Context(), jobs, m)
	want(err)
	r.own(r.shard)

	r.network.Cut(there, true)
	_, err = r.Send(t.Context(), jobs, m)
	want(err)
	_, err = r.Receive(t.Context(), jobs, queue.Receive{Max: 1}, time.Minute)
	want(err)
	r.network.Cut(there, false)

	r.position.Store(5) // which does not reach the owner in time
	_, err = r.Send(t.Context(), jobs, m)
	want(err)
	if n := r.counts(t, jobs).Visible; n != 0 {
		t.Errorf("%d messages", n)
	}
}

func TestOwnerCatchesUpFirst(t *testing.T) {
	r := newRig(t)
	r.position.Store(5)
	r.applied.Store(4)
	go r.applied.Store(5)
	eventually.Succeeds(t, func() error { // within its patience, or at a later attempt
		_, err := r.Send(t.Context(), jobs, []queue.Outgoing{{Body: "m"}})
		if err != nil && !errors.Is(err, shard.ErrNotBegun) {
			t.Fatal(err)
		}
		return err
	})
	if n := r.counts(t, jobs).Visible; n != 1 {
		t.Errorf("%d messages", n)
	}
}

// A node that vanishes during a call may have executed it.
func TestLostInTheMiddle(t *testing.T) {
	r := newRig(t)
	l := newLate(r.shard)
	r.own(l)
	failed := make(chan error, 1)
	go func() {
		_, err := r.Send(context.Background(), jobs, []queue.Outgoing{{Body: "m"}})
		failed <- err
	}()
	<-l.begun
	r.network.Cut(there, true)
	if err := <-failed; !errors.Is(err, shard.ErrUnavailable) || errors.Is(err, shard.ErrNotBegun) {
		t.Errorf("got %v", err)
	}
	close(l.release)
}

func TestLongPollIsAnsweredWhenAMessageArrives(t *testing.T) {
	r := newRig(t)
	got := make(chan []shard.Message, 1)
	go func() {
		list, _ := r.Receive(context.Background(), jobs, queue.Receive{Max: 1}, testTimeout)
		got <- list
	}()
	time.Sleep(10 * time.Millisecond)
	r.send(t, jobs, "m")
	if list := <-got; len(list) != 1 || list[0].Body != "m" {
		t.Errorf("got %v", list)
	}
}

// A consumer that leaves while it waits gets no message, and withholds none from other consumers.
func TestCancelledPollLeavesNothingInvisible(t *testing.T) {
	var rigs []*rig
	for range 50 {
		r := newRig(t)
		rigs = append(rigs, r)
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			if got, err := r.Receive(ctx, jobs, queue.Receive{Max: 1}, testTimeout); err == nil {
				// The message was faster. It belongs to this consumer.
				_ = r.Return(context.Background(), jobs, []queue.Delivery{got[0].Delivery}, "")
			}
		}()
		go cancel()
		r.send(t, jobs, "m")
		<-over
		r.reappears(t, jobs, 1)
	}
	// It may have been delivered only long after the consumer had left.
	for _, r := range rigs {
		r.reappears(t, jobs, 1)
	}
}

// Messages that were on their way when their consumer left are returned to the queue.
func TestAnswerThatComesTooLateIsReturned(t *testing.T) {
	for _, id := range []queue.ID{jobs, orders} {
		r := newRig(t)
		r.send(t, id, "a", "b")
		l := newLate(r.shard)
		r.own(l)
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := r.Receive(ctx, id, queue.Receive{Max: 2, Attempt: "x"}, 0)
			failed <- err
		}()
		<-l.begun
		if c := r.counts(t, id); c.InFlight != 2 {
			t.Fatalf("counts %+v", c)
		}
		gone := errors.New("gone")
		cancel(gone)
		if err := <-failed; !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
		close(l.release)
		r.own(r.shard)
		r.settle(t, id)
		got, err := r.Receive(t.Context(), id, queue.Receive{Max: 2, Attempt: "x"}, 0)
		if err != nil || len(got) != 2 || got[0].Body != "a" || got[0].Receives != 1 {
			t.Errorf("received next: %+v, %v", got, err)
		}
	}
}

// The queues that a task may fill are sent to its shard with the task.
func TestMoveTaskBringsItsSources(t *testing.T) {
	r := newRig(t)
	want := []queue.ID{7, 1 << 40}
	if err := r.StartMove(t.Context(), jobs, queue.MoveTask{ID: "back", Rate: 1, Sources: want}); err != nil {
		t.Fatal(err)
	}
	tasks, err := r.shard.Moves(t.Context(), jobs)
	if err != nil || len(tasks) != 1 || tasks[0].ID != "back" || tasks[0].Rate != 1 ||
		!slices.Equal(tasks[0].Sources, want) {
		t.Errorf("tasks %+v, %v", tasks, err)
	}
}
