package bench

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
)

// ledger records which messages were sent and which arrived. A message is named by the producer that sent it and its
// number there; producers count from 0.
type ledger struct {
	producers []stream
}

// stream is the messages of one producer.
type stream struct {
	mu       sync.Mutex
	sent     uint64          // numbers below were acknowledged, but for those in doubt
	doubtful map[uint64]bool // sent without an answer: they may arrive or not
	got      bitmap
	arrived  uint64 // how many are in got
	repeated uint64
	last     map[int]uint64 // FIFO: the newest number received of each group, plus one
	disorder uint64
}

func newLedger(producers int) *ledger {
	l := &ledger{producers: make([]stream, producers)}
	for i := range l.producers {
		l.producers[i].doubtful = make(map[uint64]bool)
		l.producers[i].last = make(map[int]uint64)
	}
	return l
}

// appendBody appends the text of a message: its name, its group and padding.
func appendBody(b []byte, run string, producer int, number uint64, group, size int) []byte {
	end := len(b) + size
	b = fmt.Appendf(b, "%s %d %d %d ", run, producer, number, group)
	const stride = 0x9E3779B97F4A7C15 // so that neighbours have nothing in common
	from := int(number * stride % uint64(len(padding)))
	for len(b) < end {
		part := padding[from:]
		b = append(b, part[:min(len(part), end-len(b))]...)
		from = 0
	}
	return b
}

// padding is text that does not compress: a store that compresses bodies must not look better with artificial ones than
// with real ones.
var padding = func() string {
	random := rand.NewChaCha8([32]byte{})
	raw := make([]byte, 768<<10)
	_, _ = random.Read(raw) // it has no error
	return base64.StdEncoding.EncodeToString(raw)
}()

// sent records that a producer has sent n messages from number on, and whether that was acknowledged.
func (l *ledger) sent(producer int, number, n uint64, acknowledged bool) {
	s := &l.producers[producer]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = number + n
	for i := range n {
		if !acknowledged {
			s.doubtful[number+i] = true
		}
	}
}

// arrived records that a message was received, and reports whether this run has sent it. A message of another run, or
// of another program, is not counted.
func (l *ledger) arrived(run, body string, fifo bool) bool {
	parts := strings.SplitN(body, " ", 5)
	if len(parts) < 5 || parts[0] != run {
		return false
	}
	producer, err1 := strconv.Atoi(parts[1])
	number, err2 := strconv.ParseUint(parts[2], 10, 64)
	group, err3 := strconv.Atoi(parts[3])
	if err1 != nil || err2 != nil || err3 != nil || producer < 0 || producer >= len(l.producers) {
		return false
	}
	s := &l.producers[producer]
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.got.set(number) {
		s.repeated++
		return true
	}
	s.arrived++
	if fifo {
		if number < s.last[group] {
			s.disorder++
		}
		s.last[group] = max(s.last[group], number+1)
	}
	return true
}

// complete reports whether everything acknowledged has arrived.
func (l *ledger) complete() bool {
	for i := range l.producers {
		s := &l.producers[i]
		s.mu.Lock()
		missing := s.arrived < s.sent-uint64(len(s.doubtful))
		s.mu.Unlock()
		if missing {
			return false
		}
	}
	return true
}

// Verdict counts the messages by outcome.
type Verdict struct {
	Sent       uint64 // acknowledged
	Received   uint64 // of these, at least once
	Lost       uint64 // acknowledged and never received
	Duplicates uint64 // received again
	Disorder   uint64 // FIFO: received after a later one of their group
	Doubtful   uint64 // sent without an answer; they may have arrived or not
}

func (l *ledger) verdict() (v Verdict) {
	for i := range l.producers {
		s := &l.producers[i]
		s.mu.Lock()
		acknowledged := s.sent - uint64(len(s.doubtful))
		received := uint64(0)
		for n := range s.sent {
			if s.got.has(n) && !s.doubtful[n] {
				received++
			}
		}
		v.Sent += acknowledged
		v.Received += received
		v.Lost += acknowledged - received
		v.Duplicates += s.repeated
		v.Disorder += s.disorder
		v.Doubtful += uint64(len(s.doubtful))
		s.mu.Unlock()
	}
	return v
}

// bitmap is a set of numbers, dense from 0.
type bitmap []uint64

func (b *bitmap) set(n uint64) (fresh bool) {
	for uint64(len(*b)) <= n/64 {
		*b = append(*b, 0)
	}
	word, bit := &(*b)[n/64], uint64(1)<<(n%64)
	fresh = *word&bit == 0
	*word |= bit
	return fresh
}

func (b bitmap) has(n uint64) bool {
	return n/64 < uint64(len(b)) && b[n/64]&(1<<(n%64)) != 0
}
