package server

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// audience is a server with few places for requests, and a client for each of its two accounts.
type audience struct {
	*testing.T
	s       *Server
	clients []*client
}

func newAudience(t *testing.T) *audience {
	t.Helper()
	config := inMemory()
	config.Accounts, config.TrustedProxies = []string{account, otherAccount}, []string{"127.0.0.0/8"}
	config.limits = func(l *front.Limits) { l.Requests = 40 }
	s, _ := start(t, config)
	k := &audience{T: t, s: s}
	for _, owner := range config.Accounts {
		cred, _ := s.RootOf(owner)
		c := newClient(t, inJSON)
		c.Base, c.Cred, c.Region = s.Endpoint(), cred, "us-east-1"
		c.Make("CreateQueue", object{"QueueName": "q"})
		k.clients = append(k.clients, c)
	}
	return k
}

// begin begins n requests from an address, and reads no answers.
func (k *audience) begin(n int, from, request string) {
	k.Helper()
	request = strings.Replace(request, "\r\n", "\r\nX-Forwarded-For: "+from+"\r\n", 1)
	for range n {
		conn := dial(k.T, k.s)
		if _, err := io.WriteString(conn, request); err != nil {
			k.Fatal(err)
		}
	}
}

// holds waits until this many requests are under way.
func (k *audience) holds(n int) {
	k.Helper()
	eventually.Succeeds(k.T, func() error {
		if got := k.s.entrance.front.RequestsInProgress(); got != int64(n) {
			return fmt.Errorf("%d requests are under way, want %d", got, n)
		}
		return nil
	})
}

// answers sends an unsigned request from an address.
func (k *audience) answers(from string, want int) {
	k.Helper()
	conn := dial(k.T, k.s)
	const request = "POST / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: %s\r\nX-Amz-Target: AmazonSQS.ListQueues\r\n" +
		"Content-Type: application/x-amz-json-1.0\r\nContent-Length: 2\r\n\r\n{}"
	if _, err := fmt.Fprintf(conn, request, from); err != nil {
		k.Fatal(err)
	}
	if status, text, err := answerOn(conn); err != nil || status != want {
		k.Errorf("an unsigned request from %s: %d %s %v, want %d", from, status, text, err, want)
	}
}

// An account with many long polls leaves places for other accounts.
func TestAccountsShareThePlacesForRequests(t *testing.T) {
	t.Parallel()
	k := newAudience(t)
	poll := `{"QueueUrl":"q","WaitTimeSeconds":20}`
	for range 80 {
		go func() {
			r := k.clients[0].JSONRequest("ReceiveMessage", poll)
			k.clients[0].Sign(r)
			if response, err := http.DefaultTransport.RoundTrip(r.WithContext(t.Context())); err == nil {
				response.Body.Close()
			}
		}()
	}
	k.holds(40)
	for range 10 {
		k.clients[1].Make("SendMessage", object{"QueueUrl": "q", "MessageBody": "x"})
	}
	k.answers("192.0.2.1", http.StatusForbidden)
}

// A client without a key, or with only the id of one, leaves places for clients at other addresses.
func TestAddressesShareThePlacesForRequests(t *testing.T) {
	t.Parallel()
	k := newAudience(t)
	const form = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\n" +
		"Content-Length: 1000000\r\n\r\n"
	k.begin(60, "192.0.2.1", form)
	k.holds(8)
	k.answers("192.0.2.1", http.StatusServiceUnavailable)
	k.answers("192.0.2.2", http.StatusForbidden)
	forged := *k.clients[0]
	forged.Cred.Secret = "a secret that is not the key's"
	k.begin(60, "192.0.2.1", head(&forged, strings.Repeat(" ", 1_000_000)))
	time.Sleep(100 * time.Millisecond) // for requests that must not be accepted
	for _, c := range k.clients {
		for range 10 {
			c.Make("SendMessage", object{"QueueUrl": "q", "MessageBody": "x"})
		}
	}
}
