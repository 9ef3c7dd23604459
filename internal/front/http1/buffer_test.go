package http1

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// A connection has no buffer while its request is answered, because a long poll may take a while.
func TestWaitingRequestHasNoBuffer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var s *Server
	s = New(&http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for _, c := range s.all() {
			if c.in != nil {
				t.Errorf("%s: there is a buffer with %q", r.URL, c.in.unread())
			}
		}
	})}, 100, func(string) bool { return true })
	over := make(chan error, 1)
	go func() { over <- s.Serve(l) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	for _, text := range []string{line + host + length + end + "body", line + host + "Content-Length: 0\r\n" + end} {
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		if _, err := http.ReadResponse(in, nil); err != nil {
			t.Error(err)
		}
	}
	conn.Close()
	s.Close()
	if err := <-over; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// deadlines is a connection that records its deadlines.
type deadlines struct {
	net.Conn
	set []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// A part of a header's time has passed when net/http gets the connection.
func TestReplayedHeadEndsInTime(t *testing.T) {
	t.Parallel()
	by := time.Unix(100, 0)
	for _, asked := range []time.Time{by.Add(time.Second), by.Add(-time.Second)} {
		d := &deadlines{}
		r := &replayed{Conn: d, headBy: by}
		if err := errors.Join(r.SetReadDeadline(asked), r.SetReadDeadline(by.Add(time.Hour))); err != nil {
			t.Fatal(err)
		}
		want := by
		if asked.Before(by) {
			want = asked
		}
		if !d.set[0].Equal(want) || !d.set[1].Equal(by.Add(time.Hour)) {
			t.Errorf("requested %v: %v", asked, d.set)
		}
	}
}
