package front

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"
)

// A node that waits for its cluster limits its connections, too, and afterwards leaves all further ones to the server.
func TestConnectionsAtStartup(t *testing.T) {
	t.Parallel()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	log := slog.New(slog.DiscardHandler)
	limited := LimitConnections(socket.(*net.TCPListener), 2, nil, func(bool) {}, log)
	limits := DefaultLimits(2)
	limits.Header = time.Minute
	s := RespondAtStartup(limited, nil, limits, log)
	dial := func(address string) net.Conn {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
		conn, err := d.Dial("tcp", socket.Addr().String())
		if err != nil {
			t.Skipf("this system has no address %s: %v", address, err)
		}
		t.Cleanup(func() { conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		return conn
	}
	var silent []net.Conn
	for range maxWaiting + 10 {
		silent = append(silent, dial("127.0.0.2"))
	}
	ended := make(chan struct{}, len(silent))
	for _, conn := range silent {
		go func() {
			_, _ = conn.Read(make([]byte, 1))
			ended <- struct{}{}
		}()
	}
	<-ended // there are too many
	other := dial("127.0.0.3")
	_, _ = io.WriteString(other, "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(other), nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("another client gets %v, %v", answer, err)
	}
	if err := s.End(); err != nil {
		t.Error(err)
	}
	later := dial("127.0.0.2")
	conn, err := socket.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got, want := conn.RemoteAddr().String(), later.LocalAddr().String(); got != want {
		t.Errorf("accepted %s, want %s", got, want)
	}
}
