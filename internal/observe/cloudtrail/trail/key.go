package trail

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// class determines how long events are kept, and how many.
type class byte

const (
	changes class = 'c' // of the control store
	others  class = 'o'
)

// The key of an event is its class, its time and its id, both counted downwards, so that the newest come first. Ids
// grow, so that even those of one millisecond are in order.
const (
	keyPrefix = "\xfftrail/"
	keyTime   = len(keyPrefix) + 1
	keyID     = keyTime + 8
	keyLength = keyID + 16
)

func key(c class, at time.Time, id uuid.UUID) string {
	b := make([]byte, 0, keyLength)
	b = append(append(b, keyPrefix...), byte(c))
	b = binary.BigEndian.AppendUint64(b, downwards(at))
	for _, x := range id {
		b = append(b, ^x)
	}
	return string(b)
}

// before returns the key that follows all events of a class that happened after at.
func before(c class, at time.Time) string { return key(c, at, uuid.Max) }

// end returns the key behind all events of a class.
func end(c class) string { return keyPrefix + string(c+1) }

func downwards(at time.Time) uint64 { return ^uint64(at.UnixMilli()) }

// timeOf returns the time in a key.
func timeOf(key string) time.Time {
	return time.UnixMilli(int64(^binary.BigEndian.Uint64([]byte(key[keyTime:keyID])))).UTC()
}
