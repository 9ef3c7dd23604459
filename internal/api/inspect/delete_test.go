package inspect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

const absentID = "00000000-0000-4000-8000-000000000000"

// ids returns the ids of the messages in a queue that match a filter.
func (r *rig) ids(url, filter string) (ids []any) {
	r.Helper()
	for _, m := range r.ask("PeekMessages", object{"QueueUrl": url, "Filter": filter})["Messages"].([]any) {
		ids = append(ids, m.(object)["MessageId"])
	}
	return ids
}

// outcomes returns the outcomes, by message id.
func outcomes(out object) map[any]any {
	all := make(map[any]any)
	for _, result := range out["Results"].([]any) {
		all[result.(object)["MessageId"]] = result.(object)["Outcome"]
	}
	return all
}

// Messages are deleted in any state: visible, in flight, delayed. A missing id is reported.
func TestDeleteMessages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q", "VisibilityTimeout", "600")
	r.sendBodies(url, "taken")
	got, err := r.root.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url})
	handle := apitest.Must(t, got, err).Messages[0].ReceiptHandle
	r.sendBodies(url, "a", "poison", "c")
	r.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("late"), DelaySeconds: 600})
	ids := append(r.ids(url, "taken"), r.ids(url, "poison")...)
	ids = append(ids, r.ids(url, "late")...)
	if len(ids) != 3 {
		t.Fatalf("there are %v", ids)
	}
	out := r.ask("DeleteMessages", object{"QueueUrl": url, "MessageIds": append([]any{absentID, absentID}, ids...)})
	if out["Cursor"] != nil || out["Scanned"] != 5.0 || out["Total"] != 5.0 || len(out["Results"].([]any)) != 4 {
		t.Errorf("the answer is %v", out)
	}
	results := outcomes(out)
	for _, id := range ids {
		if results[id] != "Deleted" {
			t.Errorf("%v: %v", id, results[id])
		}
	}
	if results[absentID] != "NotFound" {
		t.Errorf("the id of no message: %v", results[absentID])
	}
	left := found(r.ask("PeekMessages", object{"QueueUrl": url, "IncludeBody": true}))
	if left != "c Visible, a Visible; 2 of 2" {
		t.Errorf("left are %s", left)
	}
	// A consumer that has received a deleted message deletes it without an error, like a purged one.
	deleted, err := r.root.SQS.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
		QueueUrl: &url, ReceiptHandle: handle,
	})
	apitest.Must(t, deleted, err)
	for id, outcome := range outcomes(r.ask("DeleteMessages", object{"QueueUrl": url, "MessageIds": ids})) {
		if outcome != "NotFound" {
			t.Errorf("%v once more: %v", id, outcome)
		}
	}
}

// Deleting a message that blocks its group unblocks the group.
func TestDeleteUnblocksGroup(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q.fifo", "FifoQueue", "true", "ContentBasedDeduplication", "true", "VisibilityTimeout", "600")
	for _, body := range []string{"first", "second", "third"} {
		r.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageGroupId: aws.String("g")})
	}
	receive := func() string {
		in := &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 1}
		got, err := r.root.SQS.ReceiveMessage(t.Context(), in)
		if apitest.Must(t, got, err); len(got.Messages) == 0 {
			return ""
		}
		return *got.Messages[0].Body
	}
	if first, blocked := receive(), receive(); first != "first" || blocked != "" {
		t.Fatalf("received %q and %q", first, blocked)
	}
	ids := append(r.ids(url, "first"), r.ids(url, "second")...)
	if out := r.ask("DeleteMessages", object{"QueueUrl": url, "MessageIds": ids}); len(outcomes(out)) != 2 {
		t.Errorf("deleted %v", out)
	}
	if third := receive(); third != "third" {
		t.Errorf("received %q", third)
	}
}

func TestDeleteMessagesIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q")
	many := make([]string, 1001)
	for i := range many {
		many[i] = fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
	}
	for words, in := range map[string]object{
		"MessageIds is empty":       {"QueueUrl": url},
		"not the id of a message":   {"QueueUrl": url, "MessageIds": []string{"m"}},
		"less than or equal to 64":  {"QueueUrl": url, "MessageIds": []string{strings.Repeat("x", 65)}},
		"have length less than":     {"QueueUrl": url, "MessageIds": many},
		"Cursor is not one":         {"QueueUrl": url, "MessageIds": many[:1], "Cursor": "AAAA"},
		"specified queue does not":  {"QueueUrl": "none", "MessageIds": many[:1]},
		"less than or equal to 256": {"QueueUrl": url, "MessageIds": many[:1], "Cursor": strings.Repeat("A", 257)},
	} {
		r.refused(r.root, "DeleteMessages", in, 400, words)
	}
	if out := r.ask("DeleteMessages", object{"QueueUrl": url, "MessageIds": many[:1000]}); len(outcomes(out)) != 1000 {
		t.Errorf("%d results of 1000 ids", len(outcomes(out)))
	}
	in := object{"QueueUrl": url, "MessageIds": []string{absentID}}
	own, _ := r.root.User(t, "own", apitest.Allow("sluice:DeleteMessages", arn("q")))
	consumer, _ := r.root.User(t, "consumer", apitest.Allow("sqs:DeleteMessage", arn("q")))
	r.refused(own, "DeleteMessages", in, 403, "sqs:deletemessage")
	r.refused(consumer, "DeleteMessages", in, 403, "sluice:DeleteMessages on resource: "+arn("q"))
	r.refused(own, "DeleteMessages", object{"QueueUrl": "none", "MessageIds": many[:1]}, 403,
		"on resource: "+arn("none"))
	r.refused(apitest.Stranger(r.server.Endpoint()), "DeleteMessages", in, 403, "Authentication Token")
}
