package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// Options configures a replica.
type Options struct {
	Name string // of the shard
	Node string // this one
	// Dir is the directory of the store, and Storage its resources.
	Dir     string
	Storage store.Options
	Log     sharedlog.Log
	Leases  sharedlog.Leases

	Host Host // the user of the replica

	// Margin is how long before the end of its lease an owner stops answering from memory; 0 means a fifth of the
	// lease. Over the length of a lease the clocks of two nodes may drift apart by as much.
	Margin time.Duration
	// GiveUp is how long an append's outcome may stay unknown before the owner gives up the shard. 0 means 12 s.
	GiveUp time.Duration
	// Flush is the interval at which the store flushes applied records, so that the log can be trimmed; 0 means 30 s.
	Flush time.Duration

	Logger *slog.Logger     // nil discards
	Now    func() time.Time // nil means time.Now
}

// Defaults.
const (
	defaultGiveUp = 12 * time.Second
	defaultFlush  = 30 * time.Second
	again         = 100 * time.Millisecond
	probeInterval = 5 * time.Second
	readTimeout   = 5 * time.Second
	endTimeout    = 10 * time.Second // for a hand-over, and for the request handlers to stop
)

// Replica is one shard on one node. Its methods are safe for concurrent use.
type Replica struct {
	o      Options
	log    *slog.Logger
	events chan func()
	dead   chan struct{} // closed when Run has ended
	ctx    context.Context

	// The following fields belong to the goroutine of Run.
	machine      *machine
	endFollowing context.CancelFunc
	endAppend    context.CancelFunc
	stopServing  func()
	served       chan struct{} // closed when the last opened handlers answer no more requests

	appending sync.Mutex // held over an append

	swap  sync.RWMutex // held while the store is used outside the machine
	store *store.Store // nil until it is opened

	mu       sync.Mutex
	view     view
	progress chan struct{} // closed when position changes; nil if no caller waits
	position atomic.Uint64
	durable  atomic.Uint64 // last result of durableNow
}

// New returns a replica that is inactive until Run.
func New(o Options) *Replica {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	ttl := o.Leases.TTL()
	if o.Margin == 0 {
		o.Margin = ttl / 5
	}
	if o.GiveUp == 0 {
		o.GiveUp = defaultGiveUp
	}
	if o.Flush == 0 {
		o.Flush = defaultFlush
	}
	o.Storage.External = true
	if o.Storage.Logger == nil {
		o.Storage.Logger = o.Logger
	}
	if o.Storage.Disk == nil {
		o.Storage.Disk = store.NewDisk(o.Storage.FS, o.Storage.Logger)
	}
	r := &Replica{
		o: o, log: o.Logger.With("shard", o.Name),
		events: make(chan func()), dead: make(chan struct{}),
		view: view{role: Follower},
	}
	r.machine = newMachine(
		identity{
			name: o.Name, node: o.Node, nonce: rand.Uint64, applied: r.applied,
			owner: func(epoch uint64) *Ownership { return newOwnership(epoch, r) },
		},
		timing{
			ttl: ttl, margin: o.Margin, lookEvery: ttl / 9, probeEvery: probeInterval, again: again, giveUp: o.GiveUp,
		},
		runner{r},
	)
	return r
}

// Run runs the replica until ctx ends, and then hands over the shard if this node owns it. It returns an error if the
// replica cannot continue, because its store differs from the log or cannot be opened: an operator must then
// investigate. If the disk hangs when ctx ends, Run gives up the disk, and leaves the store as after a crash.
func (r *Replica) Run(ctx context.Context) error {
	if len(r.o.Node) > longestOwner {
		return fmt.Errorf("the name of node %s is too long", r.o.Node)
	}
	ended := make(chan error, 1)
	go func() { ended <- r.run(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return r.o.Storage.Disk.Guard(func() error { return <-ended })
	}
}

func (r *Replica) run(ctx context.Context) error {
	var cancel context.CancelFunc
	r.ctx, cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var opened *store.Store
	err := store.RemoveCheckpoints(r.o.Storage.Disk, r.checkpointPrefix())
	if err == nil {
		opened, err = r.load()
	}
	if err != nil {
		close(r.dead)
		return err
	}
	r.swap.Lock() // Status may be called already
	err = r.use(opened)
	r.swap.Unlock()
	if err != nil {
		close(r.dead)
		return err
	}
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		r.flushing()
	}()
	r.loop(ctx)
	close(r.dead)
	cancel()
	<-flushed
	if r.served != nil {
		select {
		case <-r.served:
		case <-time.After(endTimeout):
			// The store is still being read, so it cannot be closed. Leave it as after a crash.
			return errors.Join(r.machine.err, fmt.Errorf("the shard %s did not stop", r.o.Name))
		}
	}
	r.swap.Lock()
	defer r.swap.Unlock()
	s := r.store
	r.store = nil
	if s == nil {
		return r.machine.err
	}
	return errors.Join(r.machine.err, s.Close())
}

// loop passes events to the machine, one after the other, until the replica has stopped or has handed over.
func (r *Replica) loop(ctx context.Context) {
	m := r.machine
	timer := time.NewTimer(0)
	defer timer.Stop()
	ending := ctx.Done()
	var over <-chan time.Time
	gone := make(chan struct{})
	for {
		event := func() {}
		select {
		case event = <-r.events:
		case <-timer.C:
		case <-ending:
			ending, over = nil, time.After(endTimeout)
			event = func() {
				m.candidacy.candidate = false
				m.handOver(func(error) { close(gone) })
			}
		case <-gone:
			return
		case <-over:
			r.log.Error("shard could not be handed over in time")
			return
		}
		m.tick(r.o.Now())
		event()
		next := m.tick(r.o.Now())
		r.publish()
		if m.role == Stopped && !m.service.running && len(m.tenure.releasing) == 0 {
			return
		}
		timer.Reset(max(0, next.Sub(r.o.Now())))
	}
}

// load opens the store.
func (r *Replica) load() (*store.Store, error) {
	if err := store.Install(r.o.Storage.Disk, r.o.Dir); err != nil {
		return nil, err
	}
	s, err := store.Open(r.o.Dir, r.o.Storage)
	if err != nil {
		return nil, err
	}
	if err := found(s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// use makes s the store of the replica, or closes it if the host refuses it. The status describes the new store before
// the host has it, but Position and Wait do not: a caller that has waited for a position relies on the host's memory.
// The caller holds r.swap.
func (r *Replica) use(s *store.Store) error {
	r.store, r.machine.state = s, s
	r.publish()
	if err := r.o.Host.Loaded(s); err != nil {
		r.store = nil
		return errors.Join(err, s.Close())
	}
	r.reached(s.Mark())
	return nil
}

// found begins the log of a store that has none yet, from the store's contents. It gives the store a random hash, so
// that a node whose store has other contents cannot apply that log to it.
func found(s *store.Store) error {
	if s.Mark() != (store.Mark{}) {
		return nil
	}
	empty, err := s.Empty()
	if err != nil || empty {
		return err
	}
	return errors.Join(s.Apply(nil, store.Mark{Hash: rand.Uint64() | 1}), s.Flush())
}

// post sends an event to the loop. It returns true when the loop is about to handle it, and false if the replica has
// ended.
func (r *Replica) post(event func()) bool {
	select {
	case r.events <- event:
		return true
	case <-r.dead:
		return false
	}
}

// Want sets whether this node may become the owner, and how long it leaves a shard without an owner to preferred nodes.
func (r *Replica) Want(candidate bool, delay time.Duration) {
	go r.post(func() { r.machine.candidacy.want(candidate, delay) })
}

// Nudge makes a candidate take the shard now, if it has no owner.
func (r *Replica) Nudge() { go r.post(r.machine.nudge) }

// HandOver gives up the shard if this node owns it: it finishes accepted commits, and releases the lease. When it
// returns nil another node can take the lease at once; this node does not try for two lease times.
func (r *Replica) HandOver(ctx context.Context) error {
	done := make(chan error, 1)
	r.post(func() { r.machine.handOver(func(err error) { done <- err }) })
	select {
	case err := <-done:
		return err
	case <-r.dead:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Commit makes a transaction durable in the log and applies it to the store. Commits are made in the order of the
// calls. ErrDeposed means that this node is no longer the owner, and that it is unknown whether the changes were made.
// After any other error they were not made; store.ErrTooLong means that the transaction does not fit into a record.
func (o *Ownership) Commit(t *store.Txn) error {
	r := o.replica
	if t.Size()+recordHead+len(r.o.Node) > sharedlog.MaxRecord {
		return fmt.Errorf("%w for the log: %d bytes", store.ErrTooLong, t.Size())
	}
	return o.commit(t.Bytes(), func(m store.Mark) error { return r.store.CommitAt(t, m) })
}

func (o *Ownership) commit(changes []byte, apply func(store.Mark) error) error {
	r := o.replica
	outcome := make(chan error, 1)
	c := &commit{changes: changes, apply: apply, done: func(err error) { outcome <- err }}
	if !r.post(func() { r.machine.submit(o, c) }) {
		return fmt.Errorf("%w: the node is stopping", ErrDeposed)
	}
	select {
	case err := <-outcome:
		return err
	case <-r.dead:
		return fmt.Errorf("%w: the node is stopping", ErrDeposed)
	}
}

// Confirm returns nil if no other node can own the shard, so that the owner may answer a request from memory, without a
// commit. If the lease is too old to tell, Confirm appends a record that changes nothing. The error is ErrDeposed.
func (o *Ownership) Confirm() error {
	r := o.replica
	err := o.confirm(r.o.Now())
	if errors.Is(err, errLapsed) {
		err = o.commit(nil, func(m store.Mark) error { return r.store.Apply(nil, m) })
	}
	return err
}

// Holds reports whether, according to the lease, no other node can own the shard. It does not read the log. See
// Confirm.
func (o *Ownership) Holds() bool { return o.confirm(o.replica.o.Now()) == nil }

// Store returns the store of the shard, for reading. Changes go through Commit.
func (o *Ownership) Store() *store.Store { return o.replica.store }

// Position returns the position up to which the store has applied the log and the host knows it: Host.Loaded or
// Host.Applied has returned. It includes every commit that has returned nil.
func (r *Replica) Position() sharedlog.Position { return sharedlog.Position(r.position.Load()) }

// applied reports a record that the store has applied to the host, and then wakes the callers that wait for its
// position. After an error of the host the position stays where it was.
func (r *Replica) applied(rec *record, m store.Mark) error {
	if rec.kind == batch {
		if err := r.o.Host.Applied(rec.changes, position(m)); err != nil {
			return err
		}
	}
	r.reached(m)
	return nil
}

// reached publishes the store's position, and wakes the callers that wait for it.
func (r *Replica) reached(m store.Mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.position.Store(m.Position)
	if r.progress != nil {
		close(r.progress)
		r.progress = nil
	}
}

// Wait waits until Position has reached p.
func (r *Replica) Wait(ctx context.Context, p sharedlog.Position) error {
	for {
		r.mu.Lock()
		if r.Position() >= p {
			r.mu.Unlock()
			return nil
		}
		if r.progress == nil {
			r.progress = make(chan struct{})
		}
		progress := r.progress
		r.mu.Unlock()
		select {
		case <-progress:
		case <-r.dead:
			return fmt.Errorf("the replica of shard %s has stopped", r.o.Name)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// flushing flushes the store every Options.Flush.
func (r *Replica) flushing() {
	ticker := time.NewTicker(r.o.Flush)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := r.FlushStore(); err != nil {
				r.log.Error("store cannot be flushed", "error", err)
			}
		case <-r.ctx.Done():
			return
		}
	}
}

// FlushStore makes everything that the store has applied durable on this node's disk.
func (r *Replica) FlushStore() error {
	return r.with(func(s *store.Store) error {
		if durable, err := s.Durable(); err != nil || durable == s.Mark() {
			return err
		}
		return s.Flush()
	})
}

// errClosed reports that the store is not open.
var errClosed = errors.New("the store is not open")

// with calls f with the store, which is not replaced meanwhile.
func (r *Replica) with(f func(*store.Store) error) error {
	r.swap.RLock()
	defer r.swap.RUnlock()
	if r.store == nil {
		return errClosed
	}
	return f(r.store)
}

// Holder is the value that the holder of a lease writes into it. Epoch is 0 until the node is the owner.
type Holder struct {
	Node  string `json:"node"`
	Epoch uint64 `json:"epoch"`
}

// LeaseName is the name of the lease of a shard.
func LeaseName(shard string) string { return "shard/" + shard }

func (h Holder) encode() []byte {
	b, err := json.Marshal(h)
	if err != nil {
		panic(err) // a string and a number
	}
	return b
}
