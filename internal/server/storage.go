package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/observe/prom"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/tenant"
)

// storage is the wing of all data: the disk, this machine's node with its stores, and the queues on it.
type storage struct {
	config  *Config
	log     *slog.Logger
	disk    *store.Disk
	cache   *store.Cache
	space   *space
	totals  shard.Totals
	letters deadLetterLog
	format  formatMark
	begun   bool // see noteStart

	node     Node // nil until openNode
	control  *control.Control
	catalog  atomic.Pointer[catalog.Catalog] // nil until openCatalog; shards may read it before
	messages Messages                        // nil until serve
	cipher   queue.Cipher                    // of encrypted messages, set before serve; nil: there are no keys
}

// formatMark is the minimum format that the data directory is marked with.
type formatMark struct {
	sync.Mutex
	number int
}

// openStorage prepares the disk and the data directory.
func openStorage(c *Config) (*storage, error) {
	st := &storage{config: c, log: c.Logger, letters: deadLetterLog{log: c.Logger}}
	st.cache = store.NewCache(store.DefaultCacheSize)
	switch {
	case c.disk != nil:
		st.disk = c.disk
	case c.InMemory:
		st.disk = store.NewMemoryDisk(st.log)
	default:
		st.disk = store.NewDisk(nil, st.log)
	}
	st.space = &space{
		free: func() (uint64, uint64, error) { return st.disk.Free(c.Data) },
		mark: c.MinFreeSpace, log: st.log,
		reclaim: func() error { return st.node.Reclaim() },
	}
	if c.InMemory {
		st.space.mark = 0
		return st, nil
	}
	return st, datadir.Prepare(c.Data)
}

// openNode opens the node of this machine. In a cluster it waits until enough of the other nodes are present.
// Meanwhile, the entrance refuses clients.
func (st *storage) openNode(p *peers, e *entrance) error {
	if st.config.Join != nil {
		waiting := e.respondAtStartup()
		return errors.Join(st.join(p, e, waiting), waiting.End())
	}
	options := store.Options{Disk: st.disk, Cache: st.cache, Logger: st.log}
	single, err := openAlone(st.config.Data, options, st.require, st.config.initialise, st.config.Keep)
	if err != nil {
		return err
	}
	single.totals, single.watch = &st.totals, st.watch
	single.low = func() bool { return st.config.NoUndo || st.isLow() }
	single.cipher = st.keys
	st.node, st.control = single, single.Control()
	return nil
}

// join makes the server a node of its cluster.
func (st *storage) join(p *peers, e *entrance, waiting *front.StartupResponder) (err error) {
	st.node, err = st.config.Join(NodeEnv{
		Totals: &st.totals, Watch: st.watch, Disk: st.disk, Cache: st.cache, Low: st.isLow,
		Endpoint: e.endpoint, Shift: machineShift, Initialise: st.config.initialise, Waiting: waiting.Say,
		Cipher: st.keys, Forwarded: p.serveForwarded, Answer: p.answer, Tell: p.tell, Hear: p.hear,
		Answers: p.answering.Load,
	})
	if err == nil {
		st.control = st.node.Control()
	}
	return err
}

// openCatalog reads the records of queues from the control store.
func (st *storage) openCatalog() (*catalog.Catalog, error) {
	c, err := catalog.Open(catalog.Options{
		Control: st.control, Formats: st.formats(), NoCoolDowns: st.config.NoCoolDowns, Place: st.node.Place,
		Keeps: st.keeps, Shift: st.node.ClockShift,
	})
	if err != nil {
		return nil, err
	}
	st.catalog.Store(c)
	return c, nil
}

// keys returns the cipher of encrypted messages. It is set before the node serves.
func (st *storage) keys() queue.Cipher { return st.cipher }

// serve starts serving messages, which s encrypts before they are stored. It runs deliver for each shard that is served
// here.
func (st *storage) serve(s *secrecy, deliver func(context.Context, *shard.Shard)) error {
	queues := st.catalog.Load()
	messages, err := st.node.Serve(queues, deliver)
	if err != nil {
		return err
	}
	st.messages = s.over(messages, queues)
	return nil
}

// require records which format the data directory needs.
func (st *storage) require(format int) error {
	if st.config.InMemory {
		return nil
	}
	st.format.Lock()
	defer st.format.Unlock()
	if st.format.number >= format {
		return nil
	}
	if err := datadir.Require(st.config.Data, format, st.config.Version); err != nil {
		return err
	}
	st.format.number = format
	return nil
}

// now returns the time of most nodes, at which this machine's clock shows the time of the configuration. Decisions that
// remove something go by it, because any node may come to make them.
func (st *storage) now(c *Config) time.Time {
	if st.node == nil {
		return c.Now()
	}
	return c.Now().Add(st.node.ClockShift())
}

// isOwner reports whether this node owns the control store.
func (st *storage) isOwner() bool { return !st.control.Elsewhere() }

// room returns an error if no data may be added.
func (st *storage) room() error {
	if st.node.Low() {
		return errLowSpace
	}
	return st.space.room()
}

// keeps reports whether deleted queues are kept for an undo.
func (st *storage) keeps() bool { return !st.config.NoUndo && st.room() == nil }

// isLow reports whether the disk of this machine is nearly full.
func (st *storage) isLow() bool { return st.space.room() != nil }

// stored returns how much data of some accounts is on this machine.
func (st *storage) stored(ctx context.Context, accounts map[string]bool) (map[string]tenant.Amount, error) {
	all, err := st.messages.Stored(ctx, accounts)
	out := make(map[string]tenant.Amount, len(all))
	for account, n := range all {
		out[account] = tenant.Amount(n)
	}
	return out, err
}

// queues returns the number of queues.
func (st *storage) queues() int { return len(st.catalog.Load().All()) }

// measure adds the metrics of stored data.
func (st *storage) measure(m *prom.Metrics) {
	if !st.config.InMemory {
		m.Disk(st.space.free, st.isLow)
	}
	m.Totals(st.totals.Get)
	m.Cluster(st.node.Status)
}

// Run watches the space on the disk until ctx ends.
func (st *storage) Run(ctx context.Context) error {
	st.space.Run(ctx)
	return nil
}

// close closes the node, the disk and the cache, as far as they are open. A node that does not close still uses the
// disk and the cache.
func (st *storage) close() error {
	if st == nil {
		return nil
	}
	var errs []error
	if st.node != nil {
		err := closeNode(st.node)
		if errors.Is(err, errNodeStuck) {
			return err
		}
		errs = append(errs, err)
	}
	errs = append(errs, st.disk.Lifetime().Err())
	st.cache.Close()
	return errors.Join(errs...)
}
