package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// kind tells a claim from a batch.
type kind uint8

const (
	claim kind = 1 // a new epoch begins, with a new owner
	batch kind = 2 // the changes of one transaction
)

// record is one entry of the log. In bytes, integers big endian:
//
//	| version 1 | checksum 8 | kind 1 | epoch 8 | nonce 8 | chain 8 | length 1 | owner | changes |
//
// The checksum is over all bytes that follow it.
type record struct {
	kind  kind
	epoch uint64
	owner string
	// nonce is random. By it a writer recognises its own record when it does not know whether an append was stored.
	nonce uint64
	// chain is the hash over all records before this one, as the writer's store has it. A store with another hash has
	// diverged, and stops.
	chain   uint64
	changes []byte // of a batch, as store.Txn.Bytes gives them

	sum uint64 // set by encode and decode
}

// recordVersion is the version of the format. A node that meets a version it does not know stops, because a node that
// skipped a record would diverge from the others. So no node writes a new version before all nodes can read it.
const recordVersion = 1

const recordHead = 1 + 8 + 1 + 8 + 8 + 8 + 1

var (
	// ErrVersion reports a record in the log whose version this program does not know.
	ErrVersion = errors.New("the log holds a record of an unknown version")
	// ErrDamaged reports a record in the log with a wrong checksum.
	ErrDamaged = errors.New("the log holds a damaged record")
	// ErrDiverged reports that the contents of a store differ from the log that it should follow.
	ErrDiverged = errors.New("the store and its log do not fit together")
)

// longestOwner is the maximum length of a node's name, in bytes.
const longestOwner = math.MaxUint8

func (r *record) encode() []byte {
	b := make([]byte, 0, recordHead+len(r.owner)+len(r.changes))
	b = append(b, recordVersion, 0, 0, 0, 0, 0, 0, 0, 0, byte(r.kind))
	b = binary.BigEndian.AppendUint64(b, r.epoch)
	b = binary.BigEndian.AppendUint64(b, r.nonce)
	b = binary.BigEndian.AppendUint64(b, r.chain)
	b = append(b, byte(len(r.owner)))
	b = append(b, r.owner...)
	b = append(b, r.changes...)
	r.sum = xxhash.Sum64(b[9:])
	binary.BigEndian.PutUint64(b[1:], r.sum)
	return b
}

// decode reads a record. The changes of the record share the memory of b.
func decode(b []byte) (record, error) {
	if len(b) == 0 {
		return record{}, fmt.Errorf("%w: it is empty", ErrDamaged)
	}
	if b[0] != recordVersion {
		return record{}, fmt.Errorf("%w: %d, this program knows %d", ErrVersion, b[0], recordVersion)
	}
	if len(b) < recordHead {
		return record{}, fmt.Errorf("%w: it has %d bytes", ErrDamaged, len(b))
	}
	r := record{
		sum:   binary.BigEndian.Uint64(b[1:]),
		kind:  kind(b[9]),
		epoch: binary.BigEndian.Uint64(b[10:]),
		nonce: binary.BigEndian.Uint64(b[18:]),
		chain: binary.BigEndian.Uint64(b[26:]),
	}
	if sum := xxhash.Sum64(b[9:]); sum != r.sum {
		return record{}, fmt.Errorf("%w: its checksum is %x, not %x", ErrDamaged, sum, r.sum)
	}
	name := recordHead + int(b[recordHead-1])
	if len(b) < name || r.kind != claim && r.kind != batch {
		return record{}, fmt.Errorf("%w: kind %d, %d bytes", ErrDamaged, r.kind, len(b))
	}
	r.owner = string(b[recordHead:name])
	r.changes = b[name:]
	return r, nil
}

// follows returns nil if r can be the next record for a store that has applied the log up to m. Otherwise it returns
// the reason.
func (r *record) follows(m store.Mark) error {
	switch {
	case r.chain != m.Hash:
		return fmt.Errorf("%w: the hash of all before is %016x in the store and %016x in the log", ErrDiverged, m.Hash, r.chain)
	case r.kind == claim && r.epoch != m.Epoch+1:
		return fmt.Errorf("%w: a claim of epoch %d follows epoch %d", ErrDiverged, r.epoch, m.Epoch)
	case r.kind == batch && (r.epoch != m.Epoch || r.owner != m.Owner):
		return fmt.Errorf(
			"%w: a batch of %s in epoch %d follows epoch %d of %s", ErrDiverged, r.owner, r.epoch, m.Epoch, m.Owner,
		)
	}
	return nil
}

// mark returns the mark of a store at m after it has applied r.
func (r *record) mark(m store.Mark) store.Mark {
	var b [24]byte
	binary.BigEndian.PutUint64(b[:], m.Hash)
	binary.BigEndian.PutUint64(b[8:], m.Position+1)
	binary.BigEndian.PutUint64(b[16:], r.sum)
	return store.Mark{Position: m.Position + 1, Epoch: r.epoch, Owner: r.owner, Hash: xxhash.Sum64(b[:])}
}

func position(m store.Mark) sharedlog.Position { return sharedlog.Position(m.Position) }
