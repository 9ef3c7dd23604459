// Package eventually lets tests wait for a condition that a program reaches in its own time, rather than for a fixed
// time that is enough on one machine and too short on another.
package eventually

import (
	"errors"
	"testing"
	"time"
)

// limit is longer than any wait of a test takes, on a busy machine and with the race detector. A test that fails takes
// this long.
const limit = 3 * time.Minute

// The pause between two attempts begins short, since most conditions hold soon, and doubles.
const (
	firstPause   = time.Millisecond
	longestPause = 100 * time.Millisecond
)

// Succeeds calls f until it returns nil. It ends the test with the last error if that does
// not happen.
func Succeeds(t testing.TB, f func() error) {
	t.Helper()
	err := f()
	pause := firstPause
	for end := time.Now().Add(limit); err != nil && time.Now().Before(end); err = f() {
		time.Sleep(pause)
		pause = min(2*pause, longestPause)
	}
	if err != nil {
		t.Fatalf("for %s: %v", limit, err)
	}
}

// True calls f until it returns true. It ends the test with the name of the condition if that does not happen.
func True(t testing.TB, what string, f func() bool) {
	t.Helper()
	Succeeds(t, func() error {
		if !f() {
			return errors.New("not " + what)
		}
		return nil
	})
}
