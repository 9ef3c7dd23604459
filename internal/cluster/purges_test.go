package cluster

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// moving is the queue of these tests. The second shard serves it, and the first has an outbox for it.
const moving queue.ID = 1

// openedShard opens a shard whose clock is ahead by what ahead returns.
func openedShard(t *testing.T, dir string, elsewhere bool, ahead func() time.Duration) (*shard.Shard, *store.Store) {
	t.Helper()
	st, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sh, err := shard.Open(shard.Options{Store: st, Number: 1, Shift: ahead, Configs: func() []queue.Config {
		return []queue.Config{{
			ID: moving, ARN: "arn:aws:sqs:us-east-1:1:moving", Retention: time.Hour * 1000, Elsewhere: elsewhere,
		}}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		sh.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return sh, st
}

// publishCopy puts a copy of a publication into the outbox.
func publishCopy(t *testing.T, sh *shard.Shard) {
	t.Helper()
	p := queue.Publication{Copies: []queue.Copy{{Queue: moving, Message: queue.Outgoing{Body: "m"}}}}
	if _, err := sh.Publish(t.Context(), []queue.Publication{p}); err != nil {
		t.Fatal(err)
	}
}

// A queue is purged while a snapshot is made of one shard after the other. Both are restored on a machine whose clock
// is behind. A message that is sent between the shards afterwards arrives, because no shard has seen a position in the
// other's outbox that the other does not know.
func TestPurgeBesideASnapshot(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	now := func() time.Duration { return 0 }
	var later atomic.Int64
	from, fromStore := openedShard(t, at("from"), true, func() time.Duration { return time.Duration(later.Load()) })
	to, toStore := openedShard(t, at("to"), false, now)
	forwards := newForwardBarrier()
	publishCopy(t, from) // so that the shard's clock is stored

	if err := forwards.hold(ctx, 1, time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := fromStore.Checkpoint(at("from restored")); err != nil {
		t.Fatal(err)
	}
	later.Store(int64(time.Hour))
	publishCopy(t, from)
	last, err := from.PurgeOutbox(ctx, moving)
	if err != nil || last == 0 {
		t.Fatal(last, err)
	}
	purged := make(chan error, 1)
	go func() {
		marks := []queue.Mark{{From: queue.FromShard{Shard: 1}, UpTo: last}}
		purged <- ownedShard{to, forwards}.PurgeAfter(ctx, moving, marks)
	}()
	time.Sleep(20 * time.Millisecond) // a purge that does not wait would end here
	if _, err := toStore.Checkpoint(at("to restored")); err != nil {
		t.Fatal(err)
	}
	if !forwards.release(1) {
		t.Fatal("the barrier opened by itself")
	}
	if err := <-purged; err != nil {
		t.Errorf("the purge, after the snapshot: %v", err)
	}

	from, _ = openedShard(t, at("from restored"), true, now)
	to, _ = openedShard(t, at("to restored"), false, now)
	publishCopy(t, from)
	go func() {
		_ = shard.Forward(ctx, from, func(
			ctx context.Context, id queue.ID, from queue.FromShard, messages []queue.Transfer,
		) error {
			return to.Accept(ctx, id, from, messages)
		})
	}()
	eventually.Succeeds(t, func() error {
		n, err := to.Counts(ctx, moving)
		if err == nil && n.Visible != 2 {
			err = fmt.Errorf("of two messages, %+v have arrived", n)
		}
		return err
	})
}
