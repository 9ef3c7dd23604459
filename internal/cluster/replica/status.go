package replica

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// Status is what a replica says of itself.
type Status struct {
	Shard string `json:"shard"`
	Node  string `json:"node"`
	Role  Role   `json:"role"`
	// Epoch and Owner are the last that have been read of in the log.
	Epoch uint64 `json:"epoch"`
	Owner string `json:"owner,omitempty"`
	// Applied is how far the store has come, Durable how much of that outlives the
	// process. First and Last are what the log holds, as far as is known, in Bytes.
	Applied sharedlog.Position `json:"applied"`
	Durable sharedlog.Position `json:"durable"`
	First   sharedlog.Position `json:"first"`
	Last    sharedlog.Position `json:"last"`
	Bytes   int64              `json:"bytes"`
	// Hash is the hash over all that was applied; Samples are those at a few earlier
	// positions. Replicas that have the same position in common have the same hash
	// there, or have parted.
	Hash    string   `json:"hash"`
	Samples []Sample `json:"samples,omitempty"`
	// Stalled is since when the outcome of the present append is unknown.
	Stalled *time.Time `json:"stalled,omitempty"`
	Error   string     `json:"error,omitempty"`
}

// Sample is the hash over all that was applied up to a position.
type Sample struct {
	Position sharedlog.Position `json:"position"`
	Hash     string             `json:"hash"`
}

const (
	sampleEvery = 1024
	samplesKept = 16
)

func hex(hash uint64) string { return fmt.Sprintf("%016x", hash) }

// sample keeps the hash at a position where all replicas do.
func (m *machine) sample(mark store.Mark) {
	if mark.Position%sampleEvery != 0 {
		return
	}
	kept := m.samples[max(0, len(m.samples)-samplesKept+1):]
	m.samples = append(slices.Clone(kept), Sample{position(mark), hex(mark.Hash)})
}

// Parted returns the first position at which two replicas of a shard are known to
// differ, or 0.
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

// view is what is known of the machine outside of its goroutine.
type view struct {
	role    Role
	err     error
	mark    store.Mark
	extent  sharedlog.Extent
	samples []Sample
	stalled time.Time
}

// publish makes the machine's state known.
func (r *Replica) publish() {
	m := r.machine
	v := view{role: m.role, err: m.err, mark: m.state.Mark(), extent: m.extent, samples: m.samples}
	if m.flight != nil {
		v.stalled = m.flight.since
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.view = v
}

func (r *Replica) look() view {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.view
}

// Status returns what is known now. It does not wait for a disk.
func (r *Replica) Status() Status {
	v := r.look()
	s := Status{
		Shard: r.o.Name, Node: r.o.Node, Role: v.role, Epoch: v.mark.Epoch, Owner: v.mark.Owner,
		Applied: position(v.mark), First: v.extent.First, Last: max(v.extent.Last, position(v.mark)), Bytes: v.extent.Bytes,
		Hash: hex(v.mark.Hash), Samples: v.samples,
	}
	if !v.stalled.IsZero() {
		s.Stalled = &v.stalled
	}
	if v.err != nil {
		s.Error = v.err.Error()
	}
	if durable, err := r.Durable(); err == nil {
		s.Durable = durable
	} else if s.Error == "" {
		s.Error = err.Error()
	}
	return s
}

// Durable returns up to where what was applied outlives the process.
func (r *Replica) Durable() (p sharedlog.Position, err error) {
	err = r.with(func(s *store.Store) error {
		m, err := s.Durable()
		p = position(m)
		return err
	})
	return p, err
}

// Owner returns who owns the shard, as the log says so far as it has been read: the
// node that has appended last, in which epoch. It is false if nobody ever has. That
// node may be gone; who answers now, the leases say.
func (r *Replica) Owner() (node string, epoch uint64, ok bool) {
	m := r.look().mark
	return m.Owner, m.Epoch, m.Epoch > 0
}

// Role returns what the replica is doing.
func (r *Replica) Role() Role { return r.look().role }

// Lag returns how many records the log is known to hold that have not been applied.
func (r *Replica) Lag() uint64 {
	v := r.look()
	return uint64(max(v.extent.Last, position(v.mark)) - position(v.mark))
}

// Stalled returns since when the outcome of the append under way is unknown, and
// false if none is under way.
func (r *Replica) Stalled() (time.Time, bool) {
	v := r.look()
	return v.stalled, !v.stalled.IsZero()
}

// Err returns why the replica has stopped, or nil.
func (r *Replica) Err() error { return r.look().err }
