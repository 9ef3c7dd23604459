package queue

import (
	"slices"

	"github.com/sluicemq/sluice/internal/formats"
)

// MoveStatus is the state of a message move task, in SQS's words.
type MoveStatus string

// The states of a task. A task that was cancelled moves nothing more, so that
// it is never seen CANCELLING.
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
	// FailureFilter is Sluice's own: the program that goes on with the task does not know its filter.
	FailureFilter = "UnknownFilter"
	// FailureEdit is as well: the edit of the task is encrypted, and cannot be decrypted.
	FailureEdit = "UnreadableEdit"
)

// movesKept is how many tasks of a queue are remembered, as many as
// ListMessageMoveTasks can show.
const movesKept = 10

// MoveTask moves the messages of a dead-letter queue back to where they came from, or to another queue. A moved message
// is a new one: it has a new id and time of sending and was never received.
type MoveTask struct {
	ID          string
	Destination string // ARN; empty: the queue that each message came from
	// Sources are the queues that messages may be moved back to: those to which the
	// caller who started the task was allowed to send. A message from another queue ends
	// the task. An empty list means any queue, as in tasks of older programs. A task with
	// a Destination does not use it.
	Sources []ID
	Rate    int // messages per second; 0: as fast as it goes
	Started Instant
	Status  MoveStatus
	Moved   uint64
	ToMove  uint64 // visible messages when the task started; with a Selection, all messages
	Failure string
	// Selection says which messages are moved, and what is changed of them; nil: all, as they are.
	Selection *Selection
	// The following fields are of tasks with a Selection only.
	Scanned uint64  // messages that the task has looked at
	Skipped uint64  // that were selected and could not be moved
	Ended   Instant // 0: not yet
	Results []MoveResult
	place   selectionPlace
}

// The versions of a task's record that have Sources, and a Selection. Without them it is
// of recordVersion, which older programs can read.
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

// clone returns a copy of a task that does not change.
func (t *MoveTask) clone() MoveTask {
	c := *t
	c.Results = slices.Clone(t.Results)
	return c
}

// format returns which format of a data directory the task's record needs.
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
