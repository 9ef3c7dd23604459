package server

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// dialFrom connects from another address of this machine.
func dialFrom(t *testing.T, s *Server, address string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	conn, err := d.Dial("tcp", s.entrance.listener.Addr().String())
	if err != nil {
		t.Skipf("this system has no address %s: %v", address, err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// taken waits until a number of places is taken.
func taken(t *testing.T, s *Server, want int) {
	t.Helper()
	eventually.Succeeds(t, func() error {
		if n := s.entrance.listener.(*front.ConnLimit).Open(); n != want {
			return fmt.Errorf("%d places are taken, want %d", n, want)
		}
		return nil
	})
}

// isOpen reports whether the server keeps a connection on which it has nothing to say.
func isOpen(t *testing.T, conn net.Conn) bool {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	_, err := conn.Read(make([]byte, 1))
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// poll begins a long poll on a connection.
func poll(t *testing.T, s *Server, conn net.Conn, queue string) {
	t.Helper()
	c := newClient(t, inJSON)
	c.Base, c.Cred, c.Region = s.Endpoint(), s.Root(), "us-east-1"
	r := c.Request("ReceiveMessage", object{"QueueUrl": queue, "WaitTimeSeconds": 20})
	c.Sign(r)
	if err := r.Write(conn); err != nil {
		t.Fatal(err)
	}
}

// crowded is a server with few places and a queue.
func crowded(t *testing.T, places int, change func(*Config)) *Server {
	t.Helper()
	config := inMemory()
	config.MaxConnections = places
	config.limits = func(l *front.Limits) { l.Header, l.Idle = time.Minute, time.Minute }
	if change != nil {
		change(&config)
	}
	s, _ := start(t, config)
	return s
}

// makeQueue makes the queue q, and leaves no connection behind.
func makeQueue(t *testing.T, s *Server) {
	t.Helper()
	c := newClient(t, inJSON)
	c.Base, c.Cred, c.Region = s.Endpoint(), s.Root(), "us-east-1"
	c.Make("CreateQueue", object{"QueueName": "q"})
	http.DefaultClient.CloseIdleConnections()
	taken(t, s, 0)
}

// An address that takes all connections, and waits for more, does not keep another one out.
func TestCrowdMakesRoom(t *testing.T) {
	for name, occupy := range map[string]func(t *testing.T, s *Server, conn net.Conn){
		"silence":           func(*testing.T, *Server, net.Conn) {},
		"slow plain header": func(t *testing.T, _ *Server, conn net.Conn) { say(t, conn, "POST / HTTP/1.1\r\nHost: h\r\nX: ") },
		"slow other header": func(t *testing.T, _ *Server, conn net.Conn) { say(t, conn, "GET / HTTP/1.1\r\nHost: h\r\nX: ") },
		"idleness":          func(t *testing.T, _ *Server, conn net.Conn) { asks(t, conn) },
		"slow bodies": func(t *testing.T, _ *Server, conn net.Conn) {
			say(t, conn, postJSON+"Content-Length: 1000\r\n\r\n")
		},
		"long polls": func(t *testing.T, s *Server, conn net.Conn) { poll(t, s, conn, "q") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const places = 4
			s := crowded(t, places, nil)
			makeQueue(t, s)
			for range places {
				occupy(t, s, dialFrom(t, s, "127.0.0.2"))
			}
			taken(t, s, places)
			for range 100 { // they wait, and most are refused
				dialFrom(t, s, "127.0.0.2")
			}
			first, second := dialFrom(t, s, "127.0.0.3"), dialFrom(t, s, "127.0.0.4")
			asks(t, first)
			asks(t, second)
			asks(t, first)
			taken(t, s, places)
		})
	}
}

func say(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

// Of the address that makes room, the oldest idle connection goes first, whichever server serves it.
func TestIdleConnectionsGoFirst(t *testing.T) {
	t.Parallel()
	for name, encrypted := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := crowded(t, 4, func(c *Config) {
				if encrypted {
					c.TLSCert, c.TLSKey = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
					apitest.Certificate(t, dir)
				}
			})
			dial := func(address string) net.Conn {
				conn := dialFrom(t, s, address)
				if encrypted {
					conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
				}
				return conn
			}
			var conns []net.Conn
			for i := range 4 {
				conn := dial("127.0.0.2")
				if i%2 == 0 {
					say(t, conn, postJSON+"Content-Length: 1000\r\n\r\n")
				} else {
					asks(t, conn)
				}
				conns = append(conns, conn)
			}
			time.Sleep(500 * time.Millisecond) // for the connections to become idle after their answers
			asks(t, dial("127.0.0.3"))
			ends(t, conns[1])
			for _, i := range []int{0, 2, 3} {
				if !isOpen(t, conns[i]) {
					t.Errorf("connection %d has ended", i)
				}
			}
		})
	}
}

// Trusted proxies have many clients: they lose idle connections, but none with a request.
func TestProxiesStay(t *testing.T) {
	t.Parallel()
	s := crowded(t, 3, func(c *Config) { c.TrustedProxies = []string{"127.0.0.2", "127.0.0.3"} })
	makeQueue(t, s)
	polls := []net.Conn{dialFrom(t, s, "127.0.0.2"), dialFrom(t, s, "127.0.0.3"), dialFrom(t, s, "127.0.0.2")}
	for _, conn := range polls[:2] {
		poll(t, s, conn, "q")
	}
	asks(t, polls[2])
	asks(t, dialFrom(t, s, "127.0.0.4")) // at the latest after a second, it takes the place of the idle one
	ends(t, polls[2])
	for i, conn := range polls[:2] {
		if !isOpen(t, conn) {
			t.Errorf("the poll %d has ended", i)
		}
	}
}

// A request whose connection makes room ends at once, and reverts its deliveries.
func TestPollsThatMakeRoomEnd(t *testing.T) {
	t.Parallel()
	s := crowded(t, 2, nil)
	makeQueue(t, s)
	for range 2 {
		poll(t, s, dialFrom(t, s, "127.0.0.2"), "q")
	}
	taken(t, s, 2)
	began, conn := time.Now(), dialFrom(t, s, "127.0.0.3")
	asks(t, conn)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a newcomer waited for %s", took)
	}
	say(t, conn, ask)
	if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
		t.Error(err)
	}
}

// Files of the console take places like other requests without a known key. Health checks do not.
func TestFilesOfTheConsoleTakePlaces(t *testing.T) {
	t.Parallel()
	s := crowded(t, 10, func(c *Config) {
		c.Console.Serve = true
		c.limits = func(l *front.Limits) { l.Requests = 0 }
	})
	for path, want := range map[string]int{
		"/console/": http.StatusServiceUnavailable, "/healthz": http.StatusOK, "/readyz": http.StatusOK,
	} {
		answer, err := http.Get(s.Endpoint() + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %s", path, answer.Status)
		}
	}
}

// Headers of thousands of short fields are refused before they take much memory.
func TestManyFieldsTakeLittleMemory(t *testing.T) {
	const connections, most = 200, 32 << 20
	s := crowded(t, 1000, nil)
	before := heapInUse()
	for _, name := range []string{"X", "X%d"} {
		var header strings.Builder
		for i := range 5000 {
			header.WriteString(strings.ReplaceAll(name, "%d", fmt.Sprint(i)) + ": y\r\n")
		}
		for range connections {
			conn := dialFrom(t, s, "127.0.0.1")
			say(t, conn, postJSON+header.String()+"Content-Length: 100000\r\n\r\n{")
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
				t.Fatalf("answered %v, %v", answer, err)
			}
		}
	}
	eventually.Succeeds(t, func() error {
		if n := heapInUse() - before; n > most {
			return fmt.Errorf("%d MiB are in use", n>>20)
		}
		return nil
	})
	conn := dialFrom(t, s, "127.0.0.1")
	say(t, conn, strings.Replace(ask, "\r\n\r\n", strings.Repeat("\r\nX: y", 150)+"\r\n\r\n", 1))
	if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("150 fields: %v, %v", answer, err)
	}
}
