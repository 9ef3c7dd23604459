package queue

// Locate asks for the positions of the messages with the given ids.
type Locate struct {
	IDs   []MessageID
	After PeekCursor
}

// Located is the position of a message that was found.
type Located struct {
	Position Position
	ID       MessageID
}

// LocateResult is the result of a look for ids, and its progress.
type LocateResult struct {
	Messages []Located
	Scanned  uint64
	More     bool // the look has come neither to the end of the queue nor to the last of the ids
	Next     PeekCursor
}

// locatedAtOnce limits the messages that one look for ids finds.
const locatedAtOnce = 100

// locatePhases are the phases of a look for ids. A message leaves the line to be held or to be indexed, and nothing
// leads back: each message that stays in the queue is met, in however many calls the look is made.
var locatePhases = []phase{phaseLine, phaseHeld, phaseIndexed}

// Locate looks for messages by their ids, as Peek looks for others. It ends when it has found all, or locatedAtOnce,
// and when proceed returns false. A message that has expired is not there.
func (l Look) Locate(r Reader, ask Locate, proceed func(bytes int) bool) (LocateResult, error) {
	s := &locating{
		walk:   walk{Look: l, r: r, phases: locatePhases, at: ask.After.place},
		wanted: wantedIDs(ask.IDs),
	}
	s.look = s.lookAtRow
	s.proceed = func(bytes int) bool {
		return proceed(bytes) && len(s.wanted) > 0 && len(s.result.Messages) < locatedAtOnce
	}
	if written, err := s.open(); !written || err != nil || len(s.wanted) == 0 {
		return LocateResult{}, l.failed(err)
	}
	if s.at == (place{}) {
		s.at.phase = phaseLine
	}
	if err := s.run(); err != nil {
		return LocateResult{}, l.failed(err)
	}
	if s.result.More = s.stopped && len(s.wanted) > 0; s.result.More {
		s.result.Next = PeekCursor{Shard: ask.After.Shard, place: s.at}
	}
	return s.result, nil
}

// locating is a look for ids in progress.
type locating struct {
	walk
	wanted map[MessageID]bool // those that were not found yet
	result LocateResult
}

// lookAtRow looks at the message of a row.
func (s *locating) lookAtRow(at place, row []byte) (bytes int, err error) {
	record, err := s.record(at, row)
	if err != nil {
		return 0, err
	}
	if err := s.item.read(record, nil, s.now); err != nil {
		return 0, err
	}
	s.result.Scanned++
	id := s.item.messageID
	if s.wanted[id] && Instant(s.item.Sent)+s.retention > s.now {
		delete(s.wanted, id)
		s.result.Messages = append(s.result.Messages, Located{Position: at.position, ID: id})
	}
	return len(record), nil
}
