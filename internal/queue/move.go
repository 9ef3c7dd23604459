package queue

import (
	"slices"

	"github.com/sluicemq/sluice/internal/formats"
)

// MoveStatus is the state of a message move task, in SQS's words.
type MoveStatus string

// The states of a task. A cancelled task ends at once, so there is no CANCELLING.
const (
	MoveRunning   MoveStatus = "RUNNING"
	MoveCompleted MoveStatus = "COMPLETED"
	MoveCancelled MoveStatus = "CANCELLED"
	MoveFailed    MoveStatus = "FAILED"
)

// Why a task failed, in SQS's words.
const (
	FailureNoDestination = "AWS.SimpleQueueService.NonExistentQueue"
	FailureNoSource      = "CouldNotDetermineMessageSource"
	// FailureFilter is Sluice's own: the program that continues the task does not know its filter.
	FailureFilter = "UnknownFilter"
	// FailureEdit is Sluice's own, too: the edit of the task is encrypted, and cannot be decrypted.
	FailureEdit = "UnreadableEdit"
)

// movesKept is how many tasks of a queue are kept: as many as ListMessageMoveTasks can list.
const movesKept = 10

// MoveTask moves the messages of a dead-letter queue back to where they came from, or to another queue. A moved message
// is a new message: it has a new id and time of sending, and was never received.
type MoveTask struct {
	ID          string
	Destination string // ARN; empty: the queue that each message came from
	// Sources are the queues to which messages may be moved back: the caller who started the task was allowed to send
	// to them. A message from another queue ends the task. An empty list means any queue, as in tasks of older
	// programs. A task with a Destination ignores Sources.
	Sources []ID
	Rate    int // messages per second; 0: no limit
	Started Instant
	Status  MoveStatus
	Moved   uint64
	ToMove  uint64 // visible messages when the task started; with a Selection, all messages
	Failure string
	// Selection says which messages are moved and how they are changed; nil: all messages, unchanged.
	Selection *Selection
	// Only tasks with a Selection have the following fields.
	Scanned uint64  // messages examined
	Skipped uint64  // selected messages that could not be moved
	Ended   Instant // 0: not yet
	Results []MoveResult
	place   selectionPlace
}

// The versions of a task's record with Sources, and with a Selection. A record without these has recordVersion, which
// older programs can read.
const (
	taskVersion      = 2
	selectionVersion = 3
)

// encode returns the record of a task:
//
//	version | ID | Destination | Rate | Started | Status | Moved | ToMove | Failure
//	and, from taskVersion on: number of Sources | each
//	and, of selectionVersion: what encodeSelection writes
func (t *MoveTask) encode() []byte {
	w := newRecord(128)
	w.String(t.ID)
	w.String(t.Destination)
	w.Uint(uint64(t.Rate))
	w.Instant(t.Started)
	w.String(string(t.Status))
	w.Uint(t.Moved)
	w.Uint(t.ToMove)
	w.String(t.Failure)
	if len(t.Sources) > 0 || t.Selection != nil {
		w.Writer[0] = taskVersion
		w.Uint(uint64(len(t.Sources)))
		for _, id := range t.Sources {
			w.Uint(uint64(id))
		}
	}
	if t.Selection != nil {
		w.Writer[0] = selectionVersion
		t.encodeSelection(&w)
	}
	return w.Writer
}

func decodeMoveTask(b []byte) (*MoveTask, error) {
	r := readRecordUpTo(selectionVersion, b)
	t := &MoveTask{
		ID: r.String(), Destination: r.String(), Rate: int(r.Uint()), Started: r.Instant(),
		Status: MoveStatus(r.String()), Moved: r.Uint(), ToMove: r.Uint(), Failure: r.String(),
	}
	if !r.Failed() && b[0] >= taskVersion {
		n := r.count(1)
		if n == 0 && b[0] == taskVersion {
			r.Fail()
		}
		for range n {
			t.Sources = append(t.Sources, ID(r.Uint()))
		}
	}
	if !r.Failed() && b[0] == selectionVersion {
		t.decodeSelection(r)
	}
	return t, r.done("message move task")
}

// next returns when the task may move its next message: the first instant at which
// allowance is not 0.
func (t *MoveTask) next() Instant {
	if t.Rate == 0 {
		return t.Started
	}
	rate := uint64(t.Rate)
	return t.Started + Instant(((t.Moved+1)*1000+rate-1)/rate)
}

// allowance returns how many messages the task may move now.
func (t *MoveTask) allowance(now Instant) uint64 {
	if t.Rate == 0 {
		return workAtOnce
	}
	due := uint64(max(0, now-t.Started)) * uint64(t.Rate) / 1000
	return min(due-min(due, t.Moved), workAtOnce)
}

// clone returns a copy of the task that later moves do not change.
func (t *MoveTask) clone() MoveTask {
	c := *t
	c.Results = slices.Clone(t.Results)
	return c
}

// format returns the format of a data directory that the task's record needs.
func (t *MoveTask) format() int {
	if t.Selection != nil {
		return formats.Selections
	}
	if len(t.Sources) > 0 {
		return formats.MoveSources
	}
	return 1
}

// mayFill reports whether the task may move messages to a queue.
func (t *MoveTask) mayFill(to destination) bool {
	return t.Destination != "" || len(t.Sources) == 0 || slices.Contains(t.Sources, to.queueID())
}
