package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// alone is the node of an installation with a single machine: it owns its control store, keeps the only shard, and
// knows every change.
type alone struct {
	dir      string // of the data
	disk     *store.Disk
	log      *slog.Logger
	require  func(format int) error // records which format the data needs
	keep     queue.Keep
	totals   *shard.Totals
	low      func() bool                                  // reports whether purges keep nothing; nil: they do
	watch    func(now func() queue.Instant) shard.Watcher // nil: messages are not watched
	cipher   func() queue.Cipher                          // returns nil if there are no keys
	records  *store.Store                                 // of the control store
	control  *control.Control
	shares   bool // the keys are in the control store
	messages *store.Store
	shard    *shard.Shard // nil before Serve

	delivery     sync.WaitGroup // from the shard to endpoints
	stopDelivery context.CancelFunc
}

// theShard is the number of the only shard.
const theShard = 1

// openAlone opens the stores in a data directory. If they belonged to a cluster, so that the keys are in the control
// store, it calls initialise as the owner of a control store does.
func openAlone(
	dir string,
	o store.Options,
	require func(int) error,
	initialise func(*control.Control) error,
	keep queue.Keep,
) (_ *alone, err error) {
	a := &alone{dir: dir, disk: o.Disk, log: o.Logger, require: require, keep: keep}
	if a.records, err = store.Open(filepath.Join(dir, ControlDir), o); err != nil {
		return nil, err
	}
	a.control = control.New(control.Options{Store: a.records})
	a.messages, err = store.Open(filepath.Join(dir, ShardDir), o)
	if err == nil {
		a.shares, err = Initialised(a.control)
	}
	if err == nil && a.shares {
		err = o.Disk.Guard(func() error { return initialise(a.control) })
	}
	if err != nil {
		return nil, errors.Join(err, a.Close(context.Background()))
	}
	return a, nil
}

// Control implements Node.
func (a *alone) Control() *control.Control { return a.control }

// Serve implements Node.
func (a *alone) Serve(c *catalog.Catalog, deliver func(context.Context, *shard.Shard)) (Messages, error) {
	sh, err := shard.Open(shard.Options{
		Store: a.messages, Number: theShard,
		Logger: a.log, Shift: machineShift, Require: a.require, Keep: a.keep, Totals: a.totals,
		Watch: a.watch, Cipher: a.cipher(), Low: a.low,
		Configs: func() []queue.Config { return c.Configs(theShard) }, Deleted: c.Deleted,
	})
	if err != nil {
		return nil, err
	}
	if err := skipUnknown(c, sh); err != nil {
		sh.Close()
		return nil, err
	}
	a.shard = sh
	c.OnChange(a.onQueue)
	ctx, cancel := context.WithCancel(context.Background())
	a.stopDelivery = cancel
	a.delivery.Go(func() { deliver(ctx, sh) })
	a.delivery.Go(func() {
		if err := shard.Forward(ctx, sh, a.keepHere); err != nil && ctx.Err() == nil {
			a.log.Error("messages that wait for their queues stay where they are until the next start", "error", err)
		}
	})
	return sh, nil
}

// keepHere implements shard.Deliver. Outboxes of the only shard hold what arrived for a queue while the shard did not
// know it, because the control store was older than the messages. A purge leaves out what is on its way here; see
// queue.Purging.
func (a *alone) keepHere(ctx context.Context, id queue.ID, from queue.FromShard, messages []queue.Transfer) error {
	return a.shard.Accept(ctx, id, from, messages)
}

// skipUnknown keeps the data of unknown queues from new queues: the control store may be lost, or restored without the
// messages.
func skipUnknown(c *catalog.Catalog, sh *shard.Shard) error {
	ids := sh.Unknown()
	if len(ids) == 0 {
		return nil
	}
	err := c.Change(context.Background(), func(tx *catalog.Tx) error { return tx.Skip(ids[len(ids)-1]) })
	if err != nil {
		return fmt.Errorf("skip the ids of unknown queues: %w", err)
	}
	return nil
}

// onQueue passes a change of the catalog to the shard. The shard sees all changes in order. onQueue waits even for a
// blocked disk: the catalog has the change already, and the two must not differ. A shard that has lost its store reads
// the catalog when it recovers.
func (a *alone) onQueue(was, is *catalog.Queue) {
	if err := catalog.Tell(context.Background(), a.shard, theShard, was, is); err != nil {
		a.log.Warn("the shard does not know of a change of a queue", "error", err)
	}
}

// Forward implements front.Node.
func (a *alone) Forward(context.Context, []byte) ([]byte, error) {
	return nil, errors.New("this server belongs to no cluster")
}

// Ask implements Node. There is no other node.
func (a *alone) Ask(context.Context, []byte) (answers [][]byte, silent []string) { return nil, nil }

// CatchUp implements front.Node.
func (a *alone) CatchUp(context.Context) error { return nil }

// CatchUpPause implements front.Node. There is nothing to wait for.
func (a *alone) CatchUpPause() time.Duration { return 0 }

// SharesKeys implements Node.
func (a *alone) SharesKeys() bool { return a.shares }

// Current implements front.Node.
func (a *alone) Current() error { return nil }

// Place implements Node. All queues are on the first shard, which needs no record.
func (a *alone) Place(_, _ *catalog.Queue) {}

// ClockShift implements Node. There is no other clock.
func (a *alone) ClockShift() time.Duration { return 0 }

// Reads implements Node. There is no other program.
func (a *alone) Reads(int) error { return nil }

// Low implements Node. There is no other disk.
func (a *alone) Low() bool { return false }

// Reclaim implements Node. Kept messages of purges go first.
func (a *alone) Reclaim() error {
	var err error
	if a.shard != nil {
		err = a.shard.ForgetPurged(context.Background())
	}
	return errors.Join(err, a.messages.Reclaim())
}

// Failed implements Node. Only the disk can fail here, and the server watches it.
func (a *alone) Failed() <-chan struct{} { return nil }

// Err implements Node.
func (a *alone) Err() error { return nil }

// Snapshot implements Node. It copies the messages before the queues: a queue created in between has no messages, while
// messages of unknown queues would be discarded. If the disk cannot be written, Snapshot waits or fails, but does not
// give the disk up.
func (a *alone) Snapshot(_ context.Context, dir string) (int, error) {
	if err := a.disk.Writable().Err(); err != nil {
		return 0, err
	}
	to := filepath.Join(dir, ShardDir)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return 0, err
	}
	if _, err := a.messages.Checkpoint(to); err != nil {
		return 0, err
	}
	_, err := a.records.Checkpoint(filepath.Join(dir, ControlDir))
	return 1, err
}

// BackupID implements Node.
func (a *alone) BackupID(context.Context) (string, error) { return backupID(a.dir) }

// Status implements Node: there is no cluster.
func (a *alone) Status() status.Status { return status.Status{} }

// Queues implements Node.
func (a *alone) Queues(_, _ string) []status.Queue { return nil }

// Drain implements Node.
func (a *alone) Drain(context.Context, string, bool) error { return status.ErrNoNode }

// Remove implements Node.
func (a *alone) Remove(context.Context, string) error { return status.ErrNoNode }

// Close implements Node. Stores on a failed disk cannot be closed.
func (a *alone) Close(context.Context) error {
	if a.shard != nil {
		a.stopDelivery()
		a.delivery.Wait()
		a.shard.Close()
	}
	var errs []error
	for _, s := range []*store.Store{a.messages, a.records} {
		if s != nil && a.disk.Lifetime().Err() == nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}
