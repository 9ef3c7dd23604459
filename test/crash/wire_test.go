package crash

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/test/program"
)

// TestNothingReadableOnTheWire listens between the nodes of a cluster without TLS, while messages are sent to and
// received from nodes that do not own their queue. With encryption no text of a message passes, and without it they all
// do.
func TestNothingReadableOnTheWire(t *testing.T) {
	program.Long(t)
	t.Parallel()
	const messages = 200
	for _, encrypts := range []bool{true, false} {
		t.Run(fmt.Sprintf("encrypts %t", encrypts), func(t *testing.T) {
			w := newWire(t, encrypts)
			eventually.Succeeds(t, func() error { return w.any(0).Create(history.Queue{Name: "q"}) })
			for n := range messages {
				eventually.Succeeds(t, func() error {
					c := w.any(n)
					body := fmt.Sprintf("%s %d", secretText, n)
					return c.Call("SendMessage", workload.Object{"QueueUrl": c.URL("q"), "MessageBody": body}, nil)
				})
			}
			received := 0
			eventually.Succeeds(t, func() error {
				got, err := w.any(received).Receive("q", workload.Receive{Most: 10, Timeout: time.Hour})
				for _, m := range got {
					if !strings.HasPrefix(m.Body, secretText) {
						t.Errorf("a message is %q", m.Body)
					}
				}
				if received += len(got); err == nil && received < messages {
					err = fmt.Errorf("received %d messages", received)
				}
				return err
			})
			if found := w.found.Load(); encrypts && found > 0 || !encrypts && found < messages {
				t.Errorf("the text has passed %d times", found)
			}
		})
	}
}

// wire is a cluster whose nodes reach each other through listeners, without TLS.
type wire struct {
	*nodes
	found atomic.Int64 // texts of messages that have passed
}

func newWire(t *testing.T, encrypts bool) *wire {
	t.Helper()
	binary := program.Build(t)
	addresses, err := freeport.Take(3)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{nodes: &nodes{T: t, binary: binary, dir: t.TempDir()}}
	var peers []string
	for i, address := range addresses {
		peers = append(peers, w.name(i)+"="+w.listen(address))
	}
	var flags []string
	if encrypts {
		keys := filepath.Join(t.TempDir(), "keys")
		if err := keyring.New(time.Now()).Create(keys); err != nil {
			t.Fatal(err)
		}
		flags = append(flags, "--encryption-key-file", keys)
	}
	for i, address := range addresses {
		w.running[i] = launch(t, binary, w.data(i), append([]string{
			"--node", w.name(i), "--cluster", strings.Join(peers, ","), "--cluster-listen", address,
			"--cluster-insecure",
		}, flags...)...)
	}
	t.Cleanup(w.stop)
	for i := range w.running {
		w.wait(i)
	}
	if encrypts {
		e := &encryptedNodes{nodes: w.nodes}
		eventually.Succeeds(t, func() error { return w.any(0).Create(history.Queue{Name: "probe"}) })
		ring, err := keyring.Load(flags[1])
		if err != nil {
			t.Fatal(err)
		}
		e.encryptsWith(ring.First())
	}
	return w
}

// listen forwards connections from the address that it returns, and listens to both sides.
func (w *wire) listen(to string) string {
	w.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	var all sync.WaitGroup
	w.Cleanup(func() { _ = l.Close(); all.Wait() })
	all.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { w.pass(from, to) })
		}
	})
	return l.Addr().String()
}

// pass connects a connection with an address until either side ends it.
func (w *wire) pass(from net.Conn, address string) {
	to, err := net.Dial("tcp", address)
	if err != nil {
		_ = from.Close() // the node is still absent, and the other one retries
		return
	}
	var both sync.WaitGroup
	for a, b := range map[net.Conn]net.Conn{from: to, to: from} {
		both.Go(func() {
			_, _ = io.Copy(a, io.TeeReader(b, &listener{found: &w.found}))
			_ = a.Close()
			_ = b.Close()
		})
	}
	both.Wait()
}

// listener counts the texts of messages in the data that is written to it.
type listener struct {
	found *atomic.Int64
	tail  []byte // may be the beginning of a text
}

func (l *listener) Write(b []byte) (int, error) {
	all := append(l.tail, b...)
	l.found.Add(int64(bytes.Count(all, []byte(secretText))))
	l.tail = bytes.Clone(all[max(0, len(all)-len(secretText)+1):])
	return len(b), nil
}
