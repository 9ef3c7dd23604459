package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Why there is no snapshot.
var (
	// ErrNotKept says that this node does not keep all shards.
	ErrNotKept = errors.New("this node does not keep all shards")
	// ErrUnsettled says that shards were changing hands; a moment later it may work.
	ErrUnsettled = errors.New("shards are changing hands")
)

const (
	snapshotTries = 5
	snapshotPause = 2 * time.Second
)

// Snapshot makes in dir, which must be there, what a data directory has: the
// stores of all shards and the control store. Everything is in it that was
// acknowledged before the call, of each shard what was there at one moment, and
// of a message on its way from one shard to another it is known where it is. It
// returns how many shards with messages there are.
//
// This node must keep all shards, or the error is ErrNotKept.
func (n *Node) Snapshot(ctx context.Context, dir string) (int, error) {
	for try := 1; ; try++ {
		count, err := n.snapshot(ctx, dir)
		if try == snapshotTries || !errors.Is(err, ErrUnsettled) {
			return count, err
		}
		n.log.Info("making the snapshot again", "error", err)
		if err := os.RemoveAll(filepath.Join(dir, shardsDir)); err != nil {
			return 0, err
		}
		pause(ctx, snapshotPause)
	}
}

func (n *Node) snapshot(ctx context.Context, dir string) (int, error) {
	shards, err := n.all()
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(filepath.Join(dir, shardsDir), 0o700); err != nil {
		return 0, err
	}
	if err := n.snapshotShards(ctx, shards, filepath.Join(dir, shardsDir)); err != nil {
		return 0, err
	}
	// The control store comes last: messages of a queue that is not known would be
	// thrown away, while a queue that has come in between just has none.
	if err := n.CatchUp(ctx); err != nil {
		return 0, err
	}
	_, err = n.replica.Snapshot(filepath.Join(dir, controlDir))
	return len(shards), err
}

// all returns all shards with messages, which must be kept here.
func (n *Node) all() ([]*local, error) {
	count := n.records.count()
	var shards []*local
	for i := range count {
		if l := n.local(shardName(i + 1)); l != nil {
			shards = append(shards, l)
		}
	}
	if len(shards) < count {
		return nil, fmt.Errorf("%w, but %d of %d: %s", ErrNotKept, len(shards), count, n.whoKeepsAll())
	}
	return shards, nil
}

// whoKeepsAll says whom to ask.
func (n *Node) whoKeepsAll() string {
	keeps := make(map[string]int)
	all := n.records.allShards()
	for name, s := range all {
		for _, node := range s.Replicas {
			if name != controlShard {
				keeps[node]++
			}
		}
	}
	maps.DeleteFunc(keeps, func(_ string, kept int) bool { return kept < n.records.count() })
	if len(keeps) == 0 {
		return "no node keeps all of them"
	}
	return "ask " + strings.Join(slices.Sorted(maps.Keys(keeps)), " or ")
}

// snapshotShards makes the snapshots of all shards so that a message which has left
// one is in another. It leaves a shard's store with a record of the owner's, which
// says that it has arrived.
//
// While nothing is forwarded by those nodes who own shards, all that has left any
// shard has arrived. That holds for what they did before, and was read in the first
// round; and for what they do until the end of the second, because then each shard
// still is in the epoch of the first. What has arrived before the second round
// begins is part of what it waits for. It does not rest on clocks: that the gates
// were shut is asked in the end. And a node that does not answer does no harm
// unless it owns a shard.
func (n *Node) snapshotShards(ctx context.Context, shards []*local, dir string) (err error) {
	held, release := n.holdAll(ctx)
	released := false
	defer func() {
		if !released {
			_ = release() // it has failed anyway
		}
	}()
	epochs := make(map[string]uint64)
	for _, l := range shards {
		if err := l.replica.CatchUp(ctx); err != nil {
			return err
		}
		owner, epoch, owned := l.replica.Owner()
		if owned && !held[owner] {
			return fmt.Errorf("%w: shard %s was owned by %s, which does not answer", ErrUnsettled, l.name, owner)
		}
		epochs[l.name] = epoch
	}
	for _, l := range shards {
		if err := l.replica.CatchUp(ctx); err != nil {
			return err
		}
	}
	for _, l := range shards {
		mark, err := l.replica.Snapshot(filepath.Join(dir, l.name))
		if err != nil {
			return fmt.Errorf("shard %s: %w", l.name, err)
		}
		if mark.Epoch != epochs[l.name] {
			return fmt.Errorf("%w: shard %s has another owner", ErrUnsettled, l.name)
		}
	}
	released = true
	if err := release(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnsettled, err)
	}
	return nil
}
