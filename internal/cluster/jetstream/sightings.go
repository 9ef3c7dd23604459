package jetstream

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// sightings hold the lease messages that this process has seen. A lease has lapsed when its duration has passed, by
// this machine's monotonic clock, since this process saw its message, and no newer message has come. The holder counts
// from before it sent the message, so it considers the lease over earlier.
//
// This process sees a message when it hears it, as the message is sent, or when it reads it from the stream. Reading
// alone suffices: the time of the read is never earlier. A message that takes a lapsed lease names the sequence of the
// message that it replaces. So a message that is stored and not seen yet keeps the lease with its holder.
//
// A lease whose message names a session counts as long as the session counts and the session's message names the lease.
// Before a node takes the lease of a lapsed session, it must end the session.
//
// If a message disappears before it lapses, the holder has released the lease, or a server with a wrong clock has
// dropped the message. Unless a node has announced a release (see expire), this process assumes the latter, and the
// lease counts until it lapses.
type sightings struct {
	mu      sync.Mutex
	leases  map[string]sighting
	heard   map[string]hearing // the last message of each lease
	readAt  time.Time          // when the stream was last read
	stale   bool               // the stream must be read
	changes int                // how often stale was set
}

// sighting is a message as it was read from the stream.
type sighting struct {
	sequence uint64 // 0: no message
	message  messageID
	value    []byte
	length   time.Duration // how long it counts; 0: until the stream expires it, or as long as its session
	session  string        // the session that renews it, or ""
	names    []string      // of a session: the leases that it renews
	since    time.Time     // when it was first seen
}

// messageID distinguishes a lease's message from all others. Programs of earlier versions give it no number.
type messageID struct{ holder, renewal string }

func idOf(h nats.Header) messageID { return messageID{h.Get(holderHeader), h.Get(renewalHeader)} }

// hearing is a message that was heard. It is possibly not stored.
type hearing struct {
	message messageID
	at      time.Time
}

// readEvery is how often the stream is read if no message requires an earlier read.
const readEvery = 5 * time.Second

func newSightings() *sightings {
	return &sightings{leases: make(map[string]sighting), heard: make(map[string]hearing), stale: true}
}

// sightingOf returns the sighting of a message of the stream.
func sightingOf(sequence uint64, m *nats.Msg) sighting {
	s := sighting{sequence: sequence, message: idOf(m.Header), value: m.Data}
	if ms, err := strconv.ParseInt(m.Header.Get(lengthHeader), 10, 64); err == nil && ms > 0 &&
		s.message.renewal != "" {
		s.length = time.Duration(ms) * time.Millisecond
	} else {
		s.session = m.Header.Get(sessionHeader)
	}
	return s
}

// ofSession returns the sighting of a session's message, with the names that it renews.
func (s sighting) ofSession() sighting {
	_ = json.Unmarshal(s.value, &s.names) // that of an ended session has none
	return s
}

// hear records that a message was sent. Unless it only renews a lease, the stream must be read.
func (s *sightings) hear(name string, m *nats.Msg, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, known := idOf(m.Header), s.leases[name]
	s.heard[name] = hearing{id, at}
	if known.message.holder != id.holder || !bytes.Equal(known.value, m.Data) {
		s.outdate()
	}
}

// outdate makes the next list read the stream. s.mu is held.
func (s *sightings) outdate() {
	s.stale = true
	s.changes++
}

// expire makes the next list read the stream, and frees the leases that are no longer in it.
func (s *sightings) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.leases {
		if !isSession(name) {
			s.endure(name)
		}
	}
}

// released records that this process has released a lease.
func (s *sightings) released(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endure(name)
}

// endure makes a lease count for as long as its message is in the stream, until the next read. s.mu is held.
func (s *sightings) endure(name string) {
	if seen, ok := s.leases[name]; ok {
		seen.length, seen.session = 0, ""
		s.leases[name] = seen
	}
	s.outdate()
}

// begin returns the argument of read for messages that are read from now on.
func (s *sightings) begin() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}

// read records all messages of the stream, at a time after they were read.
func (s *sightings) read(all map[string]sighting, begun int, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, is := range all {
		if isSession(name) {
			is = is.ofSession()
		}
		is.since = at
		if was := s.leases[name]; was.sequence == is.sequence {
			is.since = was.since
		} else if heard := s.heard[name]; heard.message == is.message && is.message.renewal != "" {
			is.since = heard.at
		}
		all[name] = is
	}
	// Sessions first: they determine how long the others count.
	for _, sessions := range []bool{true, false} {
		for name, was := range s.leases {
			if _, ok := all[name]; ok || isSession(name) != sessions || !s.until(all, name, was).After(at) {
				continue
			}
			was.since, was.sequence = s.sign(name, was), 0
			all[name] = was
		}
	}
	maps.DeleteFunc(s.heard, func(name string, h hearing) bool {
		_, is := all[name]
		return isSession(name) && !is && at.Sub(h.at) > shortestMemory
	})
	s.leases, s.readAt = all, at
	s.stale = s.changes != begun
}

// sign returns when the holder of a lease was last heard. s.mu is held.
func (s *sightings) sign(name string, seen sighting) time.Time {
	if heard := s.heard[name]; heard.message.holder == seen.message.holder && heard.at.After(seen.since) {
		return heard.at
	}
	return seen.since
}

// until returns when a lease lapses if no more messages come. It is in the past if the lease's session has ended or
// does not renew it. s.mu is held.
func (s *sightings) until(in map[string]sighting, name string, seen sighting) time.Time {
	if seen.session == "" {
		return s.sign(name, seen).Add(seen.length)
	}
	own := sessionPrefix + seen.session
	of, ok := in[own]
	if !ok || !of.renews(name) {
		return time.Time{}
	}
	return s.sign(own, of).Add(of.length)
}

// renews reports whether a session renews a lease, as far as known. If its message has disappeared, there may have been
// a later one with other names, which this process has not seen.
func (s sighting) renews(name string) bool {
	return !s.isEnded() && (s.sequence == 0 || slices.Contains(s.names, name))
}

// isEnded reports whether this is the message that has ended a session.
func (s sighting) isEnded() bool { return s.message.holder == endedHolder }

// ended records that this process has ended a session.
func (s *sightings) ended(session string, sequence uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases[sessionPrefix+session] = sighting{sequence: sequence, message: messageID{holder: endedHolder}}
	s.outdate()
}

// list returns the values of the leases that are held, and whether that is certain without reading the stream. A lease
// whose holder was heard counts as held, whether or not the message was stored.
func (s *sightings) list(now time.Time) (held map[string][]byte, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held, fresh = make(map[string][]byte, len(s.leases)), !s.stale && now.Sub(s.readAt) < readEvery
	for name, seen := range s.leases {
		if isSession(name) {
			continue
		}
		counts := s.until(s.leases, name, seen).After(now)
		forgotten := seen.length == 0 && seen.session == "" // when the stream forgets it
		if forgotten || !counts {
			fresh = false
		}
		if counts || forgotten && seen.sequence > 0 {
			held[name] = seen.value
		}
	}
	return held, fresh
}

// lapsed returns the sequence of the message that a new message of this lease may replace: one that has lapsed, or 0
// for none. of is the session that must be ended first, or nil. held reports that there is no such message, but that
// the lease counts nevertheless. own is the session of this process: a lease of that session has no holder any more.
func (s *sightings) lapsed(name, own string, now time.Time) (sequence uint64, of *ending, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, ok := s.leases[name]
	if !ok || seen.length == 0 && seen.session == "" {
		return 0, nil, false
	}
	if seen.session == own {
		return seen.sequence, nil, false
	}
	until := seen.since.Add(seen.length) // a message that was heard may not be stored
	if seen.session != "" {
		until = s.until(s.leases, name, seen)
	}
	if until.After(now) {
		return 0, nil, seen.sequence == 0
	}
	return seen.sequence, s.unended(name, seen), false
}

// unended returns the session that must be ended before a lease that has lapsed can be taken. It returns nil if the
// lease has none, and if its session has ended or no longer renews it. s.mu is held.
func (s *sightings) unended(name string, seen sighting) *ending {
	of, ok := s.leases[sessionPrefix+seen.session]
	if seen.session == "" || ok && !of.renews(name) {
		return nil
	}
	return &ending{seen.session, of.sequence}
}
