package router

import (
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// turn is the answer of one shard to a peek that visits all shards of a queue.
type turn struct {
	more bool // the look has not reached the end of the shard
	next queue.PeekCursor
	full bool // the look has found enough for one call
	done bool // there is nothing left to look for
}

// inTurn asks the shards of a queue one after the other, from the place of a cursor on, while there is time. It returns
// where to continue, if the look has not reached the end of the queue.
func (r *Router) inTurn(
	id queue.ID,
	after queue.PeekCursor,
	ask func(shard int, after queue.PeekCursor) (turn, error),
) (more bool, next queue.PeekCursor, _ error) {
	p, err := r.place(id)
	if err != nil {
		return false, next, err
	}
	shards := p.Shards
	if i := slices.Index(shards, after.Shard); i >= 0 {
		shards = shards[i:]
	} else {
		after = queue.PeekCursor{}
	}
	end := time.Now().Add(peekTime)
	for i, n := range shards {
		t, err := ask(n, after)
		switch {
		case err != nil:
			return false, next, err
		case t.more:
			t.next.Shard = n
			return true, t.next, nil
		case t.done:
			return false, next, nil
		case i+1 < len(shards) && (t.full || time.Now().After(end)):
			return true, queue.PeekCursor{Shard: shards[i+1]}, nil
		}
		after = queue.PeekCursor{}
	}
	return false, next, nil
}
