package queue

import (
	"fmt"
	"slices"
)

// moves are the message move tasks of a queue, the oldest first.
//
//   - Each has a row in the table of tasks, under the instant at which it started. No two start at the same instant.
//   - At most one is running. If it has a Selection, the Selection has a separate row until the task ends.
//   - found is a search result for the running task. It is nil if there is no such task or the task needs a search.
//     Each time it begins to need one, the queue is added to wanting.
type moves struct {
	*base
	tasks   []*MoveTask
	from    Instant // the running task moves nothing before, because its destination is sealed
	found   *Found
	wanting *[]ID // the queues of the shard whose tasks need a search
}

// load reads the tasks, and the Selection of the running task.
func (m *moves) load() error {
	var bad error
	lo, hi := tableRange(m.cfg.ID, tableTask)
	err := m.tx.Scan(lo, hi, func(_, v []byte) bool {
		var t *MoveTask
		t, bad = decodeMoveTask(v)
		m.tasks = append(m.tasks, t)
		m.needs(t.format())
		return bad == nil
	})
	if err := firstError(err, bad); err != nil {
		return err
	}
	if t := m.running(); t != nil && t.Selection != nil {
		return m.loadChoice(t)
	}
	return nil
}

func (m *moves) loadChoice(t *MoveTask) error {
	b, err := m.tx.Get(choiceKey(m.cfg.ID, t.Started))
	if err == nil && b == nil {
		err = fmt.Errorf("the choice of task %s: %w", t.ID, errMissing)
	}
	if err == nil {
		err = t.Selection.decodeChoice(b)
	}
	if err == nil {
		m.wantSearch()
	}
	return err
}

// running returns the running task, or nil.
func (m *moves) running() *MoveTask {
	for _, t := range m.tasks {
		if t.Status == MoveRunning {
			return t
		}
	}
	return nil
}

// wakeAt returns when the running task may move its next message, or never.
func (m *moves) wakeAt() Instant {
	t := m.running()
	if t == nil || t.Selection != nil && m.found == nil {
		return never
	}
	return max(t.next(), m.from)
}

// start adds a task. One with a Selection begins at its place.
func (m *moves) start(t *MoveTask) {
	t.Started = m.now
	if n := len(m.tasks); n > 0 && m.tasks[n-1].Started >= t.Started {
		t.Started = m.tasks[n-1].Started + 1
	}
	t.Status, t.Moved = MoveRunning, 0
	if t.Selection != nil {
		s := *t.Selection
		s.Chosen, s.Edited = len(s.IDs), s.Edit != nil
		t.Selection = &s
		if s.Edit != nil {
			m.needsFor(s.Edit.Set)
		}
		m.tx.Set(choiceKey(m.cfg.ID, t.Started), s.encodeChoice())
		m.wantSearch()
	}
	m.tasks = append(m.tasks, t)
	m.saveTask(t)
	for len(m.tasks) > movesKept {
		m.tx.Delete(taskKey(m.cfg.ID, m.tasks[0].Started))
		m.tasks = m.tasks[1:]
	}
}

// saveTask writes the row of a task.
func (m *moves) saveTask(t *MoveTask) {
	m.needs(t.format())
	m.tx.Set(taskKey(m.cfg.ID, t.Started), t.encode())
	m.markDirty()
}

// end ends the running task, and drops what it no longer needs. The caller writes its row.
func (m *moves) end(t *MoveTask, status MoveStatus, failure string) {
	t.Status, t.Failure = status, failure
	if t.Selection == nil {
		return
	}
	t.Ended = m.now
	s := *t.Selection
	s.IDs, s.Edit = nil, nil
	t.Selection, m.found = &s, nil
	m.tx.DeleteOnce(choiceKey(m.cfg.ID, t.Started))
}

// pause makes the running task wait, because its destination is sealed.
func (m *moves) pause() { m.from = m.now.Add(sealedPause) }

// wantSearch discards the search result and requests a new search for the running task.
func (m *moves) wantSearch() {
	m.found = nil
	*m.wanting = append(*m.wanting, m.cfg.ID)
}

// lineCleared notes that another operation has turned messages of the line into indexed ones. If the task's search is
// still in the line, it may not have reached them, so it must go as far as their new positions among the indexed
// messages. It skips messages there that were sent after the start of the task; see searching.lookAtRow.
func (m *moves) lineCleared(indexedEnd Position) {
	t := m.running()
	if t == nil || t.Selection == nil || t.place.phase != phaseLine {
		return
	}
	t.place.indexedEnd = indexedEnd
	m.saveTask(t)
	if m.found != nil { // its positions may be outdated
		m.wantSearch()
	}
}

// searched returns the running task if it waits for a search, or nil.
func (m *moves) searched() *MoveTask {
	if t := m.running(); t != nil && t.Selection != nil && m.found == nil {
		return t
	}
	return nil
}

// supply passes a search result to the running task.
func (m *moves) supply(f *Found) {
	t := m.searched()
	switch {
	case t == nil:
	case t.Started != f.task || t.place != f.from:
		m.wantSearch() // it belongs to another task
	case f.failure != "":
		m.end(t, MoveFailed, f.failure)
		m.saveTask(t)
	default:
		m.found = f
		m.touch()
	}
}

// StartMove starts a task that moves as many messages of a queue as are visible now.
// A queue has one running task at a time: a second one gets ErrTaskRunning, and so does a task during an undo of a
// purge, or while an undo is promised.
func (e *Engine) StartMove(id ID, task MoveTask) error {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return err
	}
	if q.moves.running() != nil || q.kept.undoes() || q.kept.promises() {
		return ErrTaskRunning
	}
	task.ToMove = q.counts().Visible
	if task.Selection != nil {
		task.ToMove = q.stored
		task.place = selectionPlace{lineEnd: q.line.next, indexedEnd: q.index.end()}
		task.place.phase = searchPhases[0]
	}
	q.moves.start(&task)
	return nil
}

// CancelMove ends a running task and returns it. Messages that it has moved stay
// moved. If the task is unknown or has ended, the error is ErrNoTask.
func (e *Engine) CancelMove(id ID, task string) (MoveTask, error) {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return MoveTask{}, err
	}
	t := q.moves.running()
	if t == nil || t.ID != task {
		return MoveTask{}, ErrNoTask
	}
	q.moves.end(t, MoveCancelled, "")
	q.moves.saveTask(t)
	return t.clone(), nil
}

// Moves returns the tasks of a queue, the most recent first.
func (e *Engine) Moves(id ID) ([]MoveTask, error) {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return nil, err
	}
	out := make([]MoveTask, 0, len(q.moves.tasks))
	for _, t := range slices.Backward(q.moves.tasks) {
		out = append(out, t.clone())
	}
	return out, nil
}
