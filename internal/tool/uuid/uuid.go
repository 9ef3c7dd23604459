// Package uuid makes and reads identifiers of RFC 9562: random ones, and ones that sort by the time at which they were
// made. They are unique. They are no secrets: those that follow are in memory already.
package uuid

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"sync"
	"time"
)

// UUID is an identifier. Its text is 6ba7b810-9dad-11d1-80b4-00c04fd430c8.
type UUID [16]byte

// Max is after all others.
var Max = UUID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// ErrInvalid reports that a text is no identifier.
var ErrInvalid = errors.New("this is no UUID")

// New returns a random identifier (version 4).
func New() (id UUID) {
	randomly(id[:])
	id.mark(4)
	return id
}

// NewString returns the text of a random identifier.
func NewString() string { return New().String() }

// NewV7 returns an identifier that is after all others of this process (version 7): 48 bits of milliseconds, 12 bits of
// their parts, and 62 random bits.
func NewV7() (id UUID) {
	randomly(id[8:])
	at := nextTick(time.Now())
	binary.BigEndian.PutUint64(id[:8], at>>12<<16|at&0xfff)
	id.mark(7)
	return id
}

// pool holds random bytes: a call of the system for each identifier would cost more than the identifier.
var pool = struct {
	sync.Mutex
	bytes [256]byte
	used  int
}{used: 256}

// randomly fills part of an identifier.
func randomly(part []byte) {
	pool.Lock()
	defer pool.Unlock()
	if pool.used+len(part) > len(pool.bytes) {
		rand.Read(pool.bytes[:])
		pool.used = 0
	}
	pool.used += copy(part, pool.bytes[pool.used:])
}

func (id *UUID) mark(version byte) {
	id[6] = id[6]&0x0f | version<<4
	id[8] = id[8]&0x3f | 0x80
}

var ticks struct {
	sync.Mutex
	last uint64
}

// nextTick returns the time in parts of a millisecond, 4096 each, and a later one than the last time.
func nextTick(now time.Time) uint64 {
	ns := uint64(now.UnixNano())
	tick := ns/1e6<<12 | ns%1e6>>8
	ticks.Lock()
	defer ticks.Unlock()
	ticks.last = max(tick, ticks.last+1)
	return ticks.last
}

// String returns the text.
func (id UUID) String() string {
	text, _ := id.MarshalText() // never fails
	return string(text)
}

// MarshalText implements encoding.TextMarshaler.
func (id UUID) MarshalText() ([]byte, error) {
	text := make([]byte, 36)
	to := text
	for i, part := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			to[0] = '-'
			to = to[1:]
		}
		to = to[hex.Encode(to, part):]
	}
	return text, nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *UUID) UnmarshalText(text []byte) (err error) {
	*id, err = Parse(string(text))
	return err
}

// Parse reads a text, with hyphens or without.
func Parse(text string) (id UUID, err error) {
	if len(text) == 36 {
		if text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
			return UUID{}, ErrInvalid
		}
		text = text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:]
	}
	if len(text) != hex.EncodedLen(len(id)) {
		return UUID{}, ErrInvalid
	}
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return UUID{}, ErrInvalid
	}
	return id, nil
}

// MustParse reads a text that is valid.
func MustParse(text string) UUID {
	id, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return id
}
