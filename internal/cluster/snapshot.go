package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sluicemq/sluice/internal/cluster/replica"

	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// ErrUnsettled reports that no snapshot was made because shards were changing owners. A later attempt may succeed.
var ErrUnsettled = errors.New("shards are changing hands")

// snapshots makes snapshots of all shards, with the help of the other nodes.
type snapshots struct {
	*common
	control  *controlShardReplica
	locals   *locals
	members  *membership
	barrier  *barrier
	forwards *forwardBarrier // passes messages from this node's shards to others
}

// make writes the contents of a data directory to dir, which must exist: the stores of all shards and the control
// store. They contain everything acknowledged before the call. Each shard is in the state of one moment, and each
// message that is moving between shards is in exactly one of them. make returns the number of shards with messages. It
// fetches the stores that this node does not keep from other nodes.
func (s *snapshots) make(ctx context.Context, dir string) (int, error) {
	for try := 1; ; try++ {
		count, err := s.try(ctx, dir)
		if try == snapshotTries || !errors.Is(err, ErrUnsettled) {
			return count, err
		}
		s.log.Info("making the snapshot again", "error", err)
		if err := os.RemoveAll(filepath.Join(dir, datadir.ShardsDir)); err != nil {
			return 0, err
		}
		_ = wait.For(ctx, snapshotPause)
	}
}

func (s *snapshots) try(ctx context.Context, dir string) (int, error) {
	dir = filepath.Join(dir, datadir.ShardsDir)
	parts, err := s.parts(dir)
	if err != nil {
		return 0, err
	}
	defer func() {
		for _, p := range parts {
			p.end(ctx)
		}
	}()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	if err := s.snapshotShards(ctx, parts); err != nil {
		return 0, err
	}
	for _, p := range parts {
		if err := p.fetch(ctx); err != nil && ctx.Err() == nil {
			return 0, fmt.Errorf("%w: %w", ErrUnsettled, err)
		} else if err != nil {
			return 0, err
		}
	}
	// The control store comes last. Messages of an unknown queue would be discarded, but a queue created meanwhile is
	// merely empty.
	if err := s.barrier.catchUp(ctx); err != nil {
		return 0, err
	}
	_, err = s.control.replica.Snapshot(filepath.Join(filepath.Dir(dir), datadir.ControlDir))
	return len(parts), err
}

// part is a shard in the snapshot.
type part interface {
	shard() string
	// currentOwner waits until the replica has applied everything that was in the log at the time of the call, and
	// returns the owner that the log names.
	currentOwner(ctx context.Context) (replica.LogOwner, error)
	// snapshot makes a checkpoint of the replica, on its node.
	snapshot(ctx context.Context) (epoch uint64, err error)
	// fetch copies the checkpoint to its destination, unless it was already copied.
	fetch(ctx context.Context) error
	end(ctx context.Context)
}

// here is a shard with a replica on this node.
type here struct {
	*local
	dir string
}

func (h here) shard() string { return h.name }

func (h here) currentOwner(ctx context.Context) (replica.LogOwner, error) {
	return h.replica.CurrentOwner(ctx)
}

func (h here) snapshot(context.Context) (uint64, error) {
	mark, err := h.replica.Snapshot(h.dir)
	return mark.Epoch, err
}

func (h here) fetch(context.Context) error { return nil }

func (h here) end(context.Context) {}

// there is a shard with a replica on another node.
type there struct {
	*replica.Elsewhere
	*common
	name string
	dir  string
}

func (t there) shard() string { return t.name }

func (t there) currentOwner(ctx context.Context) (replica.LogOwner, error) {
	return t.CurrentOwner(ctx)
}

func (t there) snapshot(ctx context.Context) (uint64, error) { return t.Snapshot(ctx) }

func (t there) fetch(ctx context.Context) error {
	if t.o.Low() {
		return fmt.Errorf("shard %s: %w", t.name, errNoSpace)
	}
	return t.Fetch(ctx, t.o.Disk, t.dir)
}

func (t there) end(ctx context.Context) { t.End(ctx) }

var errNoSpace = errors.New("the disk of this node has no space for the shards of other nodes")

// parts returns all shards with messages, each with the node whose replica is most current.
func (s *snapshots) parts(dir string) ([]part, error) {
	var parts []part
	for i := range s.records.count() {
		name := shardName(i + 1)
		at := filepath.Join(dir, name)
		if l := s.locals.of(name); l != nil && usable(l.replica.Status()) {
			parts = append(parts, here{l, at})
			continue
		}
		nodes := s.members.keepers(name, usable)
		if len(nodes) == 0 {
			return nil, fmt.Errorf("%w: no node has shard %s ready", ErrUnsettled, name)
		}
		parts = append(parts, there{replica.NewElsewhere(s.messages, nodes[0], name), s.common, name, at})
	}
	return parts, nil
}

// usable reports whether a replica has a store that follows the log.
func usable(s replica.Status) bool { return s.Error == "" && s.Role != replica.Fetching }

// snapshotShards makes the snapshots of all shards so that each message that has left one shard is in another. A
// message leaves a shard's store only with a record of the owner that the message has arrived elsewhere.
//
// While the nodes that own shards forward nothing, every message that has left a shard has arrived. That holds for the
// messages sent before the barriers shut, which the first round read. It also holds for those sent until the end of the
// second round, because each shard is then still in the epoch of the first. The second round waits for all messages
// that arrived before it. None of this relies on clocks: at the end, each node confirms that its barrier stayed shut. A
// node that does not answer does no harm unless it owns a shard.
func (s *snapshots) snapshotShards(ctx context.Context, parts []part) (err error) {
	held, release := s.holdAll(ctx)
	released := false
	defer func() {
		if !released {
			_ = release() // it has failed anyway
		}
	}()
	epochs := make(map[string]uint64)
	for _, p := range parts {
		by, err := p.currentOwner(ctx)
		if err != nil {
			return err
		}
		if by.Owned && !held[by.Owner] {
			return fmt.Errorf("%w: shard %s was owned by %s, which does not answer", ErrUnsettled, p.shard(), by.Owner)
		}
		epochs[p.shard()] = by.Epoch
	}
	for _, p := range parts {
		if _, err := p.currentOwner(ctx); err != nil {
			return err
		}
	}
	for _, p := range parts {
		epoch, err := p.snapshot(ctx)
		if err != nil {
			return fmt.Errorf("shard %s: %w", p.shard(), err)
		}
		if epoch != epochs[p.shard()] {
			return fmt.Errorf("%w: shard %s has another owner", ErrUnsettled, p.shard())
		}
	}
	released = true
	if err := release(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnsettled, err)
	}
	return nil
}
