package http1_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicemq/sluice/internal/front/http1"
)

// pipes is a listener of connections in memory, whose time passes in a bubble of synctest.
type pipes struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}

// each calls f in a bubble for this package's server and then for net/http's, with short limits.
func each(t *testing.T, h http.HandlerFunc, f func(t *testing.T, s stack, p *pipes)) {
	t.Helper()
	limits := func(s *http.Server) {
		s.ReadHeaderTimeout, s.ReadTimeout, s.WriteTimeout, s.IdleTimeout = 2*time.Second, 5*time.Second,
			30*time.Second, 11*time.Second
	}
	for name, open := range map[string]func() stack{
		"http1":    func() stack { return http1.New(newHTTP(h, limits), maxBody, plainPaths) },
		"net/http": func() stack { return newHTTP(h, limits) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := open(), newPipes()
				over := make(chan error, 1)
				go func() { over <- s.Serve(p) }()
				synctest.Wait()
				f(t, s, p)
				s.Close()
				if err := <-over; !errors.Is(err, http.ErrServerClosed) {
					t.Errorf("serving ended with %v", err)
				}
			})
		})
	}
}

// drip sends text, and then one byte every fifth of a second until it fails.
func drip(c net.Conn, text string) {
	if _, err := io.WriteString(c, text); err != nil {
		return
	}
	for {
		time.Sleep(200 * time.Millisecond)
		if _, err := c.Write([]byte("x")); err != nil {
			return
		}
	}
}

// Every kind of slowness ends after the same time as with net/http.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	asked := post("/", "body")
	for _, c := range []struct {
		name    string
		send    func(net.Conn)
		answers int
		after   time.Duration
	}{
		{"says nothing", func(net.Conn) {}, 0, 2 * time.Second},
		{"slow first head", func(c net.Conn) { drip(c, "POST / HTTP/1.1\r\nX: ") }, 0, 2 * time.Second},
		{"slow head of net/http", func(c net.Conn) { drip(c, "GET / HTTP/1.1\r\nX: ") }, 0, 2 * time.Second},
		{"idle", func(c net.Conn) { _, _ = io.WriteString(c, asked) }, 1, 11 * time.Second},
		{"slow second head", func(c net.Conn) { drip(c, asked+"POST / HTTP/1.1\r\nX: ") }, 1, 2 * time.Second},
		{"slow body", func(c net.Conn) { drip(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n") }, 1,
			5 * time.Second},
		{"slow second body", func(c net.Conn) {
			drip(c, asked+"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n")
		}, 2, 5 * time.Second},
		{"newlines only", func(c net.Conn) { _, _ = io.WriteString(c, asked+"\r\n\r\n") }, 1, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, echo, func(t *testing.T, _ stack, p *pipes) {
				began, conn := time.Now(), p.dial()
				var sending sync.WaitGroup
				sending.Go(func() { c.send(conn) })
				answers, in := 0, bufio.NewReader(conn)
				for ; ; answers++ {
					r, err := http.ReadResponse(in, nil)
					if err != nil {
						break
					}
					_, _ = io.Copy(io.Discard, r.Body)
				}
				if took := time.Since(began); answers != c.answers || took != c.after {
					t.Errorf("%d answers in %v, want %d in %v", answers, took, c.answers, c.after)
				}
				conn.Close()
				sending.Wait()
			})
		})
	}
}

// A client that does not read its answer does not hold the handler for long.
func TestClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	var failed chan time.Duration
	handler := func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		_, err := w.Write(make([]byte, 1<<20))
		if err == nil {
			t.Error("the whole answer was written")
		}
		failed <- time.Since(began)
	}
	each(t, handler, func(t *testing.T, _ stack, p *pipes) {
		failed = make(chan time.Duration, 1)
		conn := p.dial()
		if _, err := io.WriteString(conn, post("/", "")); err != nil {
			t.Fatal(err)
		}
		if took := <-failed; took != 30*time.Second {
			t.Errorf("the handler was held for %v", took)
		}
		conn.Close()
	})
}

// A client that leaves ends the context of its request, at once if the request has lasted for a while.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	var left chan time.Duration
	handler := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		left <- time.Duration(time.Now().UnixNano())
	}
	for _, after := range []time.Duration{0, time.Millisecond, time.Second, 20 * time.Second} {
		for _, body := range []string{"", "body"} {
			each(t, handler, func(t *testing.T, _ stack, p *pipes) {
				left = make(chan time.Duration, 1)
				conn := p.dial()
				if _, err := io.WriteString(conn, post("/", body)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(after)
				conn.Close()
				closed := time.Now().UnixNano()
				if took := <-left - time.Duration(closed); took > 20*time.Millisecond ||
					after > time.Second/2 && took > 0 {
					t.Errorf("noticed %v after it has left, which was after %v", took, after)
				}
			})
		}
	}
}

// Bytes that a client sends while its request waits belong to its next request, however they are divided.
func TestPipelined(t *testing.T) {
	t.Parallel()
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			select {
			case <-time.After(time.Second):
			case <-r.Context().Done():
				t.Error("the client counts as gone")
			}
		}
		echo(w, r)
	}
	const half = time.Second / 2
	text := post("/slow", "1") + post("/slow", "2") + post("/", "3") + "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n" +
		post("/slow", "4")
	each(t, handler, func(t *testing.T, _ stack, p *pipes) {
		for _, piece := range []int{1, 7, len(post("/slow", "1")), len(post("/slow", "1")) + 1, len(text)} {
			conn := p.dial()
			go func() {
				for rest := text; rest != ""; {
					n := min(piece, len(rest))
					if _, err := io.WriteString(conn, rest[:n]); err != nil {
						t.Error(err)
					}
					if piece > 7 {
						time.Sleep(half)
					}
					rest = rest[n:]
				}
			}()
			in := bufio.NewReader(conn)
			for _, want := range []string{"1", "2", "3", "", "4"} {
				r, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(r.Body)
				if err != nil || string(body[len(body)-len(want):]) != want {
					t.Fatalf("pieces of %d: %q, %v, want %q at the end", piece, body, err, want)
				}
			}
			conn.Close()
		}
	})
}

// A handler may answer before it reads. Even then, bytes after its request's body belong to the next request.
func TestAnswersBeforeReading(t *testing.T) {
	t.Parallel()
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			t.Errorf("the method is %s", r.Method)
		}
		control := http.NewResponseController(w)
		if err := control.EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Length", "2")
		_, _ = io.WriteString(w, "ok")
		if err := control.Flush(); err != nil {
			t.Error(err)
		}
		if b, err := io.ReadAll(r.Body); string(b) != "body" || err != nil {
			t.Errorf("%q, %v", b, err)
		}
		if r.URL.Path == "/slow" {
			time.Sleep(3 * time.Second)
		}
	}
	each(t, handler, func(t *testing.T, _ stack, p *pipes) {
		conn := p.dial()
		var sending sync.WaitGroup
		sending.Go(func() {
			for _, text := range []string{post("/", "body"), post("/slow", "body"), post("/", "body")} {
				for _, b := range []byte(text) {
					if _, err := conn.Write([]byte{b}); err != nil {
						t.Error(err)
					}
				}
				time.Sleep(time.Second)
			}
		})
		in := bufio.NewReader(conn)
		for range 3 {
			r, err := http.ReadResponse(in, nil)
			if err != nil || r.StatusCode != http.StatusOK {
				t.Fatal(r, err)
			}
			_, _ = io.Copy(io.Discard, r.Body)
		}
		sending.Wait()
		conn.Close()
	})
}

// A stopping server closes idle connections, and the others after their answer.
func TestShutdown(t *testing.T) {
	t.Parallel()
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			time.Sleep(3 * time.Second)
		}
		echo(w, r)
	}
	each(t, handler, func(t *testing.T, s stack, p *pipes) {
		ends := func(c net.Conn) <-chan string { return drain(c) }
		silent := ends(p.dial())
		time.Sleep(time.Second)
		asking := p.dial()
		busy := ends(asking)
		idle := p.dial()
		waiting := ends(idle)
		for conn, path := range map[net.Conn]string{asking: "/slow", idle: "/"} {
			if _, err := io.WriteString(conn, post(path, "")); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		began := time.Now()
		over := make(chan error, 1)
		go func() { over <- s.Shutdown(t.Context()) }()
		if <-waiting == "" || time.Since(began) > 0 {
			t.Errorf("the idle connection ended after %v", time.Since(began))
		}
		if got := <-silent; got != "" {
			t.Errorf("%q without a request", got)
		}
		if got := <-busy; !contains(got, "200 OK", "Connection: close") || time.Since(began) != 3*time.Second {
			t.Errorf("%q after %v", got, time.Since(began))
		}
		if err := <-over; err != nil || time.Since(began) > 4*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// A server that takes too long to stop reports it.
func TestShutdownGivesUp(t *testing.T) {
	t.Parallel()
	handler := func(http.ResponseWriter, *http.Request) { time.Sleep(10 * time.Second) }
	each(t, handler, func(t *testing.T, s stack, p *pipes) {
		conn := p.dial()
		if _, err := io.WriteString(conn, post("/", "")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		conn.Close()
		time.Sleep(10 * time.Second) // a bubble waits for its goroutines
	})
}

// Without room only useful connections stay, and none after its answer.
func TestRoomIsMade(t *testing.T) {
	t.Parallel()
	handler := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Second)
		echo(w, r)
	}
	each(t, handler, func(t *testing.T, s stack, p *pipes) {
		conn := p.dial()
		idle := drain(conn)
		if _, err := io.WriteString(conn, post("/", "")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		conn = p.dial()
		busy := drain(conn)
		if _, err := io.WriteString(conn, post("/", "")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		s.SetKeepAlivesEnabled(false)
		if <-idle == "" || time.Since(began) > 0 {
			t.Errorf("the idle connection ended after %v", time.Since(began))
		}
		if got := <-busy; !contains(got, "200 OK", "Connection: close") || time.Since(began) != time.Second {
			t.Errorf("%q after %v", got, time.Since(began))
		}
		s.SetKeepAlivesEnabled(true)
		conn = p.dial()
		kept := drain(conn)
		if _, err := io.WriteString(conn, post("/", "")); err != nil {
			t.Fatal(err)
		}
		if got := <-kept; contains(got, "Connection: close") || time.Since(began) != 13*time.Second {
			t.Errorf("%q after %v", got, time.Since(began))
		}
	})
}
