package jetstream

import (
	"bytes"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// sightings are what this process has seen of the leases. A lease has lapsed when this process has seen its message for
// as long as that counts, by the monotonic clock of this machine, and no newer one has come. The holder has counted
// from before it sent the message, so it knows of its end earlier.
//
// A message is seen when it is heard, which is as it is sent, or when it is read from the stream. It need not be heard:
// the time from when it was read is enough, and later. To take a lapsed lease takes the message's sequence, so that
// what was stored and not seen yet, keeps the lease with its holder.
//
// A message that is gone before it has lapsed, was given back, or forgotten by a server whose clock is wrong. Unless a
// node has said that it has given something back, see expire, it is taken for the latter, and counts until it lapses.
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
	length   time.Duration // how long it counts; 0: until the stream forgets it
	since    time.Time     // when it was first seen
}

// messageID distinguishes a lease's message from all others. Programs of earlier versions give it no number.
type messageID struct{ holder, renewal string }

func idOf(h nats.Header) messageID { return messageID{h.Get(holderHeader), h.Get(renewalHeader)} }

// hearing is a message that was heard. It may not have been stored.
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
	if ms, err := strconv.ParseInt(m.Header.Get(lengthHeader), 10, 64); err == nil && ms > 0 && s.message.renewal != "" {
		s.length = time.Duration(ms) * time.Millisecond
	}
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
		s.endure(name)
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
		seen.length = 0
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
		is.since = at
		if was := s.leases[name]; was.sequence == is.sequence {
			is.since = was.since
		} else if heard := s.heard[name]; heard.message == is.message && is.message.renewal != "" {
			is.since = heard.at
		}
		all[name] = is
	}
	for name, was := range s.leases {
		if _, ok := all[name]; !ok && s.sign(name, was).Add(was.length).After(at) {
			was.since, was.sequence = s.sign(name, was), 0
			all[name] = was
		}
	}
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

// list returns the values of the leases that are held, and whether that is certain without reading the stream. A lease
// whose holder was heard counts as held, whether or not the message was stored.
func (s *sightings) list(now time.Time) (held map[string][]byte, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held, fresh = make(map[string][]byte, len(s.leases)), !s.stale && now.Sub(s.readAt) < readEvery
	for name, seen := range s.leases {
		if seen.length == 0 || !s.sign(name, seen).Add(seen.length).After(now) {
			fresh = false
		}
		if seen.length == 0 && seen.sequence > 0 || s.sign(name, seen).Add(seen.length).After(now) {
			held[name] = seen.value
		}
	}
	return held, fresh
}

// lapsed returns the sequence of the message that a new one of this lease may replace: that of one that has lapsed, or
// 0 for none. held reports that there is none, but that the lease counts nevertheless.
func (s *sightings) lapsed(name string, now time.Time) (sequence uint64, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, ok := s.leases[name]
	switch counts := seen.since.Add(seen.length).After(now); {
	case !ok || seen.length == 0:
		return 0, false
	case !counts:
		return seen.sequence, false
	default:
		return 0, seen.sequence == 0
	}
}
