package inspect_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// A purge is undone: until then the queue is empty for all operations, and afterwards it is unchanged, with the
// messages that arrived since.
func TestUndoPurge(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q.fifo", "FifoQueue", "true", "ContentBasedDeduplication", "true", "VisibilityTimeout", "600")
	send := func(body string) {
		t.Helper()
		group := "g"
		r.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageGroupId: &group})
	}
	queueURL := object{"QueueUrl": url}
	nothing := func() {
		t.Helper()
		r.refused(r.root, "UndoPurge", queueURL, http.StatusBadRequest, "No purge of the queue q.fifo can be undone")
	}
	nothing()
	send("a")
	send("b")
	purged, err := r.root.SQS.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: &url})
	apitest.Must(t, purged, err)
	state := r.ask("DescribeQueueState", queueURL)
	if got := fmt.Sprint(state["Visible"], why(state),
		len(r.ask("PeekMessages", queueURL)["Messages"].([]any))); got != "0Empty0" {
		t.Errorf("after the purge: %s", got)
	}
	if undo, ok := state["Undo"].(object); !ok || fmt.Sprint(undo["Messages"]) != "2" {
		t.Errorf("the state is %v", state["Undo"])
	}
	send("c")
	if got := fmt.Sprint(r.ask("UndoPurge", queueURL)["Messages"]); got != "2" {
		t.Errorf("%s messages came back", got)
	}
	send("a") // which is again a duplicate
	if got := fmt.Sprint(r.receive(url, 10)); got != "[a b c]" {
		t.Errorf("received %s", got)
	}
	if state := r.ask("DescribeQueueState", queueURL); state["Undo"] != nil {
		t.Errorf("the state is still %v", state["Undo"])
	}
	nothing()
}

// An undo restores no more messages than the account of the queue may store.
func TestUndoPurgeWithinTheLimitOfTheAccount(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	limit := func(n int) {
		t.Helper()
		r.ask("SetLimits", object{"AccountId": apitest.Account, "Limits": object{"StoredMessages": n}})
	}
	limit(100)
	url := r.queue("q")
	r.sendBodies(url, "a", "b")
	purged, err := r.root.SQS.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: &url})
	apitest.Must(t, purged, err)
	r.sendBodies(url, "c", "d")
	queueURL := object{"QueueUrl": url}
	limit(3)
	r.refused(r.root, "UndoPurge", queueURL, http.StatusBadRequest, "it has a limit of 3 messages")
	limit(100)
	if got := fmt.Sprint(r.ask("UndoPurge", queueURL)["Messages"]); got != "2" {
		t.Errorf("%s messages came back", got)
	}
}
