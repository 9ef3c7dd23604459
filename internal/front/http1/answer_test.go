package http1_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// handlers answer in valid, unusual or invalid ways. Each gets a body of four bytes.
var handlers = map[string]func(t *testing.T, w http.ResponseWriter, r *http.Request){
	"nothing": func(*testing.T, http.ResponseWriter, *http.Request) {},
	"status only": func(_ *testing.T, w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	},
	"unknown status": func(_ *testing.T, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(299) },
	"status twice": func(_ *testing.T, w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(404)
		w.WriteHeader(500)
	},
	"body only": func(_ *testing.T, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a text") },
	"pieces": func(_ *testing.T, w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<html>")
		fmt.Fprint(w, "b")
	},
	"with length":        sized("0123456789", "10"),
	"long with length":   sized(strings.Repeat("x", 200_000), "200000"),
	"shorter than said":  sized("0123456789", "11"),
	"closes":             header("Connection", "close"),
	"content type":       header("Content-Type", "application/x-amz-json-1.0"),
	"own date":           header("Date", "Thu, 01 Jan 1970 00:00:00 GMT"),
	"splits its header":  header("X", "a\r\nY: b"),
	"header with spaces": header("X", "  a  "),
	"a name that is bad": header("X Y", "a"),
	"many values": func(_ *testing.T, w http.ResponseWriter, _ *http.Request) {
		w.Header()["X"] = []string{"1",
			"2"}
	},
	"no content": func(_ *testing.T, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
	"body of no content": func(t *testing.T, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
		if _, err := io.WriteString(w, "a"); !errors.Is(err, http.ErrBodyNotAllowed) {
			t.Error(err)
		}
	},
	"longer than said": func(t *testing.T, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1")
		if _, err := io.WriteString(w, "ab"); !errors.Is(err, http.ErrContentLength) {
			t.Error(err)
		}
	},
	"header after the header": func(_ *testing.T, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1")
		_, _ = io.WriteString(w, "a")
		w.Header().Set("X", "late")
	},
	"length after the header": func(_ *testing.T, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.Header().Set("Content-Length", "1")
		_, _ = io.WriteString(w, "text")
	},
	"encoding after the header": func(_ *testing.T, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.Header().Set("Transfer-Encoding", "chunked")
		_, _ = io.WriteString(w, "text")
	},
	"flushed with length": func(t *testing.T, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "2")
		_, _ = io.WriteString(w, "a")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, "b")
	},
	"flushed without asking for the client": func(_ *testing.T, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "2")
		_, _ = io.WriteString(w, "a")
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, "b")
		w.(http.Flusher).Flush()
	},
	"reads the body": func(_ *testing.T, w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) },
	"reads half": func(_ *testing.T, _ http.ResponseWriter,
		r *http.Request) {
		_, _ = r.Body.Read(make([]byte, 2))
	},
	"closes the body": func(t *testing.T, w http.ResponseWriter, r *http.Request) {
		r.Body.Close()
		if _, err := r.Body.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
			t.Error(err)
		}
	},
	"refuses early": func(t *testing.T, w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		w.Header().Set("Connection", "close")
		w.Header().Set("Content-Length", "2")
		if err := control.EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		_, _ = io.WriteString(w, "no")
		if err := errors.Join(control.Flush(), control.SetReadDeadline(time.Now().Add(time.Minute))); err != nil {
			t.Error(err)
		}
		if b, err := io.ReadAll(r.Body); string(b) != "body" || err != nil {
			t.Errorf("%q, %v", b, err)
		}
	},
	"panics":     func(*testing.T, http.ResponseWriter, *http.Request) { panic("on purpose") },
	"gives up":   func(*testing.T, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"bad status": func(_ *testing.T, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(99) },
	"panics in the answer": func(_ *testing.T, w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "a")
		panic("on purpose")
	},
}

func header(name, value string) func(*testing.T, http.ResponseWriter, *http.Request) {
	return func(_ *testing.T, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(name, value)
		_, _ = io.WriteString(w, "text")
	}
}

func sized(body, length string) func(*testing.T, http.ResponseWriter, *http.Request) {
	return func(_ *testing.T, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", length)
		_, _ = io.WriteString(w, body)
	}
}

// A handler's answer reaches the client as from net/http, and so does the end of the connection.
func TestHandlersAnswerAsInNetHTTP(t *testing.T) {
	t.Parallel()
	handler := func(w http.ResponseWriter, r *http.Request) {
		if h := handlers[r.Header.Get("X-Handler")]; h != nil {
			h(t, w, r)
		}
	}
	ours, _ := start(t, handler)
	theirs := serve(t, newHTTP(handler))
	for name := range handlers {
		text := post("/", "body", "X-Handler: "+name) + last
		got, want := answers(t, ours, text), answers(t, theirs, text)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
	}
}

// An invalid length is replaced by the correct one.
func TestLengthThatIsNone(t *testing.T) {
	t.Parallel()
	addr, _ := start(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", r.URL.RawQuery)
		_, _ = io.WriteString(w, "text")
	})
	c := dial(t, addr)
	for _, length := range []string{"ten", "-10", "%2010", "99999999999999999999"} {
		c.say(post("/?"+length, ""))
		if r, body := c.hear(); r.ContentLength != 4 || body != "text" {
			t.Errorf("%s: %d, %q", length, r.ContentLength, body)
		}
	}
}

// If neither handler nor server knows the length of an answer in time, the connection ends with it.
func TestAnswersOfUnknownLength(t *testing.T) {
	t.Parallel()
	addr, _ := start(t, func(w http.ResponseWriter, r *http.Request) {
		for range 3 {
			_, _ = w.Write(make([]byte, 10_000))
		}
	})
	c := dial(t, addr)
	c.say(post("/", ""))
	if r, body := c.hear(); !r.Close || r.ContentLength != -1 || len(body) != 30_000 {
		t.Errorf("%v, %d bytes", r, len(body))
	}
}

// A panic is logged, and the client's connection ends. A handler that aborts on purpose is not logged.
func TestPanicsAreLogged(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	addr, s := start(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/quiet" {
			panic(http.ErrAbortHandler)
		}
		panic("on purpose")
	}, func(s *http.Server) {
		s.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(&lines, nil), slog.LevelInfo)
	})
	for _, path := range []string{"/", "/quiet"} {
		c := dial(t, addr)
		c.say(post(path, ""))
		c.ends()
	}
	s.Close()
	if got := lines.String(); strings.Count(got, "panic serving 127.0.0.1") != 1 ||
		!contains(got, "on purpose", "answer_test.go") {
		t.Error(got)
	}
}

// A request and its answer are useless after the handler has returned.
func TestLateUse(t *testing.T) {
	t.Parallel()
	type request struct {
		w http.ResponseWriter
		r *http.Request
	}
	kept := make(chan request, 1)
	addr, _ := start(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case kept <- request{w, r}:
		default:
		}
	})
	c := dial(t, addr)
	c.say(post("/", "body"))
	c.hear()
	c.say(post("/", "body"))
	c.hear()
	late := <-kept
	if _, err := io.WriteString(late.w, "late"); err == nil {
		t.Error("it can write")
	}
	if err := http.NewResponseController(late.w).Flush(); err == nil {
		t.Error("it can flush")
	}
	if _, err := late.r.Body.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Errorf("it can read: %v", err)
	}
	if late.r.Context().Err() == nil {
		t.Error("its context continues")
	}
	late.w.WriteHeader(http.StatusTeapot)
	c.say(post("/", "body"))
	if r, _ := c.hear(); r.StatusCode != http.StatusOK {
		t.Error(r.Status)
	}
}

// A client that leaves before its answer is written gets none of it, and the handler gets an error when it writes, even
// if the request was too short to be watched. Unlike TCP, a Unix socket notices the end on the other side at once.
func TestAnswerToClientThatHasLeft(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"unix", "tcp"} {
		for _, half := range []bool{false, true} {
			asked, left, wrote := make(chan bool), make(chan bool), make(chan error, 1)
			addr, _ := startOn(t, network, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				asked <- true
				<-left
				if network == "tcp" {
					<-r.Context().Done()
				}
				_, err := io.WriteString(w, "late")
				wrote <- errors.Join(err, http.NewResponseController(w).Flush())
			})
			conn, err := net.Dial(network, addr)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, post("/", "body")); err != nil {
				t.Fatal(err)
			}
			<-asked
			if half {
				err = conn.(interface{ CloseWrite() error }).CloseWrite()
			} else {
				err = conn.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			left <- true
			if err := <-wrote; err == nil {
				t.Errorf("%s, half %t: the answer was written", network, half)
			}
			if half {
				if b, err := io.ReadAll(conn); len(b) > 0 || err != nil {
					t.Errorf("%s: %q, %v", network, b, err)
				}
				conn.Close()
			}
		}
	}
}

// A disconnected client ends the context of its request.
func TestClientIsCutOff(t *testing.T) {
	t.Parallel()
	asked, left := make(chan bool), make(chan bool)
	addr, _ := start(t, func(_ http.ResponseWriter, r *http.Request) {
		asked <- true
		<-r.Context().Done()
		left <- true
	})
	c := dial(t, addr)
	c.say(post("/", ""))
	<-asked
	if err := errors.Join(c.SetLinger(0), c.Close()); err != nil {
		t.Fatal(err)
	}
	<-left
}
