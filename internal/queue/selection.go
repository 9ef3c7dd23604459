package queue

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sluicemq/sluice/internal/search"
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
	OutcomeNotVisible                // it was in flight or delayed, or behind one that was
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
	t.place = selectionPlace{lineEnd: q.lineNext, indexedEnd: (q.lastIndex | indexedBit) + 1}
	q.e.tx.Set(choiceKey(q.cfg.ID, t.Started), s.encodeChoice())
}

// endSelection drops what a task needs no more.
func (q *queue) endSelection(t *MoveTask) {
	t.Ended = q.e.now
	s := *t.Selection
	s.IDs, s.Edit = nil, nil
	t.Selection, q.selecting = &s, nil
	q.e.tx.DeleteOnce(choiceKey(q.cfg.ID, t.Started))
}

// loadSelection reads what the running task chooses.
func (q *queue) loadSelection() error {
	for _, t := range q.tasks {
		if t.Status != MoveRunning || t.Selection == nil {
			continue
		}
		b, err := q.e.tx.Get(choiceKey(q.cfg.ID, t.Started))
		if err == nil && b == nil {
			err = fmt.Errorf("the choice of task %s: %w", t.ID, errMissing)
		}
		if err == nil {
			err = t.Selection.decodeChoice(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// selecting is what the running task needs to select messages.
type selecting struct {
	query  *search.Query
	wanted map[MessageID]bool // nil: all
	item   itemReader
}

// selected is a message that a task has selected.
type selected struct {
	pos     Position
	message *Message
	place   selectionPlace // of the task, in front of the message
	scanned uint64         // by the task, in front of the message
}

// selectionWork bounds what a task does in one transaction, of which most is to read and to match bodies: producers and
// consumers wait for it, and it is not they who want it.
const selectionWork = workAtOnce / 4

// selectedAtOnce bounds the messages that are held in memory at once.
const selectedAtOnce = 100

// moveSelected continues a task with a Selection, until it has moved as many messages as it may now, or has done enough work.
func (q *queue) moveSelected(t *MoveTask, allowance uint64, enough int) error {
	if t.Rate > 0 {
		allowance = min(allowance, uint64(t.Rate)) // not all at once after a long search
	}
	before := t.Moved
	for t.Status == MoveRunning && t.Moved-before < allowance && q.e.work < enough && !q.e.Full() {
		if t.place.phase == selectEnd || t.Selection.Chosen > 0 && t.Moved+t.Skipped >= uint64(t.Selection.Chosen) {
			q.endTask(t, MoveCompleted, "")
			return nil
		}
		found, err := q.selectMessages(t, min(int(allowance-(t.Moved-before)), selectedAtOnce), enough)
		if err != nil {
			return err
		}
		for _, s := range found {
			later, err := q.moveOneSelected(t, s)
			if err != nil {
				return err
			}
			if later {
				return nil
			}
		}
	}
	return nil
}

// selectMessages looks at messages from the task's place on, and returns some that it is to move.
func (q *queue) selectMessages(t *MoveTask, most, enough int) (found []selected, err error) {
	if q.selecting == nil {
		query, err := search.Parse(t.Selection.Filter)
		if err != nil { // it was checked by another program
			q.endTask(t, MoveFailed, FailureFilter)
			return nil, nil //nolint:nilerr // the task tells
		}
		q.selecting = &selecting{query: query, wanted: wantedIDs(t.Selection.IDs)}
	}
	var bad error
	room, edit := q.e.room(), t.Selection.Edit.size()
	look := func(p Position, value []byte) bool {
		q.e.work += 1 + len(value)>>10
		before := selected{place: t.place, scanned: t.Scanned}
		t.place.position = p
		t.Scanned++
		var m *Message
		if m, bad = q.match(p, value); m != nil {
			before.pos, before.message = p, m
			found = append(found, before)
			q.e.work += edit >> 10
			room -= len(value) + edit
		}
		return bad == nil && len(found) < most && q.e.work < enough && room > 0
	}
	ended, err := q.scanSelected(t, look)
	if err := firstError(err, bad); err != nil {
		return nil, err
	}
	if ended {
		t.place.phase++
		t.place.position = 0
	}
	return found, nil
}

// scanSelected calls look with the messages of the task's phase behind its position, until it returns false, and reports
// whether these were all.
func (q *queue) scanSelected(t *MoveTask, look func(p Position, value []byte) bool) (ended bool, err error) {
	id, next := q.cfg.ID, t.place.position+1
	ended = true
	each := func(k, v []byte) bool {
		ended = look(Position(tail(k, 0)), v)
		return ended
	}
	switch t.place.phase {
	case selectLine:
		next, end := max(next, q.lineHead), min(t.place.lineEnd, q.lineNext)
		if next < end {
			err = q.e.tx.Scan(messageKey(id, next), messageKey(id, end), each)
		}
	case selectHeld:
		var held []Position
		err = q.e.tx.Scan(receivedKey(id, next), receivedKey(id, min(t.place.lineEnd, indexedBit)), func(k, _ []byte) bool {
			held = append(held, Position(tail(k, 0)))
			return len(held) < selectedAtOnce
		})
		ended = len(held) < selectedAtOnce
		for _, p := range held {
			b, failed := q.e.tx.Get(messageKey(id, p))
			if failed == nil && b == nil {
				failed = fmt.Errorf("message %v: %w", p, errMissing)
			}
			if err = firstError(err, failed); err != nil {
				return false, err
			}
			if !look(p, b) {
				return false, nil
			}
		}
	case selectIndexed:
		if next = max(next, q.ageHead, indexedBit); next < t.place.indexedEnd {
			err = q.e.tx.Scan(messageKey(id, next), messageKey(id, t.place.indexedEnd), each)
		}
	}
	return ended, err
}

// match returns the message at p if the running task selects it.
func (q *queue) match(p Position, value []byte) (*Message, error) {
	s := q.selecting
	if err := s.item.read(value, q.received[p], q.e.now); err != nil {
		return nil, err
	}
	expired := Instant(s.item.Sent).Add(q.cfg.Retention) <= q.e.now
	if expired || s.wanted != nil && !s.wanted[s.item.messageID] || !s.query.Match(&s.item.Item) {
		return nil, nil
	}
	return decodeMessage(value)
}

// moveOneSelected moves a message, or says in the task's results why it could not. It returns later if there is so much in
// front of the message that the task has to come back to it.
func (q *queue) moveOneSelected(t *MoveTask, s selected) (later bool, err error) {
	c, visible, err := q.visibleAt(s)
	if err != nil {
		return false, err
	}
	m, id := s.message, s.message.ID
	outcome := OutcomeMoved
	to, failure := q.destinationOfMove(t, m)
	switch {
	case !visible:
		outcome = OutcomeNotVisible
	case failure == sealedForNow:
		q.movesFrom = q.e.now.Add(sealedPause)
		t.place, t.Scanned = s.place, s.scanned
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
		t.result(MoveResult{ID: id, Outcome: outcome})
		return false, nil
	}
	if c.received == nil && !c.pos.indexed() {
		there, err := q.clearLine(c.pos)
		if err != nil {
			return false, err
		}
		if !there {
			// The line is without gaps: what was looked at behind the message is looked at again.
			if t.place.phase != selectLine {
				t.place.position = t.place.lineEnd - 1
			}
			t.Scanned -= uint64(t.place.position - c.pos + 1)
			t.place.phase, t.place.position = selectLine, c.pos-1
			return true, nil
		}
	}
	if err := q.moveTo(t, c, m, to); err != nil {
		return false, err
	}
	t.result(MoveResult{ID: id, Moved: m.ID, Outcome: OutcomeMoved})
	return false, nil
}

func (t *MoveTask) result(r MoveResult) {
	if len(t.Results) >= resultsKept {
		t.Results = slices.Delete(t.Results, 0, len(t.Results)-resultsKept+1)
	}
	t.Results = append(t.Results, r)
}

// visibleAt returns a message as takeOut needs it, and whether it is visible and may be taken out: in a FIFO queue no message
// in front of it in its group may be in flight.
func (q *queue) visibleAt(s selected) (c *candidate, visible bool, err error) {
	if m := q.received[s.pos]; m != nil {
		return &candidate{pos: s.pos, received: m}, !m.inFlight && !q.blocked(m.group, s.pos), nil
	}
	if !s.pos.indexed() {
		return &candidate{pos: s.pos}, true, nil
	}
	b, err := q.e.tx.Get(memberKey(q.cfg.ID, s.message.Group, s.pos))
	if err != nil || b == nil { // it waits for its delay to end
		return nil, false, err
	}
	return &candidate{pos: s.pos, group: s.message.Group, sent: s.message.SentAt}, !q.blocked(q.activeGroups[s.message.Group], s.pos), nil
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
	work, room := 0, q.e.room()
	err = q.e.tx.Scan(messageKey(q.cfg.ID, q.lineHead), messageKey(q.cfg.ID, p), func(k, v []byte) bool {
		ahead = append(ahead, record{slices.Clone(k), slices.Clone(v)})
		work += 1 + len(v)>>10
		room -= len(v)
		return work < selectionWork && room > 0
	})
	if err != nil {
		return false, err
	}
	q.e.work += work
	for _, r := range ahead {
		sent, err := sentAt(r.value)
		if err != nil {
			return false, err
		}
		if at := Position(tail(r.key, 0)); at != q.lineHead {
			return false, fmt.Errorf("message %v of the line: %w", q.lineHead, errMissing)
		}
		none := q.indexedCount() == 0
		q.e.tx.DeleteOnce(r.key)
		q.lineHead++
		q.lastIndex++
		to := q.lastIndex | indexedBit
		if none {
			q.ageFloor, q.ageHead = sent, to
		}
		q.ageFloor = min(q.ageFloor, sent)
		q.e.tx.Set(messageKey(q.cfg.ID, to), r.value)
		q.setAge(to, sent, "", sent)
		if err := q.addMember("", to, sent); err != nil {
			return false, err
		}
	}
	q.markDirty()
	return q.lineHead == p, nil
}
