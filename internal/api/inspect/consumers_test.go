package inspect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

func TestListConsumers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q", "VisibilityTimeout", "600")
	if out := r.ask("ListConsumers", object{"QueueUrl": url}); len(out["Consumers"].([]any)) != 0 {
		t.Errorf("of a queue that is not used: %v", out)
	}
	worker, _ := r.root.User(t, "worker", apitest.Allow("sqs:*", "*"))
	for range 25 {
		got, err := worker.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url})
		apitest.Must(t, got, err)
	}
	for range 30 {
		r.sendBodies(url, "m")
	}
	for n := 0; n < 30; {
		got, err := r.root.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &url, MaxNumberOfMessages: 10, WaitTimeSeconds: 1,
		})
		apitest.Must(t, got, err)
		for _, m := range got.Messages {
			if n++; n > 10 {
				_, err := r.root.SQS.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
					QueueUrl: &url, ReceiptHandle: m.ReceiptHandle,
				})
				apitest.Must(t, 0, err)
			}
		}
	}
	seen := make(map[string]object)
	for _, c := range r.ask("ListConsumers", object{"QueueUrl": url})["Consumers"].([]any) {
		c := c.(object)
		seen[c["Principal"].(string)] = c
		if c["Address"] != "127.0.0.1" || !strings.Contains(fmt.Sprint(c["Agent"]), "aws-sdk-go-v2") ||
			c["FirstSeenTimestamp"].(float64) > c["LastSeenTimestamp"].(float64) {
			t.Errorf("%v", c)
		}
	}
	w, own := seen["arn:aws:iam::"+apitest.Account+":user/worker"], seen["arn:aws:iam::"+apitest.Account+":root"]
	if w == nil || w["CallsPerMinute"] != 25.0 || w["EmptyShare"] != 1.0 || w["ShortPollShare"] != 1.0 ||
		!strings.Contains(fmt.Sprint(w["Advice"]), "ShortPolling") {
		t.Errorf("the worker: %v", w)
	}
	if own == nil || own["Received"] != 30.0 || own["Deleted"] != 20.0 || own["MedianTimeToDelete"] == nil ||
		len(own["Advice"].([]any)) != 0 {
		t.Errorf("the root: %v", own)
	}
	r.refused(worker, "ListConsumers", object{"QueueUrl": url}, 403, "sluice:ListConsumers on resource: "+arn("q"))
}
