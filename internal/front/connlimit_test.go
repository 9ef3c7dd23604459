package front

import (
	"errors"
	"log/slog"
	"net"
	"testing"
)

// A connection that waits for a place does not keep the server from stopping.
func TestConnLimitCloses(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	room := make(chan bool, 100)
	g := LimitConnections(l.(*net.TCPListener), 1, nil, func(more bool) { room <- more }, slog.New(slog.DiscardHandler))
	for range 2 {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	first, err := g.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	failed := make(chan error, 1)
	go func() {
		_, err := g.Accept()
		failed <- err
	}()
	if !<-room {
		t.Error("no place becomes free")
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if err := <-failed; !errors.Is(err, net.ErrClosed) {
		t.Errorf("it ends with %v", err)
	}
}
