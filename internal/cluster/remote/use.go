package remote

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// sizeUse is the minimum size of a Use in a message.
const sizeUse = sizeID + 3

var uses = method[[]queue.ID, []queue.Use]{
	code:    34,
	putArgs: func(w *writer, ids *[]queue.ID) { putAll(w, *ids, putID) },
	getArgs: func(r *reader) []queue.ID { return getAll(r, sizeID, getID) },
	call: func(s Shard, ctx context.Context, _ queue.ID, ids []queue.ID) ([]queue.Use, error) {
		return s.Uses(ctx, ids)
	},
	putResult: func(w *writer, list []queue.Use) { putAll(w, list, putUse) },
	getResult: func(r *reader) []queue.Use { return getAll(r, sizeUse, getUse) },
}

// Uses returns the last use of some queues.
func (c *Client) Uses(ctx context.Context, ids []queue.ID) ([]queue.Use, error) {
	return invoke(ctx, c, &uses, 0, ids)
}

func putUse(w *writer, u *queue.Use) {
	putID(w, &u.ID)
	w.Bool(u.Sealed)
	w.Uint(u.Messages)
	w.Instant(u.Last)
}

func getUse(r *reader, u *queue.Use) {
	getID(r, &u.ID)
	u.Sealed, u.Messages, u.Last = r.Bool(), r.Uint(), r.Instant()
}
