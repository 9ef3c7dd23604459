package front

import (
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestNetworksOfClients(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.1": "192.0.2.1/32", "::ffff:192.0.2.1": "192.0.2.1/32", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"fe80::1%eth0": "fe80::/64",
	} {
		if got := networkOf(netip.MustParseAddr(address)).String(); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// Connections come and go from several addresses. There are never more than allowed, and nothing of them stays.
func TestCrowdsComeAndGo(t *testing.T) {
	t.Parallel()
	const places, clients = 5, 24
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := LimitConnections(socket.(*net.TCPListener), places, nil, func(bool) {}, slog.New(slog.DiscardHandler))
	var open, most atomic.Int64
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if n := open.Add(1); n > most.Load() {
				most.Store(n)
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				open.Add(-1)
				_ = conn.Close()
			}()
		}
	}()
	var all sync.WaitGroup
	for i := range clients {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%4))}}
		all.Go(func() {
			for range 40 {
				conn, err := d.Dial("tcp", socket.Addr().String())
				if err != nil {
					continue
				}
				_ = conn.SetDeadline(time.Now().Add(100 * time.Millisecond))
				_, _ = conn.Write([]byte("x"))
				_, _ = conn.Read(make([]byte, 1)) // some are closed, because others have fewer
				_ = conn.Close()
			}
		})
	}
	all.Wait()
	for deadline := time.Now().Add(10 * time.Second); l.Open() > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	l.mu.Lock()
	w := &l.crowd
	if w.taken+w.leaving+len(w.waiting)+len(w.ready)+len(w.groups)+w.most.Len() > 0 || most.Load() > places {
		t.Errorf("at the end: %+v; %d were open at a time", w, most.Load())
	}
	l.mu.Unlock()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
