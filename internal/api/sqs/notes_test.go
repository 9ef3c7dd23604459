package sqs

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// answeringShard reports success for every call.
type answeringShard struct{ Shard }

func (answeringShard) Send(_ context.Context, _ queue.ID, messages []queue.Outgoing) ([]queue.Sent, error) {
	sent := make([]queue.Sent, len(messages))
	for i := range sent {
		sent[i] = queue.Sent{ID: queue.MessageID{15: byte(i + 1)}, Duplicate: messages[i].Body == "again"}
	}
	return sent, nil
}

func (answeringShard) Receive(_ context.Context, _ queue.ID, r queue.Receive,
	_ time.Duration) ([]shard.Message, error) {
	out := make([]shard.Message, r.Max)
	for i := range out {
		out[i].ID = queue.MessageID{15: byte(i + 1)}
	}
	return out, nil
}

func (answeringShard) Delete(_ context.Context, _ queue.ID, receipts []queue.Receipt) ([]error, error) {
	return make([]error, len(receipts)), nil
}

// Where requests are not logged, the log reports once a minute that a client uses another region than its queue's.
func TestOtherRegionIsLogged(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	now := time.Unix(1_800_000_000, 0)
	s := New(Options{
		Catalog: newCatalog(t), Shard: answeringShard{}, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Now: func() time.Time { return now },
	})
	receive := func(region, queue string, lines int) {
		t.Helper()
		c := &protocol.Call{
			Operation: "ReceiveMessage", Kind: protocol.JSON, Path: "/",
			Region: region, Identity: new(identity.Root(account, "AKIA")),
		}
		if _, err := invokeCall(t.Context(), t, s, c,
			`{"QueueUrl":"`+queue+`"}`); (err == nil) != (region == "us-east-1") {
			t.Errorf("%s in %s: %v", queue, region, err)
		}
		if got := strings.Count(log.String(), "\n"); got != lines {
			t.Errorf("%s in %s: the log has %d lines, want %d: %s", queue, region, got, lines, &log)
		}
	}
	if _, err := invoke(t.Context(), t, s, "CreateQueue", `{"QueueName":"q"}`); err != nil {
		t.Fatal(err)
	}
	receive("us-east-1", "q", 0)
	receive("us-west-2", "unknown", 0)
	receive("us-west-2", "q", 1)
	receive("us-west-2", "q", 1)
	now = now.Add(time.Minute)
	receive("us-west-2", "q", 2)
	if want := "queue=arn:aws:sqs:us-west-2:000000000000:q exists_in_regions=us-east-1"; strings.Count(log.String(),
		want) != 2 {
		t.Errorf("the log has %s", &log)
	}
}

// The request log names the queue of a request, if the request names one, and the messages.
func TestNotesForTheRequestLog(t *testing.T) {
	t.Parallel()
	cat := newCatalog(t)
	s := New(Options{Catalog: cat, Shard: answeringShard{}})
	call := func(region, op, input string) string {
		t.Helper()
		c := &protocol.Call{
			Operation: op, Kind: protocol.JSON, Path: "/", Region: region, Host: "localhost", Scheme: "http",
			Identity: new(identity.Root(account, "AKIA")), Notes: new(protocol.Notes),
		}
		_, _ = invokeCall(t.Context(), t, s, c, input) // a refusal leaves notes, too
		return fmt.Sprint(c.Notes.Attrs())
	}
	for _, region := range []string{"eu-west-1", "us-east-1"} {
		call(region, "CreateQueue", `{"QueueName":"q"}`)
	}
	handle := newSealer(cat.Secret(), nil).seal(2, queue.Receipt{Position: 1, Number: 1}, handles)
	const q, id = "queue=arn:aws:sqs:us-east-1:000000000000:q", "00000000-0000-0000-0000-00000000000"
	for _, tc := range []struct{ op, input, want string }{
		{"CreateQueue", `{"QueueName":"new"}`, "[queue=arn:aws:sqs:us-east-1:000000000000:new]"},
		{"ListQueues", `{}`, "[]"},
		{"GetQueueUrl", `{"QueueName":"q"}`, "[" + q + "]"},
		{"SendMessage", `{"QueueUrl":"q"}`, "[" + q + "]"},
		{"SendMessage", `{"QueueUrl":"q","MessageBody":"m"}`, "[" + q + " messages=1 message_ids=" + id + "1]"},
		{"SendMessage", `{"QueueUrl":"q","MessageBody":"again"}`,
			"[" + q + " messages=1 message_ids=" + id + "1 duplicates=1]"},
		{"SendMessageBatch",
			`{"QueueUrl":"q","Entries":[{"Id":"a","MessageBody":"m"},{"Id":"b","MessageBody":""},{"Id":"c","MessageBody":"m"}]}`,
			"[" + q + " failed_entries=1 messages=2 message_ids=" + id + "1," + id + "2]"},
		{"ReceiveMessage", `{"QueueUrl":"q","MaxNumberOfMessages":2}`,
			"[" + q + " messages=2 message_ids=" + id + "1," + id + "2]"},
		{"DeleteMessage", `{"QueueUrl":"q","ReceiptHandle":"` + handle + `"}`, "[" + q + " messages=1]"},
		{"DeleteMessage", `{"QueueUrl":"q","ReceiptHandle":"nonsense"}`, "[" + q + "]"},
		{"StartMessageMoveTask", `{"SourceArn":"` + arnOf("q") + `","DestinationArn":"` + arnOf("new") + `"}`,
			"[" + q + " destination=arn:aws:sqs:us-east-1:000000000000:new]"},
	} {
		if got := call("us-east-1", tc.op, tc.input); got != tc.want {
			t.Errorf("%s %s: notes are\n%s, want\n%s", tc.op, tc.input, got, tc.want)
		}
	}
	// The likeliest mistake: the client uses another region.
	for _, op := range []string{"ReceiveMessage", "GetQueueUrl"} {
		input := map[string]string{"ReceiveMessage": `{"QueueUrl":"q"}`, "GetQueueUrl": `{"QueueName":"q"}`}[op]
		want := "[queue=arn:aws:sqs:us-west-2:000000000000:q exists_in_regions=eu-west-1,us-east-1]"
		if got := call("us-west-2", op, input); got != want {
			t.Errorf("%s in another region: notes are %s, want %s", op, got, want)
		}
	}
	call("eu-west-1", "DeleteQueue", `{"QueueUrl":"q"}`)
	if got, want := call("us-west-2", "DeleteQueue", `{"QueueUrl":"q"}`),
		"[queue=arn:aws:sqs:us-west-2:000000000000:q exists_in_regions=us-east-1]"; got != want {
		t.Errorf("after the deletion of one: notes are %s, want %s", got, want)
	}
}
