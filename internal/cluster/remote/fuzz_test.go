package remote

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// echo is a shard that does nothing and returns zero values.
type echo struct{}

func (echo) Send(_ context.Context, _ queue.ID, m []queue.Outgoing) ([]queue.Sent, error) {
	return make([]queue.Sent, len(m)), nil
}
func (echo) Publish(_ context.Context, p []queue.Publication) ([]queue.Published, error) {
	return make([]queue.Published, len(p)), nil
}
func (echo) Receive(context.Context, queue.ID, queue.Receive, time.Duration) ([]shard.Message, error) {
	return make([]shard.Message, 2), nil
}
func (echo) Return(context.Context, queue.ID, []queue.Delivery, string) error { return nil }
func (echo) Delete(_ context.Context, _ queue.ID, r []queue.Receipt) ([]error, error) {
	return make([]error, len(r)), nil
}
func (echo) ChangeVisibility(_ context.Context, _ queue.ID, v []queue.Visibility) ([]error, error) {
	return make([]error, len(v)), nil
}
func (echo) Purge(context.Context, queue.ID) error                         { return nil }
func (echo) MayPurge(context.Context, queue.ID) error                      { return nil }
func (echo) PurgeOutbox(context.Context, queue.ID) (queue.Position, error) { return 1 << 40, nil }
func (echo) PurgeAfter(context.Context, queue.ID, []queue.Mark) error      { return nil }
func (echo) Kept(context.Context, queue.ID) (queue.Kept, error)            { return queue.Kept{Since: 1}, nil }
func (echo) MayUndoPurge(context.Context, queue.ID) error                  { return nil }
func (echo) UndoPurge(context.Context, queue.ID) (queue.Kept, error) {
	return queue.Kept{Messages: 1}, nil
}
func (echo) Counts(context.Context, queue.ID) (c queue.Counts, _ error) { return c, nil }
func (echo) StartMove(context.Context, queue.ID, queue.MoveTask) error  { return nil }
func (echo) CancelMove(context.Context, queue.ID, string) (t queue.MoveTask, _ error) {
	return t, nil
}
func (echo) Moves(context.Context, queue.ID) ([]queue.MoveTask, error) {
	return make([]queue.MoveTask, 1), nil
}
func (echo) States(context.Context, queue.ID) ([]shard.State, error) {
	return make([]shard.State, 1), nil
}
func (echo) Groups(context.Context, queue.ID, queue.Groups) (queue.GroupsResult, error) {
	return queue.GroupsResult{Groups: make([]queue.Group, 1), More: true}, nil
}
func (echo) Glances(_ context.Context, ids []queue.ID) ([]shard.Glance, error) {
	return make([]shard.Glance, len(ids)), nil
}
func (echo) Peek(context.Context, queue.ID, queue.Peek) (queue.PeekResult, error) {
	return queue.PeekResult{Messages: make([]queue.Peeked, 1), More: true}, nil
}
func (echo) Discard(context.Context, queue.ID, queue.Locate) (queue.Discarded, error) {
	return queue.Discarded{IDs: make([]queue.MessageID, 2), More: true}, nil
}
func (echo) Census(context.Context, queue.ID, queue.Census) (queue.CensusResult, error) {
	return queue.CensusResult{Shares: make([]queue.Share, 2), More: true}, nil
}
func (echo) SizedSeries(context.Context, queue.ID, string, queue.Instant, queue.Instant) ([]queue.Row, error) {
	return make([]queue.Row, 2), nil
}

func (echo) Series(context.Context, queue.ID, string, queue.Instant, queue.Instant) ([]queue.Row, error) {
	return make([]queue.Row, 2), nil
}
func (echo) SeriesNames(context.Context, string, string, queue.Instant) ([]queue.SeriesName, error) {
	return make([]queue.SeriesName, 2), nil
}
func (echo) Uses(_ context.Context, ids []queue.ID) ([]queue.Use, error) {
	return make([]queue.Use, len(ids)), nil
}
func (echo) EmptyReceives(context.Context, queue.ID, uint64) error                     { return nil }
func (echo) Accept(context.Context, queue.ID, queue.FromShard, []queue.Transfer) error { return nil }

// tap records the messages that pass through it.
type tap struct {
	messenger.Messenger
	calls, answers [][]byte
}

func (t *tap) Request(ctx context.Context, node, kind string, payload []byte) ([]byte, error) {
	t.calls = append(t.calls, append([]byte(nil), payload...))
	answer, err := t.Messenger.Request(ctx, node, kind, payload)
	t.answers = append(t.answers, answer)
	return answer, err
}

// recorded returns a call of each method and the answer to it.
func recorded(tb testing.TB) *tap {
	tb.Helper()
	network := messenger.NewMemory()
	Serve(network.Node("b"), ServerOptions{Lookup: func(int) (Shard, error) { return echo{}, nil }})
	wire := &tap{Messenger: network.Node("a")}
	c := New(Options{Messenger: wire}).Shard("b", 1)
	ctx, timeout := context.Background(), time.Second
	_, _ = c.Send(ctx, 1, []queue.Outgoing{{Body: "m", Delay: &timeout, Attributes: []queue.Attribute{{Name: "n"}}}})
	_, _ = c.Receive(ctx, 1, queue.Receive{Max: 10, Timeout: &timeout, Attempt: "a"}, time.Second)
	_ = c.Return(ctx, 1, make([]queue.Delivery, 1), "a")
	_, _ = c.Delete(ctx, 1, make([]queue.Receipt, 1))
	_, _ = c.ChangeVisibility(ctx, 1, make([]queue.Visibility, 1))
	_ = c.Purge(ctx, 1)
	_ = c.MayPurge(ctx, 1)
	_, _ = c.PurgeOutbox(ctx, 1)
	_ = c.PurgeAfter(ctx, 1, []queue.Mark{{From: queue.FromShard{Shard: 3}, UpTo: 1 << 40}})
	_, _ = c.Counts(ctx, 1)
	_ = c.StartMove(ctx, 1, queue.MoveTask{ID: "t"})
	_ = c.StartMove(ctx, 1, queue.MoveTask{ID: "t", Sources: []queue.ID{1, 1 << 40}})
	_, _ = c.CancelMove(ctx, 1, "t")
	_, _ = c.Moves(ctx, 1)
	_, _ = invoke(ctx, c, &moves, 1, none{})
	body := "b"
	_ = c.StartMove(ctx, 1,
		queue.MoveTask{ID: "t",
			Selection: &queue.Selection{Filter: "f", IDs: make([]queue.MessageID, 2), Edit: &queue.Edit{
				Body: &body, Set: []queue.Attribute{{Name: "n"}}, Remove: []string{"r"},
			}}})
	_, _ = c.Peek(ctx, 1, queue.Peek{Max: 1, IDs: make([]queue.MessageID, 2)})
	_, _ = c.Series(ctx, 1, "name", 0, 1<<40)
	_, _ = c.SizedSeries(ctx, 1, "name", 0, 1<<40)
	_, _ = c.SeriesNames(ctx, "prefix", "after", 1<<40)
	_ = c.EmptyReceives(ctx, 1, 7)
	_, _ = c.Uses(ctx, []queue.ID{1, 1 << 40})
	_ = c.Accept(ctx, 1, queue.FromShard{Shard: 3}, []queue.Transfer{{Position: 5, Message: queue.Message{Body: "m"}}})
	_, _ = c.States(ctx, 1)
	_, _ = c.Groups(ctx, 1, queue.Groups{Max: 1})
	_, _ = c.Glances(ctx, []queue.ID{1, 1 << 40})
	_, _ = c.Peek(ctx, 1, queue.Peek{Filter: "f", Max: 1})
	_ = c.Accept(ctx, 1, queue.FromShard{Shard: 3},
		[]queue.Transfer{{Position: 5, Message: queue.Message{Body: "m"}, Copy: true}})
	_, _ = c.Publish(ctx,
		[]queue.Publication{{Topic: 1, Group: "g",
			Copies: []queue.Copy{{Queue: 2, Message: queue.Outgoing{Body: "m"}, Tail: "t"}}}})
	_, _ = c.Publish(ctx,
		[]queue.Publication{{Topic: 1,
			Count: &queue.TopicCount{Topic: "t", Counts: [queue.TopicMetrics]uint64{1, 2, 1 << 40}}}, {}})
	_, _ = c.Discard(ctx, 1, queue.Locate{IDs: make([]queue.MessageID, 2)})
	_, _ = c.Kept(ctx, 1)
	_ = c.MayUndoPurge(ctx, 1)
	_, _ = c.UndoPurge(ctx, 1)
	_, _ = c.Census(ctx, 1, queue.Census{Filter: "f", Key: "body.a"})
	if len(wire.calls) != len(methods) {
		tb.Fatalf("%d calls of %d methods", len(wire.calls), len(methods))
	}
	return wire
}

// No bytes that are sent to a node cause a panic, and a refused call has not begun.
func FuzzCall(f *testing.F) {
	for _, call := range recorded(f).calls {
		f.Add(call)
	}
	f.Add([]byte{})
	f.Add([]byte{2, 1, 1})
	s := &server{
		ServerOptions: ServerOptions{Lookup: func(int) (Shard, error) { return echo{}, nil }, WaitTimeout: time.Second},
	}
	f.Fuzz(func(t *testing.T, call []byte) {
		answer, err := s.execute(t.Context(), call)
		if err != nil || len(answer) < 2 {
			t.Fatalf("answer %v, %v", answer, err)
		}
		_, _ = s.cancel(t.Context(), call)
	})
}

func FuzzAnswer(f *testing.F) {
	for i, answer := range recorded(f).answers {
		f.Add(byte(i), answer)
	}
	f.Fuzz(func(_ *testing.T, which byte, answer []byte) {
		switch which % 7 {
		case 0:
			_, _ = readAnswer(answer, "n", send.getResult)
		case 1:
			_, _ = readAnswer(answer, "n", receive.getResult)
		case 2:
			_, _ = readAnswer(answer, "n", deleteMessages.getResult)
		case 3:
			_, _ = readAnswer(answer, "n", counts.getResult)
		case 4:
			_, _ = readAnswer(answer, "n", cancelMove.getResult)
		case 5:
			_, _ = readAnswer(answer, "n", moves.getResult)
		case 6:
			_, _ = readAnswer(answer, "n", publish.getResult)
		}
	})
}

// Every prefix of a message lacks a part, and every extended message has an additional one: both are refused.
func TestCutAndLengthenedMessagesAreRefused(t *testing.T) {
	wire := recorded(t)
	s := &server{
		ServerOptions: ServerOptions{Lookup: func(int) (Shard, error) { return echo{}, nil }, WaitTimeout: time.Second},
	}
	for i, call := range wire.calls {
		for n := 1; n <= len(call)+1; n++ {
			message := append(append([]byte(nil), call...), 0)[:n]
			answer, _ := s.execute(t.Context(), message)
			if refused := len(answer) > 1 && answer[1] == notBegun; refused == (n == len(call)) {
				t.Errorf("call %d, %d of %d bytes: %v", i, n, len(call), answer)
			}
		}
	}
}

// A node of another version refuses, with an answer that cannot be misread.
func TestOtherVersions(t *testing.T) {
	wire := recorded(t)
	s := &server{
		ServerOptions: ServerOptions{Lookup: func(int) (Shard, error) { return echo{}, nil }, WaitTimeout: time.Second},
	}
	newer := append([]byte(nil), wire.calls[0]...)
	newer[0] = version + 1
	answer, err := s.execute(t.Context(), newer)
	if err != nil || !reflect.DeepEqual(answer, []byte{noVersion, version}) {
		t.Fatalf("answer %v, %v", answer, err)
	}
	if _, err := readAnswer(answer, "n", send.getResult); !errors.Is(err, shard.ErrNotBegun) {
		t.Errorf("refused with %v", err)
	}
	if _, err := readAnswer([]byte{version + 1, fine, 0}, "n", send.getResult); !errors.Is(err, shard.ErrUnavailable) ||
		errors.Is(err, shard.ErrNotBegun) {
		t.Errorf("an answer of another version: %v", err)
	}
	unknown := append([]byte(nil), wire.calls[0]...)
	unknown[1] = 200
	answer, _ = s.execute(t.Context(), unknown)
	_, err = readAnswer(answer, "n", send.getResult)
	if err = explain(err, "n", 200); !errors.Is(err, shard.ErrNotBegun) ||
		!strings.Contains(err.Error(), "upgrade all nodes") {
		t.Errorf("an unknown call: %v", err)
	}
}

// A cancellation may overtake the call that it cancels.
func TestCancelledBeforeItBegan(t *testing.T) {
	var rs receives
	c := callID{1, 2}
	rs.cancel(c)
	if rs.begin(c, func() {}) {
		t.Error("begun")
	}
	for n := range uint64(2 * cancelledKept) {
		rs.cancel(callID{2, n})
	}
	if len(rs.cancelled) > cancelledKept {
		t.Errorf("%d are remembered", len(rs.cancelled))
	}
	stopped := false
	if !rs.begin(callID{3, 1}, func() { stopped = true }) {
		t.Fatal("not begun")
	}
	rs.cancel(callID{3, 1})
	rs.end(callID{3, 1})
	if !stopped || len(rs.running) != 0 {
		t.Errorf("stopped %t, %d running", stopped, len(rs.running))
	}
}

func TestRefusalsTravelAsNumbers(t *testing.T) {
	for err := queue.Refusal(1); err.Known(); err++ {
		if !queue.IsRefusal(err) {
			t.Errorf("%v is none", err)
		}
		var w writer
		putError(&w, err)
		if got := getError(newReader(w.Writer)); !errors.Is(got, err) {
			t.Errorf("%v becomes %v", err, got)
		}
	}
}

// Nodes of other versions recognize the refusals by these bytes.
func TestRefusalsKeepTheirNumbers(t *testing.T) {
	for code, want := range map[byte]error{
		32: queue.ErrNoQueue, 33: queue.ErrOverLimit, 34: queue.ErrReceiptExpired, 35: queue.ErrNotReceived,
		36: queue.ErrVisibilityTotal, 37: queue.ErrAttemptStale, 38: queue.ErrPurgeInProgress, 39: queue.ErrTaskRunning,
		40: queue.ErrNoTask, 41: queue.ErrOutOfOrder, 42: queue.ErrElsewhere, 43: queue.ErrBacklogFull,
		44: queue.ErrSealed,
	} {
		var w writer
		if putError(&w, want); len(w.Writer) != 1 || w.Writer[0] != code {
			t.Errorf("%v is %v, not %d", want, w.Writer, code)
		}
	}
}
