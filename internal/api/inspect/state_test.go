package inspect_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// why returns the codes of the reasons in an answer.
func why(out object) string {
	var codes []string
	for _, r := range out["Reasons"].([]any) {
		codes = append(codes, r.(object)["Code"].(string))
	}
	return strings.Join(codes, " ")
}

func (r *rig) receive(url string, most int32) []string {
	r.Helper()
	got, err := r.root.SQS.ReceiveMessage(r.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: most,
	})
	apitest.Must(r.T, got, err)
	var bodies []string
	for _, m := range got.Messages {
		bodies = append(bodies, *m.Body)
	}
	return bodies
}

// waiting waits until a long poll waits for a queue.
func (r *rig) waiting(url string) {
	r.Helper()
	eventually.True(r.T, "a long poll", func() bool {
		return r.ask("DescribeQueueState", object{"QueueUrl": url})["WaitingReceives"] == 1.0
	})
}

func TestDescribeQueueState(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.queue("dead")
	url := r.queue("q", "VisibilityTimeout", "600", "RedrivePolicy", apitest.Redrive(arn("dead"), 5))
	r.sendBodies(r.queue("dead"), "x", "y")
	check := func(receivable bool, codes string, want object) object {
		t.Helper()
		out := r.ask("DescribeQueueState", object{"QueueUrl": url})
		if out["Receivable"] != receivable || why(out) != codes {
			t.Errorf("receivable %v because of %q; want %v, %q: %v", out["Receivable"], why(out), receivable, codes,
				out["Reasons"])
		}
		for name, value := range want {
			if fmt.Sprint(out[name]) != fmt.Sprint(value) {
				t.Errorf("%s is %v, not %v", name, out[name], value)
			}
		}
		return out
	}
	out := check(false, "Empty", object{
		"Visible": 0, "DeadLetters": 2, "DeadLetterQueueArn": arn("dead"), "WaitingReceives": 0,
	})
	if out["OldestMessageTimestamp"] != nil || out["LastSendTimestamp"] != nil {
		t.Errorf("an empty queue: %v", out)
	}
	r.sendBodies(url, "a", "b")
	check(true, "", object{"Visible": 2, "InFlight": 0})
	r.receive(url, 10)
	r.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("c"), DelaySeconds: 600})
	out = check(false, "AllInFlight Delayed", object{"Visible": 0, "InFlight": 2, "Delayed": 1})
	for _, name := range []string{"OldestMessageTimestamp", "NextVisibleTimestamp", "NextDelayedTimestamp",
		"LastSendTimestamp", "LastReceiveTimestamp"} {
		if out[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	if shards := out["Shards"].([]any); len(shards) != 1 || shards[0].(object)["Shard"] != "1" ||
		shards[0].(object)["InFlight"] != 2.0 {
		t.Errorf("shards: %v", shards)
	}
	waits := make(chan error, 1)
	go func() {
		_, err := r.root.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 20})
		waits <- err
	}()
	r.waiting(url)
	r.sendBodies(url, "d")
	if err := <-waits; err != nil {
		t.Error(err)
	}

	// The state of the dead-letter queue is shown only to callers that may read it.
	user, _ := r.root.User(t, "one", apitest.Allow("sluice:Describe*", arn("q")))
	status, out := user.Sluice(t, "DescribeQueueState", object{"QueueUrl": url})
	if status != http.StatusOK || out["DeadLetters"] != nil || out["DeadLetterQueueArn"] != arn("dead") {
		t.Errorf("%d %v", status, out)
	}
	r.refused(user, "DescribeQueueState", object{"QueueUrl": "dead"}, 403,
		"sluice:DescribeQueueState on resource: "+arn("dead"))
	r.refused(user, "ListMessageGroups", object{"QueueUrl": "q"}, 403,
		"sluice:ListMessageGroups on resource: "+arn("q"))
	r.refused(r.root, "DescribeQueueState", object{"QueueUrl": "none"}, 400, "does not exist")
	r.refused(apitest.Stranger(r.server.Endpoint()), "DescribeQueueState", object{"QueueUrl": url}, 403,
		"Authentication Token")
}

func TestListMessageGroups(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q.fifo", "FifoQueue", "true", "ContentBasedDeduplication", "true", "VisibilityTimeout", "600")
	for _, m := range []string{"g1 a", "g2 b", "g1 c", "g3 d", "g1 e"} {
		group, body, _ := strings.Cut(m, " ")
		r.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageGroupId: &group})
	}
	if got := r.receive(url, 1); fmt.Sprint(got) != "[a]" {
		t.Fatalf("received %v", got)
	}
	var got []string
	in := object{"QueueUrl": url, "Max": 2}
	for pages := 1; ; pages++ {
		out := r.ask("ListMessageGroups", in)
		for _, g := range out["Groups"].([]any) {
			g := g.(object)
			got = append(got,
				fmt.Sprint(g["MessageGroupId"], " ", g["State"], " ", g["Depth"], " ", g["InFlight"], " ",
					g["ReceiveCount"]))
		}
		if out["Cursor"] == nil {
			if pages != 2 {
				t.Errorf("%d pages", pages)
			}
			break
		}
		in["Cursor"] = out["Cursor"]
	}
	if want := "g1 InFlight 3 1 1, g2 Visible 1 0 0, g3 Visible 1 0 0"; strings.Join(got, ", ") != want {
		t.Errorf("groups %q, want %s", got, want)
	}
	out := r.ask("DescribeQueueState", object{"QueueUrl": url})
	largest, _ := out["LargestBlockedGroup"].(object)
	if out["ReadyGroups"] != 2.0 || out["BlockedGroups"] != 1.0 || largest["MessageGroupId"] != "g1" ||
		why(out) != "GroupsBlocked" || out["Receivable"] != true {
		t.Errorf("state %v", out)
	}
	r.queue("plain")
	for words, in := range map[string]object{
		"not a FIFO queue":  {"QueueUrl": "plain"},
		"Max is 0":          {"QueueUrl": url, "Max": 0},
		"Cursor is not one": {"QueueUrl": url, "Cursor": "x"},
	} {
		r.refused(r.root, "ListMessageGroups", in, 400, words)
	}
}
