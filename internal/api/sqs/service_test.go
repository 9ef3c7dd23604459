package sqs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

// failingShard fails every call.
type failingShard struct {
	Shard
	err error
}

func (s *failingShard) Send(context.Context, queue.ID, []queue.Outgoing) ([]queue.Sent, error) {
	return nil, s.err
}
func (s *failingShard) Receive(context.Context, queue.ID, queue.Receive, time.Duration) ([]shard.Message, error) {
	return nil, s.err
}
func (s *failingShard) EmptyReceive(queue.ID) {}
func (s *failingShard) Used(queue.ID)         {}
func (s *failingShard) Counts(context.Context, queue.ID) (queue.Counts, error) {
	return queue.Counts{}, s.err
}
func (s *failingShard) Delete(context.Context, queue.ID, []queue.Receipt) ([]error, error) {
	return nil, s.err
}
func (s *failingShard) ChangeVisibility(context.Context, queue.ID, []queue.Visibility) ([]error, error) {
	return nil, s.err
}
func (s *failingShard) CancelMove(context.Context, queue.ID, string) (queue.MoveTask, error) {
	return queue.MoveTask{}, s.err
}
func (s *failingShard) Purge(context.Context, queue.ID) error { return s.err }

// newCatalog returns an empty catalog in memory.
func newCatalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	return newCatalogOf(t, nil)
}

// newCatalogOf returns an empty catalog in memory that places queues in a given way.
func newCatalogOf(t testing.TB, place func(q, old *catalog.Queue)) *catalog.Catalog {
	t.Helper()
	records := storetest.Memory(t)
	c := control.New(control.Options{Store: records})
	if err := c.Change(t.Context(), catalog.Initialise); err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Open(catalog.Options{Control: c, Place: place})
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// invoke calls an operation as the root of the account.
func invoke(ctx context.Context, t *testing.T, s *protocol.Service, op, input string) (any, error) {
	t.Helper()
	return invokeAs(ctx, t, s, identity.Root(account, "AKIA"), op, input)
}

func invokeAs(ctx context.Context, t testing.TB, s *protocol.Service, who identity.Identity,
	op, input string) (any, error) {
	t.Helper()
	return invokeCall(ctx, t, s, &protocol.Call{
		Operation: op, Kind: protocol.JSON, Path: "/", Region: "us-east-1", Host: "localhost", Scheme: "http",
		Identity: &who,
	}, input)
}

func invokeCall(ctx context.Context, t testing.TB, s *protocol.Service, c *protocol.Call, input string) (any, error) {
	t.Helper()
	req := &protocol.Request{Kind: protocol.JSON, Target: "AmazonSQS", Operation: c.Operation, Body: []byte(input)}
	operation, perr := s.Lookup(req)
	if perr != nil {
		t.Fatal(perr)
	}
	in, perr := operation.Decode(req)
	if perr != nil {
		t.Fatal(perr)
	}
	return operation.Invoke(ctx, c, in)
}

// Refusals of the engine and failures of the lower layers have one translation.
func TestFailures(t *testing.T) {
	t.Parallel()
	cat := newCatalog(t)
	below := &failingShard{}
	s := New(Options{Catalog: cat, Shard: below})
	if _, err := invoke(t.Context(), t, s, "CreateQueue", `{"QueueName":"q"}`); err != nil {
		t.Fatal(err)
	}
	handle := newSealer(cat.Secret(), nil).seal(1, queue.Receipt{Position: 1, Number: 1}, handles)
	inputs := map[string]string{
		"SendMessage":             `{"QueueUrl":"q","MessageBody":"m"}`,
		"SendMessageBatch":        `{"QueueUrl":"q","Entries":[{"Id":"a","MessageBody":"m"}]}`,
		"ReceiveMessage":          `{"QueueUrl":"q"}`,
		"GetQueueAttributes":      `{"QueueUrl":"q","AttributeNames":["All"]}`,
		"DeleteMessage":           `{"QueueUrl":"q","ReceiptHandle":"` + handle + `"}`,
		"DeleteMessageBatch":      `{"QueueUrl":"q","Entries":[{"Id":"a","ReceiptHandle":"` + handle + `"}]}`,
		"ChangeMessageVisibility": `{"QueueUrl":"q","ReceiptHandle":"` + handle + `","VisibilityTimeout":1}`,
		"ChangeMessageVisibilityBatch": `{"QueueUrl":"q","Entries":[{"Id":"a","ReceiptHandle":"` + handle +
			`","VisibilityTimeout":1}]}`,
		"PurgeQueue": `{"QueueUrl":"q"}`,
	}
	for _, tc := range []struct {
		err     error
		code    string
		status  int
		message string
	}{
		{queue.ErrNoQueue, "AWS.SimpleQueueService.NonExistentQueue", 400, "The specified queue does not exist."},
		{queue.ErrOverLimit, "OverLimit", 403,
			"Too many messages have been received without being deleted.\nPlease delete your received messages or let them timeout before receiving more."},
		{queue.ErrPurgeInProgress, "AWS.SimpleQueueService.PurgeQueueInProgress", 403,
			"Only one PurgeQueue operation on q is allowed every 60 seconds."},
		{fmt.Errorf("%w: the disk is gone", shard.ErrUnavailable), "ServiceUnavailable", 503,
			"The service is temporarily unavailable. Please try again."},
		{fmt.Errorf("%w: %w", shard.ErrUnavailable, &shard.BlockedError{
			Reason: "it is full", Cause: errors.New("/a/path"),
		}), "ServiceUnavailable", 503,
			"The disk of the server cannot be written: it is full. Please try again later."},
		{context.Canceled, "ServiceUnavailable", 503, "The service is temporarily unavailable. Please try again."},
		{errors.New("the disk is gone"), "InternalError", 500, "We encountered an internal error. Please try again."},
	} {
		below.err = tc.err
		for op, input := range inputs {
			_, err := invoke(t.Context(), t, s, op, input)
			if got := protocol.AsError(err); err == nil || got.Code != tc.code || got.Status != tc.status ||
				got.Message != tc.message {
				t.Errorf("%s: %v becomes %+v", op, tc.err, got)
			}
		}
	}
	// A queue is gone when the catalog says so, even if its messages remain.
	below.err = shard.ErrUnavailable
	_, _ = invoke(t.Context(), t, s, "DeleteQueue", `{"QueueUrl":"q"}`) // the answer may be either
	if _, err := invoke(t.Context(), t, s, "PurgeQueue",
		`{"QueueUrl":"q"}`); protocol.AsError(err).Code != "AWS.SimpleQueueService.NonExistentQueue" {
		t.Errorf("after its deletion: %v", err)
	}
}

// Without room no data is added; other operations continue to work.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	cat := newCatalog(t)
	var full error
	s := New(Options{Catalog: cat, Shard: &failingShard{err: queue.ErrOverLimit}, Room: func() error { return full }})
	for _, input := range []string{`{"QueueName":"q"}`, `{"QueueName":"dlq"}`,
		`{"QueueName":"source","Attributes":{"RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:dlq\",\"maxReceiveCount\":1}"}}`} {
		if _, err := invoke(t.Context(), t, s, "CreateQueue", input); err != nil {
			t.Fatal(err)
		}
	}
	full = errors.New("There is no room.")
	for _, tc := range []struct{ op, input, code string }{
		{"SendMessage", `{"QueueUrl":"q","MessageBody":"m"}`, "ServiceUnavailable"},
		{"SendMessageBatch", `{"QueueUrl":"q","Entries":[{"Id":"a","MessageBody":"m"}]}`, "ServiceUnavailable"},
		{"CreateQueue", `{"QueueName":"new"}`, "ServiceUnavailable"},
		{"StartMessageMoveTask", `{"SourceArn":"arn:aws:sqs:us-east-1:000000000000:dlq"}`, "ServiceUnavailable"},
		{"ReceiveMessage", `{"QueueUrl":"q"}`, "OverLimit"},
		{"GetQueueAttributes", `{"QueueUrl":"q","AttributeNames":["All"]}`, "OverLimit"},
		{"PurgeQueue", `{"QueueUrl":"q"}`, "OverLimit"},
		{"CreateQueue", `{"QueueName":"q"}`, ""}, // it exists
		{"SetQueueAttributes", `{"QueueUrl":"q","Attributes":{"MessageRetentionPeriod":"60"}}`, ""},
		{"SendMessage", `{"QueueUrl":"q"}`, "MissingParameter"}, // which more room would not help
	} {
		_, err := invoke(t.Context(), t, s, tc.op, tc.input)
		got := &protocol.Error{}
		if err != nil {
			got = protocol.AsError(err)
		}
		if got.Code != tc.code ||
			tc.code == "ServiceUnavailable" &&
				(got.Message != full.Error() || got.Status != 503 || !service.OfTheDisk(err)) {
			t.Errorf("%s %s: %v", tc.op, tc.input, err)
		}
	}
}

// queueNamed returns the record of a queue of the tests' account and region.
func queueNamed(c *catalog.Catalog, name string) *catalog.Queue {
	return c.Find(catalog.Name{Account: account, Region: "us-east-1", Queue: name})
}
