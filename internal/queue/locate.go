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

// LocateResult is the result of a search for ids, and its progress.
type LocateResult struct {
	Messages []Located
	Scanned  uint64
	More     bool // ids are missing, and the search has not reached the end of the queue
	Next     PeekCursor
}

// locatedAtOnce limits the messages that one search for ids finds.
const locatedAtOnce = 100

// locatePhases are the phases of a search for ids. Messages move from the line to the other two phases, and never back.
// So a search meets each message that stays in the queue, even if it takes many calls.
var locatePhases = []phase{phaseLine, phaseHeld, phaseIndexed}

// Locate finds messages by their ids, as Peek finds messages by a filter. It ends when it has found all ids or
// locatedAtOnce of them, or when proceed returns false. It does not find expired messages.
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

// locating is a search for ids in progress.
type locating struct {
	walk
	wanted map[MessageID]bool // ids not found yet
	result LocateResult
}

// lookAtRow examines the message of a row.
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
