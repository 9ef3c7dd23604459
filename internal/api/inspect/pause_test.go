package inspect_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// pausedOf returns the paused groups in an answer.
func pausedOf(out object) string { return fmt.Sprint(out["PausedMessageGroupIds"]) }

func TestPauseMessageGroups(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q.fifo", "FifoQueue", "true", "ContentBasedDeduplication", "true", "VisibilityTimeout", "600")
	send := func(group, body string) {
		t.Helper()
		r.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageGroupId: &group})
	}
	send("g1", "a")
	send("g2", "b")
	if got := pausedOf(r.ask("PauseMessageGroups", object{
		"QueueUrl": url, "MessageGroupIds": []string{"g3", "g1"},
	})); got != "[g1 g3]" {
		t.Errorf("paused are %s", got)
	}
	if got := pausedOf(r.ask("PauseMessageGroups", object{
		"QueueUrl": url, "MessageGroupIds": []string{"g1"},
	})); got != "[g1 g3]" {
		t.Errorf("paused are %s", got)
	}
	send("g1", "c")
	if got := fmt.Sprint(r.receive(url, 10)); got != "[b]" {
		t.Errorf("received %s", got)
	}
	state := r.ask("DescribeQueueState", object{"QueueUrl": url})
	if got := fmt.Sprint(state["PausedGroups"], state["Receivable"],
		why(state)); got != "[g1 g3] falseGroupsBlocked GroupsPaused" {
		t.Errorf("the state is %s", got)
	}
	if got := fmt.Sprint(state["Reasons"]); strings.Contains(got, "no other group with messages") {
		t.Errorf("the reasons are %s, and g1 has messages", got)
	}
	var groups []string
	for _, g := range r.ask("ListMessageGroups", object{"QueueUrl": url})["Groups"].([]any) {
		groups = append(groups, fmt.Sprint(g.(object)["MessageGroupId"], " ", g.(object)["Paused"]))
	}
	if got := strings.Join(groups, ", "); got != "g1 true, g2 <nil>" {
		t.Errorf("the groups are %s", got)
	}
	r.ask("ResumeMessageGroups", object{"QueueUrl": url, "MessageGroupIds": []string{"g1", "g4"}})
	if got := fmt.Sprint(r.receive(url, 10)); got != "[a c]" {
		t.Errorf("received %s", got)
	}
	if got := pausedOf(r.ask("ResumeMessageGroups", object{
		"QueueUrl": url, "MessageGroupIds": []string{"g3"},
	})); got != "[]" {
		t.Errorf("paused are %s", got)
	}
}

// A long poll gets the messages of a group when the group is resumed.
func TestResumeWakesLongPolls(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q.fifo", "FifoQueue", "true", "ContentBasedDeduplication", "true")
	r.ask("PauseMessageGroups", object{"QueueUrl": url, "MessageGroupIds": []string{"g"}})
	group, body := "g", "a"
	r.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageGroupId: &group})
	got := make(chan int, 1)
	go func() {
		out, err := r.root.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &url, WaitTimeSeconds: 20,
		})
		if err != nil {
			t.Error(err)
			got <- 0
			return
		}
		got <- len(out.Messages)
	}()
	r.waiting(url)
	r.ask("ResumeMessageGroups", object{"QueueUrl": url, "MessageGroupIds": []string{"g"}})
	if n := <-got; n != 1 {
		t.Errorf("the long poll got %d messages", n)
	}
}

func TestPausesAreChecked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q.fifo", "FifoQueue", "true")
	r.queue("q")
	for _, op := range []string{"PauseMessageGroups", "ResumeMessageGroups"} {
		for words, in := range map[string]object{
			"MessageGroupIds is empty":  {"QueueUrl": url},
			`MessageGroupIds has "a b"`: {"QueueUrl": url, "MessageGroupIds": []string{"a", "a b"}},
			"is not a FIFO queue":       {"QueueUrl": "q", "MessageGroupIds": []string{"a"}},
			"does not exist":            {"QueueUrl": "none", "MessageGroupIds": []string{"a"}},
		} {
			r.refused(r.root, op, in, http.StatusBadRequest, words)
		}
		user, _ := r.root.User(t, "of-"+op, apitest.Allow("sqs:*", "*"))
		in := object{"QueueUrl": url, "MessageGroupIds": []string{"a"}}
		r.refused(user, op, in, http.StatusForbidden, "sluice:"+op+" on resource: "+arn("q.fifo"))
	}
	many := func(prefix string) (names []string) {
		for i := range 100 {
			names = append(names, fmt.Sprint(prefix, i))
		}
		return names
	}
	r.ask("PauseMessageGroups", object{"QueueUrl": url, "MessageGroupIds": many("a")})
	in := object{"QueueUrl": url, "MessageGroupIds": []string{"b"}}
	r.refused(r.root, "PauseMessageGroups", in, http.StatusBadRequest, "more than 100 paused message groups")
	r.ask("ResumeMessageGroups", object{"QueueUrl": url, "MessageGroupIds": many("a")})
	r.ask("PauseMessageGroups", in)
}
