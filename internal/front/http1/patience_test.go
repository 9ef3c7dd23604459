package http1

import (
	"net"
	"net/http"
	"slices"
	"testing"
	"time"
)

// watched returns a TCP connection whose requests can be watched, and the client's end.
func watched(t *testing.T) (*conn, net.Conn) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	rwc, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); rwc.Close() })
	return newConn(New(new(http.Server), 0, nil), rwc), client
}

// The connection of a request that lasts longer than the time for a header can still be read: the watch removes the
// deadline.
func TestWatchTakesDeadlineAway(t *testing.T) {
	t.Parallel()
	c, client := watched(t)
	if err := c.rwc.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	c.watch.begin(func() { t.Error("the client counts as gone") })
	c.server.patience.advance()
	c.server.patience.advance()
	if c.watch.end(); c.watch.stayedYoung {
		t.Error("the client was not watched")
	}
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.rwc.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
}

// Watches start in the second tick after their creation, in order, and never if they have ended before.
func TestPatience(t *testing.T) {
	t.Parallel()
	l := patience{timer: time.AfterFunc(0, func() {})} // only the test ticks
	w := make([]watch, 6)
	young := func() (out []int) {
		for i := range w {
			if w[i].young {
				out = append(out, i)
			}
		}
		return out
	}
	ticks := func(want ...int) {
		t.Helper()
		l.advance()
		if got := young(); !slices.Equal(got, want) {
			t.Errorf("young: %v, want %v", got, want)
		}
	}
	for i := range w {
		client, server := net.Pipe()
		w[i].rwc = server
		t.Cleanup(func() { client.Close(); server.Close(); w[i].reading.Wait() })
		w[i].cancel = func() {}
	}
	l.add(&w[0])
	l.add(&w[1])
	l.add(&w[2])
	if !l.remove(&w[1]) || l.remove(&w[1]) {
		t.Error("a watch is not removed once")
	}
	ticks(0, 2)
	l.add(&w[3])
	l.add(&w[1])
	if !l.remove(&w[0]) {
		t.Error("the first watch is not removed")
	}
	ticks(1, 3)
	if l.remove(&w[2]) {
		t.Error("a started watch is removed")
	}
	if !l.remove(&w[1]) {
		t.Error("the last watch is not removed")
	}
	l.add(&w[5])
	ticks(5)
	if l.first != &w[5] || l.last != &w[5] || !l.ticking {
		t.Error("the list differs from the young watches")
	}
	l.remove(&w[5])
	if ticks(); l.ticking {
		t.Error("the ticker runs without a watch")
	}
}
