package remote

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// The minimum sizes of these in a message.
const (
	sizeState = 15
	sizeGroup = 25
)

var states = method[none, []shard.State]{
	code:    21,
	putArgs: putNoArgs, getArgs: getNone,
	call: func(s Shard, ctx context.Context, id queue.ID, _ none) ([]shard.State, error) {
		return s.States(ctx, id)
	},
	putResult: func(w *writer, list []shard.State) { putAll(w, list, putState) },
	getResult: func(r *reader) []shard.State { return getAll(r, sizeState, getState) },
}

// States returns the state of a queue on the shard.
func (c *Client) States(ctx context.Context, id queue.ID) ([]shard.State, error) {
	return invoke(ctx, c, &states, id, none{})
}

// putState omits the shard and the node: the caller knows them.
func putState(w *writer, s *shard.State) {
	putCounts(w, &s.Counts)
	w.Bool(s.Receivable)
	w.Bool(s.OverLimit)
	w.Byte(byte(s.Limited))
	w.Instant(s.Oldest)
	w.Instant(s.NextVisible)
	w.Instant(s.NextDelayed)
	w.Uint(s.ReadyGroups)
	w.Uint(s.BlockedGroups)
	w.Instant(s.LastSend)
	w.Instant(s.LastReceive)
	w.Uint(uint64(s.Waiters))
	w.Uint(s.Disk)
}

func getState(r *reader, s *shard.State) {
	s.Counts = getCounts(r)
	s.Receivable = r.Bool()
	s.OverLimit = r.Bool()
	s.Limited = queue.Limited(r.Byte())
	s.Oldest = r.Instant()
	s.NextVisible = r.Instant()
	s.NextDelayed = r.Instant()
	s.ReadyGroups = r.Uint()
	s.BlockedGroups = r.Uint()
	s.LastSend = r.Instant()
	s.LastReceive = r.Instant()
	s.Waiters = int(r.Uint())
	s.Disk = r.Uint()
}

var groups = method[queue.Groups, queue.GroupsResult]{
	code: 22,
	putArgs: func(w *writer, g *queue.Groups) {
		putGroupsCursor(w, g.After)
		w.Int(int64(g.Max))
	},
	getArgs: func(r *reader) queue.Groups { return queue.Groups{After: getGroupsCursor(r), Max: int(r.Int())} },
	call:    Shard.Groups,
	putResult: func(w *writer, f queue.GroupsResult) {
		putAll(w, f.Groups, putGroup)
		w.Bool(f.More)
		putGroupsCursor(w, f.Next)
	},
	getResult: func(r *reader) queue.GroupsResult {
		return queue.GroupsResult{Groups: getAll(r, sizeGroup, getGroup), More: r.Bool(), Next: getGroupsCursor(r)}
	},
}

// Groups lists the groups of a FIFO queue.
func (c *Client) Groups(ctx context.Context, id queue.ID, g queue.Groups) (queue.GroupsResult, error) {
	return invoke(ctx, c, &groups, id, g)
}

func putGroupsCursor(w *writer, c queue.GroupsCursor) { w.String(string(c.Encode())) }

func getGroupsCursor(r *reader) queue.GroupsCursor {
	c, ok := queue.DecodeGroupsCursor([]byte(r.String()))
	if !ok {
		r.Fail()
	}
	return c
}

func putGroup(w *writer, g *queue.Group) {
	w.String(g.Name)
	w.Uint(uint64(g.Head))
	w.Raw(g.ID[:])
	w.Instant(g.Sent)
	w.Uint(g.Receives)
	w.Byte(byte(g.State))
	w.Instant(g.Until)
	w.Uint(g.Depth)
	w.Bool(g.More)
	w.Uint(g.InFlight)
}

func getGroup(r *reader, g *queue.Group) {
	g.Name = r.String()
	g.Head = queue.Position(r.Uint())
	copy(g.ID[:], r.Raw(16))
	g.Sent = r.Instant()
	g.Receives = r.Uint()
	g.State = queue.States(r.Byte())
	g.Until = r.Instant()
	g.Depth = r.Uint()
	g.More = r.Bool()
	g.InFlight = r.Uint()
}
