package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
)

// A message that goes to a dead-letter queue has a line in the log, which reveals nothing of its content.
func TestDeadLetterHasLine(t *testing.T) {
	t.Parallel()
	var log safeBuffer
	config := inMemory()
	config.Logger = slog.New(slog.NewJSONHandler(&log, nil))
	s, _ := start(t, config)
	c := newClient(t, inJSON)
	c.Base, c.Cred = s.Endpoint(), s.Root()
	c.Make("CreateQueue", object{"QueueName": "dead"})
	c.Make("CreateQueue", object{"QueueName": "q", "Attributes": object{
		"VisibilityTimeout": "0",
		"RedrivePolicy":     `{"maxReceiveCount":1,"deadLetterTargetArn":"` + c.ARN("dead") + `"}`}})
	sent := c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "a secret", "MessageAttributes": object{
		"a": object{"DataType": "String", "StringValue": "another secret"}}})
	for range 2 {
		c.Make("ReceiveMessage", object{"QueueUrl": c.URL("q")})
	}
	eventually.Succeeds(t, func() error {
		for text := range strings.Lines(log.String()) {
			var line map[string]any
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				t.Fatal(err)
			}
			if line["msg"] == "message moved to its dead-letter queue" {
				says(t, line, map[string]any{
					"level": "INFO", "queue": c.ARN("q"), "dead_letter_queue": c.ARN("dead"),
					"message_id": sent["MessageId"], "receive_count": 1,
				})
				return nil
			}
		}
		return fmt.Errorf("no line in\n%s", log.String())
	})
	if strings.Contains(log.String(), "secret") {
		t.Errorf("the log contains the message's text:\n%s", log.String())
	}
}

// The number of lines in a second is limited, and the next line counts the messages without one.
func TestDeadLetterLinesAreBounded(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	l := deadLetterLog{log: slog.New(slog.NewTextHandler(&log, nil))}
	now := queue.Instant(1_000_000)
	letter := func() queue.DeadLetter {
		return queue.DeadLetter{ARN: "q", Target: "d", Message: new(queue.Message), Receives: 3, At: now}
	}
	for range 3 * deadLetterLines {
		l.write([]queue.DeadLetter{letter()})
	}
	now = now.Add(time.Second)
	l.write([]queue.DeadLetter{letter(), letter()})
	now = 0 // a clock that was set back
	l.write([]queue.DeadLetter{letter()})
	if n := strings.Count(log.String(), "\n"); n != deadLetterLines+3 {
		t.Errorf("%d lines", n)
	}
	if want := fmt.Sprint("not_logged_before=", 2*deadLetterLines); strings.Count(log.String(), want) != 1 ||
		strings.Count(log.String(), "not_logged_before") != 1 {
		t.Errorf("not %s, once, in\n%s", want, log.String())
	}
}
