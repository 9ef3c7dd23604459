package remote

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// discard deletes messages by their ids, which nodes of older programs do not know, and refuse.
var discard = method[queue.Locate, queue.Discarded]{
	code: 37,
	putArgs: func(w *writer, a *queue.Locate) {
		putAll(w, a.IDs, putMessageID)
		w.String(string(a.After.Encode()))
	},
	getArgs: func(r *reader) queue.Locate {
		return queue.Locate{IDs: getAll(r, sizeMessageID, getMessageID), After: getCursor(r)}
	},
	call: Shard.Discard,
	putResult: func(w *writer, d queue.Discarded) {
		putAll(w, d.IDs, putMessageID)
		w.Uint(d.Scanned)
		w.Bool(d.More)
		w.String(string(d.Next.Encode()))
	},
	getResult: func(r *reader) queue.Discarded {
		return queue.Discarded{
			IDs: getAll(r, sizeMessageID, getMessageID), Scanned: r.Uint(), More: r.Bool(), Next: getCursor(r),
		}
	},
}

// Discard deletes messages by their ids.
func (c *Client) Discard(ctx context.Context, id queue.ID, ask queue.Locate) (queue.Discarded, error) {
	return invoke(ctx, c, &discard, id, ask)
}
