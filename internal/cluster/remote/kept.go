package remote

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/queue"
)

// Older programs do not know kept and undoPurge. Nothing is kept before all nodes know them.
var kept = method[none, queue.Kept]{
	code:    39,
	putArgs: putNoArgs, getArgs: getNone,
	call:      func(s Shard, ctx context.Context, id queue.ID, _ none) (queue.Kept, error) { return s.Kept(ctx, id) },
	putResult: putKept, getResult: getKept,
}

var undoPurge = method[none, queue.Kept]{
	code:    41,
	putArgs: putNoArgs, getArgs: getNone,
	call: func(s Shard, ctx context.Context, id queue.ID, _ none) (queue.Kept, error) {
		return s.UndoPurge(ctx, id)
	},
	putResult: putKept, getResult: getKept,
}

// Older programs do not know mayUndoPurge.
var mayUndoPurge = method[none, none]{
	code:    49,
	putArgs: putNoArgs, getArgs: getNone,
	call: func(s Shard, ctx context.Context, id queue.ID, _ none) (none, error) {
		return none{}, s.MayUndoPurge(ctx, id)
	},
	putResult: putNone, getResult: getNone,
}

func putKept(w *writer, k queue.Kept) {
	w.Uint(uint64(k.Since))
	w.Uint(uint64(k.Until))
	w.Uint(k.Messages)
	w.Uint(k.Bytes)
	w.Bool(k.Undoing)
}

func getKept(r *reader) queue.Kept {
	return queue.Kept{
		Since: queue.Instant(r.Uint()), Until: queue.Instant(r.Uint()), Messages: r.Uint(), Bytes: r.Uint(),
		Undoing: r.Bool(),
	}
}

// Kept describes the messages that the last purge of a queue has kept.
func (c *Client) Kept(ctx context.Context, id queue.ID) (queue.Kept, error) {
	k, err := invoke(ctx, c, &kept, id, none{})
	if errors.Is(err, errOlder) {
		return queue.Kept{}, nil
	}
	return k, err
}

// MayUndoPurge returns the refusal that UndoPurge would give now. A node of an older program refuses nothing before
// UndoPurge.
func (c *Client) MayUndoPurge(ctx context.Context, id queue.ID) error {
	_, err := invoke(ctx, c, &mayUndoPurge, id, none{})
	if errors.Is(err, errOlder) {
		return nil
	}
	return err
}

// UndoPurge starts to restore the messages that the last purge of a queue has kept.
func (c *Client) UndoPurge(ctx context.Context, id queue.ID) (queue.Kept, error) {
	k, err := invoke(ctx, c, &undoPurge, id, none{})
	if errors.Is(err, errOlder) {
		return queue.Kept{}, queue.ErrNothingKept
	}
	return k, err
}
