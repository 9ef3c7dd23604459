package inspect_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

func (r *rig) tag(url, key, value string) {
	r.Helper()
	_, err := r.root.SQS.TagQueue(r.Context(), &sqs.TagQueueInput{QueueUrl: &url, Tags: map[string]string{key: value}})
	apitest.Must(r.T, 0, err)
}

func (r *rig) untag(url, key string) {
	r.Helper()
	_, err := r.root.SQS.UntagQueue(r.Context(), &sqs.UntagQueueInput{QueueUrl: &url, TagKeys: []string{key}})
	apitest.Must(r.T, 0, err)
}

// A paused queue delivers nothing, and continues at once when it is resumed; deletes continue.
func TestPause(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q")
	r.sendBodies(url, "a")
	got, err := r.root.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url})
	apitest.Must(t, got, err)
	r.sendBodies(url, "b")
	r.tag(url, "sluice:delivery", "paused")
	if bodies := r.receive(url, 10); len(bodies) > 0 {
		t.Errorf("a paused queue delivers %v", bodies)
	}
	if out := r.ask("DescribeQueueState", object{"QueueUrl": url}); out["Receivable"] != false || why(out) != "Paused" {
		t.Errorf("receivable %v, because of %s", out["Receivable"], why(out))
	}
	_, err = r.root.SQS.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
		QueueUrl: &url, ReceiptHandle: got.Messages[0].ReceiptHandle,
	})
	apitest.Must(t, 0, err)
	begun := time.Now()
	waits := make(chan int, 1)
	go func() {
		got, err := r.root.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &url, WaitTimeSeconds: 20,
		})
		if err != nil {
			t.Error(err)
			waits <- 0
			return
		}
		waits <- len(got.Messages)
	}()
	r.waiting(url)
	r.untag(url, "sluice:delivery")
	if n := <-waits; n != 1 || time.Since(begun) > 19*time.Second {
		t.Errorf("it got %d messages after %v", n, time.Since(begun))
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q")
	r.tag(url, "sluice:max-in-flight", "3")
	for range 2 {
		r.sendBodies(url, "a", "b", "c", "d")
	}
	if n := len(r.receive(url, 10)); n != 3 {
		t.Errorf("%d are in flight", n)
	}
	if n := len(r.receive(url, 10)); n != 0 {
		t.Errorf("%d more are", n)
	}
	if out := r.ask("DescribeQueueState", object{"QueueUrl": url}); why(out) != "InFlightLimit" {
		t.Errorf("because of %s", why(out))
	}
	r.untag(url, "sluice:max-in-flight")
	r.tag(url, "sluice:max-receive-rate", "2/h")
	if n := len(r.receive(url, 10)); n != 1 {
		t.Errorf("%d are received", n)
	}
	if out := r.ask("DescribeQueueState", object{"QueueUrl": url}); why(out) != "RateLimit" {
		t.Errorf("because of %s", why(out))
	}
	_, err := r.root.SQS.TagQueue(t.Context(), &sqs.TagQueueInput{
		QueueUrl: &url, Tags: map[string]string{"sluice:max-receive-rate": "fast"},
	})
	if apitest.Code(err) != "InvalidParameterValue" {
		t.Errorf("an invalid rate: %v", err)
	}
}
