package apitest

import (
	"testing"
	"time"
)

// Eventually tries f until it succeeds, for longer than it takes on any machine. It is for what the
// server does in its own time, without telling its clients.
func Eventually(t *testing.T, f func() error) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
