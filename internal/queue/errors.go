package queue

import (
	"errors"
	"fmt"
)

// What the engine refuses. A refused operation has changed nothing. Any other
// error of an operation means that the store could not be read: the state in
// memory can then no longer be trusted and the engine must be loaded again.
var (
	ErrNoQueue          = errors.New("no such queue")
	ErrOverLimit        = errors.New("too many messages in flight")
	ErrReceiptExpired   = errors.New("the receipt handle has expired")
	ErrNotReceived      = errors.New("the message does not exist or is not available for visibility timeout change")
	ErrVisibilityTotal  = errors.New("the total visibility timeout is beyond the limit")
	ErrAttemptStale     = errors.New("the receive call is not retryable")
	ErrPurgeInProgress  = errors.New("the queue was purged less than 60 seconds ago")
	ErrTaskRunning      = errors.New("a message move task is already running")
	ErrNoTask           = errors.New("no such message move task")
	ErrOutOfOrder       = errors.New("messages arrive or depart out of order")
	ErrElsewhere        = errors.New("a queue cannot leave a shard that serves it")
	errRecordNewVersion = errors.New("record of an unknown version, written by a newer program")
)

// ErrDamaged says that what is stored cannot be what was written. Nothing is
// left out because of it: an operation that comes upon damage fails as a whole.
var (
	ErrDamaged         = errors.New("stored data are damaged")
	errRecordMalformed = fmt.Errorf("%w: malformed record", ErrDamaged)
	errMissing         = fmt.Errorf("%w: a record is missing", ErrDamaged)
)

var refusals = []error{
	ErrNoQueue, ErrOverLimit, ErrReceiptExpired, ErrNotReceived, ErrVisibilityTotal,
	ErrAttemptStale, ErrPurgeInProgress, ErrTaskRunning, ErrNoTask,
	ErrOutOfOrder, ErrElsewhere,
}

// IsRefusal reports whether err is one of the engine's refusals, as opposed to
// a failure of the store.
func IsRefusal(err error) bool {
	for _, r := range refusals {
		if errors.Is(err, r) {
			return true
		}
	}
	return false
}
