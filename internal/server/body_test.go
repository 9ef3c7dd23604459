package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// pooledBuffer is the length up to which a body is read before the sender is known.
const pooledBuffer = 64 << 10

// dial opens a connection that is closed at the end of the test, and whose operations all time out.
func dial(t *testing.T, s *Server) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", s.entrance.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

// head returns the text of a signed request for a body of this length, without the body.
func head(c *client, body string) string {
	c.T.Helper()
	r := c.JSONRequest("SendMessage", body)
	c.Sign(r)
	var b strings.Builder
	fmt.Fprintf(&b, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", r.URL.Host, len(body))
	if err := r.Header.Write(&b); err != nil {
		c.T.Fatal(err)
	}
	return b.String() + "\r\n"
}

// answerOn reads an answer and returns its status and its text.
func answerOn(conn io.Reader) (int, string, error) {
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// Bodies share a bounded memory. A request that gets none of it in time gets an error that asks it to retry; large
// requests leave some for small ones; clients without a key cannot take all of it.
func TestBodiesShareMemory(t *testing.T) {
	t.Parallel()
	const size = 4 << 20
	config := inMemory()
	config.limits = func(l *front.Limits) { l.Memory, l.Wait = size, 100*time.Millisecond }
	s, _ := start(t, config)
	c := newClient(t, inJSON)
	c.Base, c.Cred, c.Region = s.Endpoint(), s.Root(), "us-east-1"
	c.Make("CreateQueue", object{"QueueName": "q"})
	left := func(want int64) {
		t.Helper()
		eventually.Succeeds(t, func() error {
			const headers = 5 << 10
			if n := size - s.entrance.front.MemoryInUse(); n > want || n < want-headers {
				return fmt.Errorf("%d are left, want %d and a little less for headers", n, want)
			}
			return nil
		})
	}
	message := func(size int) object { return object{"QueueUrl": "q", "MessageBody": strings.Repeat("x", size)} }
	tryAgain := generic("ServiceUnavailableException", "ServiceUnavailable", 503,
		"The service is temporarily unavailable. Please try again.")
	// The memory of a body of which more than half has arrived.
	takes := func(length int) int64 { return int64(length) + 1 }

	// Clients without a key slowly send bodies that may turn out to be signed.
	const form = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000000\r\n\r\n"
	send := func(text string) *net.TCPConn {
		t.Helper()
		conn := dial(t, s)
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	unsigned := send(form + strings.Repeat("x", 600_000))
	free := size - takes(1_000_000)
	left(free)
	if status, text, err := answerOn(send(form + strings.Repeat("x", 600_000))); err != nil ||
		status != tryAgain.Status {
		t.Errorf("a second client without a key: %d %s %v", status, text, err)
	}
	left(free)
	c.Make("SendMessage", message(1<<20))

	// Clients that name a key can take all but the reserve that others need to finish.
	text := `{"QueueUrl":"q","MessageBody":"` + strings.Repeat("x", 800_000) + `"}`
	var slow []*net.TCPConn
	for size/4 <= free-2*pooledBuffer {
		slow = append(slow, send(head(c, text)+text[:700_000]))
		free -= takes(len(text))
		left(free)
	}
	if len(slow) < 2 {
		t.Fatalf("%d slow senders", len(slow))
	}
	c.Fails("SendMessage", message(800_000), tryAgain)
	c.Make("SendMessage", message(60_000))

	for _, conn := range slow {
		if _, err := io.WriteString(conn, text[700_000:]); err != nil {
			t.Fatal(err)
		}
		if status, text, err := answerOn(conn); err != nil || status != http.StatusOK {
			t.Errorf("a slow sender: %d %s %v", status, text, err)
		}
	}
	left(size - takes(1_000_000))
	for range 5 { // memory is released after every outcome
		r := c.JSONRequest("Nonsense", text)
		c.Sign(r)
		c.Send("Nonsense", r)
	}
	c.Make("SendMessage", message(1<<20))
	unsigned.Close()
	left(size)
}

// A client that knows only the id of an access key can send slow bodies before its signature is verified. That blocks
// neither other accounts nor, at another address, the account itself.
func TestSlowBodiesKeepNoOthersOut(t *testing.T) {
	t.Parallel()
	config := inMemory()
	config.Accounts, config.TrustedProxies = []string{account, otherAccount}, []string{"127.0.0.0/8"}
	config.limits = func(l *front.Limits) { l.Memory, l.Wait = 16<<20, 100*time.Millisecond }
	s, _ := start(t, config)
	var clients []*client
	for _, owner := range config.Accounts {
		cred, _ := s.RootOf(owner)
		c := newClient(t, inJSON)
		c.Base, c.Cred, c.Region = s.Endpoint(), cred, "us-east-1"
		c.Make("CreateQueue", object{"QueueName": "q"})
		clients = append(clients, c)
	}
	forged := *clients[0]
	forged.Cred.Secret = "a secret that is not the key's"
	text := `{"QueueUrl":"q","MessageBody":"` + strings.Repeat("x", 1<<20) + `"}`
	for range 40 {
		conn := dial(t, s)
		said := strings.Replace(head(&forged, text), "\r\n", "\r\nX-Forwarded-For: 192.0.2.1\r\n", 1)
		if _, err := io.WriteString(conn, said+text[:700_000]); err != nil {
			t.Fatal(err)
		}
	}
	eventually.Succeeds(t, func() error {
		if n := s.entrance.front.MemoryInUse(); n < 10<<20 {
			return fmt.Errorf("the slow bodies hold %d bytes", n)
		}
		return nil
	})
	for range 10 {
		for _, c := range clients {
			c.Make("SendMessage", object{"QueueUrl": "q", "MessageBody": strings.Repeat("x", 500_000)})
		}
	}
}

// A large request with an unknown key is refused without waiting for its body, with the same answer as after reading
// it.
func TestUnknownKeyIsRefusedEarly(t *testing.T) {
	t.Parallel()
	c := newClient(t, inJSON)
	body := strings.Repeat(" ", 5<<20)
	stranger := c.As(identity.Credential{Identity: identity.Identity{AccessKeyID: "AKIANOBODY"}, Secret: "secret"})
	conn := dial(t, shared)
	if _, err := io.WriteString(conn, head(stranger, body)+body[:pooledBuffer+1]); err != nil {
		t.Fatal(err)
	}
	status, text, err := answerOn(conn)
	if err != nil || status != http.StatusForbidden || !strings.Contains(text, "UnrecognizedClientException") {
		t.Errorf("%d %s %v", status, text, err)
	}
	r := stranger.JSONRequest("SendMessage", body[:pooledBuffer])
	stranger.Sign(r)
	if a := stranger.Send("SendMessage", r); a.Status != status || string(a.Body) != text {
		t.Errorf("early %d %s, late %d %s", status, text, a.Status, a.Body)
	}
}

// Bodies of lengths at which the handling changes.
func TestBodyLengths(t *testing.T) {
	t.Parallel()
	c := newClient(t, inJSON)
	c.Make("CreateQueue", object{"QueueName": "q"})
	empty := `{"QueueUrl":"q","MessageBody":"m"}`
	for _, length := range []int{pooledBuffer - 1, pooledBuffer, pooledBuffer + 1, 2 * pooledBuffer, 2*pooledBuffer + 1,
		front.MaxBody - 1, front.MaxBody} {
		body := empty + strings.Repeat(" ", length-len(empty))
		for _, chunked := range []bool{false, true} {
			r := c.JSONRequest("SendMessage", body)
			c.Sign(r)
			if chunked {
				r.ContentLength = -1
			}
			if a := c.Send("SendMessage", r); a.Status != http.StatusOK {
				t.Errorf("%d bytes, chunked %t: %d %s", length, chunked, a.Status, a.Body)
			}
		}
	}
	r := c.JSONRequest("SendMessage", empty+strings.Repeat(" ", front.MaxBody+1-len(empty)))
	c.Sign(r)
	r.ContentLength = -1
	if a := c.Send("SendMessage", r); a.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("too long by one byte: %d", a.Status)
	}
}
