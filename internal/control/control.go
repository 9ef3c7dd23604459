package control

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/store"
)

// Why a change was not made.
var (
	// ErrElsewhere means that another node owns the control store. Nothing was changed; make the change there.
	ErrElsewhere = errors.New("another node owns the control store")
	// ErrUnavailable means that the control store cannot be changed now. It is unknown whether this change was made. If
	// it was, the readers will receive it.
	ErrUnavailable = errors.New("the control store cannot be changed now")
)

// Options configure a Control.
type Options struct {
	Store *store.Store
	// Follow means that the store is one of several copies, and cannot be changed here before Own is called.
	// Otherwise this node is the only one, and owns the store.
	Follow bool
	// Writable returns the period in which changes can be made at present. A nil Writable means that of the disk.
	// Callers stop waiting for a change when the period ends.
	Writable func() *store.Writable
}

// Control is the control store with its readers. Its methods may be called from any goroutine.
type Control struct {
	store     atomic.Pointer[store.Store]
	ownership atomic.Pointer[ownership] // nil: another node may be the owner
	writable  func() *store.Writable

	changing chan struct{} // full while a change is made, commit included

	telling sync.Mutex // held while readers apply a change
	readers []registration
	version atomic.Uint64

	replacing sync.Mutex // of what follows
	replaced  chan struct{}
}

// ownership is a period in which this node may change the store.
type ownership struct{ commit func(*store.Txn) error }

// New returns a control store without readers.
func New(o Options) *Control {
	c := &Control{writable: o.Writable, changing: make(chan struct{}, 1), replaced: make(chan struct{})}
	c.store.Store(o.Store)
	if c.writable == nil {
		c.writable = func() *store.Writable { return c.store.Load().Disk().Writable() }
	}
	if !o.Follow {
		c.ownership.Store(&ownership{c.commitHere})
	}
	return c
}

// commitHere is the commit of a single node.
func (c *Control) commitHere(tx *store.Txn) error {
	batch := tx.Bytes() // which stay as they are until tx is released
	if err := c.store.Load().Commit(tx); err != nil {
		return err
	}
	return c.Apply(batch)
}

// Own lets this node change the store from now on. Before the call, all changes of other nodes must have been applied
// to the readers. The returned function ends the ownership and waits until no change is in progress. It must not be
// called by a goroutine that commit waits for.
//
// commit makes a transaction durable and applies it to the store. When it returns nil, Apply was called with the bytes
// of the transaction, from any goroutine, and has returned. From the moment in which another node may have changed the
// store, commit fails forever, even if this node owns the store again later: a change is decided by the readers' state,
// and committed with the commit of the same ownership. commit returns ErrElsewhere if nothing was changed, and
// ErrUnavailable if that is unknown. It always returns after a limited time.
func (c *Control) Own(commit func(*store.Txn) error) (end func()) {
	o := &ownership{commit}
	c.ownership.Store(o)
	return func() {
		c.ownership.CompareAndSwap(o, nil)
		c.changing <- struct{}{}
		defer func() { <-c.changing }()
	}
}

// Store returns the store, for reading. Readers get store.ErrClosed while a checkpoint replaces it.
func (c *Control) Store() *store.Store { return c.store.Load() }

// present returns the store, and a channel that is closed when another store replaces it.
func (c *Control) present() (*store.Store, <-chan struct{}) {
	c.replacing.Lock()
	defer c.replacing.Unlock()
	return c.store.Load(), c.replaced
}

func (c *Control) replace(s *store.Store) {
	c.replacing.Lock()
	defer c.replacing.Unlock()
	c.store.Store(s)
	close(c.replaced)
	c.replaced = make(chan struct{})
}

// Elsewhere reports whether this node does not own the store. Change then returns ErrElsewhere.
func (c *Control) Elsewhere() bool { return c.ownership.Load() == nil }

// Version returns a number that changes whenever the readers apply changes.
func (c *Control) Version() uint64 { return c.version.Load() }

// Change changes several records, all or none. f decides the change. It may read the readers' state, which no other
// change modifies meanwhile. If f returns an error, nothing is changed and Change returns that error unchanged. When
// Change returns nil, all readers have applied the change.
//
// The changes that With has added to ctx become part of the change. The end of ctx does not end the change.
//
// If the disk is blocked or becomes blocked, Change returns a *store.BlockedError, or the error that has ended
// Options.Writable, without waiting any longer. A change that has begun is still made, so f must not write to variables
// that its caller reads after that error. Decide passes on a value from f safely.
func (c *Control) Change(ctx context.Context, f func(*Tx) error) error {
	own := c.ownership.Load()
	if own == nil {
		return ErrElsewhere
	}
	condition := c.writable()
	if err := condition.Err(); err != nil {
		return err
	}
	done := make(chan error, 1)
	failed := make(chan any, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				failed <- fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
		}()
		c.changing <- struct{}{}
		defer func() { <-c.changing }()
		if condition.Err() != nil {
			return // the caller has gone
		}
		if c.ownership.Load() != own {
			done <- ErrElsewhere
			return
		}
		done <- c.change(ctx, f, own.commit)
	}()
	select {
	case err := <-done:
		return err
	case p := <-failed:
		panic(p)
	case <-condition.Blocked():
		return condition.Err()
	}
}

func (c *Control) change(ctx context.Context, f func(*Tx) error, commit func(*store.Txn) error) error {
	tx := &Tx{c.store.Load().Begin()}
	defer tx.txn.Release()
	if err := f(tx); err != nil {
		return err
	}
	if tx.txn.Empty() {
		return nil
	}
	if err := accompany(ctx, tx); err != nil {
		return err
	}
	if err := commit(tx.txn); err != nil {
		return fmt.Errorf("change the control store: %w", err)
	}
	return nil
}

// Apply passes a batch that was committed and is in the store to the readers. Calls must be in the order of the
// commits. An error means that this program or a reader cannot read the batch. Memory then no longer matches the store.
func (c *Control) Apply(batch []byte) error {
	c.telling.Lock()
	defer c.telling.Unlock()
	defer c.version.Add(1)
	changes := make([][]Change, len(c.readers))
	err := store.Changes(batch, func(ch store.Change) error {
		if !isRecord(ch.Key) {
			return nil
		}
		key := string(ch.Key)
		change := Change{Key: key}
		switch ch.Kind {
		case store.ChangeSet:
			change.Value = ch.Value
		case store.ChangeDelete, store.ChangeDeleteOnce:
			change.Removed = true
		default:
			return fmt.Errorf("%q: a change of kind %d, which this program does not make", key, ch.Kind)
		}
		if i := c.readerOf(key); i >= 0 {
			changes[i] = append(changes[i], change)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read a change of the control store: %w", err)
	}
	for i, r := range c.readers {
		if len(changes[i]) == 0 {
			continue
		}
		if err := r.reader.Apply(changes[i]); err != nil {
			return fmt.Errorf("read a change of the control store: %w", err)
		}
	}
	return nil
}

// Reload replaces the store by s, a checkpoint from the node that owns it. All readers then load everything again.
func (c *Control) Reload(s *store.Store) error {
	c.telling.Lock()
	defer c.telling.Unlock()
	defer c.version.Add(1)
	c.replace(s)
	for i := range c.readers {
		if err := c.load(i); err != nil {
			return err
		}
	}
	return nil
}

// Register passes all records whose keys begin with prefix to r: first those in the store, later the changes. It
// replaces a reader with the same prefix. If several prefixes match a key, the longest counts. Longer prefixes must be
// registered first; a reader with the empty prefix gets the rest. Readers apply a batch in the order in which they were
// registered. While a checkpoint replaces the store, Register waits for Reload.
func (c *Control) Register(prefix string, r Reader) error {
	for {
		s, replaced := c.present()
		err := c.register(prefix, r)
		if !errors.Is(err, store.ErrClosed) || c.Store() == s && !await(replaced) {
			return err
		}
	}
}

// replaceTimeout is longer than opening a checkpoint takes. A store that stays closed for longer has failed.
const replaceTimeout = time.Minute

func await(replaced <-chan struct{}) bool {
	select {
	case <-replaced:
		return true
	case <-time.After(replaceTimeout):
		return false
	}
}

func (c *Control) register(prefix string, r Reader) error {
	c.telling.Lock()
	defer c.telling.Unlock()
	before := c.readers
	c.readers = append(slices.Clone(before), registration{prefix, r})
	at := len(before)
	if i := slices.IndexFunc(before, func(other registration) bool { return other.prefix == prefix }); i >= 0 {
		c.readers = slices.Delete(c.readers, at, at+1)
		c.readers[i].reader, at = r, i
	}
	err := c.load(at)
	if err != nil {
		c.readers = before
	}
	return err
}
