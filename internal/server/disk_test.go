package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/store"
)

// journal is a log that can be read while it is written.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) count(words string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Count(j.b.String(), words)
}

// onFaultyDisk is the configuration of a server on a disk whose writes fail with the error in fault.
func onFaultyDisk(t *testing.T, fault *atomic.Pointer[syscall.Errno]) (Config, *journal) {
	j := new(journal)
	c := inMemory()
	c.InMemory, c.Data = false, t.TempDir()
	c.Logger = slog.New(slog.NewTextHandler(j, nil))
	c.disk = store.NewDisk(errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if errno := fault.Load(); errno != nil && op.Kind == errorfs.OpFileWrite {
			return *errno
		}
		return nil
	})), c.Logger)
	return c, j
}

// clientOf returns a client of s.
func clientOf(t *testing.T, s *Server, d apitest.Dialect) *client {
	c := newClient(t, d)
	c.Base = s.Endpoint()
	c.Cred, _ = s.accounts.credentials.Root(account)
	return c
}

func probe(t *testing.T, s *Server, path string) (int, string) {
	t.Helper()
	r, err := http.Get(s.Endpoint() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

const stuckWords = "The disk of the server cannot be written: it is full. Please try again later."

func TestFullDisk(t *testing.T) {
	var fault atomic.Pointer[syscall.Errno]
	config, log := onFaultyDisk(t, &fault)
	s, _ := start(t, config)
	full := syscall.ENOSPC
	for _, d := range apitest.Dialects {
		c := clientOf(t, s, d)
		c.Make("CreateQueue", object{"QueueName": "q"})
		c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "before"})
		fault.Store(&full)
		refused := func(op string, in object) {
			t.Helper()
			if a := c.Call(op, in); a.Status != 503 || a.Failed.Code != "ServiceUnavailable" ||
				a.Failed.Message != stuckWords {
				t.Errorf("%s: %d %s", op, a.Status, a.Body)
			}
		}
		// This request finds the fault, the others fail at once.
		refused("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "m"})
		refused("CreateQueue", object{"QueueName": "new"})
		for op, in := range map[string]object{
			"ReceiveMessage":     {},
			"GetQueueAttributes": {"AttributeNames": list{"All"}},
			"SetQueueAttributes": {"Attributes": object{"DelaySeconds": "1"}},
			"TagQueue":           {"Tags": object{"a": "b"}},
			"PurgeQueue":         {},
			"DeleteQueue":        {},
		} {
			in["QueueUrl"] = c.URL("q")
			refused(op, in)
		}
		c.Make("GetQueueUrl", object{"QueueName": "q"}) // which is in memory
		eventually.Succeeds(t, func() error {           // the previous result stays valid for half a second
			if status, text := probe(t, s, "/readyz"); status != 503 ||
				text != "the disk cannot be written: it is full\n" {
				return fmt.Errorf("/readyz: %d %s", status, text)
			}
			return nil
		})
		if status, _ := probe(t, s, "/healthz"); status != 200 {
			t.Errorf("/healthz: %d", status)
		}
		fault.Store(nil)
		eventually.Succeeds(t, func() error {
			if status, text := probe(t, s, "/readyz"); status != 200 || text != "ok\n" {
				return fmt.Errorf("/readyz stays %d %s", status, text)
			}
			return nil
		})
		c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "after"})
	}
	if n := log.count("level=ERROR"); n != len(apitest.Dialects) {
		t.Errorf("%d errors are logged:\n%s", n, log.b.String())
	}
	if n := log.count("written again"); n != len(apitest.Dialects) {
		t.Errorf("recovery is logged %d times:\n%s", n, log.b.String())
	}
}

// A change of a queue that was given up because the disk was blocked reaches both the catalog and the shard, or
// neither.
func TestQueueMadeOnAFullDisk(t *testing.T) {
	var fault atomic.Pointer[syscall.Errno]
	config, _ := onFaultyDisk(t, &fault)
	s, _ := start(t, config)
	c := clientOf(t, s, inJSON)
	full := syscall.ENOSPC
	fault.Store(&full)
	if a := c.Call("CreateQueue", object{"QueueName": "q"}); a.Status != 503 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	fault.Store(nil)
	eventually.Succeeds(t, func() error {
		if a := c.Call("CreateQueue", object{"QueueName": "q"}); a.Status != 200 {
			return fmt.Errorf("%d %s", a.Status, a.Body)
		}
		return nil
	})
	c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "m"})
}

// After a write to a disk has failed, its contents are unknown. The server ends, and waiting clients get an error.
func TestFailedDisk(t *testing.T) {
	var fault atomic.Pointer[syscall.Errno]
	config, log := onFaultyDisk(t, &fault)
	s, err := Start(config)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(t.Context()) }()
	c := clientOf(t, s, inJSON)
	c.Make("CreateQueue", object{"QueueName": "q"})
	broken := syscall.EIO
	fault.Store(&broken)
	if a := c.Call("SendMessage", object{
		"QueueUrl": c.URL("q"), "MessageBody": "m",
	}); a.Status != 503 || !strings.Contains(a.Failed.Message, "a write has failed") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	w := httptest.NewRecorder()
	s.entrance.http.Handler.ServeHTTP(w, httptest.NewRequest("GET", "/healthz", nil))
	if w.Code != 503 || !strings.Contains(w.Body.String(), "a write has failed") {
		t.Errorf("/healthz: %d %s", w.Code, w.Body)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, syscall.EIO) || log.count("the disk has failed") != 1 {
			t.Errorf("ended with %v; logged:\n%s", err, log.b.String())
		}
	case <-time.After(time.Minute):
		t.Fatal("the server continues")
	}
}
