package sharedlog

import (
	"context"
	"errors"
	"time"
)

// Position is the place of a record in its log. The first record has position
// 1; 0 is the end of an empty log.
type Position uint64

// Record is a record and its place.
type Record struct {
	Position Position
	Data     []byte
}

// Extent is what a log holds at some moment: the records from First to Last. It
// holds none if First is greater than Last; Last is then the position of the
// last one that was there.
type Extent struct {
	First Position
	Last  Position
	Bytes int64 // about how much stable storage one replica takes
}

var (
	// ErrConflict says that an append expected the end of the log elsewhere than
	// it is. Nothing was appended by this call; an earlier call with the same
	// record, whose outcome was unknown, may have been what moved the end.
	ErrConflict = errors.New("the log does not end where the append expects it")
	// ErrTrimmed says that records are asked for which have been trimmed.
	ErrTrimmed = errors.New("the records have been trimmed from the log")
	// ErrHeld says that another node holds the lease.
	ErrHeld = errors.New("the lease is held")
	// ErrLost says that the node which took a lease no longer holds it.
	ErrLost = errors.New("the lease is lost")
)

// MaxRecord is the longest record that a log takes, in bytes: a commit of the
// largest batch of messages, with room for what comes with it.
const MaxRecord = 12 << 20

// Log is the log of one shard. Its methods may be called from any goroutine, but
// one Append at a time: with several under way the first could fail and the next
// succeed.
type Log interface {
	// Append makes data the record after the position after, provided that the
	// log ends there, and returns when it is on stable storage of a majority.
	// After ErrConflict this call did not append the record. After any other error
	// the outcome is unknown: the caller repeats the same call until it gives nil
	// or ErrConflict, and after ErrConflict reads the log to find out.
	Append(ctx context.Context, after Position, data []byte) error

	// Read returns the records from a position on, in order and without gaps:
	// none if the log ends before it, else at least one and at most some MiB. The
	// extent is what the log held at a moment after the call began, so that all that
	// was appended before is in it. A position before the extent gives ErrTrimmed and
	// the extent.
	Read(ctx context.Context, from Position) ([]Record, Extent, error)

	// Follow calls f with the records from a position on, in order and without
	// gaps, as they come, until ctx ends, f returns an error, or the next record
	// has been trimmed; it returns why. It may be behind, and after a failure of
	// the engine goes on when that is over. The data is valid during the call
	// only.
	Follow(ctx context.Context, from Position, f func(Record) error) error

	// Trim removes the records up to and including a position. Appends may wait
	// meanwhile, so callers trim in small steps.
	Trim(ctx context.Context, to Position) error
}

// Estimator is a Log that can say at little cost what it holds.
type Estimator interface {
	// Estimate returns what the log held at some moment, which may be before the call.
	Estimate(ctx context.Context) (Extent, error)
}

// Leases are names that one holder at a time has, for a limited time.
type Leases interface {
	// Take takes the lease of that name and gives it a value for others to see.
	// It returns ErrHeld if a node holds it.
	Take(ctx context.Context, name string, value []byte) (Lease, error)
	// List returns the values of all leases that are held. It may be behind.
	List(ctx context.Context) (map[string][]byte, error)
	// TTL is how long a lease is held without being renewed.
	TTL() time.Duration
}

// Lease is a lease that was taken.
type Lease interface {
	// Renew makes the lease last from now on and gives it a new value. It returns
	// ErrLost if another node has taken it meanwhile or it has run out; after any
	// other error the outcome is unknown.
	Renew(ctx context.Context, value []byte) error
	// Release gives the lease back. Afterwards it is not held, unless the error
	// says otherwise.
	Release(ctx context.Context) error
}
