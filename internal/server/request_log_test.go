package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// requestLine waits for the line of an operation in a request log, and returns the last one.
func requestLine(t *testing.T, log *safeBuffer, operation string) map[string]any {
	t.Helper()
	var found map[string]any
	eventually.Succeeds(t, func() error {
		for line := range strings.Lines(log.String()) {
			entry := make(map[string]any)
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				return err
			}
			if entry["msg"] == "request" && entry["operation"] == operation {
				found = entry
			}
		}
		if found == nil {
			return fmt.Errorf("no line about %s", operation)
		}
		return nil
	})
	return found
}

// says compares the fields of a line; a nil value means that the field is absent.
func says(t *testing.T, line, want map[string]any) {
	t.Helper()
	for key, value := range want {
		if got := line[key]; fmt.Sprint(got) != fmt.Sprint(value) {
			t.Errorf("%s: %v, want %v; the line is %v", key, got, value, line)
		}
	}
}

// A line of the request log says who did what to which queue, from where, and with what result.
func TestRequestLog(t *testing.T) {
	t.Parallel()
	var log safeBuffer
	config := inMemory()
	config.LogRequests = true
	config.Logger = slog.New(slog.NewJSONHandler(&log, nil))
	s, _ := start(t, config)
	c := newClient(t, inJSON)
	c.Base, c.Cred = s.Endpoint(), s.Root()
	c.Make("CreateQueue", object{"QueueName": "q"})
	says(t, requestLine(t, &log, "CreateQueue"), map[string]any{
		"service": "sqs", "region": c.Region, "queue": c.ARN("q"), "caller": identity.RootARN(account),
		"access_key_id": c.Cred.AccessKeyID,
		"user_agent":    "Go-http-client/1.1", "status": 200, "error": nil, "gone": nil,
	})

	r := c.Request("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "m"})
	r.Header.Set("User-Agent", strings.Repeat("long ", 200))
	c.Send("SendMessage", r)
	line := requestLine(t, &log, "SendMessage")
	says(t, line, map[string]any{
		"caller": "anonymous", "access_key_id": nil, "region": "us-east-1", "code": "AccessDenied", "status": 403,
		"denied_by": "no resource-based policy allows it",
	})
	if agent := line["user_agent"].(string); len(agent) > 210 {
		t.Errorf("the line has %d bytes of the user agent", len(agent))
	}

	stranger := c.As(identity.Credential{Identity: identity.Identity{AccessKeyID: "AKIAUNKNOWN"}, Secret: "secret"})
	stranger.Call("ListQueues", nil)
	says(t, requestLine(t, &log, "ListQueues"), map[string]any{
		"caller": nil, "access_key_id": "AKIAUNKNOWN", "code": "InvalidClientTokenId",
		"error": "The security token included in the request is invalid.",
	})
	wrong := c.As(identity.Credential{Identity: c.Cred.Identity, Secret: "wrong"})
	wrong.Call("ListQueueTags", object{"QueueUrl": c.URL("q")})
	says(t, requestLine(t, &log, "ListQueueTags"), map[string]any{
		"caller": nil, "access_key_id": c.Cred.AccessKeyID, "code": "SignatureDoesNotMatch",
	})

	other, _ := s.accounts.credentials.Root(otherAccount)
	c.As(other).Call("GetQueueUrl", object{"QueueName": "q", "QueueOwnerAWSAccountId": account})
	says(t, requestLine(t, &log, "GetQueueUrl"), map[string]any{
		"code": "AWS.SimpleQueueService.NonExistentQueue", "queue": c.ARN("q"),
		"denied_by": "no resource-based policy allows it",
	})

	s.entrance.front.LogRequests(false)
	c.Make("PurgeQueue", object{"QueueUrl": c.URL("q")})
	s.entrance.front.LogRequests(true)
	c.Make("DeleteQueue", object{"QueueUrl": c.URL("q")})
	requestLine(t, &log, "DeleteQueue")
	if strings.Contains(log.String(), "PurgeQueue") {
		t.Error("a request was logged while requests were not to be logged")
	}
}

// A client that leaves during a long poll is gone: that is no error of the server, neither in the log nor in the
// metrics.
func TestClientsThatLeaveAreGone(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"in memory", "on disk"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			var log safeBuffer
			config := inMemory()
			if where == "on disk" {
				config = onDisk(filepath.Join(t.TempDir(), "data"))
			}
			config.LogRequests, config.MetricsListen = true, "127.0.0.1:0"
			config.Logger = slog.New(slog.NewJSONHandler(&log, nil))
			s, _ := start(t, config)
			c := newClient(t, inJSON)
			c.Base, c.Cred = s.Endpoint(), s.Root()
			for _, queue := range []string{"q", "q.fifo"} {
				c.Make("CreateQueue", object{
					"QueueName": queue, "Attributes": map[bool]object{true: {"FifoQueue": "true"}}[queue == "q.fifo"],
				})
				r := c.Request("ReceiveMessage", object{"QueueUrl": c.URL(queue), "WaitTimeSeconds": 20})
				c.Sign(r)
				conn := dial(t, s)
				if err := r.Write(conn); err != nil {
					t.Fatal(err)
				}
				time.Sleep(50 * time.Millisecond) // until the poll waits
				conn.Close()
			}
			says(t, requestLine(t, &log, "ReceiveMessage"), map[string]any{
				"gone": true, "status": nil, "code": nil, "cause": nil,
			})
			eventually.Succeeds(t, func() error {
				text := scrape(t, s)
				for _, line := range []string{
					`sluice_requests_total{code="gone",operation="ReceiveMessage",service="sqs"} 2`,
					`sluice_requests_total{code="5xx",operation="ReceiveMessage",service="sqs"} 0`,
				} {
					if !strings.Contains(text, line) {
						return fmt.Errorf("%s is missing", line)
					}
				}
				return nil
			})
			if strings.Contains(log.String(), `"level":"ERROR"`) {
				t.Errorf("an error is logged:\n%s", log.String())
			}
		})
	}
}

// Without a console, a person who opens the address in a browser gets a page that explains it. Programs get SQS's
// answer.
func TestVisit(t *testing.T) {
	t.Parallel()
	config := inMemory()
	config.Console.Serve = false
	s, _ := start(t, config)
	for _, tc := range []struct {
		method, path, header string
		status               int
		text                 string
	}{
		{"GET", "/", "", 200, "a message queue service that speaks Amazon SQS"},
		{"HEAD", "/", "", 200, ""},
		{"GET", "/?Action=ListQueues", "", 403, "AccessDenied"},
		{"GET", "/", "Authorization", 404, "<UnknownOperationException/>"},
		{"GET", "/000000000000/q", "", 404, "<UnknownOperationException/>"},
		{"GET", "/?x", "", 404, "<UnknownOperationException/>"},
	} {
		r, err := http.NewRequest(tc.method, s.Endpoint()+tc.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html,*/*")
		if tc.header != "" {
			r.Header.Set(tc.header, "x")
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 500)
		n, _ := response.Body.Read(b)
		response.Body.Close()
		if response.StatusCode != tc.status || !strings.Contains(string(b[:n]), tc.text) {
			t.Errorf("%s %s: %d %s", tc.method, tc.path, response.StatusCode, b[:n])
		}
	}
}
