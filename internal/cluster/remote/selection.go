package remote

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/queue"
)

// The minimum sizes of these in a message.
const (
	sizeMessageID = 16
	sizeResult    = 33
	sizeTask      = sizeMove + 1
)

// startSelection starts a task that has a Selection, which nodes of older programs do not know, and refuse.
var startSelection = method[queue.MoveTask, none]{
	code: 15,
	putArgs: func(w *writer, t *queue.MoveTask) {
		putTask(w, t)
		putAll(w, t.Sources, putID)
	},
	getArgs: func(r *reader) (t queue.MoveTask) {
		getTask(r, &t)
		t.Sources = getAll(r, sizeID, getID)
		return t
	},
	call:      startMove.call,
	putResult: putNone, getResult: getNone,
}

// tasks is moves with all fields of tasks. Nodes of older programs know only moves, and have no tasks with more fields.
var tasks = method[none, []queue.MoveTask]{
	code:    16,
	putArgs: putNoArgs, getArgs: getNone,
	call:      moves.call,
	putResult: func(w *writer, list []queue.MoveTask) { putAll(w, list, putTask) },
	getResult: func(r *reader) []queue.MoveTask { return getAll(r, sizeTask, getTask) },
}

// Moves returns a queue's message move tasks, the most recent first.
func (c *Client) Moves(ctx context.Context, id queue.ID) ([]queue.MoveTask, error) {
	list, err := invoke(ctx, c, &tasks, id, none{})
	if errors.Is(err, errOlder) {
		return invoke(ctx, c, &moves, id, none{})
	}
	return list, err
}

// putTask writes a task with its Selection.
func putTask(w *writer, t *queue.MoveTask) {
	putMove(w, t)
	w.Bool(t.Selection != nil)
	s := t.Selection
	if s == nil {
		return
	}
	w.String(s.Filter)
	putAll(w, s.IDs, putMessageID)
	w.Bool(s.Edit != nil)
	if s.Edit != nil {
		putEdit(w, s.Edit)
	}
	w.Uint(uint64(s.Chosen))
	w.Bool(s.Edited)
	w.Uint(t.Scanned)
	w.Uint(t.Skipped)
	w.Instant(t.Ended)
	putAll(w, t.Results, putMoveResult)
}

func getTask(r *reader, t *queue.MoveTask) {
	getMove(r, t)
	if !r.Bool() {
		return
	}
	s := &queue.Selection{Filter: r.ownString(), IDs: getAll(r, sizeMessageID, getMessageID)}
	if r.Bool() {
		s.Edit = getEdit(r)
	}
	s.Chosen, s.Edited = int(r.Uint()), r.Bool()
	t.Selection = s
	t.Scanned, t.Skipped, t.Ended = r.Uint(), r.Uint(), r.Instant()
	t.Results = getAll(r, sizeResult, getMoveResult)
}

func putEdit(w *writer, e *queue.Edit) {
	w.Bool(e.Body != nil)
	if e.Body != nil {
		w.String(*e.Body)
		w.Raw(e.BodyMD5[:])
	}
	putAll(w, e.Set, putAttribute)
	putAll(w, e.Remove, func(w *writer, name *string) { w.String(*name) })
	w.Uint(uint64(e.MaxSize))
	w.Uint(uint64(e.MaxAttributes))
}

// getEdit reads an edit, which the engine keeps: its texts are its own.
func getEdit(r *reader) *queue.Edit {
	e := new(queue.Edit)
	if r.Bool() {
		body := r.ownString()
		e.Body = &body
		copy(e.BodyMD5[:], r.Raw(16))
	}
	e.Set = getAll(r, sizeAttribute, func(r *reader, a *queue.Attribute) {
		*a = queue.Attribute{Name: r.ownString(), Type: r.ownString(), Value: r.ownString()}
	})
	e.Remove = getAll(r, 1, func(r *reader, name *string) { *name = r.ownString() })
	e.MaxSize, e.MaxAttributes = int(r.Uint()), int(r.Uint())
	return e
}

func putMessageID(w *writer, id *queue.MessageID) { w.Raw(id[:]) }
func getMessageID(r *reader, id *queue.MessageID) { copy(id[:], r.Raw(16)) }

func putMoveResult(w *writer, m *queue.MoveResult) {
	putMessageID(w, &m.ID)
	putMessageID(w, &m.Moved)
	w.Byte(byte(m.Outcome))
}

func getMoveResult(r *reader, m *queue.MoveResult) {
	getMessageID(r, &m.ID)
	getMessageID(r, &m.Moved)
	m.Outcome = queue.MoveOutcome(r.Byte())
}

// peekIDs is peek for messages with certain ids.
var peekIDs = method[queue.Peek, queue.PeekResult]{
	code: 24,
	putArgs: func(w *writer, p *queue.Peek) {
		peek.putArgs(w, p)
		putAll(w, p.IDs, putMessageID)
	},
	getArgs: func(r *reader) queue.Peek {
		p := peek.getArgs(r)
		p.IDs = getAll(r, sizeMessageID, getMessageID)
		return p
	},
	call: Shard.Peek, putResult: peek.putResult, getResult: peek.getResult,
}
