package spool

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// In the directory, only a file with the exact name of its segment is a segment.
func FuzzName(f *testing.F) {
	s := Segment{
		Trail: uuid.MustParse("00112233-4455-6677-8899-aabbccddeeff"), Began: time.UnixMilli(1767225600000).UTC(),
		ID: "0a1b",
	}
	f.Add(s.name())
	f.Add(strings.ToUpper(s.name()))
	f.Add("00112233-4455-6677-8899-aabbccddeeff--1-x.events")
	f.Add("00112233-4455-6677-8899-aabbccddeeff-9223372036854775807-.events")
	f.Add("00112233-4455-6677-8899-aabbccddeeff-01-x.events")
	f.Add(".events")
	f.Fuzz(func(t *testing.T, name string) {
		got, ok := parse(name)
		switch {
		case !ok:
			return
		case got.name() != name:
			t.Errorf("%q is read as %q", name, got.name())
		case len(name) > 255:
			return // no file has this name
		}
		again, ok := parse(got.name())
		if !ok || again.Trail != got.Trail || !again.Began.Equal(got.Began) || again.ID != got.ID {
			t.Errorf("%q: %+v, %+v", name, got, again)
		}
	})
}
