package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// None of five nodes keeps all shards. Still, each makes a complete snapshot.
func TestSnapshotThroughAnyNode(t *testing.T) {
	inWorld(t, func(w *world) {
		all := []string{"a", "b", "c", "d", "e"}
		for _, name := range all {
			w.startOne(name, all...)
		}
		s := w.settled(all...)
		for _, name := range all {
			if len(keeps(s, name)) == 6 {
				t.Fatalf("node %s keeps all shards", name)
			}
		}
		var want []string
		for i := range 8 {
			name := fmt.Sprint("q", i)
			w.does(func() error { return w.at(all[i%5]).create(name, nil) })
			for j := range 3 {
				body := fmt.Sprintf("%s: %d", name, j)
				w.at("a").send(name, body)
				want = append(want, body)
			}
		}
		for _, name := range all {
			p := w.at(name)
			dir, count := "", 0
			w.does(func() (err error) {
				dir = filepath.Join(t.TempDir(), "snapshot")
				count, err = p.node.Snapshot(context.Background(), dir)
				return err
			})
			if count != 6 {
				t.Errorf("the snapshot of node %s has %d shards", name, count)
			}
			got := w.messagesIn(p, dir, count)
			if cluster.Raced { // does may have sent one twice
				got = slices.Compact(got)
			}
			if !slices.Equal(got, want) {
				t.Errorf("in the snapshot of node %s are %q", name, got)
			}
		}
		// Nodes that made checkpoints for others have removed them.
		if got := w.stores("a") + w.stores("b") + w.stores("c") + w.stores("d") + w.stores("e"); got != 3*6 {
			t.Errorf("there are %d stores", got)
		}
	})
}

// messagesIn returns all messages in the shards of a directory on a process's disk.
func (w *world) messagesIn(p *process, dir string, shards int) (bodies []string) {
	w.t.Helper()
	for i := range shards {
		messages, err := store.Open(cluster.ShardDir(dir, i+1), store.Options{Disk: p.disk, Cache: w.cache})
		w.must(err)
		s, err := shard.Open(shard.Options{Store: messages, Configs: func() (configs []queue.Config) {
			for _, q := range p.catalog.All() {
				configs = append(configs, q.ConfigOn(i+1))
			}
			return configs
		}})
		w.must(err)
		for _, q := range p.catalog.All() {
			got, err := s.Receive(context.Background(), q.ID, queue.Receive{Max: 10}, 0)
			if err != nil && !errors.Is(err, queue.ErrNoQueue) { // it is on another shard
				w.t.Error(err)
			}
			for _, m := range got {
				bodies = append(bodies, m.Body)
			}
		}
		s.Close()
		w.must(messages.Close())
	}
	slices.Sort(bodies)
	return bodies
}
