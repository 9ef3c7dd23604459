package queue

import (
	"errors"
	"fmt"

	"github.com/sluicemq/sluice/internal/search"
)

// A task with a Selection moves messages in the transactions of its shard, like any other. It does not search there,
// because the caller's filter decides what the search costs, and all queues of the shard would wait. So it repeats
// three steps:
//
//  1. Engine.Searches returns the queues whose tasks need a search, and Engine.Search the parameters of the search.
//  2. Search.Run walks through a snapshot of the store from the task's place on, in any goroutine. It finds positions.
//  3. Engine.Supply passes them to the task, which confirms each one before it moves it; see moving.confirm.
//
// Search results are only in memory. The place of the task is stored together with each move, so after a restart the
// search begins behind the last moved message.

// Search holds what is needed to find messages for the running task of a queue.
type Search struct {
	queue          ID
	arn            string
	task           Instant // its start
	place          selectionPlace
	filter         string
	ids            []MessageID
	edit           *Edit
	retention, now Instant

	Cipher Cipher // of encrypted messages; nil: there are no keys
}

// Found is the result of a search, and its progress.
type Found struct {
	task          Instant
	from, reached selectionPlace
	messages      []selected
	scanned       uint64 // messages examined behind the last of these
	failure       string // why the task cannot continue
}

// selected is a message that matches the Selection.
type selected struct {
	place    selectionPlace // of the message
	scanned  uint64         // messages examined since the previous selected one, including this one
	id       MessageID
	receives uint64  // when it was examined
	edited   *edited // nil: the owner of the engine edits it
}

// edited is a message after an edit that the search has made. The search makes all edits that involve encryption,
// because the owner of the engine never sees decrypted text.
type edited struct {
	content  Content
	tooLarge bool // after the edit
}

// foundAtOnce and editedAtOnce limit the result of a search, in messages, and in bytes of edited messages.
const (
	foundAtOnce  = 100
	editedAtOnce = 4 << 20
)

// Search returns the search that the queue's task needs, or false if it needs none. It changes nothing.
func (e *Engine) Search(id ID) (Search, bool) {
	q := e.queues[id]
	if q == nil {
		return Search{}, false
	}
	t := q.moves.searched()
	if t == nil {
		return Search{}, false
	}
	return Search{
		queue: id, arn: q.cfg.ARN, task: t.Started, place: t.place, filter: t.Selection.Filter, ids: t.Selection.IDs,
		edit:      t.Selection.Edit,
		retention: Instant(q.cfg.Retention.Milliseconds()), now: e.now,
	}, true
}

// Account returns the account that owns the queue.
func (s *Search) Account() string { return accountOf(s.arn) }

// Supply passes the result of a search to the running task of a queue. It does nothing if the task has ended meanwhile.
func (e *Engine) Supply(id ID, f Found) {
	if q := e.queues[id]; q != nil {
		q.moves.supply(&f)
	}
}

// searchPhases are the phases of a task with a Selection. The order must not change, because the place of a task is
// stored as an index of this list. The line comes before the held messages: a message of the line that is received
// before its move is found again among the held messages.
var searchPhases = []phase{phaseLine, phaseHeld, phaseIndexed, phaseEnd}

// Run searches a queue as stored in r, which must not change meanwhile, from the place of the task on. It ends when it
// has found enough messages, or when proceed returns false, which it calls with the size of every examined message.
func (s Search) Run(r Reader, proceed func(bytes int) bool) (Found, error) {
	look := Look{queue: s.queue, arn: s.arn, retention: s.retention, now: s.now, Cipher: orNone(s.Cipher)}
	x := &searching{
		walk: walk{
			Look: look, r: r, phases: searchPhases[:len(searchPhases)-1], at: s.place.place,
			lineEnd: s.place.lineEnd, indexedEnd: s.place.indexedEnd,
		},
		wanted: wantedIDs(s.ids), found: Found{task: s.task, from: s.place, reached: s.place},
		edit: s.edit,
	}
	var err error
	if x.encryptedEdit = s.edit != nil && isEncrypted(s.edit.Set); x.encryptedEdit {
		x.editBody = *s.edit.Body
		switch x.edit, err = look.Cipher.DecryptEdit(s.edit); {
		case errors.Is(err, ErrSuspended):
			return Found{}, err
		case err != nil:
			x.found.failure = FailureEdit
			return x.found, nil //nolint:nilerr // the task records the failure
		}
	}
	if x.query, err = search.Parse(s.filter); err != nil {
		x.found.failure = FailureFilter
		return x.found, nil //nolint:nilerr // the task records the failure
	}
	x.look = x.lookAtRow
	x.proceed = func(bytes int) bool {
		return proceed(bytes) && len(x.found.messages) < foundAtOnce && x.editedBytes < editedAtOnce
	}
	x.ended = func(p phase) bool { return p == phaseLine && len(x.found.messages) > 0 }
	if _, err = x.open(); err == nil {
		err = x.run()
	}
	if err != nil {
		return Found{}, fmt.Errorf("search in queue %d: %w", s.queue, err)
	}
	x.found.reached.place = x.at
	return x.found, nil
}

// searching is a search in progress.
type searching struct {
	walk
	query  *search.Query
	wanted map[MessageID]bool // nil: all
	found  Found

	edit          *Edit  // the Selection's edit, decrypted; nil: none
	encryptedEdit bool   // it was encrypted
	editBody      string // if so: its ciphertext
	editedBytes   int
}

// lookAtRow examines the message of a row.
func (x *searching) lookAtRow(at place, row []byte) (bytes int, err error) {
	m, err := x.received(at, row)
	if err != nil {
		return 0, err
	}
	record, err := x.record(at, row)
	if err != nil {
		return 0, err
	}
	f := &x.found
	f.scanned++
	if err := x.item.read(record, m, x.now); err != nil {
		return 0, err
	}
	expired := Instant(x.item.Sent)+x.retention <= x.now
	late := at.phase == phaseIndexed && Instant(x.item.Sent) > x.found.task // see moves.lineCleared
	if expired || late || x.wanted != nil && !x.wanted[x.item.messageID] {
		return len(record), nil
	}
	if err := x.item.decrypt(record, x.Cipher); err != nil {
		return 0, err
	}
	if x.item.suspended && (x.query.ReadsText() || x.edit != nil) {
		return 0, ErrSuspended // the task waits
	}
	if !x.item.matches(x.query) || !x.item.readable && x.edit != nil { // an edit needs the text
		return len(record), nil
	}
	s := selected{place: f.from, scanned: f.scanned, id: x.item.messageID}
	s.place.place = at
	if m != nil {
		s.receives = m.receives
	}
	if s.edited, err = x.edited(record); err != nil {
		return 0, err
	}
	f.messages, f.scanned = append(f.messages, s), 0
	return len(record), nil
}

// edited returns the edited form of the message, if the owner cannot edit it.
func (x *searching) edited(record []byte) (*edited, error) {
	if x.edit == nil || x.item.decrypted == nil && !x.encryptedEdit {
		return nil, nil
	}
	like, m := string(x.item.sealed), x.item.decrypted
	if m == nil {
		var err error
		if m, err = decodeMessage(record); err != nil {
			return nil, err
		}
		like = x.editBody
	}
	if !x.edit.apply(m) {
		return &edited{tooLarge: true}, nil
	}
	if err := x.Cipher.EncryptLike(m, like); err != nil {
		return nil, err
	}
	x.editedBytes += len(m.Body)
	return &edited{content: m.Content()}, nil
}
