package inspect_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// listed returns the queues of an answer: their names and, where the answer has a queue's state, the number of
// messages.
func listed(out object) string {
	var list []string
	for _, q := range out["Queues"].([]any) {
		q := q.(object)
		text := q["QueueName"].(string)
		if st, ok := q["State"].(object); ok {
			text += fmt.Sprint(" ", st["Visible"], "/", st["InFlight"], "/", st["Delayed"])
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func TestListQueueStates(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if out := r.ask("ListQueueStates", object{}); listed(out) != "" || out["Total"] != 0.0 {
		t.Errorf("no queues: %v", out)
	}
	r.sendBodies(r.queue("dead"), "x", "y", "z")
	url := r.queue("jobs-b", "VisibilityTimeout", "600", "RedrivePolicy", apitest.Redrive(arn("dead"), 5),
		"SqsManagedSseEnabled", "true")
	r.queue("jobs-a.fifo", "FifoQueue", "true", "ContentBasedDeduplication", "true", "SqsManagedSseEnabled", "false")
	r.queue("old-jobs", "KmsMasterKeyId", "alias/aws/sqs")
	r.sendBodies(url, "a", "b")
	r.receive(url, 1)
	r.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("c"), DelaySeconds: 600})
	r.tag(url, "sluice:delivery", "paused")

	out := r.ask("ListQueueStates", object{})
	if got, want := listed(out),
		"dead 3/0/0, jobs-a.fifo 0/0/0, jobs-b 1/1/1, old-jobs 0/0/0"; got != want || out["Cursor"] != nil ||
		out["Total"] != 4.0 {
		t.Fatalf("%s; want %s: %v", got, want, out)
	}
	queues := out["Queues"].([]any)
	dead, fifo, jobs := queues[0].(object), queues[1].(object), queues[2].(object)
	for name, want := range map[string]any{
		"QueueUrl": url, "QueueArn": arn("jobs-b"), "Fifo": false, "Unavailable": nil,
	} {
		if jobs[name] != want {
			t.Errorf("%s is %v, not %v", name, jobs[name], want)
		}
	}
	st := jobs["State"].(object)
	for name, want := range map[string]any{
		"Paused": true, "Receivable": false, "DeadLetterQueueArn": arn("dead"), "DeadLetters": 3.0,
		"DeadLetterSources": 0.0, "WaitingReceives": 0.0,
		"Encryption": "SSE-SQS", "ContentBasedDeduplication": false, "Arriving": 0.0, "LastMinute": nil,
	} {
		if st[name] != want {
			t.Errorf("%s is %v, not %v", name, st[name], want)
		}
	}
	if totals := st["Totals"].(object); totals["Sent"] != 3.0 || totals["Received"] != 1.0 || totals["Deleted"] != 0.0 {
		t.Errorf("totals %v", totals)
	}
	if got := why(st); got != "Paused Delayed" {
		t.Errorf("reasons %s", got)
	}
	for _, name := range []string{"CreatedTimestamp", "OldestMessageTimestamp", "LastSendTimestamp",
		"LastReceiveTimestamp"} {
		if st[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	if st := dead["State"].(object); st["DeadLetterSources"] != 1.0 || st["DeadLetters"] != nil {
		t.Errorf("the dead-letter queue: %v", st)
	}
	if st := fifo["State"].(object); fifo["Fifo"] != true || st["ContentBasedDeduplication"] != true ||
		st["Encryption"] != "Disabled" || why(st) != "Empty" {
		t.Errorf("the FIFO queue: %v", fifo)
	}

	// Parts of the list.
	for want, in := range map[string]object{
		"jobs-a.fifo 0/0/0, jobs-b 1/1/1":                 {"Prefix": "jobs-"},
		"jobs-a.fifo 0/0/0, jobs-b 1/1/1, old-jobs 0/0/0": {"Contains": "JOB"},
		"jobs-b 1/1/1": {"Prefix": "jobs-", "Contains": "-b"},
		"":             {"Prefix": "none"},
	} {
		if got := listed(r.ask("ListQueueStates", in)); got != want {
			t.Errorf("%v: %s; want %s", in, got, want)
		}
	}
	in := object{"Contains": "jobs", "Max": 2}
	first := r.ask("ListQueueStates", in)
	in["Cursor"] = first["Cursor"]
	second := r.ask("ListQueueStates", in)
	if listed(first) != "jobs-a.fifo 0/0/0, jobs-b 1/1/1" || listed(second) != "old-jobs 0/0/0" ||
		second["Cursor"] != nil || second["Total"] != 3.0 {
		t.Errorf("pages %v, %v", first, second)
	}
	for want, skip := range map[string]int{
		"jobs-a.fifo 0/0/0, jobs-b 1/1/1": 0, "jobs-b 1/1/1, old-jobs 0/0/0": 1, "old-jobs 0/0/0": 2, "": 3,
	} {
		out := r.ask("ListQueueStates", object{"Contains": "jobs", "Max": 2, "Skip": skip})
		if listed(out) != want || out["Total"] != 3.0 || (out["Cursor"] != nil) != (skip == 0) {
			t.Errorf("without the first %d: %v; want %s", skip, out, want)
		}
	}
	if out := r.ask("ListQueueStates", object{"Skip": math.MaxInt32}); listed(out) != "" || out["Total"] != 4.0 {
		t.Errorf("beyond the end: %v", out)
	}
	skipped := r.ask("ListQueueStates", object{"Contains": "jobs", "Max": 1, "Skip": 1})
	if out := r.ask("ListQueueStates", object{
		"Contains": "jobs", "Cursor": skipped["Cursor"],
	}); listed(out) != "old-jobs 0/0/0" {
		t.Errorf("after what was skipped to: %v", out)
	}
	r.refused(r.root, "ListQueueStates", object{"Contains": "jobs", "Cursor": in["Cursor"], "Skip": 1}, 400,
		"omit it with a Cursor")
	r.refused(r.root, "ListQueueStates", object{"Skip": -1}, 400, "Skip is -1; it must be 0 or more")
	r.refused(r.root, "ListQueueStates", object{"Cursor": in["Cursor"]}, 400, "another Prefix, Contains")
	r.refused(r.root, "ListQueueStates", object{"Cursor": "x"}, 400, "Cursor is not one")
	r.refused(r.root, "ListQueueStates", object{"Max": 0}, 400, "Max is 0")
	r.refused(r.root, "ListQueueStates", object{"Max": 201}, 400, "between 1 and 200")
}

// A caller with an answer gets only the queues that have changed since, or all of them if other queues are on the page.
func TestListChangedQueueStates(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, _ := r.queue("a"), r.queue("b")
	r.queue("c")
	since := func(version any) object { return object{"Since": version} }
	first := r.ask("ListQueueStates", object{})
	if first["Unchanged"] != nil || first["Version"] == nil || len(first["Queues"].([]any)) != 3 {
		t.Fatalf("the first answer is %v", first)
	}
	same := r.ask("ListQueueStates", since(first["Version"]))
	if listed(same) != "" || same["Unchanged"] != 3.0 || same["Total"] != 3.0 || same["Version"] != nil {
		t.Errorf("nothing has happened: %v", same)
	}
	r.sendBodies(a, "x")
	one := r.ask("ListQueueStates", since(first["Version"]))
	if listed(one) != "a 1/0/0" || one["Unchanged"] != 2.0 || one["Version"] == nil {
		t.Errorf("one queue has changed: %v", one)
	}
	if out := r.ask("ListQueueStates", since(one["Version"])); listed(out) != "" || out["Unchanged"] != 3.0 {
		t.Errorf("nothing more has happened: %v", out)
	}
	// The version covers only queues that the caller may see.
	names, _ := r.root.User(t, "names", apitest.Allow("sluice:ListQueueStates", "*"))
	if status, out := names.Sluice(t, "ListQueueStates", since(one["Version"])); status != 200 ||
		listed(out) != "a, b, c" {
		t.Errorf("another caller's version: %d %v", status, out)
	}
	r.queue("b2")
	for what, in := range map[string]object{
		"a new queue": since(one["Version"]), "another page": {"Since": one["Version"], "Skip": 1, "Max": 3},
		"no version": since("AAAA"), "no base64": since("!"), "an empty one": since(""),
	} {
		if out := r.ask("ListQueueStates", in); out["Unchanged"] != nil || out["Version"] == nil || listed(out) == "" {
			t.Errorf("%s: %v", what, out)
		}
	}
	r.refused(r.root, "ListQueueStates", since(strings.Repeat("A", 2049)), 400, "less than or equal to 2048")
}

// A page with 300 idle queues that is polled transfers less than 5 kB, in both directions.
func TestIdleListIsSmall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 300 {
		r.queue(fmt.Sprintf("orders-of-customer-%03d", i))
	}
	first, again := 0, 0
	in := object{"Max": 200}
	for pages := 1; pages <= 2; pages++ {
		out := r.ask("ListQueueStates", in)
		first += size(t, out)
		idle := maps.Clone(in)
		idle["Since"] = out["Version"]
		again += size(t, idle) + size(t, r.ask("ListQueueStates", idle))
		if in["Cursor"] = out["Cursor"]; (out["Cursor"] == nil) != (pages == 2) {
			t.Fatalf("page %d: %v", pages, out["Cursor"])
		}
	}
	t.Logf("first %d bytes, then %d", first, again)
	if again > 5000 {
		t.Errorf("%d bytes are moved while nothing happens", again)
	}
}

// size returns the bytes of a request or an answer.
func size(t *testing.T, o object) int {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}

// A caller who may list queues sees the states of only those queues that the caller may read, and likewise their dead
// letters.
func TestWhoSeesQueueStates(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.sendBodies(r.queue("dead"), "x")
	r.queue("q", "RedrivePolicy", apitest.Redrive(arn("dead"), 5))
	list := apitest.Allow("sluice:ListQueueStates", "*")
	names, _ := r.root.User(t, "names", list)
	status, out := names.Sluice(t, "ListQueueStates", object{})
	if status != 200 || listed(out) != "dead, q" {
		t.Errorf("%d %v", status, out)
	}
	one, _ := r.root.User(t, "one", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sluice:ListQueueStates","Resource":"*"},
		{"Effect":"Allow","Action":"sluice:DescribeQueueState","Resource":"`+arn("q")+`"}]}`)
	status, out = one.Sluice(t, "ListQueueStates", object{})
	if status != 200 || listed(out) != "dead, q 0/0/0" {
		t.Fatalf("%d %v", status, out)
	}
	if st := out["Queues"].([]any)[1].(object)["State"].(object); st["DeadLetters"] != nil ||
		st["DeadLetterQueueArn"] != arn("dead") {
		t.Errorf("%v", st)
	}
	nobody, _ := r.root.User(t, "nobody", apitest.Allow("sluice:Describe*", "*"))
	r.refused(nobody, "ListQueueStates", object{}, 403, "sluice:ListQueueStates")
	r.refused(apitest.Stranger(r.server.Endpoint()), "ListQueueStates", object{}, 403, "Authentication Token")
}
