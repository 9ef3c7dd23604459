package remote

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// method is a method of Shard: the encoding of its arguments and its result, and the call. It is declared once, here,
// for both sides.
type method[A, R any] struct {
	code      byte // stable between versions: it is never reused for another method
	putArgs   func(*writer, *A)
	getArgs   func(*reader) A
	call      func(s Shard, ctx context.Context, id queue.ID, args A) (R, error)
	putResult func(*writer, R)
	getResult func(*reader) R
}

// executor is a method on the server's side.
type executor interface {
	// prepare reads the arguments, to the end of the message, and returns a function
	// that executes the call and writes its result.
	prepare(r *reader) func(ctx context.Context, s Shard, id queue.ID, w *writer) error
}

func (m *method[A, R]) prepare(r *reader) func(context.Context, Shard, queue.ID, *writer) error {
	args := m.getArgs(r)
	return func(ctx context.Context, s Shard, id queue.ID, w *writer) error {
		result, err := m.call(s, ctx, id, args)
		if err == nil {
			w.Byte(fine)
			m.putResult(w, result)
		}
		return err
	}
}

type (
	receiveArgs struct {
		queue.Receive
		wait time.Duration
	}
	returnArgs struct {
		deliveries []queue.Delivery
		attempt    string
	}
	acceptArgs struct {
		from     queue.FromShard
		messages []queue.Transfer
	}
	none = struct{}
)

var send = method[[]queue.Outgoing, []queue.Sent]{
	code:      1,
	putArgs:   func(w *writer, a *[]queue.Outgoing) { putAll(w, *a, putOutgoing) },
	getArgs:   func(r *reader) []queue.Outgoing { return getAll(r, sizeOutgoing, getOutgoing) },
	call:      Shard.Send,
	putResult: func(w *writer, sent []queue.Sent) { putAll(w, sent, putSent) },
	getResult: func(r *reader) []queue.Sent { return getAll(r, sizeSent, getSent) },
}

var receive = method[receiveArgs, []shard.Message]{
	code: 2,
	putArgs: func(w *writer, a *receiveArgs) {
		putReceive(w, &a.Receive)
		w.Duration(a.wait)
	},
	getArgs: func(r *reader) receiveArgs { return receiveArgs{getReceive(r), r.Duration()} },
	call: func(s Shard, ctx context.Context, id queue.ID, a receiveArgs) ([]shard.Message, error) {
		return s.Receive(ctx, id, a.Receive, a.wait)
	},
	putResult: func(w *writer, list []shard.Message) { putAll(w, list, putMessage) },
	getResult: func(r *reader) []shard.Message { return getAll(r, sizeMessage, getMessage) },
}

var returnDeliveries = method[returnArgs, none]{
	code: 3,
	putArgs: func(w *writer, a *returnArgs) {
		putAll(w, a.deliveries, putDelivery)
		w.String(a.attempt)
	},
	getArgs: func(r *reader) returnArgs {
		return returnArgs{getAll(r, sizeDelivery, getDelivery), r.String()}
	},
	call: func(s Shard, ctx context.Context, id queue.ID, a returnArgs) (none, error) {
		return none{}, s.Return(ctx, id, a.deliveries, a.attempt)
	},
	putResult: putNone, getResult: getNone,
}

var deleteMessages = method[[]queue.Receipt, []error]{
	code:      4,
	putArgs:   func(w *writer, a *[]queue.Receipt) { putAll(w, *a, putReceipt) },
	getArgs:   func(r *reader) []queue.Receipt { return getAll(r, sizeReceipt, getReceipt) },
	call:      Shard.Delete,
	putResult: putErrors, getResult: getErrors,
}

var changeVisibility = method[[]queue.Visibility, []error]{
	code:      5,
	putArgs:   func(w *writer, a *[]queue.Visibility) { putAll(w, *a, putVisibility) },
	getArgs:   func(r *reader) []queue.Visibility { return getAll(r, sizeVisibility, getVisibility) },
	call:      Shard.ChangeVisibility,
	putResult: putErrors, getResult: getErrors,
}

var purge = method[none, none]{
	code:    6,
	putArgs: putNoArgs, getArgs: getNone,
	call: func(s Shard, ctx context.Context, id queue.ID, _ none) (none, error) {
		return none{}, s.Purge(ctx, id)
	},
	putResult: putNone, getResult: getNone,
}

// Older programs do not know mayPurge, purgeOutbox and purgeAfter.
var mayPurge = method[none, none]{
	code:    48,
	putArgs: putNoArgs, getArgs: getNone,
	call: func(s Shard, ctx context.Context, id queue.ID, _ none) (none, error) {
		return none{}, s.MayPurge(ctx, id)
	},
	putResult: putNone, getResult: getNone,
}

var purgeOutbox = method[none, queue.Position]{
	code:    35,
	putArgs: putNoArgs, getArgs: getNone,
	call: func(s Shard, ctx context.Context, id queue.ID, _ none) (queue.Position, error) {
		return s.PurgeOutbox(ctx, id)
	},
	putResult: func(w *writer, p queue.Position) { w.Uint(uint64(p)) },
	getResult: func(r *reader) queue.Position { return queue.Position(r.Uint()) },
}

var purgeAfter = method[[]queue.Mark, none]{
	code:    36,
	putArgs: func(w *writer, a *[]queue.Mark) { putAll(w, *a, putMark) },
	getArgs: func(r *reader) []queue.Mark { return getAll(r, sizeMark, getMark) },
	call: func(s Shard, ctx context.Context, id queue.ID, a []queue.Mark) (none, error) {
		return none{}, s.PurgeAfter(ctx, id, a)
	},
	putResult: putNone, getResult: getNone,
}

var counts = method[none, queue.Counts]{
	code:    7,
	putArgs: putNoArgs, getArgs: getNone,
	call: func(s Shard, ctx context.Context, id queue.ID, _ none) (queue.Counts, error) {
		return s.Counts(ctx, id)
	},
	putResult: func(w *writer, c queue.Counts) { putCounts(w, &c) },
	getResult: getCounts,
}

var startMove = method[queue.MoveTask, none]{
	code:    8,
	putArgs: putMove,
	getArgs: func(r *reader) (t queue.MoveTask) { getMove(r, &t); return t },
	call: func(s Shard, ctx context.Context, id queue.ID, t queue.MoveTask) (none, error) {
		return none{}, s.StartMove(ctx, id, t)
	},
	putResult: putNone, getResult: getNone,
}

// startMoveBack starts a task that has Sources, which startMove cannot carry. Nodes of older programs do not know this
// call and refuse it.
var startMoveBack = method[queue.MoveTask, none]{
	code: 12,
	putArgs: func(w *writer, t *queue.MoveTask) {
		putMove(w, t)
		putAll(w, t.Sources, putID)
	},
	getArgs: func(r *reader) (t queue.MoveTask) {
		getMove(r, &t)
		t.Sources = getAll(r, sizeID, getID)
		return t
	},
	call:      startMove.call,
	putResult: putNone, getResult: getNone,
}

var cancelMove = method[string, queue.MoveTask]{
	code:      9,
	putArgs:   func(w *writer, task *string) { w.String(*task) },
	getArgs:   (*reader).ownString,
	call:      Shard.CancelMove,
	putResult: func(w *writer, t queue.MoveTask) { putMove(w, &t) },
	getResult: func(r *reader) (t queue.MoveTask) { getMove(r, &t); return t },
}

var moves = method[none, []queue.MoveTask]{
	code:    10,
	putArgs: putNoArgs, getArgs: getNone,
	call: func(s Shard, ctx context.Context, id queue.ID, _ none) ([]queue.MoveTask, error) {
		return s.Moves(ctx, id)
	},
	putResult: func(w *writer, list []queue.MoveTask) { putAll(w, list, putMove) },
	getResult: func(r *reader) []queue.MoveTask { return getAll(r, sizeMove, getMove) },
}

var accept = method[acceptArgs, none]{
	code: 11,
	putArgs: func(w *writer, a *acceptArgs) {
		w.Int(int64(a.from.Shard))
		putAll(w, a.messages, putTransfer)
	},
	getArgs: func(r *reader) acceptArgs {
		return acceptArgs{queue.FromShard{Shard: int(r.Int())}, getAll(r, sizeTransfer, getTransfer)}
	},
	call: func(s Shard, ctx context.Context, id queue.ID, a acceptArgs) (none, error) {
		return none{}, s.Accept(ctx, id, a.from, a.messages)
	},
	putResult: putNone, getResult: getNone,
}

// acceptCopies accepts messages that include copies of publications, which accept cannot carry.
var acceptCopies = method[acceptArgs, none]{
	code: 13,
	putArgs: func(w *writer, a *acceptArgs) {
		w.Int(int64(a.from.Shard))
		putAll(w, a.messages, func(w *writer, t *queue.Transfer) {
			putTransfer(w, t)
			w.Bool(t.Copy)
		})
	},
	getArgs: func(r *reader) acceptArgs {
		from := queue.FromShard{Shard: int(r.Int())}
		return acceptArgs{from, getAll(r, sizeTransfer+1, func(r *reader, t *queue.Transfer) {
			getTransfer(r, t)
			t.Copy = r.Bool()
		})}
	},
	call:      accept.call,
	putResult: putNone, getResult: getNone,
}

var publish = method[[]queue.Publication, []queue.Published]{
	code:    14,
	putArgs: func(w *writer, a *[]queue.Publication) { putAll(w, *a, putPublication) },
	getArgs: func(r *reader) []queue.Publication { return getAll(r, sizePublication, getPublication) },
	call: func(s Shard, ctx context.Context, _ queue.ID, a []queue.Publication) ([]queue.Published, error) {
		return s.Publish(ctx, a)
	},
	putResult: func(w *writer, list []queue.Published) { putAll(w, list, putPublished) },
	getResult: func(r *reader) []queue.Published { return getAll(r, sizeSent, getPublished) },
}

// publishCounted is publish with counting, which older programs do not know.
var publishCounted = method[[]queue.Publication, []queue.Published]{
	code: 33,
	putArgs: func(w *writer, a *[]queue.Publication) {
		putAll(w, *a, func(w *writer, p *queue.Publication) {
			putPublication(w, p)
			putTopicCount(w, p.Count)
		})
	},
	getArgs: func(r *reader) []queue.Publication {
		return getAll(r, sizePublication+sizeTopicCount, func(r *reader, p *queue.Publication) {
			getPublication(r, p)
			p.Count = getTopicCount(r)
		})
	},
	call:      publish.call,
	putResult: publish.putResult, getResult: publish.getResult,
}

// methods holds the methods that the server executes, by code.
var methods = map[byte]executor{
	send.code: &send, receive.code: &receive, returnDeliveries.code: &returnDeliveries,
	deleteMessages.code:   &deleteMessages,
	changeVisibility.code: &changeVisibility, purge.code: &purge, purgeOutbox.code: &purgeOutbox,
	purgeAfter.code: &purgeAfter, mayPurge.code: &mayPurge, counts.code: &counts,
	startMove.code: &startMove, cancelMove.code: &cancelMove, moves.code: &moves, accept.code: &accept,
	startMoveBack.code: &startMoveBack, startSelection.code: &startSelection, tasks.code: &tasks,
	peekIDs.code: &peekIDs, peek.code: &peek, states.code: &states, groups.code: &groups, glances.code: &glances,
	acceptCopies.code: &acceptCopies, publish.code: &publish, publishCounted.code: &publishCounted,
	series.code: &series, sizedSeries.code: &sizedSeries, seriesNames.code: &seriesNames,
	emptyReceives.code: &emptyReceives, uses.code: &uses,
	discard.code: &discard, census.code: &census, kept.code: &kept, undoPurge.code: &undoPurge,
	mayUndoPurge.code: &mayUndoPurge,
}

func putNoArgs(*writer, *none) {}
func putNone(*writer, none)    {}
func getNone(*reader) none     { return none{} }

func putErrors(w *writer, list []error) {
	putAll(w, list, func(w *writer, err *error) { putError(w, *err) })
}

func getErrors(r *reader) []error {
	return getAll(r, sizeError, func(r *reader, err *error) { *err = getError(r) })
}
