package queue

import (
	"crypto/sha256"
	"fmt"
)

// moving is the work of a queue's running task in one transaction. It removes messages from the queue, wherever they
// are, and passes them to their destinations.
//
//   - A message leaves the queue and is accepted by its destination in the same transaction, which also updates the
//     task's row.
//   - The work is limited twice: allowance limits the messages, and enough the engine's work. The rest is postponed.
type moving struct {
	*queue
	task      *MoveTask
	allowance uint64
	enough    int
}

// selectionWork limits the work of a task with a Selection in one transaction. Producers and consumers wait for that
// work, and they did not request it.
const selectionWork = workAtOnce / 4

// move continues the queue's running task, by a bounded number of messages and of
// bytes.
func (q *queue) move() error {
	t := q.moves.running()
	if t == nil || q.now < q.moves.from {
		return nil
	}
	m := moving{queue: q, task: t, allowance: t.allowance(q.now), enough: q.work + workAtOnce}
	if m.allowance == 0 || t.Selection != nil && q.moves.found == nil {
		return nil
	}
	var err error
	if t.Selection == nil {
		err = m.all()
	} else {
		m.enough = q.work + selectionWork
		err = m.selected()
	}
	if err != nil {
		return fmt.Errorf("message move task: %w", err)
	}
	q.moves.saveTask(t)
	return nil
}

// all moves available messages, without a Selection.
func (m *moving) all() error {
	for range m.allowance {
		if err := m.one(); err != nil {
			return err
		}
		if m.task.Status != MoveRunning || m.moves.from > m.now || m.work >= m.enough || m.Full() {
			break
		}
	}
	return nil
}

// one moves the next available message of the queue, or ends the task.
func (m *moving) one() error {
	t := m.task
	next, err := m.next()
	if err != nil {
		return err
	}
	if next == nil || t.Moved >= t.ToMove {
		m.moves.end(t, MoveCompleted, "")
		return nil
	}
	message, err := m.readMessage(next.pos)
	if err != nil {
		return err
	}
	to, failure := m.destination(message)
	switch failure {
	case "":
	case sealedForNow:
		m.moves.pause()
		return nil
	default:
		m.moves.end(t, MoveFailed, failure)
		return nil
	}
	if err := m.moveTo(next, message, to); err != nil {
		return err
	}
	if t.Moved >= t.ToMove {
		m.moves.end(t, MoveCompleted, "")
	}
	return nil
}

// selected moves the messages that a search has found, until a limit is reached or the task needs another search.
func (m *moving) selected() error {
	t := m.task
	if t.Rate > 0 {
		m.allowance = min(m.allowance, uint64(t.Rate)) // not all at once after a long search
	}
	before := t.Moved
	for t.Status == MoveRunning && m.moves.found != nil && t.Moved-before < m.allowance && m.work < m.enough &&
		!m.Full() {
		f := m.moves.found
		if len(f.messages) == 0 {
			t.place = f.reached
			t.Scanned += f.scanned
			m.moves.wantSearch()
		} else {
			s := f.messages[0]
			later, err := m.oneSelected(s)
			if err != nil || later {
				return err
			}
			t.place = s.place
			t.Scanned += s.scanned
			f.messages = f.messages[1:]
		}
		if t.place.phase == phaseEnd || t.Selection.Chosen > 0 && t.Moved+t.Skipped >= uint64(t.Selection.Chosen) {
			m.moves.end(t, MoveCompleted, "")
		}
	}
	return nil
}

// oneSelected moves a message, or records in the task's results why it could not. It skips messages that are gone or
// expired. It returns later if too many messages are in front of it for one transaction.
func (m *moving) oneSelected(s selected) (later bool, err error) {
	t := m.task
	m.work += 1 + t.Selection.Edit.size()>>10
	c, message, err := m.confirm(s)
	if err != nil || message == nil {
		return false, err
	}
	outcome := OutcomeMoved
	to, failure := m.destination(message)
	switch {
	case c == nil:
		outcome = OutcomeNotVisible
	case failure == sealedForNow:
		m.moves.pause()
		return true, nil
	case failure == FailureNoDestination:
		outcome = OutcomeNoDestination
	case failure != "":
		outcome = OutcomeNoSource
	case !s.edit(t.Selection.Edit, message):
		outcome = OutcomeTooLarge
	}
	if outcome != OutcomeMoved {
		t.skip(s.id, outcome)
		return false, nil
	}
	if c.received == nil && !c.pos.indexed() {
		if there, err := m.clearLine(c.pos); err != nil || !there {
			return true, err
		}
	}
	if err := m.moveTo(c, message, to); err != nil {
		return false, err
	}
	t.result(MoveResult{ID: s.id, Moved: message.ID, Outcome: OutcomeMoved})
	return false, nil
}

// edit edits a message, and reports whether the result is within the limits.
func (s *selected) edit(e *Edit, m *Message) bool {
	if s.edited == nil {
		return e.apply(m)
	}
	if !s.edited.tooLarge {
		m.SetContent(s.edited.content)
	}
	return !s.edited.tooLarge
}

// destination returns where the task moves a message, or why it cannot.
func (m *moving) destination(message *Message) (_ destination, failure string) {
	t := m.task
	arn := t.Destination
	if arn == "" {
		if arn = message.Source; arn == "" {
			return nil, FailureNoSource
		}
	}
	to, sealed := m.e.destination(arn, message.Group)
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

// sealedForNow is not a failure: the task waits, because the destination is sealed.
const sealedForNow = "sealed"

// moveTo moves a message, of which message is a copy.
func (m *moving) moveTo(c *candidate, message *Message, to destination) error {
	if err := m.takeOut(c); err != nil {
		return err
	}
	m.spend(message)
	m.tally.count(MetricMoved, 1)
	message.rename(movedID(m.task.ID, c.pos))
	message.SentAt = m.now
	message.Source, message.PriorReceives, message.PriorFirst = "", 0, 0
	m.task.Moved++
	return to.accept(message, m.now)
}

// candidate is a visible message of a queue, in any table.
type candidate struct {
	pos      Position
	received *received // if it was received before
	group    string    // if it is a member
	sent     Instant
}

// next finds the next available message and does not deliver it.
func (m *moving) next() (*candidate, error) {
	if front := m.held.returned.Front(); front != nil {
		r := front.Value.(*received)
		return &candidate{pos: r.pos, received: r}, nil
	}
	if front := m.groups.ready.Front(); front != nil {
		a := front.Value.(*activeGroup)
		r := a.held[0]
		if x, found, err := m.groups.before(a, r.pos); found || err != nil {
			return &candidate{pos: x.pos, group: a.name, sent: x.sent}, err
		}
		return &candidate{pos: r.pos, received: r}, nil
	}
	if m.line.waiting() > 0 {
		return &candidate{pos: m.line.head}, nil
	}
	turns, err := m.firstTurns(1)
	if err != nil || len(turns) == 0 {
		return nil, err
	}
	g, err := m.groups.atTurn(turns[0])
	if err != nil {
		return nil, err
	}
	first := g.ahead[0]
	return &candidate{pos: first.pos, group: turns[0].name, sent: first.sent}, nil
}

// takeOut removes a message from the queue. A message of the line must be its first.
func (m *moving) takeOut(c *candidate) error {
	switch {
	case c.received != nil:
		return m.removeAndRelease(c.received)
	case !c.pos.indexed():
		m.dropHead()
	default:
		if err := m.groups.drop(c.group, c.pos); err != nil {
			return err
		}
		m.dropIndexed(c.pos, c.sent)
	}
	return nil
}

// confirm returns a message that a search has found, both as a candidate and as it is stored, if it is still there. The
// record of a message never changes, so only receives since the search can have changed the filter's result: c is nil
// if the message was received since then or is not visible. Received messages of the line are left to the phase for
// held messages.
func (m *moving) confirm(s selected) (c *candidate, message *Message, err error) {
	p := s.place.position
	r := m.held.at[p]
	if !p.indexed() && s.place.phase == phaseLine && (r != nil || p < m.line.head) {
		return nil, nil, nil
	}
	b, err := m.tx.Get(messageKey(m.cfg.ID, p))
	if err != nil || b == nil || r == nil && m.kept.hides(p) {
		return nil, nil, err
	}
	m.work += len(b) >> 10
	if message, err = decodeMessage(b); err != nil || message.ID != s.id ||
		message.SentAt.Add(m.cfg.Retention) <= m.now {
		return nil, nil, err
	}
	var receives uint64
	if r != nil {
		receives = r.receives
	}
	c, visible, err := m.visibleAt(p, message)
	if !visible || receives != s.receives {
		c = nil
	}
	return c, message, err
}

// visibleAt returns a message as a candidate, and whether it is visible and can be taken out: in a FIFO queue no
// message in front of it in its group may be in flight.
func (m *moving) visibleAt(p Position, message *Message) (c *candidate, visible bool, err error) {
	if r := m.held.at[p]; r != nil {
		return &candidate{pos: p, received: r}, !r.inFlight && !r.group.blocks(p), nil
	}
	if !p.indexed() {
		return &candidate{pos: p}, true, nil
	}
	b, err := m.tx.Get(memberKey(m.cfg.ID, message.Group, p))
	if err != nil || b == nil { // it waits for its delay to end
		return nil, false, err
	}
	c = &candidate{pos: p, group: message.Group, sent: message.SentAt}
	return c, !m.groups.active[message.Group].blocks(p), nil
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
