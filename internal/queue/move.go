package queue

import (
	"crypto/sha256"
	"fmt"
	"slices"
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
)

// movesKept is how many tasks of a queue are remembered, as many as
// ListMessageMoveTasks can show.
const movesKept = 10

// MoveTask moves the messages of a dead-letter queue back to where they came
// from, or to another queue. What is moved is a new message: it has a new id
// and time of sending and was never received.
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
	// What follows is of tasks with a Selection only.
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

// StartMove starts a task that moves as many messages of a queue as are visible now.
// A queue has one running task at a time: a second gives ErrTaskRunning.
func (e *Engine) StartMove(id ID, task MoveTask) error {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(q.tasks, func(t *MoveTask) bool { return t.Status == MoveRunning }) {
		return ErrTaskRunning
	}
	task.Started = e.now
	if n := len(q.tasks); n > 0 && q.tasks[n-1].Started >= task.Started {
		task.Started = q.tasks[n-1].Started + 1 // the key of a task is its start
	}
	task.Status = MoveRunning
	task.ToMove = q.counts().Visible
	task.Moved = 0
	if task.Selection != nil {
		q.beginSelection(&task)
	}
	q.tasks = append(q.tasks, &task)
	q.saveTask(&task)
	for len(q.tasks) > movesKept {
		e.tx.Delete(taskKey(id, q.tasks[0].Started))
		q.tasks = q.tasks[1:]
	}
	return nil
}

// CancelMove ends a running task and returns it. What it has moved stays
// moved. A task that is unknown or has ended gives ErrNoTask.
func (e *Engine) CancelMove(id ID, task string) (MoveTask, error) {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return MoveTask{}, err
	}
	for _, t := range q.tasks {
		if t.ID == task && t.Status == MoveRunning {
			q.endTask(t, MoveCancelled, "")
			q.saveTask(t)
			return t.clone(), nil
		}
	}
	return MoveTask{}, ErrNoTask
}

// Moves returns the tasks of a queue, the most recent first.
func (e *Engine) Moves(id ID) ([]MoveTask, error) {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return nil, err
	}
	out := make([]MoveTask, 0, len(q.tasks))
	for _, t := range slices.Backward(q.tasks) {
		out = append(out, t.clone())
	}
	return out, nil
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
		return formatSelections
	}
	if len(t.Sources) > 0 {
		return formatSources
	}
	return 1
}

func (q *queue) saveTask(t *MoveTask) {
	q.needs(t.format())
	q.tx.Set(taskKey(q.cfg.ID, t.Started), t.encode())
	q.markDirty()
}

// move continues the queue's running task, by a bounded number of messages and of
// bytes.
func (q *queue) move() error {
	if q.now < q.movesFrom {
		return nil
	}
	for _, t := range q.tasks {
		if t.Status != MoveRunning {
			continue
		}
		allowance := t.allowance(q.now)
		enough := q.work + workAtOnce
		if t.Selection != nil {
			if q.found == nil || allowance == 0 {
				continue
			}
			if err := q.moveSelected(t, allowance, q.work+selectionWork); err != nil {
				return fmt.Errorf("message move task: %w", err)
			}
			q.saveTask(t)
			continue
		}
		for range allowance {
			if err := q.moveOne(t); err != nil {
				return fmt.Errorf("message move task: %w", err)
			}
			if t.Status != MoveRunning || q.movesFrom > q.now || q.work >= enough || q.Full() {
				break
			}
		}
		if allowance > 0 {
			q.saveTask(t)
		}
	}
	return nil
}

// moveOne moves the next available message of the queue, or ends the task.
func (q *queue) moveOne(t *MoveTask) error {
	next, err := q.peek()
	if err != nil {
		return err
	}
	if next == nil || t.Moved >= t.ToMove {
		q.endTask(t, MoveCompleted, "")
		return nil
	}
	m, err := q.readMessage(next.pos)
	if err != nil {
		return err
	}
	to, failure := q.destinationOfMove(t, m)
	switch failure {
	case "":
	case sealedForNow:
		q.movesFrom = q.now.Add(sealedPause)
		return nil
	default:
		q.endTask(t, MoveFailed, failure)
		return nil
	}
	if err := q.moveTo(t, next, m, to); err != nil {
		return err
	}
	if t.Moved >= t.ToMove {
		q.endTask(t, MoveCompleted, "")
	}
	return nil
}

// endTask ends a task that is running.
func (q *queue) endTask(t *MoveTask, status MoveStatus, failure string) {
	t.Status, t.Failure = status, failure
	if t.Selection != nil {
		q.endSelection(t)
	}
}

// destinationOfMove returns where a task moves a message, or why it cannot, now or at all.
func (q *queue) destinationOfMove(t *MoveTask, m *Message) (_ destination, failure string) {
	arn := t.Destination
	if arn == "" {
		if arn = m.Source; arn == "" {
			return nil, FailureNoSource
		}
	}
	to, sealed := q.e.destination(arn, m.Group)
	switch {
	case to == nil:
		return nil, FailureNoDestination
	case !t.mayFill(to):
		return nil, FailureNoSource
	case sealed:
		return nil, sealedForNow
	}
	return to, ""
}

// sealedForNow is why a task waits, and no failure: the destination is sealed.
const sealedForNow = "sealed"

// moveTo moves a message, of which m is a copy.
func (q *queue) moveTo(t *MoveTask, c *candidate, m *Message, to destination) error {
	if err := q.takeOut(c); err != nil {
		return err
	}
	q.spend(m)
	q.tally.count(MetricMoved, 1)
	m.ID = movedID(t.ID, c.pos)
	m.SentAt = q.now
	m.Source, m.PriorReceives, m.PriorFirst = "", 0, 0
	t.Moved++
	return to.accept(m, q.now)
}

// mayFill reports whether the task may move messages to a queue.
func (t *MoveTask) mayFill(to destination) bool {
	return t.Destination != "" || len(t.Sources) == 0 || slices.Contains(t.Sources, to.queueID())
}

// candidate is the next available message of a queue, whatever table it is in.
type candidate struct {
	pos      Position
	received *received // if it was received before
	group    string    // if it is a member
	sent     Instant
}

// peek finds the next available message and does not deliver it.
func (q *queue) peek() (*candidate, error) {
	if front := q.held.returned.Front(); front != nil {
		m := front.Value.(*received)
		return &candidate{pos: m.pos, received: m}, nil
	}
	if front := q.groups.ready.Front(); front != nil {
		m := front.Value.(*activeGroup).held[0]
		return &candidate{pos: m.pos, received: m}, nil
	}
	if q.line.waiting() > 0 {
		return &candidate{pos: q.line.head}, nil
	}
	turns, err := q.firstTurns(1)
	if err != nil || len(turns) == 0 {
		return nil, err
	}
	r, err := q.groups.atTurn(turns[0])
	if err != nil {
		return nil, err
	}
	first := r.ahead[0]
	return &candidate{pos: first.pos, group: turns[0].name, sent: first.sent}, nil
}

// takeOut removes the message that peek has found.
func (q *queue) takeOut(c *candidate) error {
	switch m := c.received; {
	case m != nil:
		return q.removeAndRelease(m)
	case !c.pos.indexed():
		q.tx.DeleteOnce(messageKey(q.cfg.ID, q.line.take()))
		q.stored--
		q.markDirty()
	default:
		if err := q.groups.drop(c.group, c.pos); err != nil {
			return err
		}
		q.dropIndexed(c.pos, c.sent)
	}
	return nil
}

// movedID derives the id of the message that a task makes of the message at p. It is a
// version 8 UUID (RFC 9562): the engine has no randomness of its own.
func movedID(task string, p Position) MessageID {
	sum := sha256.Sum256(key(nil).uint64(uint64(p)).string(task))
	id := MessageID(sum[:16])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id
}
