package spool

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

const suffix = ".events"

// Segment is a file of events.
type Segment struct {
	Trail uuid.UUID
	Began time.Time
	ID    string // unique, on all nodes

	size int // bytes that were written without an error
}

func newSegment(trail uuid.UUID, now time.Time) *Segment {
	id := strings.ReplaceAll(uuid.NewString(), "-", "")
	return &Segment{Trail: trail, Began: now.UTC().Truncate(time.Millisecond), ID: id}
}

func (s *Segment) name() string {
	return fmt.Sprintf("%s-%d-%s%s", s.Trail, s.Began.UnixMilli(), s.ID, suffix)
}

// parse returns the segment of a file name.
func parse(name string) (*Segment, bool) {
	base, ok := strings.CutSuffix(name, suffix)
	if !ok || len(base) < 38 {
		return nil, false
	}
	id, err := uuid.Parse(base[:36])
	at, unique, ok := strings.Cut(base[37:], "-")
	began, badTime := strconv.ParseInt(at, 10, 64)
	s := &Segment{Trail: id, Began: time.UnixMilli(began).UTC(), ID: unique}
	return s, ok && err == nil && badTime == nil && s.name() == name
}
