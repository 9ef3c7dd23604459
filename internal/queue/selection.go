package queue

import (
	"cmp"
	"fmt"
	"slices"
)

// MaxSelected is how many ids a Selection may have.
const MaxSelected = 1000

// Selection says which messages of a queue a task moves, and what it changes of them. They may stand anywhere in the queue. A
// message is decided about when the task comes past it: it is left where it is if it is in flight then, or delayed, or if a
// message before it in its FIFO group is in flight.
type Selection struct {
	Filter string      // see package search
	IDs    []MessageID // none: all
	Edit   *Edit       // nil: nothing is changed
	// Chosen is how many IDs there were, and Edited says that there was an Edit: both are dropped when the task ends.
	Chosen int
	Edited bool
}

// Edit says what is changed of the copies of messages.
type Edit struct {
	Body    *string // nil: as it is
	BodyMD5 [16]byte
	Set     []Attribute // message attributes, in place of those of their names
	Remove  []string    // names of message attributes
	// MaxSize and MaxAttributes bound the edited message: one beyond stays where it is.
	MaxSize, MaxAttributes int
}

// MoveResult is what became of a message that was selected.
type MoveResult struct {
	ID      MessageID // before the move
	Moved   MessageID // after it; zero if it was not moved
	Outcome MoveOutcome
}

// MoveOutcome is stored: a number is never used for anything else.
type MoveOutcome uint8

// The outcomes.
const (
	OutcomeMoved         MoveOutcome = iota + 1
	OutcomeNotVisible                // it was in flight or delayed, behind one that was, or received between the search and the move
	OutcomeNoSource                  // it does not say where it came from, or not a queue that the task may fill
	OutcomeNoDestination             // that queue is gone
	OutcomeTooLarge                  // after the edit, in bytes or in attributes
	outcomesEnd
)

// resultsKept is how many results a task keeps, the last ones.
const resultsKept = 100

// A task goes through a queue in phases, each in the order of one table, with a place in it that is stored with what was
// moved:
//
//	line      messages of the line that were not received
//	held      those that were, also while the task was in the line
//	indexed   all others; of a FIFO queue all there are, in order
//
// It leaves out what has come since it started, which is behind the two ends.
type selectionPlace struct {
	phase               selectionPhase
	position            Position // looked at last
	lineEnd, indexedEnd Position // messages from there on came later
}

type selectionPhase uint8

const (
	selectLine selectionPhase = iota
	selectHeld
	selectIndexed
	selectEnd
)

// encodeSelection appends to the record of a task:
//
//	Filter | Chosen | Edited | Scanned | Skipped | Ended | phase | position | lineEnd | indexedEnd
//	| number of results | of each: ID | Moved | Outcome
func (t *MoveTask) encodeSelection(w *writer) {
	w.String(t.Selection.Filter)
	w.Uint(uint64(t.Selection.Chosen))
	w.Bool(t.Selection.Edited)
	w.Uint(t.Scanned)
	w.Uint(t.Skipped)
	w.Instant(t.Ended)
	w.Byte(byte(t.place.phase))
	w.Uint(uint64(t.place.position))
	w.Uint(uint64(t.place.lineEnd))
	w.Uint(uint64(t.place.indexedEnd))
	w.Uint(uint64(len(t.Results)))
	for _, r := range t.Results {
		w.Raw(r.ID[:])
		w.Raw(r.Moved[:])
		w.Byte(byte(r.Outcome))
	}
}

func (t *MoveTask) decodeSelection(r *reader) {
	t.Selection = &Selection{Filter: r.String(), Chosen: int(r.Uint()), Edited: r.Bool()}
	t.Scanned, t.Skipped, t.Ended = r.Uint(), r.Uint(), r.Instant()
	t.place = selectionPlace{phase: selectionPhase(r.Byte()), position: Position(r.Uint()), lineEnd: Position(r.Uint()), indexedEnd: Position(r.Uint())}
	if t.place.phase > selectEnd {
		r.Fail()
	}
	for range r.count(33) {
		var x MoveResult
		copy(x.ID[:], r.Raw(16))
		copy(x.Moved[:], r.Raw(16))
		x.Outcome = MoveOutcome(r.Byte())
		if r.Failed() || x.Outcome == 0 || x.Outcome >= outcomesEnd {
			r.Fail()
			return
		}
		t.Results = append(t.Results, x)
	}
}

// encodeChoice returns the record of what a task chooses and edits, which is written once:
//
//	number of IDs | each | 0, or 1 and of the Edit: 0, or 1 | Body | BodyMD5; Set | number of names | each | MaxSize | MaxAttributes
func (s *Selection) encodeChoice() []byte {
	w := newRecord(64 + 16*len(s.IDs))
	w.Uint(uint64(len(s.IDs)))
	for _, id := range s.IDs {
		w.Raw(id[:])
	}
	w.Bool(s.Edit != nil)
	if e := s.Edit; e != nil {
		w.Bool(e.Body != nil)
		if e.Body != nil {
			w.String(*e.Body)
			w.Raw(e.BodyMD5[:])
		}
		w.attributes(e.Set)
		w.Uint(uint64(len(e.Remove)))
		for _, name := range e.Remove {
			w.String(name)
		}
		w.Uint(uint64(e.MaxSize))
		w.Uint(uint64(e.MaxAttributes))
	}
	return w.Writer
}

// decodeChoice reads the IDs and the Edit.
func (s *Selection) decodeChoice(b []byte) error {
	r := readRecord(b)
	for range r.count(16) {
		var id MessageID
		copy(id[:], r.Raw(16))
		s.IDs = append(s.IDs, id)
	}
	if r.Bool() {
		e := new(Edit)
		if r.Bool() {
			body := r.String()
			e.Body = &body
			copy(e.BodyMD5[:], r.Raw(16))
		}
		e.Set = r.attributes()
		for range r.count(1) {
			e.Remove = append(e.Remove, r.String())
		}
		e.MaxSize, e.MaxAttributes = int(r.Uint()), int(r.Uint())
		s.Edit = e
	}
	return r.done("choice of a message move task")
}

// apply changes a message, and reports whether it is not too large then.
func (e *Edit) apply(m *Message) bool {
	if e == nil {
		return true
	}
	if e.Body != nil {
		m.Body, m.BodyMD5 = *e.Body, e.BodyMD5
	}
	m.Attributes = slices.DeleteFunc(slices.Clone(m.Attributes), func(a Attribute) bool {
		return slices.Contains(e.Remove, a.Name) || slices.ContainsFunc(e.Set, func(b Attribute) bool { return a.Name == b.Name })
	})
	m.Attributes = append(m.Attributes, e.Set...)
	slices.SortFunc(m.Attributes, func(a, b Attribute) int { return cmp.Compare(a.Name, b.Name) })
	return m.bodySize() <= e.MaxSize && len(m.Attributes) <= e.MaxAttributes
}

// size returns by how much a message may become longer that e changes.
func (e *Edit) size() int {
	if e == nil {
		return 0
	}
	n := 0
	if e.Body != nil {
		n = len(*e.Body)
	}
	for _, a := range e.Set {
		n += len(a.Name) + len(a.Type) + len(a.Value)
	}
	return n
}

// beginSelection makes a new task begin at the beginning of the queue.
func (q *queue) beginSelection(t *MoveTask) {
	s := *t.Selection
	s.Chosen, s.Edited = len(s.IDs), s.Edit != nil
	t.Selection, t.ToMove = &s, q.stored
	t.place = selectionPlace{lineEnd: q.line.next, indexedEnd: q.index.end()}
	q.tx.Set(choiceKey(q.cfg.ID, t.Started), s.encodeChoice())
	q.wantSearch()
}

// endSelection drops what a task needs no more.
func (q *queue) endSelection(t *MoveTask) {
	t.Ended = q.now
	s := *t.Selection
	s.IDs, s.Edit = nil, nil
	t.Selection, q.found = &s, nil
	q.tx.DeleteOnce(choiceKey(q.cfg.ID, t.Started))
}

// loadSelection reads what the running task chooses.
func (q *queue) loadSelection() error {
	for _, t := range q.tasks {
		if t.Status != MoveRunning || t.Selection == nil {
			continue
		}
		b, err := q.tx.Get(choiceKey(q.cfg.ID, t.Started))
		if err == nil && b == nil {
			err = fmt.Errorf("the choice of task %s: %w", t.ID, errMissing)
		}
		if err == nil {
			err = t.Selection.decodeChoice(b)
		}
		if err != nil {
			return err
		}
		q.wantSearch()
	}
	return nil
}

// selectionWork bounds what a task does in one transaction: producers and consumers wait for it, and it is not they who want
// it.
const selectionWork = workAtOnce / 4

// moveSelected continues a task with what a search has found, until it has moved as many messages as it may now, has done
// enough work, or needs another search.
func (q *queue) moveSelected(t *MoveTask, allowance uint64, enough int) error {
	if t.Rate > 0 {
		allowance = min(allowance, uint64(t.Rate)) // not all at once after a long search
	}
	before := t.Moved
	for t.Status == MoveRunning && q.found != nil && t.Moved-before < allowance && q.work < enough && !q.Full() {
		f := q.found
		if len(f.messages) == 0 {
			t.place = f.reached
			t.Scanned += f.scanned
			q.wantSearch()
		} else {
			s := f.messages[0]
			later, err := q.moveOneSelected(t, s)
			if err != nil || later {
				return err
			}
			t.place = s.place
			t.Scanned += s.scanned
			f.messages = f.messages[1:]
		}
		if t.place.phase == selectEnd || t.Selection.Chosen > 0 && t.Moved+t.Skipped >= uint64(t.Selection.Chosen) {
			q.endTask(t, MoveCompleted, "")
		}
	}
	return nil
}

// moveOneSelected moves a message, or says in the task's results why it could not. One that is gone, or that has expired, is
// left out. It returns later if there is so much in front of the message that the task has to come back to it.
func (q *queue) moveOneSelected(t *MoveTask, s selected) (later bool, err error) {
	q.work += 1 + t.Selection.Edit.size()>>10
	c, m, err := q.confirm(s)
	if err != nil || m == nil {
		return false, err
	}
	outcome := OutcomeMoved
	to, failure := q.destinationOfMove(t, m)
	switch {
	case c == nil:
		outcome = OutcomeNotVisible
	case failure == sealedForNow:
		q.movesFrom = q.now.Add(sealedPause)
		return true, nil
	case failure == FailureNoDestination:
		outcome = OutcomeNoDestination
	case failure != "":
		outcome = OutcomeNoSource
	case !t.Selection.Edit.apply(m):
		outcome = OutcomeTooLarge
	}
	if outcome != OutcomeMoved {
		t.Skipped++
		t.result(MoveResult{ID: s.id, Outcome: outcome})
		return false, nil
	}
	if c.received == nil && !c.pos.indexed() {
		if there, err := q.clearLine(c.pos); err != nil || !there {
			return true, err
		}
	}
	if err := q.moveTo(t, c, m, to); err != nil {
		return false, err
	}
	t.result(MoveResult{ID: s.id, Moved: m.ID, Outcome: OutcomeMoved})
	return false, nil
}

// confirm returns a message that a search has found, as takeOut needs it and as it is stored, if it is still there. What is
// stored of a message never changes, so only the receives since the search can have changed what the filter says: a message
// that was received since then, or is not visible, has no candidate. One of the line that was received is left to the phase
// that looks at those.
func (q *queue) confirm(s selected) (c *candidate, m *Message, err error) {
	p := s.place.position
	r := q.held.at[p]
	if !p.indexed() && s.place.phase == selectLine && (r != nil || p < q.line.head) {
		return nil, nil, nil
	}
	b, err := q.tx.Get(messageKey(q.cfg.ID, p))
	if err != nil || b == nil {
		return nil, nil, err
	}
	q.work += len(b) >> 10
	if m, err = decodeMessage(b); err != nil || m.ID != s.id || m.SentAt.Add(q.cfg.Retention) <= q.now {
		return nil, nil, err
	}
	var receives uint64
	if r != nil {
		receives = r.receives
	}
	c, visible, err := q.visibleAt(p, m)
	if !visible || receives != s.receives {
		c = nil
	}
	return c, m, err
}

func (t *MoveTask) result(r MoveResult) {
	if len(t.Results) >= resultsKept {
		t.Results = slices.Delete(t.Results, 0, len(t.Results)-resultsKept+1)
	}
	t.Results = append(t.Results, r)
}

// visibleAt returns a message as takeOut needs it, and whether it is visible and may be taken out: in a FIFO queue no message
// in front of it in its group may be in flight.
func (q *queue) visibleAt(p Position, m *Message) (c *candidate, visible bool, err error) {
	if r := q.held.at[p]; r != nil {
		return &candidate{pos: p, received: r}, !r.inFlight && !q.blocked(r.group, p), nil
	}
	if !p.indexed() {
		return &candidate{pos: p}, true, nil
	}
	b, err := q.tx.Get(memberKey(q.cfg.ID, m.Group, p))
	if err != nil || b == nil { // it waits for its delay to end
		return nil, false, err
	}
	return &candidate{pos: p, group: m.Group, sent: m.SentAt}, !q.blocked(q.groups.active[m.Group], p), nil
}

// blocked reports whether a message of a FIFO group is in flight that stands in front of p.
func (q *queue) blocked(g *activeGroup, p Position) bool {
	return g != nil && slices.ContainsFunc(g.held, func(m *received) bool { return m.inFlight && m.pos < p })
}

// clearLine brings the head of the line to p, by making the messages in front of it indexed ones: the line has no gaps, so
// that a message can leave it at the head only. It does a bounded amount of work, and reports whether that was enough.
func (q *queue) clearLine(p Position) (there bool, err error) {
	type record struct{ key, value []byte }
	var ahead []record
	work, room := 0, q.room()
	err = q.tx.Scan(messageKey(q.cfg.ID, q.line.head), messageKey(q.cfg.ID, p), func(k, v []byte) bool {
		ahead = append(ahead, record{slices.Clone(k), slices.Clone(v)})
		work += 1 + len(v)>>10
		room -= len(v)
		return work < selectionWork && room > 0
	})
	if err != nil {
		return false, err
	}
	q.work += work
	for _, r := range ahead {
		sent, err := sentAt(r.value)
		if err != nil {
			return false, err
		}
		if at := Position(tail(r.key, 0)); at != q.line.head {
			return false, fmt.Errorf("message %v of the line: %w", q.line.head, errMissing)
		}
		q.tx.DeleteOnce(r.key)
		indexed := q.indexed()
		q.line.take()
		to := q.index.place(sent, indexed == 0)
		q.tx.Set(messageKey(q.cfg.ID, to), r.value)
		q.index.setAge(to, sent, "", sent)
		if err := q.groups.add("", to, sent); err != nil {
			return false, err
		}
	}
	q.markDirty()
	return q.line.head == p, nil
}
