package migrate

import (
	"testing"
	"time"
)

// at is a time, in seconds.
func at(seconds int) time.Time { return time.Unix(int64(seconds), 0) }

func newRing(lines ...*line) *ring {
	return &ring{lines: lines, pause: time.Second, wait: 10 * time.Second}
}

// name returns the name of the next queue, "-" if none is due, and "end" if all have ended.
func (r *ring) name(now time.Time) string {
	switch l, ended := r.take(now); {
	case ended:
		return "end"
	case l == nil:
		return "-"
	default:
		return l.name
	}
}

func TestQueuesTakeTurns(t *testing.T) {
	a, b := &line{name: "a"}, &line{name: "b.fifo", fifo: true}
	r := newRing(a, b)
	for i, want := range []string{"a", "b.fifo", "a", "a"} { // one worker for a FIFO queue, any number for another
		if got := r.name(at(0)); got != want {
			t.Errorf("turn %d: %s, want %s", i, got, want)
		}
	}
	r.put(b, at(0), 3, 0)
	if got := r.name(at(0)); got != "b.fifo" || r.moved() != 3 {
		t.Errorf("after %d messages: %s", r.moved(), got)
	}
}

func TestAQueueEnds(t *testing.T) {
	for name, c := range map[string]struct {
		left, seconds int
		follow        bool
		want          string
	}{
		"when the source has nothing left":     {left: 0, seconds: 0, want: "end"},
		"not while messages are in flight":     {left: 2, seconds: 9, want: "-"},
		"when they have been waited for":       {left: 2, seconds: 10, want: "end"},
		"never when it is followed":            {left: 0, seconds: 100, follow: true, want: "-"},
		"not before it has been looked at all": {left: -1, seconds: 100, want: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &line{name: "a"}
			r := newRing(l)
			r.follow = c.follow
			if c.left >= 0 {
				r.take(at(0))
				r.put(l, at(c.seconds), 0, c.left)
			}
			if got := r.name(at(c.seconds)); got != c.want {
				t.Errorf("next: %s, want %s", got, c.want)
			}
		})
	}
}

func TestAQueueWithoutMessagesRests(t *testing.T) {
	l := &line{name: "a"}
	r := newRing(l)
	r.take(at(0))
	r.put(l, at(0), 0, 1)
	if got := r.name(at(0)); got != "-" {
		t.Errorf("at once: %s", got)
	}
	if got := r.name(at(1)); got != "a" {
		t.Errorf("after the pause: %s", got)
	}
}
