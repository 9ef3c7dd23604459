package remote

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// sizePeeked is the minimum size of a message that was found.
const sizePeeked = 7 + sizeStored

var peek = method[queue.Peek, queue.PeekResult]{
	code: 20,
	putArgs: func(w *writer, p *queue.Peek) {
		w.Byte(byte(p.States))
		w.String(p.Filter)
		w.String(string(p.After.Encode()))
		w.Int(int64(p.Max))
		w.Bool(p.Bodies)
	},
	getArgs: func(r *reader) queue.Peek {
		return queue.Peek{
			States: queue.States(r.Byte()), Filter: r.String(), After: getCursor(r), Max: int(r.Int()),
			Bodies: r.Bool(),
		}
	},
	call: Shard.Peek,
	putResult: func(w *writer, f queue.PeekResult) {
		putAll(w, f.Messages, putPeeked)
		w.Uint(f.Scanned)
		w.Bool(f.More)
		w.String(string(f.Next.Encode()))
	},
	getResult: func(r *reader) queue.PeekResult {
		return queue.PeekResult{
			Messages: getAll(r, sizePeeked, getPeeked), Scanned: r.Uint(), More: r.Bool(), Next: getCursor(r),
		}
	},
}

// Peek reads messages of a queue without receiving them.
func (c *Client) Peek(ctx context.Context, id queue.ID, p queue.Peek) (queue.PeekResult, error) {
	m := &peek
	if len(p.IDs) > 0 {
		m = &peekIDs
	}
	return invoke(ctx, c, m, id, p)
}

func getCursor(r *reader) queue.PeekCursor {
	c, ok := queue.DecodePeekCursor([]byte(r.String()))
	if !ok {
		r.Fail()
	}
	return c
}

func putPeeked(w *writer, m *queue.Peeked) {
	w.Uint(uint64(m.Position))
	w.Byte(byte(m.State))
	w.Uint(uint64(m.Size))
	w.Uint(m.Receives)
	w.Instant(m.First)
	w.Instant(m.Last)
	w.Instant(m.Until)
	putStored(w, &m.Message)
}

func getPeeked(r *reader, m *queue.Peeked) {
	m.Position = queue.Position(r.Uint())
	m.State = queue.States(r.Byte())
	m.Size = int(r.Uint())
	m.Receives = r.Uint()
	m.First = r.Instant()
	m.Last = r.Instant()
	m.Until = r.Instant()
	getStored(r, &m.Message)
}
