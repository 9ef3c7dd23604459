package replica

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// Status is the state of a replica, as seen by its node.
type Status struct {
	Shard string `json:"shard"`
	Node  string `json:"node"`
	Role  Role   `json:"role"`
	// Epoch and Owner come from the last record that the store has applied.
	Epoch uint64 `json:"epoch"`
	Owner string `json:"owner,omitempty"`
	// Applied is the position up to which the store has applied the log, and Durable the position up to which it has
	// flushed. First and Last are the first and last positions in the log, as far as the node knows, and Bytes is its
	// size.
	Applied sharedlog.Position `json:"applied"`
	Durable sharedlog.Position `json:"durable"`
	First   sharedlog.Position `json:"first"`
	Last    sharedlog.Position `json:"last"`
	Bytes   int64              `json:"bytes"`
	// Hash is the hash over all applied records; Samples are the hashes at a few earlier positions. Two replicas whose
	// hashes at the same position differ have diverged.
	Hash    string   `json:"hash"`
	Samples []Sample `json:"samples,omitempty"`
	// Stalled is the request time of the current append, whose outcome is still unknown.
	Stalled *time.Time `json:"stalled,omitempty"`
	Error   string     `json:"error,omitempty"`
}

// Sample is the hash over all records up to a position.
type Sample struct {
	Position sharedlog.Position `json:"position"`
	Hash     string             `json:"hash"`
}

const (
	sampleEvery = 1024
	samplesKept = 16
)

func hex(hash uint64) string { return fmt.Sprintf("%016x", hash) }

// samples are the hashes at the latest positions that are multiples of sampleEvery, so that replicas keep the same
// ones. Other goroutines read the slice, so it is replaced and never changed.
type samples []Sample

// add keeps the hash of a mark, if it is at such a position.
func (s *samples) add(mark store.Mark) {
	if mark.Position%sampleEvery != 0 {
		return
	}
	kept := (*s)[max(0, len(*s)-samplesKept+1):]
	*s = append(slices.Clone(kept), Sample{position(mark), hex(mark.Hash)})
}

// Parted returns the first position at which the hashes of two replicas of a shard differ, or 0 if no difference is
// known.
func Parted(a, b Status) sharedlog.Position {
	at := make(map[sharedlog.Position]string)
	for _, s := range append(slices.Clone(a.Samples), Sample{a.Applied, a.Hash}) {
		at[s.Position] = s.Hash
	}
	for _, s := range append(slices.Clone(b.Samples), Sample{b.Applied, b.Hash}) {
		if hash, both := at[s.Position]; both && hash != s.Hash {
			return s.Position
		}
	}
	return 0
}

// view is the part of the machine's state that other goroutines may read.
type view struct {
	role    Role
	err     error
	mark    store.Mark
	extent  sharedlog.Extent
	samples samples
	stalled time.Time
}

// publish copies the machine's state for other goroutines.
func (r *Replica) publish() {
	m := r.machine
	v := view{role: m.role, err: m.err, mark: m.state.Mark(), extent: m.reads.extent, samples: m.samples}
	if f := m.appends.flight; f != nil {
		v.stalled = f.since
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.view = v
}

func (r *Replica) current() view {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.view
}

// Status returns the state of the replica. It waits neither for the disk nor for a checkpoint that is being installed.
func (r *Replica) Status() Status {
	v := r.current()
	s := Status{
		Shard: r.o.Name, Node: r.o.Node, Role: v.role, Epoch: v.mark.Epoch, Owner: v.mark.Owner,
		Applied: position(v.mark), First: v.extent.First, Last: max(v.extent.Last, position(v.mark)),
		Bytes: v.extent.Bytes,
		Hash:  hex(v.mark.Hash), Samples: v.samples,
	}
	if !v.stalled.IsZero() {
		s.Stalled = &v.stalled
	}
	if v.err != nil {
		s.Error = v.err.Error()
	}
	if durable, err := r.durableNow(); err == nil {
		s.Durable = durable
	} else if s.Error == "" {
		s.Error = err.Error()
	}
	return s
}

// durableNow is Durable for callers that must not wait. While a checkpoint replaces the store, which includes the
// host's complete read, durableNow returns its last result.
func (r *Replica) durableNow() (sharedlog.Position, error) {
	if !r.swap.TryRLock() {
		return sharedlog.Position(r.durable.Load()), nil
	}
	defer r.swap.RUnlock()
	if r.store == nil {
		return 0, errClosed
	}
	m, err := r.store.Durable()
	if err == nil {
		r.durable.Store(m.Position)
	}
	return position(m), err
}

// Durable returns the position up to which the store has flushed the applied records.
func (r *Replica) Durable() (p sharedlog.Position, err error) {
	err = r.with(func(s *store.Store) error {
		m, err := s.Durable()
		p = position(m)
		return err
	})
	return p, err
}

// Owner returns the owner of the shard and its epoch by the last record that the store has applied, or false if the log
// is empty. That node may have stopped since; the leases name the node that answers now.
func (r *Replica) Owner() (node string, epoch uint64, ok bool) {
	m := r.current().mark
	return m.Owner, m.Epoch, m.Epoch > 0
}

// Role returns what the replica is doing.
func (r *Replica) Role() Role { return r.current().role }

// Lag returns how many records of the log the store has not applied yet, as far as the node knows.
func (r *Replica) Lag() uint64 {
	v := r.current()
	return uint64(max(v.extent.Last, position(v.mark)) - position(v.mark))
}

// Stalled returns the request time of the current append, or false if there is none.
func (r *Replica) Stalled() (time.Time, bool) {
	v := r.current()
	return v.stalled, !v.stalled.IsZero()
}

// Err returns the reason why the replica has stopped, or nil.
func (r *Replica) Err() error { return r.current().err }
