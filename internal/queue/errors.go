package queue

import (
	"errors"
	"fmt"
)

// Refusal is the reason why the engine refused an operation. A refused operation has changed nothing. Any other error
// means that the store could not be read. The engine's memory may then differ from the store, and the engine must be
// loaded again.
type Refusal uint8

// The refusals. Nodes exchange their numbers: a number is never reused, and a new refusal gets the next one.
const (
	ErrNoQueue Refusal = iota + 1
	ErrOverLimit
	ErrReceiptExpired
	ErrNotReceived
	ErrVisibilityTotal
	ErrAttemptStale
	ErrPurgeInProgress
	ErrTaskRunning
	ErrNoTask
	ErrOutOfOrder
	ErrElsewhere
	ErrBacklogFull
	ErrSealed
	ErrTooLong
	ErrNotKnown
	ErrNothingKept
	refusalsEnd // behind the last
)

var refusalTexts = [refusalsEnd]string{
	ErrNoQueue:         "no such queue",
	ErrOverLimit:       "too many messages in flight",
	ErrReceiptExpired:  "the receipt handle has expired",
	ErrNotReceived:     "the message does not exist or is not available for visibility timeout change",
	ErrVisibilityTotal: "the total visibility timeout is beyond the limit",
	ErrAttemptStale:    "the receive call is not retryable",
	ErrPurgeInProgress: "the queue was purged less than 60 seconds ago",
	ErrTaskRunning:     "a message move task is already running",
	ErrNoTask:          "no such message move task",
	ErrOutOfOrder:      "messages of an outbox are out of order",
	ErrElsewhere:       "a queue cannot leave a shard that serves it",
	ErrBacklogFull:     "too many copies of publications are to be made",
	ErrSealed:          "the queue is sealed, to find out whether it can be deleted",
	ErrTooLong:         "the request is too long for one transaction",
	ErrNotKnown:        "a queue is not known yet",
	ErrNothingKept:     "no purge of the queue can be undone",
}

// Known reports whether r is one of the refusals above. A newer program may send others.
func (r Refusal) Known() bool { return 0 < r && r < refusalsEnd }

func (r Refusal) Error() string {
	if !r.Known() {
		return fmt.Sprintf("refusal %d", uint8(r))
	}
	return refusalTexts[r]
}

// IsRefusal reports whether err is a Refusal, as opposed to a failure of the store.
func IsRefusal(err error) bool {
	_, ok := errors.AsType[Refusal](err)
	return ok
}

// ErrDamaged reports that stored data is damaged: no program could have written it. The engine never skips damaged
// data: an operation that meets it fails as a whole.
var (
	ErrDamaged          = errors.New("stored data is damaged")
	errRecordMalformed  = fmt.Errorf("%w: malformed record", ErrDamaged)
	errMissing          = fmt.Errorf("%w: a record is missing", ErrDamaged)
	errRecordNewVersion = errors.New("record of an unknown version, written by a newer program")
)

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
