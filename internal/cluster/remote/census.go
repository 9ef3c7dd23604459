package remote

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// sizeShare is the minimum size of a share.
const sizeShare = 7

// census counts messages by their values of a key, which nodes of older programs do not know, and refuse.
var census = method[queue.Census, queue.CensusResult]{
	code: 38,
	putArgs: func(w *writer, c *queue.Census) {
		w.Byte(byte(c.States))
		w.String(c.Filter)
		w.String(c.Key)
		w.String(string(c.After.Encode()))
	},
	getArgs: func(r *reader) queue.Census {
		return queue.Census{States: queue.States(r.Byte()), Filter: r.String(), Key: r.String(), After: getCursor(r)}
	},
	call: Shard.Census,
	putResult: func(w *writer, c queue.CensusResult) {
		putAll(w, c.Shares, putShare)
		w.Uint(c.Scanned)
		w.Uint(c.Found)
		w.Bool(c.More)
		w.String(string(c.Next.Encode()))
	},
	getResult: func(r *reader) queue.CensusResult {
		return queue.CensusResult{
			Shares: getAll(r, sizeShare, getShare), Scanned: r.Uint(), Found: r.Uint(), More: r.Bool(),
			Next: getCursor(r),
		}
	},
}

// Census counts messages by their values of a key.
func (c *Client) Census(ctx context.Context, id queue.ID, ask queue.Census) (queue.CensusResult, error) {
	return invoke(ctx, c, &census, id, ask)
}

func putShare(w *writer, s *queue.Share) {
	w.String(s.Value)
	w.Bool(s.Missing)
	w.Bool(s.Cut)
	w.Bool(s.Unreadable)
	w.String(s.Term)
	w.Uint(s.Messages)
	w.Instant(s.Newest)
}

func getShare(r *reader, s *queue.Share) {
	s.Value = r.String()
	s.Missing = r.Bool()
	s.Cut = r.Bool()
	s.Unreadable = r.Bool()
	s.Term = r.String()
	s.Messages = r.Uint()
	s.Newest = r.Instant()
}
