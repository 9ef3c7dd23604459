package login

import (
	"fmt"
	"testing"
	"time"
)

// Attempts with invented names and addresses do not unlock a user.
func TestLockOutsOutlastAFlood(t *testing.T) {
	t.Parallel()
	f := NewTries()
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	for range MostTries + 1 {
		f.Note("user/ann", now)
	}
	for i := range 5 * maxCounted {
		f.Note(fmt.Sprint("user/", i), now)
		if i%3 == 0 {
			f.Note(fmt.Sprint("user/", i), now)
		}
		if len(f.of) > maxCounted {
			t.Fatalf("%d are counted", len(f.of))
		}
	}
	if n := f.Note("user/ann", now); n != MostTries+2 {
		t.Errorf("ann has failed %d times", n)
	}
	if n := f.Note("user/ann", now.Add(TriesWindow)); n != 1 {
		t.Errorf("ann has failed %d times in the next window", n)
	}
}

func TestNetworks(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"fe80::1%eth0": "fe80::/64", "": "", "x": "x",
	} {
		if got := Network(ip); got != want {
			t.Errorf("%s: %s, want %s", ip, got, want)
		}
	}
}
