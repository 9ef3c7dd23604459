package queue

// Group is a message group of a FIFO queue.
type Group struct {
	Name     string
	Head     Position // its first message
	ID       MessageID
	Sent     Instant // the first message
	Receives uint64  // of the first message, those of other queues included
	State    States  // of the first message; while it is in flight, the rest of the group waits
	Until    Instant // as Peeked.Until of the first message
	Depth    uint64  // messages in the group
	More     bool    // the group has more than Depth messages
	InFlight uint64  // of these
}

// Groups asks for the groups of a FIFO queue, ordered by the age of their first messages, oldest first.
type Groups struct {
	After GroupsCursor
	Max   int
}

// GroupsResult is a page of groups.
type GroupsResult struct {
	Groups []Group
	More   bool
	Next   GroupsCursor // where to continue if there is more
}

// maxDepth limits how far the messages of a group are counted.
const maxDepth = 100_000

// Groups lists groups by the age of their first messages. It reads the messages in order and lists a group at its first
// message. Like Peek, it ends when it has enough groups, or when proceed returns false.
func (l Look) Groups(r Reader, g Groups, proceed func(bytes int) bool) (GroupsResult, error) {
	s := &grouping{
		walk: walk{Look: l, r: r, proceed: proceed, phases: []phase{phaseIndexed}}, most: g.Max,
		held: make(map[string]*heldGroup), delayed: make(map[string]*delayedGroup), seen: make(map[string]bool),
	}
	s.at = place{phase: phaseIndexed, position: max(g.After.At(0), indexedBit-1)}
	s.full, s.look = func() bool { return len(s.result.Groups) >= s.most }, s.lookAtRow
	if written, err := s.open(); !written || err != nil {
		return GroupsResult{}, l.failed(err)
	}
	if err := firstError(s.readHeld(), s.readDelayed(), s.run()); err != nil {
		return GroupsResult{}, l.failed(err)
	}
	s.result.More = s.stopped
	if s.result.More {
		s.result.Next = GroupsCursor{{0, s.at.position}}
	}
	return s.result, nil
}

// grouping is a list of groups in progress.
type grouping struct {
	walk
	most    int
	held    map[string]*heldGroup    // groups with received messages, by name
	delayed map[string]*delayedGroup // groups with delayed messages
	seen    map[string]bool          // groups whose first message the walk has passed
	result  GroupsResult
}

// delayedGroup holds the delayed messages of a group.
type delayedGroup struct {
	first    Position
	messages uint64
}

// readDelayed reads which messages are delayed, up to maxDepth of them.
func (s *grouping) readDelayed() error {
	if s.meta.delays.count == 0 {
		return nil
	}
	var bad error
	n := 0
	_, end := s.meta.rows.tableRange(s.queue, tableDelay)
	err := s.r.Scan(s.meta.rows.delayKey(s.queue, s.meta.delays.floor, 0), end, func(k, v []byte) bool {
		var name string
		_, name, bad = decodeDelayed(v)
		d := s.delayed[name]
		if d == nil {
			d = &delayedGroup{first: Position(tail(k, 0))}
			s.delayed[name] = d
		}
		d.messages++
		n++
		return bad == nil && n < maxDepth
	})
	return firstError(err, bad)
}

// heldGroup holds the received messages of a group.
type heldGroup struct {
	first    *received
	messages uint64
	inFlight uint64
}

// readHeld reads which messages were received. Their number is bounded.
func (s *grouping) readHeld() error {
	var bad error
	lo, hi := s.meta.rows.tableRange(s.queue, tableReceived)
	err := s.r.Scan(lo, hi, func(k, v []byte) bool {
		m, name, err := decodeReceived(Position(tail(k, 0)), v)
		if bad = err; err != nil {
			return false
		}
		h := s.held[name]
		if h == nil {
			h = &heldGroup{first: m}
			s.held[name] = h
		}
		h.messages++
		if s.stateOf(m) == StateInFlight {
			h.inFlight++
		}
		return true
	})
	return firstError(err, bad)
}

// lookAtRow lists the group of a message, if the message is its first.
func (s *grouping) lookAtRow(at place, record []byte) (bytes int, err error) {
	return len(record), s.lookAt(at.position, record)
}

func (s *grouping) lookAt(p Position, value []byte) error {
	if err := s.item.read(value, nil, s.now); err != nil {
		return err
	}
	if s.seen[string(s.item.Group)] || Instant(s.item.Sent)+s.retention <= s.now {
		return nil
	}
	name := string(s.item.Group)
	s.seen[name] = true
	first, err := s.firstOf(name)
	if err != nil || first != 0 && first < p { // it is on an earlier page
		return err
	}
	g := Group{Name: name, Head: p, Sent: Instant(s.item.Sent), Receives: s.item.Count, State: StateVisible}
	if m, err := decodeMessage(value); err != nil {
		return err
	} else {
		g.ID = m.ID
	}
	if h := s.held[name]; h != nil {
		g.Depth, g.InFlight = h.messages, h.inFlight
		if h.first.pos == p {
			g.Receives += h.first.receives
			if g.State = s.stateOf(h.first); g.State == StateInFlight {
				g.Until = h.first.deadline
			}
		}
	} else if due, err := s.dueOf(p, value); err != nil {
		return err
	} else if due > s.now {
		g.State, g.Until = StateDelayed, due
	}
	if err := s.count(&g); err != nil {
		return err
	}
	s.result.Groups = append(s.result.Groups, g)
	return nil
}

// firstOf returns the position of the first message of a group. It returns 0 if the position is unknown because too
// many messages are delayed.
func (s *grouping) firstOf(name string) (Position, error) {
	first := Position(0)
	if h := s.held[name]; h != nil {
		if first = h.first.pos; !s.meta.mixed {
			return first, nil
		}
	}
	lo, hi := memberRange(s.queue, name, 0)
	err := s.r.Scan(lo, hi, func(k, _ []byte) bool {
		if p := Position(tail(k, 0)); first == 0 || p < first {
			first = p
		}
		return false
	})
	if d := s.delayed[name]; first == 0 && d != nil {
		first = d.first
	}
	return first, err
}

// count counts the messages of a group that were never received.
func (s *grouping) count(g *Group) error {
	lo, hi := memberRange(s.queue, g.Name, 0)
	err := s.r.Scan(lo, hi, func(k, v []byte) bool {
		if g.More = g.Depth >= maxDepth || !s.proceed(len(k)+len(v)); g.More {
			return false
		}
		g.Depth++
		return true
	})
	if d := s.delayed[g.Name]; d != nil {
		g.Depth += d.messages
	}
	return err
}
