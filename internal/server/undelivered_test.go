package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// witness is a listener that notes of its connections, by the client's address,
// whether messages were written on them.
type witness struct {
	net.Listener
	seen sync.Map // of *witnessed
}

type witnessed struct {
	net.Conn
	wrote  atomic.Bool // messages
	closed chan struct{}
	once   sync.Once
}

func (w *witness) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &witnessed{Conn: conn, closed: make(chan struct{})}
	w.seen.Store(conn.RemoteAddr().String(), c)
	return c, nil
}

func (c *witnessed) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if n > 0 && bytes.Contains(b, []byte(`"Messages"`)) {
		c.wrote.Store(true)
	}
	return n, err
}

func (c *witnessed) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// of returns what happened to a client's connection, once it is over.
func (w *witness) of(t *testing.T, client net.Conn) *witnessed {
	t.Helper()
	var c *witnessed
	eventually.Succeeds(t, func() error {
		v, ok := w.seen.Load(client.LocalAddr().String())
		if !ok {
			return errors.New("the connection was not accepted")
		}
		c = v.(*witnessed)
		return nil
	})
	<-c.closed
	return c
}

// A consumer goes in the very moment in which its message arrives. Unless it was
// given the message, the next consumer gets it at once: not when the visibility
// timeout is over, which is half a day.
func TestConsumersVanish(t *testing.T) {
	t.Parallel()
	rounds, err := strconv.Atoi(os.Getenv("SLUICE_TEST_VANISH_ROUNDS"))
	if err != nil {
		rounds = 60
	}
	config := inMemory()
	s, err := Start(config)
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{Listener: s.entrance.listener}
	s.entrance.listener = w
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	var given, taken atomic.Int64
	for _, fifo := range []bool{false, true} {
		for _, hard := range []bool{false, true} {
			name := fmt.Sprintf("fifo=%t,hard=%t", fifo, hard)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				v := &vanishing{client: newClient(t, inJSON), witness: w, queue: "q", hard: hard}
				v.Base, v.Cred = s.Endpoint(), s.Root()
				attributes := object{"VisibilityTimeout": "43200"}
				if fifo {
					v.queue = "q.fifo"
					attributes["FifoQueue"], attributes["ContentBasedDeduplication"] = "true", "true"
				}
				v.Make("CreateQueue", object{"QueueName": v.queue, "Attributes": attributes})
				for round := range rounds {
					if v.round(fmt.Sprint("m", round), fifo) {
						given.Add(1)
					} else {
						taken.Add(1)
					}
				}
			})
		}
	}
	t.Cleanup(func() {
		t.Logf("%d messages were given to those who vanished, %d taken back", given.Load(), taken.Load())
	})
}

type vanishing struct {
	*client
	witness *witness
	queue   string
	hard    bool // cut off, not hung up
}

// round sends one message to a consumer that is about to go, and reports whether
// it got it.
func (v *vanishing) round(body string, fifo bool) (given bool) {
	v.T.Helper()
	conn, err := net.Dial("tcp", v.witness.Addr().String())
	if err != nil {
		v.T.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		v.T.Fatal(err)
	}
	r := v.Request("ReceiveMessage", object{"QueueUrl": v.queue, "WaitTimeSeconds": 20})
	v.Sign(r)
	if err := r.Write(conn); err != nil {
		v.T.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() {
		time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond)
		if tcp := conn.(*net.TCPConn); v.hard {
			gone <- errors.Join(tcp.SetLinger(0), tcp.Close())
		} else {
			gone <- tcp.CloseWrite()
		}
	}()
	time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
	in := object{"QueueUrl": v.queue, "MessageBody": body}
	if fifo {
		in["MessageGroupId"] = body
	}
	v.Make("SendMessage", in)
	if err := <-gone; err != nil {
		v.T.Fatal(err)
	}
	if v.hard {
		// The answer that was written is returned, whether or not it was read.
		given = v.witness.of(v.T, conn).wrote.Load()
	} else {
		given = received(v.T, conn, body)
	}
	if given {
		return true
	}
	got := v.Make("ReceiveMessage", object{
		"QueueUrl": v.queue, "WaitTimeSeconds": 20, "AttributeNames": list{"ApproximateReceiveCount"},
	})
	messages, _ := got["Messages"].(list)
	if len(messages) != 1 || messages[0].(object)["Body"] != body ||
		messages[0].(object)["Attributes"].(object)["ApproximateReceiveCount"] != "1" {
		v.T.Fatalf("the next consumer gets %v, want %s for the first time", got, body)
	}
	return false
}

// received reads to the end what a half-closed connection brings and reports
// whether the message is in it.
func received(t *testing.T, conn net.Conn, body string) bool {
	t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ Messages []struct{ Body string } }
	if len(text) > 0 && json.Unmarshal(text, &out) != nil {
		t.Fatalf("answered %q", text)
	}
	return len(out.Messages) == 1 && out.Messages[0].Body == body
}
