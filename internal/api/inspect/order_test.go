package inspect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// ordered returns the names of the queues on all pages of two queues each.
func (r *rig) ordered(in object) string {
	r.Helper()
	in["Max"] = 2
	var list []string
	for pages := 0; ; pages++ {
		out := r.ask("ListQueueStates", in)
		for _, q := range out["Queues"].([]any) {
			list = append(list, q.(object)["QueueName"].(string))
		}
		if out["Cursor"] == nil {
			return strings.Join(list, " ")
		}
		if in["Cursor"] = out["Cursor"]; pages > 20 {
			r.Fatal("the pages have no end")
		}
	}
}

func TestOrderedQueueStates(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dead := r.queue("dead")
	r.sendBodies(dead, "x", "y")
	r.queue("source", "RedrivePolicy", apitest.Redrive(arn("dead"), 5))
	r.queue("empty")
	r.queue("empty-1")
	unconsumed := r.queue("unconsumed")
	r.sendBodies(unconsumed, "1", "2", "3")
	busy := r.queue("busy", "VisibilityTimeout", "600")
	r.sendBodies(busy, "1", "2", "3", "4")
	r.receive(busy, 1)
	r.send(&sqs.SendMessageInput{QueueUrl: &busy, MessageBody: aws.String("later"), DelaySeconds: 600})
	r.tag(r.queue("paused"), "sluice:delivery", "paused")
	r.queue("first.fifo", "FifoQueue", "true")

	for _, c := range []struct {
		in   object
		want string
	}{
		{object{"OrderBy": "Attention"}, "source dead unconsumed paused busy empty empty-1 first.fifo"},
		{object{"OrderBy": "Attention", "Descending": true},
			"empty empty-1 first.fifo busy paused unconsumed dead source"},
		{object{"OrderBy": "Visible"}, "empty empty-1 first.fifo paused source dead busy unconsumed"},
		{object{"OrderBy": "Visible", "Descending": true},
			"busy unconsumed dead empty empty-1 first.fifo paused source"},
		{object{"OrderBy": "InFlight", "Descending": true, "Contains": "S"},
			"busy first.fifo paused source unconsumed"},
		{object{"OrderBy": "Delayed", "Descending": true, "Prefix": "b"}, "busy"},
		{object{"OrderBy": "DeadLetters", "Descending": true},
			"source busy dead empty empty-1 first.fifo paused unconsumed"},
		{object{"OrderBy": "OldestMessageTimestamp", "Contains": "d"}, "paused dead unconsumed"},
		{object{"OrderBy": "LastReceiveTimestamp", "Descending": true},
			"busy dead empty empty-1 first.fifo paused source unconsumed"},
		{object{"OrderBy": "Fifo", "Descending": true}, "first.fifo busy dead empty empty-1 paused source unconsumed"},
		{object{"OrderBy": "QueueName", "Descending": true},
			"unconsumed source paused first.fifo empty-1 empty dead busy"},
		{object{"OrderBy": "QueueName"}, "busy dead empty empty-1 first.fifo paused source unconsumed"},
		{object{"OrderBy": "CreatedTimestamp", "Contains": "empty"}, "empty empty-1"},
		{object{"Only": "DeadLetters"}, "source"},
		{object{"Only": "DeadLetterQueues"}, "dead"},
		{object{"Only": "NoConsumer"}, "unconsumed"},
		{object{"Only": "NotEmpty", "OrderBy": "Visible"}, "dead busy unconsumed"},
		{object{"Only": "Paused"}, "paused"},
		{object{"Only": "Fifo"}, "first.fifo"},
		{object{"Only": "Standard", "Contains": "empty"}, "empty empty-1"},
	} {
		asked := fmt.Sprint(c.in)
		if got := r.ordered(c.in); got != c.want {
			t.Errorf("%s: %s; want %s", asked, got, c.want)
		}
	}

	out := r.ask("ListQueueStates", object{"OrderBy": "Visible", "Only": "NotEmpty", "Skip": 1, "Max": 1})
	sums := out["Sums"].(object)
	if listed(out) != "busy 3/1/1" || out["Total"] != 8.0 || out["Matches"] != 3.0 || sums["Visible"] != 8.0 ||
		sums["InFlight"] != 1.0 || sums["Delayed"] != 1.0 {
		t.Errorf("the second page is %v", out)
	}
	if q := out["Queues"].([]any)[0].(object)["State"].(object); q["Condition"] != "Working" || why(q) != "Delayed" {
		t.Errorf("the queue is %v", q)
	}
	again := r.ask("ListQueueStates", object{
		"OrderBy": "Visible", "Only": "NotEmpty", "Skip": 1, "Max": 1, "Since": out["Version"],
	})
	if again["Unchanged"] != 1.0 || listed(again) != "" || again["Matches"] != 3.0 {
		t.Errorf("nothing has happened: %v", again)
	}

	// A queue that disappears between two pages hides none of the others.
	first := r.ask("ListQueueStates", object{"OrderBy": "Visible", "Descending": true, "Max": 2})
	r.sendBodies(dead, "z")
	if _, err := r.root.SQS.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: &unconsumed}); err != nil {
		t.Fatal(err)
	}
	second := r.ask("ListQueueStates", object{
		"OrderBy": "Visible", "Descending": true, "Max": 2, "Cursor": first["Cursor"],
	})
	if got := listed(second); got != "empty 0/0/0, empty-1 0/0/0" {
		t.Errorf("after busy and unconsumed: %s", got)
	}

	r.refused(r.root, "ListQueueStates", object{"OrderBy": "Size"}, 400,
		`OrderBy is "Size"; it must be one of Attention,`)
	r.refused(r.root, "ListQueueStates", object{"OrderBy": strings.Repeat("x", 33)}, 400, "less than or equal to 32")
	r.refused(r.root, "ListQueueStates", object{"Only": "Mine"}, 400,
		`Only is "Mine"; it must be one of DeadLetterQueues,`)
	r.refused(r.root, "ListQueueStates", object{"Descending": true}, 400, "Descending needs OrderBy")
	r.refused(r.root, "ListQueueStates", object{"OrderBy": "Visible", "Cursor": first["Cursor"]}, 400, "another Prefix")
	r.refused(r.root, "ListQueueStates", object{"Cursor": first["Cursor"]}, 400, "another Prefix")
}

// An order reveals nothing about queues whose states the caller may not see: they come at one end, by name.
func TestOrderTellsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.sendBodies(r.queue("c-open"), "1")
	r.sendBodies(r.queue("b-closed"), "1", "2", "3")
	r.queue("a-closed", "RedrivePolicy", apitest.Redrive(arn("b-closed"), 5))
	who, _ := r.root.User(t, "who", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sluice:ListQueueStates","Resource":"*"},
		{"Effect":"Allow","Action":"sluice:DescribeQueueState","Resource":"`+arn("c-open")+`"}]}`)
	for _, by := range []string{"Attention", "Visible", "InFlight", "OldestMessageTimestamp"} {
		in := object{"OrderBy": by, "Descending": by != "Attention"}
		status, out := who.Sluice(t, "ListQueueStates", in)
		if status != 200 || listed(out) != "c-open 1/0/0, a-closed, b-closed" ||
			out["Sums"].(object)["Visible"] != 1.0 {
			t.Errorf("%v: %d %v", in, status, out)
		}
	}
	for _, only := range []string{"DeadLetters", "DeadLetterQueues", "Paused"} {
		if status, out := who.Sluice(t, "ListQueueStates", object{"Only": only}); status != 200 ||
			listed(out) != "" || out["Matches"] != 0.0 {
			t.Errorf("%s: %d %v", only, status, out)
		}
	}
}
