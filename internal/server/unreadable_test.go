package server

import (
	"crypto/md5"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/encryption"
	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
)

// strange stores a message whose key the server does not have.
func strange(t *testing.T, s *Server, arn, body, group string) {
	t.Helper()
	n, _ := service.ParseQueueARN(arn)
	id := s.storage.catalog.Load().Find(n).ID
	ring := keyring.New(time.Now())
	c := encryption.New(ring, time.Now)
	c.Use(ring.Keys(), nil)
	out, err := c.Encrypt(encryption.Setting{Queue: id, Period: time.Hour}, []queue.Outgoing{{
		ID: queue.MessageID(uuid.New()), Sender: account, Group: group, Dedup: uuid.NewString(),
		Body: body, BodyMD5: md5.Sum([]byte(body)),
	}})
	apitest.Must(t, out, err)
	sent, err := s.storage.messages.(*secretMessages).Messages.Send(t.Context(), id, out.Messages)
	apitest.Must(t, sent, err)
}

// peekedBodies returns what a peek finds: the bodies, and how many messages cannot be decrypted.
func peekedBodies(t *testing.T, s *Server, url, filter string) (found map[string]bool, unreadable int) {
	t.Helper()
	input, err := json.Marshal(object{"QueueUrl": url, "IncludeBody": true, "Filter": filter})
	apitest.Must(t, input, err)
	status, text := callAdmin(t, s, "PeekMessages", string(input))
	var answer struct {
		Messages []struct {
			Body       *string
			MD5OfBody  string
			Unreadable bool
			Size       int
		}
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != http.StatusOK {
		t.Fatal(status, text, err)
	}
	found = make(map[string]bool)
	for _, m := range answer.Messages {
		switch {
		case !m.Unreadable:
			found[*m.Body] = true
		case m.Body != nil || m.MD5OfBody != "" || m.Size == 0:
			t.Errorf("%+v", m)
			fallthrough
		default:
			unreadable++
		}
	}
	return found, unreadable
}

// A message whose key is gone is shown as such, and does not hide the others.
func TestUnreadableMessagesAreShown(t *testing.T) {
	t.Parallel()
	s, _ := start(t, encrypted(t.TempDir()))
	c := clientOf(t, s, inJSON)
	c.Region = "us-east-1"
	c.Make("CreateQueue", object{"QueueName": "q"})
	c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "one"})
	strange(t, s, c.ARN("q"), "gone", "")
	c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "two"})
	for filter, want := range map[string][2]int{
		"": {2, 1}, "count<1": {2, 1}, "one": {1, 0}, "-one": {1, 0}, "gone": {0, 0}, "attr.x:y": {0, 0},
		"-attr.x:y": {2, 0},
	} {
		if found, unreadable := peekedBodies(t, s, c.URL("q"), filter); len(found) != want[0] || unreadable != want[1] {
			t.Errorf("%q finds %v and %d that are unreadable", filter, found, unreadable)
		}
	}

	// A task that edits leaves it where it is, one that does not takes it along.
	c.Make("CreateQueue", object{"QueueName": "to"})
	redriven := func(queue, edit string, readable int) {
		t.Helper()
		status, body := callAdmin(t, s, "RedriveMessages",
			`{"QueueUrl":"`+c.URL("q")+`","DestinationArn":"`+c.ARN("to")+`","Filter":"count<1"`+edit+`}`)
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		eventually.True(t, "the task is done", func() bool {
			found, unreadable := peekedBodies(t, s, c.URL(queue), "")
			return len(found) == readable && unreadable == 1
		})
	}
	redriven("q", `,"Edit":{"SetAttributes":{"b":{"DataType":"String","StringValue":"x"}}}`, 0)
	redriven("to", "", 2)
}

// A receive leaves out a message whose key is gone, which goes to the dead-letter queue in the end. If there is no
// other, the error is SQS's for keys that do not exist.
func TestUnreadableMessagesAreLeftOut(t *testing.T) {
	t.Parallel()
	s, _ := start(t, encrypted(t.TempDir()))
	for i, d := range apitest.Dialects {
		c := clientOf(t, s, d)
		c.Region = "us-east-1"
		name := fmt.Sprint("q", i)
		c.Make("CreateQueue", object{"QueueName": name + "dead"})
		c.Make("CreateQueue", object{
			"QueueName": name, "Attributes": object{"RedrivePolicy": redrive(c.ARN(name+"dead"), "2")},
		})
		strange(t, s, c.ARN(name), "gone", "")
		for _, body := range []string{"one", "two"} {
			c.Make("SendMessage", object{"QueueUrl": c.URL(name), "MessageBody": body})
		}
		receive := object{"QueueUrl": c.URL(name), "MaxNumberOfMessages": 10, "VisibilityTimeout": 0}
		if got, _ := c.Make("ReceiveMessage", receive)["Messages"].(list); len(got) != 2 {
			t.Errorf("received %v", got)
		}
		for range 2 {
			c.Make("ReceiveMessage", receive)
		}
		if _, unreadable := peekedBodies(t, s, c.URL(name+"dead"), ""); unreadable != 1 {
			t.Errorf("%d unreadable messages are in the dead-letter queue", unreadable)
		}
		c.Fails("ReceiveMessage",
			object{
				"QueueUrl": c.URL(name + "dead"), "WaitTimeSeconds": 0, "MaxNumberOfMessages": 1,
				"VisibilityTimeout": 0,
			},
			modelled("KmsNotFound", "KMS.NotFoundException", 400,
				"The key that the message was encrypted under does not exist."))
	}
}

// In a FIFO queue, the messages behind one whose key is gone wait for it, as they wait for any that is in flight.
func TestUnreadableMessagesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s, _ := start(t, encrypted(t.TempDir()))
	c := clientOf(t, s, inJSON)
	c.Region = "us-east-1"
	c.Make("CreateQueue", object{
		"QueueName": "q.fifo", "Attributes": object{"FifoQueue": "true", "ContentBasedDeduplication": "true"},
	})
	send := func(body, group string) {
		t.Helper()
		c.Make("SendMessage", object{"QueueUrl": c.URL("q.fifo"), "MessageBody": body, "MessageGroupId": group})
	}
	send("first", "a")
	strange(t, s, c.ARN("q.fifo"), "gone", "a")
	send("behind", "a")
	send("other", "b")
	got := bodiesOf(c, object{"QueueUrl": c.URL("q.fifo"), "MaxNumberOfMessages": 10, "VisibilityTimeout": 60})
	if len(got) != 2 || !got["first"] || !got["other"] {
		t.Errorf("received %v", got)
	}
	if got := bodiesOf(c, object{"QueueUrl": c.URL("q.fifo"), "MaxNumberOfMessages": 10}); len(got) > 0 {
		t.Errorf("received %v", got)
	}
}

// bodiesOf receives messages once, and returns their bodies.
func bodiesOf(c *client, input object) map[string]bool {
	c.T.Helper()
	found := make(map[string]bool)
	messages, _ := c.Make("ReceiveMessage", input)["Messages"].(list)
	for _, m := range messages {
		found[m.(object)["Body"].(string)] = true
	}
	return found
}
