package queue

import (
	"cmp"
	"slices"
)

// MaxSelected is the maximum number of ids in a Selection.
const MaxSelected = 1000

// Selection defines which messages of a queue a task moves, wherever they are, and how it edits them. The task decides
// about a message when it reaches it: the message stays if it is then in flight or delayed, or behind a message in
// flight of its FIFO group.
type Selection struct {
	Filter string      // see package search
	IDs    []MessageID // none: all
	Edit   *Edit       // nil: no change
	// Chosen is the number of IDs, and Edited means that there was an Edit. IDs and Edit are dropped when the task
	// ends.
	Chosen int
	Edited bool
}

// Edit describes the changes of the copies of messages.
type Edit struct {
	Body    *string // nil: as it is
	BodyMD5 [16]byte
	Set     []Attribute // message attributes that are added or replaced
	Remove  []string    // names of message attributes
	// MaxSize and MaxAttributes limit the edited message. A larger message stays where it is.
	MaxSize, MaxAttributes int
}

// MoveResult is the outcome of the move of one selected message.
type MoveResult struct {
	ID      MessageID // before the move
	Moved   MessageID // after it; zero if it was not moved
	Outcome MoveOutcome
}

// MoveOutcome is stored: numbers are never reused.
type MoveOutcome uint8

// The outcomes.
const (
	OutcomeMoved MoveOutcome = iota + 1
	// it was in flight or delayed, behind one that was, or received between the search and the move
	OutcomeNotVisible
	OutcomeNoSource      // it has no source queue, or one that the task may not fill
	OutcomeNoDestination // the destination does not exist
	OutcomeTooLarge      // after the edit, in bytes or in attributes
	outcomesEnd
)

// resultsKept is how many results a task keeps: the most recent ones.
const resultsKept = 100

// selectionPlace is the progress of a task through searchPhases. It is stored in the transaction of each move, so the
// task examines each message once. Messages behind the two ends arrived after the start of the task, which skips them.
type selectionPlace struct {
	place
	lineEnd, indexedEnd Position
}

// encodeSelection appends to the record of a task:
//
//	Filter | Chosen | Edited | Scanned | Skipped | Ended | index of the phase | position | lineEnd | indexedEnd
//	| number of results | of each: ID | Moved | Outcome
func (t *MoveTask) encodeSelection(w *writer) {
	w.String(t.Selection.Filter)
	w.Uint(uint64(t.Selection.Chosen))
	w.Bool(t.Selection.Edited)
	w.Uint(t.Scanned)
	w.Uint(t.Skipped)
	w.Instant(t.Ended)
	w.Byte(byte(slices.Index(searchPhases, t.place.phase)))
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
	n := int(r.Byte())
	if n >= len(searchPhases) {
		r.Fail()
		return
	}
	t.place.phase, t.place.position = searchPhases[n], Position(r.Uint())
	t.place.lineEnd, t.place.indexedEnd = Position(r.Uint()), Position(r.Uint())
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

// encodeChoice returns the record of the IDs and the Edit, which is written once:
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

// IsEncrypted reports whether e is encrypted: Set is then the mark of encrypted messages, and Body contains all
// changes.
func (e *Edit) IsEncrypted() bool { return isEncrypted(e.Set) }

// Encrypted turns e into an encrypted edit with that body, a sequence of parts, which was encrypted for an id.
func (e *Edit) Encrypted(body string, id MessageID) {
	e.Body, e.BodyMD5, e.Set, e.Remove = &body, [16]byte{}, encryptedMark(&id), nil
}

// EncryptedFor returns the id for which e was encrypted.
func (e *Edit) EncryptedFor() (id MessageID) {
	copy(id[:], e.Set[0].Value)
	return id
}

// apply changes a message, and reports whether the result is within the limits.
func (e *Edit) apply(m *Message) bool {
	if e == nil {
		return true
	}
	if e.Body != nil {
		m.Body, m.BodyMD5 = *e.Body, e.BodyMD5
	}
	m.Attributes = slices.DeleteFunc(slices.Clone(m.Attributes), func(a Attribute) bool {
		return slices.Contains(e.Remove, a.Name) ||
			slices.ContainsFunc(e.Set, func(b Attribute) bool { return a.Name == b.Name })
	})
	m.Attributes = append(m.Attributes, e.Set...)
	slices.SortFunc(m.Attributes, func(a, b Attribute) int { return cmp.Compare(a.Name, b.Name) })
	return m.bodySize() <= e.MaxSize && len(m.Attributes) <= e.MaxAttributes
}

// size returns the maximum number of bytes that e adds to a message.
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

// skip records that a message could not be moved. A search may meet a message twice if the message has left the line;
// the second time does not count.
func (t *MoveTask) skip(id MessageID, o MoveOutcome) {
	if !slices.Contains(t.Results, MoveResult{ID: id, Outcome: o}) {
		t.Skipped++
		t.result(MoveResult{ID: id, Outcome: o})
	}
}

func (t *MoveTask) result(r MoveResult) {
	if len(t.Results) >= resultsKept {
		t.Results = slices.Delete(t.Results, 0, len(t.Results)-resultsKept+1)
	}
	t.Results = append(t.Results, r)
}
