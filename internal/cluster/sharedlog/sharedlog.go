package sharedlog

import (
	"context"
	"errors"
	"time"
)

// Position is the place of a record in its log. The first record has position
// 1; 0 is the end of an empty log.
type Position uint64

// Record is a record and its position.
type Record struct {
	Position Position
	Data     []byte
}

// Extent is the range of records that a log holds at some moment: from First to Last. It is empty if First is greater
// than Last; Last is then the position of the last record that was there.
type Extent struct {
	First Position
	Last  Position
	Bytes int64 // approximate stable storage of one replica
}

var (
	// ErrConflict reports that an append expected the end of the log elsewhere. This call appended nothing; an earlier
	// call with the same record, whose outcome was unknown, may have moved the end.
	ErrConflict = errors.New("the log does not end where the append expects it")
	// ErrTrimmed reports a request for records that were trimmed.
	ErrTrimmed = errors.New("the records have been trimmed from the log")
	// ErrHeld reports that another node holds the lease.
	ErrHeld = errors.New("the lease is held")
	// ErrLost reports that the node that took a lease no longer holds it.
	ErrLost = errors.New("the lease is lost")
)

// MaxRecord is the maximum size of a record in bytes: a commit of the largest batch of messages, plus its other fields.
const MaxRecord = 12 << 20

// Log is the log of one shard. Its methods are safe for concurrent use, except that only one Append may run at a time:
// with several, the first could fail and the next succeed.
type Log interface {
	// Append makes data the record after the position after, provided that the
	// log ends there, and returns when it is on stable storage of a majority.
	// After ErrConflict this call did not append the record. After any other error
	// the outcome is unknown: the caller repeats the same call until it gives nil
	// or ErrConflict, and after ErrConflict reads the log to find out.
	Append(ctx context.Context, after Position, data []byte) error

	// Read returns the records from a position on, in order and without gaps:
	// none if the log ends before it, otherwise at least one and at most some
	// MiB. The extent is the log's extent at a moment after the call began, so
	// it includes everything appended before. For a position before the extent,
	// Read returns ErrTrimmed and the extent.
	Read(ctx context.Context, from Position) ([]Record, Extent, error)

	// Follow calls f with the records from a position on, in order and without
	// gaps, as they arrive, until ctx ends, f returns an error, or the next
	// record has been trimmed; it returns the reason. It may lag, and continues
	// after a failure of the engine. The data is valid during the call only.
	Follow(ctx context.Context, from Position, f func(Record) error) error

	// Trim removes the records up to and including a position. Appends may wait
	// meanwhile, so callers trim in small steps.
	Trim(ctx context.Context, to Position) error
}

// Estimator is a Log that can report its extent at little cost.
type Estimator interface {
	// Estimate returns the extent of the log at some moment, which may be before the call.
	Estimate(ctx context.Context) (Extent, error)
}

// Leases are names with one holder at a time, for a limited time.
type Leases interface {
	// Take takes the lease of that name and sets a value that others can see. It returns ErrHeld if a node holds it.
	Take(ctx context.Context, name string, value []byte) (Lease, error)
	// List returns the values of all leases that are held. It may be out of date.
	List(ctx context.Context) (map[string][]byte, error)
	// TTL is how long a lease lasts without a renewal.
	TTL() time.Duration
}

// Lease is a lease that was taken.
type Lease interface {
	// Renew makes the lease last from now on and gives it a new value. It returns
	// ErrLost if another node has taken it meanwhile or it has run out; after any
	// other error the outcome is unknown.
	Renew(ctx context.Context, value []byte) error
	// Release releases the lease. Afterwards it is free, unless Release returns an error.
	Release(ctx context.Context) error
}
