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

// Options are what a replica is made of.
type Options struct {
	Name string // of the shard
	Node string // this one
	// Dir is the directory of the store and Storage what it may use; it is opened
	// with an external log.
	Dir     string
	Storage store.Options
	Log     sharedlog.Log
	Leases  sharedlog.Leases

	Host Host // what the replica works for

	// Margin is how long before the end of its lease an owner stops; 0 means a fifth
	// of the lease. The clocks of the nodes may differ by as much over the length of
	// a lease.
	Margin time.Duration
	// GiveUp is for how long the outcome of an append may stay unknown before the
	// shard is left to somebody else; 0 means 12 s.
	GiveUp time.Duration
	// Flush is how often what was applied is made durable, so that the log can be
	// trimmed; 0 means 30 s.
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
	patience      = 10 * time.Second // with what has to end
)

// Replica is one shard on one node. Its methods may be called from any goroutine.
type Replica struct {
	o      Options
	log    *slog.Logger
	events chan func()
	dead   chan struct{} // closed when Run has ended
	ctx    context.Context

	// What follows belongs to the goroutine of Run.
	machine      *machine
	endFollowing context.CancelFunc
	endAppend    context.CancelFunc
	stopServing  func()
	served       chan struct{} // closed when what was opened last answers no more

	appending sync.Mutex // held over an append

	swap  sync.RWMutex // held while the store is used otherwise than by the machine
	store *store.Store // nil until it is opened

	mu       sync.Mutex
	view     view
	progress chan struct{} // closed when position changes; nil: nobody waits
	position atomic.Uint64
}

// New returns a replica that does nothing until Run.
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
	r.machine = &machine{
		timing: timing{
			ttl: ttl, margin: o.Margin, lookEvery: ttl / 10, probeEvery: probeInterval, again: again, giveUp: o.GiveUp,
		},
		name: o.Name, node: o.Node, effects: runner{r}, nonce: rand.Uint64, applied: r.applied,
		owner:    func(epoch uint64) *Ownership { return newOwnership(epoch, r) },
		role:     Follower,
		readFrom: make(map[uint64]sharedlog.Position), releasing: make(map[uint64]bool),
	}
	return r
}

// Run keeps the replica until ctx ends, and then hands over what it owns. It
// returns an error if the replica cannot go on: then it has fallen out with its
// log, or its store cannot be opened, and a person has to look. If the disk is stuck
// when ctx ends it is given up, and the store left as a crash would leave it.
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
	r.swap.Lock() // somebody may ask for the status already
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
		case <-time.After(patience):
			// Something still reads the store. A crash would leave it so.
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

// loop is the life of the machine: one event after the other.
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
			ending, over = nil, time.After(patience)
			event = func() {
				m.candidate = false
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
		if m.role == Stopped && !m.running && len(m.releasing) == 0 {
			return
		}
		timer.Reset(max(0, next.Sub(r.o.Now())))
	}
}

// load opens the store.
func (r *Replica) load() (*store.Store, error) {
	if err := store.Settle(r.o.Storage.Disk, r.o.Dir); err != nil {
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

// use makes s the store of the replica, or closes it if it cannot be. Whoever hears
// that it is loaded finds a status that is its own. r.swap is held.
func (r *Replica) use(s *store.Store) error {
	r.store, r.machine.state = s, s
	r.reached(s.Mark())
	r.publish()
	if err := r.o.Host.Loaded(s); err != nil {
		r.store = nil
		return errors.Join(err, s.Close())
	}
	return nil
}

// found makes what is in a store that has no log yet the beginning of one: whoever
// has not got the same must not apply that log to what it has.
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

// post has the machine handle an event, and returns when it is about to, or never
// will.
func (r *Replica) post(event func()) bool {
	select {
	case r.events <- event:
		return true
	case <-r.dead:
		return false
	}
}

// Want says whether this node should try to become the owner when nobody is, and
// how long it should leave that to others, who are meant to be.
func (r *Replica) Want(candidate bool, delay time.Duration) {
	go r.post(func() { r.machine.want(candidate, delay) })
}

// Nudge makes a candidate look at once whether the shard has an owner.
func (r *Replica) Nudge() { go r.post(r.machine.nudge) }

// HandOver gives up the shard, if this node owns it, in good order: it finishes what
// was accepted, and gives back the lease. When it returns nil, another node can
// take it at once; this one does not try for a while.
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

// errTooLong says that a transaction does not fit into a record.
var errTooLong = errors.New("the transaction is too long for the log")

// Commit makes a transaction durable in the log and applies it to the store. An
// error that is ErrDeposed says that this node is no longer the owner; whether the
// changes are made then, nobody here knows. After any other error they are not.
// Commits are made in the order in which they come.
func (o *Ownership) Commit(t *store.Txn) error {
	r := o.replica
	if t.Size()+recordHead+len(r.o.Node) > sharedlog.MaxRecord {
		return fmt.Errorf("%w: %d bytes", errTooLong, t.Size())
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

// Confirm returns nil if what this node has in memory still is what the shard is:
// nobody else can own it. Whoever answers without a commit asks before. If the
// lease does not say so, a record that changes nothing does, once it is in the log.
// The error is ErrDeposed.
func (o *Ownership) Confirm() error {
	r := o.replica
	err := o.confirm(r.o.Now())
	if errors.Is(err, errLapsed) {
		err = o.commit(nil, func(m store.Mark) error { return r.store.Apply(nil, m) })
	}
	return err
}

// Store returns the store of the shard. The owner only reads it; changes go through
// Commit.
func (o *Ownership) Store() *store.Store { return o.replica.store }

// Position returns how far the log has been applied: no less than what a commit that
// has returned nil was about.
func (r *Replica) Position() sharedlog.Position { return sharedlog.Position(r.position.Load()) }

// applied makes known what the store has.
func (r *Replica) applied(rec *record, m store.Mark) {
	if rec.kind == batch {
		r.o.Host.Applied(rec.changes, position(m))
	}
	r.reached(m)
}

// reached tells those who wait for a position.
func (r *Replica) reached(m store.Mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.position.Store(m.Position)
	if r.progress != nil {
		close(r.progress)
		r.progress = nil
	}
}

// Wait waits until the log has been applied up to a position.
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

// flushing makes what was applied durable, now and then.
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

// FlushStore makes all that was applied durable.
func (r *Replica) FlushStore() error {
	return r.with(func(s *store.Store) error {
		if durable, err := s.Durable(); err != nil || durable == s.Mark() {
			return err
		}
		return s.Flush()
	})
}

// errClosed says that the store is not open.
var errClosed = errors.New("the store is not open")

// with does something with the store, which is not replaced meanwhile.
func (r *Replica) with(f func(*store.Store) error) error {
	r.swap.RLock()
	defer r.swap.RUnlock()
	if r.store == nil {
		return errClosed
	}
	return f(r.store)
}

// Holder is who has a lease, as it says itself. Epoch is 0 until it is the owner.
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
