package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

const ask = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"

// crowd starts a server that accepts few connections.
func crowd(t *testing.T, most int, log *safeBuffer) *Server {
	t.Helper()
	config := inMemory()
	config.MaxConnections = most
	config.limits = func(l *front.Limits) { l.Header = 2 * time.Second }
	config.Logger = slog.New(slog.NewTextHandler(log, nil))
	s, _ := start(t, config)
	return s
}

// asks sends a request and reads its answer.
func asks(t *testing.T, conn net.Conn) *http.Response {
	t.Helper()
	if _, err := io.WriteString(conn, ask); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Errorf("answered %s", response.Status)
	}
	return response
}

// ends waits until the server has closed a connection to which it sends nothing more.
func ends(t *testing.T, conn net.Conn) {
	t.Helper()
	if n, err := conn.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection is still open: %d, %v", n, err)
	}
}

// A new client takes the place of idle connections.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	t.Parallel()
	var log safeBuffer
	s := crowd(t, 3, &log)
	var idle []net.Conn
	for range 3 {
		conn := dial(t, s)
		if asks(t, conn).Close {
			t.Error("a connection is closed although there is room")
		}
		idle = append(idle, conn)
	}
	asks(t, dial(t, s))
	open := 0
	for _, conn := range idle {
		if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			open++
		}
	}
	if open == len(idle) {
		t.Error("there are more connections than allowed")
	}
	if !strings.Contains(log.String(), "--max-connections") {
		t.Errorf("the log does not report it: %s", log.String())
	}
}

// When all connections are busy, the new client waits for the first answer.
func TestNewcomersWait(t *testing.T) {
	t.Parallel()
	const most = 3
	var log safeBuffer
	s := crowd(t, most, &log)
	c := newClient(t, inJSON)
	c.Base, c.Cred, c.Region = s.Endpoint(), s.Root(), "us-east-1"
	var polls []net.Conn
	for i := range most {
		name := fmt.Sprint("q", i)
		c.Make("CreateQueue", object{"QueueName": name})
		http.DefaultClient.CloseIdleConnections()
		conn := dial(t, s)
		r := c.Request("ReceiveMessage", object{"QueueUrl": name, "WaitTimeSeconds": 20})
		c.Sign(r)
		if err := r.Write(conn); err != nil {
			t.Fatal(err)
		}
		polls = append(polls, conn)
	}
	http.DefaultClient.CloseIdleConnections()
	eventually.Succeeds(t, func() error {
		if n := s.entrance.listener.(*front.ConnLimit).Open(); n != most {
			return fmt.Errorf("%d places are taken, want %d", n, most)
		}
		return nil
	})
	newcomer := dial(t, s)
	if _, err := io.WriteString(newcomer, ask); err != nil {
		t.Fatal(err)
	}
	if err := newcomer.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := newcomer.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("one too many is answered: %d, %v", n, err)
	}
	polls[0].Close()
	if err := newcomer.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(newcomer), nil)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("the newcomer gets %v, %v", response, err)
	}
}

// Connections that send nothing do not block others for long.
func TestSilentConnectionsMakeRoom(t *testing.T) {
	t.Parallel()
	var log safeBuffer
	s := crowd(t, 2, &log)
	silent := []net.Conn{dial(t, s), dial(t, s)}
	asks(t, dial(t, s))
	for _, conn := range silent {
		ends(t, conn)
	}
	asks(t, dial(t, s))
}

func TestConnections(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		wanted int
		files  uint64
		known  bool
		want   int // 0: refused
	}{
		{0, 1 << 40, true, DefaultConnections},
		{0, 20_000, true, 17_800},
		{0, 1024, true, 512},
		{0, 0, false, DefaultConnections},
		{100_000, 0, false, 100_000},
		{100_000, 1 << 20, true, 100_000},
		{10_000, 12_200, true, 10_000},
		{10_001, 12_200, true, 0},
		{1, 1024, true, 0},
	} {
		c := Config{MaxConnections: tc.wanted}
		got, err := c.connections(tc.files, tc.known)
		if got != tc.want || (err != nil) != (tc.want == 0) {
			t.Errorf("%+v: %d, %v", tc, got, err)
		}
	}
}
