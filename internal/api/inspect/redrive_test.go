package inspect_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	trailtypes "github.com/aws/aws-sdk-go-v2/service/cloudtrail/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// deadLetters creates a queue with some messages as its dead letters, and returns the URLs of both.
func (r *rig) deadLetters(bodies ...string) (source, dead string) {
	r.Helper()
	dead = r.queue("dead")
	source = r.queue("q", "VisibilityTimeout", "0", "RedrivePolicy", apitest.Redrive(arn("dead"), 1))
	for _, body := range bodies {
		r.send(&sqs.SendMessageInput{QueueUrl: &source, MessageBody: &body,
			MessageAttributes: map[string]types.MessageAttributeValue{
				"tenant": {DataType: aws.String("String"), StringValue: aws.String("acme")},
			}})
	}
	for range 2 * len(bodies) {
		r.receive(source, 10)
	}
	if out := r.ask("DescribeQueueState", object{"QueueUrl": dead}); out["Visible"] != float64(len(bodies)) {
		r.Fatalf("%v dead letters", out["Visible"])
	}
	return source, dead
}

// redrive starts a task and waits for its end.
func (r *rig) redrive(in object) object {
	r.Helper()
	if out := r.ask("RedriveMessages", in); out["TaskHandle"] == nil || out["Messages"] != nil {
		r.Fatalf("%v", out)
	}
	return r.task(in["QueueUrl"].(string), "COMPLETED")
}

// task waits until the newest task of a queue has a status, and returns it.
func (r *rig) task(url, status string) (task object) {
	r.Helper()
	eventually.True(r.T, "the task is "+status, func() bool {
		task = r.ask("ListRedriveTasks", object{"QueueUrl": url})["Tasks"].([]any)[0].(object)
		return task["Status"] == status
	})
	return task
}

// bodies returns the bodies of the messages in a queue.
func (r *rig) bodies(url string) string {
	r.Helper()
	var list []string
	for _, m := range r.ask("PeekMessages", object{"QueueUrl": url, "IncludeBody": true})["Messages"].([]any) {
		list = append(list, m.(object)["Body"].(string))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func TestRedriveMessages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	source, dead := r.deadLetters("a1", "b1", "a2", "b2", "a3")
	dry := r.ask("RedriveMessages", object{
		"QueueUrl": dead, "Filter": "-b1 -b2", "DryRun": true, "IncludeBody": true, "Max": 2,
	})
	if list := dry["Messages"].([]any); len(list) != 2 || list[0].(object)["Body"] == nil || dry["Cursor"] == nil ||
		dry["Total"] != 5.0 || dry["TaskHandle"] != nil {
		t.Errorf("a dry run: %v", dry)
	}
	if got := r.bodies(dead); got != "a1 a2 a3 b1 b2" {
		t.Errorf("a dry run has left %s", got)
	}
	task := r.redrive(object{"QueueUrl": dead, "Filter": "-b1 -b2"})
	for name, want := range map[string]any{
		"Moved": 3.0, "Scanned": 5.0, "Total": 5.0, "Skipped": 0.0, "Filter": "-b1 -b2", "Selects": true,
		"Edited": false, "MessageIds": 0.0, "TaskHandle": nil, "DestinationArn": nil,
	} {
		if task[name] != want {
			t.Errorf("%s is %v, not %v", name, task[name], want)
		}
	}
	if results := task["Results"].([]any); len(results) != 3 || results[0].(object)["Outcome"] != "Moved" ||
		task["EndedTimestamp"] == nil {
		t.Errorf("results %v", results)
	}
	if r.bodies(dead) != "b1 b2" || r.bodies(source) != "a1 a2 a3" {
		t.Errorf("%s are left, %s were moved", r.bodies(dead), r.bodies(source))
	}
	tasks, err := r.root.SQS.ListMessageMoveTasks(t.Context(), &sqs.ListMessageMoveTasksInput{
		SourceArn: aws.String(arn("dead")),
	})
	if apitest.Must(t, tasks, err); len(tasks.Results) != 1 || tasks.Results[0].ApproximateNumberOfMessagesMoved != 3 {
		t.Errorf("SQS lists %+v", tasks.Results)
	}

	// By their ids, edited, to another queue.
	var ids []any
	for _, m := range r.ask("PeekMessages", object{"QueueUrl": dead, "Filter": "b2"})["Messages"].([]any) {
		ids = append(ids, m.(object)["MessageId"])
	}
	if got := r.ask("PeekMessages", object{
		"QueueUrl": dead, "MessageIds": ids, "IncludeBody": true,
	})["Messages"].([]any); len(got) != 1 || got[0].(object)["Body"] != "b2" {
		t.Errorf("found by its id: %v", got)
	}
	other := r.queue("other")
	task = r.redrive(object{"QueueUrl": dead, "MessageIds": ids, "DestinationArn": arn("other"), "Edit": object{
		"Body": "repaired", "SetAttributes": object{"fixed": object{"DataType": "Number", "StringValue": "1"}},
		"RemoveAttributes": []string{"tenant"},
	}})
	if task["Edited"] != true || task["MessageIds"] != 1.0 || task["Moved"] != 1.0 {
		t.Errorf("%v", task)
	}
	got, err := r.root.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &other, MessageAttributeNames: []string{"All"},
	})
	if apitest.Must(t, got, err); len(got.Messages) != 1 || *got.Messages[0].Body != "repaired" ||
		len(got.Messages[0].MessageAttributes) != 1 || *got.Messages[0].MessageAttributes["fixed"].StringValue != "1" {
		t.Errorf("the edited message is %+v", got.Messages)
	}
	if result := task["Results"].([]any)[0].(object); result["MessageId"] != ids[0] ||
		result["NewMessageId"] != *got.Messages[0].MessageId {
		t.Errorf("%v became %v: %v", ids[0], *got.Messages[0].MessageId, result)
	}
	if r.bodies(dead) != "b1" {
		t.Errorf("%s are left", r.bodies(dead))
	}

	// The answer names the messages that cannot be moved.
	r.sendBodies(dead, "lost")
	task = r.redrive(object{"QueueUrl": dead, "Filter": "lost"})
	if result := task["Results"].([]any)[0].(object); task["Skipped"] != 1.0 || result["Outcome"] != "NoSource" ||
		result["NewMessageId"] != nil {
		t.Errorf("%v", task)
	}

	// SQS's own operation cancels a task, and there is one task at a time.
	r.sendBodies(dead, "c1", "c2", "c3")
	handle := r.ask("RedriveMessages", object{
		"QueueUrl": dead, "Filter": "c", "DestinationArn": arn("other"), "MaxNumberOfMessagesPerSecond": 1,
	})["TaskHandle"].(string)
	r.refused(r.root, "RedriveMessages", object{"QueueUrl": dead}, 400, "already")
	if task := r.task(dead, "RUNNING"); task["TaskHandle"] != handle || task["MaxNumberOfMessagesPerSecond"] != 1.0 {
		t.Errorf("%v", task)
	}
	if _, err := r.root.SQS.CancelMessageMoveTask(t.Context(), &sqs.CancelMessageMoveTaskInput{
		TaskHandle: &handle,
	}); err != nil {
		t.Fatal(err)
	}
	if task := r.task(dead, "CANCELLED"); task["TaskHandle"] != nil || task["Filter"] != "c" {
		t.Errorf("%v", task)
	}
}

func TestRedriveRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dead := r.queue("dead")
	r.queue("q", "RedrivePolicy", apitest.Redrive(arn("dead"), 1))
	r.queue("alone")
	r.queue("f.fifo", "FifoQueue", "true")
	many := make([]string, 1001)
	for i := range many {
		many[i] = "00000000-0000-0000-0000-000000000000"
	}
	if status, out := r.root.Sluice(t, "RedriveMessages", object{
		"QueueUrl": dead, "MessageIds": many,
	}); status != 400 || !strings.Contains(fmt.Sprint(out), "less than or equal to 1000") {
		t.Errorf("1001 ids: %d %v", status, out)
	}
	for words, in := range map[string]object{
		"Filter: ":                        {"Filter": "count>many"},
		"not the id of a message":         {"MessageIds": []string{"x"}},
		"between 1 and 500":               {"MaxNumberOfMessagesPerSecond": 501},
		"no ARN of a queue":               {"DestinationArn": "q"},
		"the queue that the messages are": {"DestinationArn": arn("dead")},
		"must be a FIFO queue if":         {"DestinationArn": arn("f.fifo")},
		"does not exist":                  {"DestinationArn": arn("none")},
		"dead-letter queue: name a":       {"QueueUrl": "alone"},
		"are for a DryRun":                {"Max": 3},
		"Max is 501":                      {"DryRun": true, "Max": 501},
		"Edit is empty":                   {"Edit": object{}},
		"1 to 1048576":                    {"Edit": object{"Body": ""}},
		"must not have":                   {"Edit": object{"Body": "\x01"}},
		"BinaryValue if the type": {"Edit": object{
			"SetAttributes": object{"a": object{"DataType": "Binary", "StringValue": "x"}},
		}},
		"AWS.": {"Edit": object{
			"SetAttributes": object{"AWS.x": object{"DataType": "String", "StringValue": "x"}},
		}},
		"Can't cast": {"Edit": object{"SetAttributes": object{"n": object{"DataType": "Number", "StringValue": "x"}}}},
	} {
		if in["QueueUrl"] == nil {
			in["QueueUrl"] = dead
		}
		r.refused(r.root, "RedriveMessages", in, 400, words)
	}
	if out := r.ask("ListRedriveTasks", object{"QueueUrl": dead}); len(out["Tasks"].([]any)) != 0 {
		t.Errorf("tasks %v", out)
	}
}

// A redrive needs its own action, and SQS's actions for its steps.
func TestWhoMayRedrive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dead := r.queue("dead")
	r.queue("q", "RedrivePolicy", apitest.Redrive(arn("dead"), 1))
	all := []string{"sluice:RedriveMessages", "sqs:StartMessageMoveTask", "sqs:ReceiveMessage", "sqs:DeleteMessage",
		"sqs:GetQueueAttributes", "sqs:SendMessage", "sluice:EditMessage", "sluice:PeekMessages",
		"sluice:PeekMessageBody"}
	allow := func(actions []string) string {
		return fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["%s"],"Resource":"*"}]}`,
			strings.Join(actions, `","`))
	}
	for i, lacking := range all {
		user, _ := r.root.User(t, fmt.Sprint("u", i), allow(slices.Delete(slices.Clone(all), i, i+1)))
		in := object{"QueueUrl": dead, "Edit": object{"Body": "x"}}
		if strings.HasPrefix(lacking, "sluice:Peek") {
			in["DryRun"], in["IncludeBody"] = true, true
		}
		if strings.HasPrefix(lacking, "sqs:") {
			lacking = strings.ToLower(lacking) // as SQS says it
		}
		r.refused(user, "RedriveMessages", in, 403, lacking)
	}
	user, _ := r.root.User(t, "able", allow(all))
	if status, out := user.Sluice(t, "RedriveMessages", object{
		"QueueUrl": dead, "Edit": object{"Body": "the secret text"},
	}); status != 200 {
		t.Errorf("%d %v", status, out)
	}
	r.refused(user, "ListRedriveTasks", object{"QueueUrl": dead}, 403, "sluice:ListRedriveTasks")
	r.refused(apitest.Stranger(r.server.Endpoint()), "RedriveMessages", object{"QueueUrl": dead}, 403,
		"Authentication Token")

	// The trail records it, but not the content of messages.
	keys := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return r.root.Keys, nil })
	trail := cloudtrail.New(cloudtrail.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(r.server.Endpoint()), Credentials: keys,
	})
	eventually.True(t, "an event", func() bool {
		out, err := trail.LookupEvents(t.Context(),
			&cloudtrail.LookupEventsInput{LookupAttributes: []trailtypes.LookupAttribute{
				{AttributeKey: trailtypes.LookupAttributeKeyEventName, AttributeValue: aws.String("RedriveMessages")},
			}})
		apitest.Must(t, out, err)
		for _, e := range out.Events {
			if strings.Contains(*e.CloudTrailEvent, "secret text") {
				t.Fatalf("the trail has the body: %s", *e.CloudTrailEvent)
			}
		}
		return slices.ContainsFunc(out.Events, func(e trailtypes.Event) bool { return *e.Username == "able" })
	})
}

// Messages are edited in their queue, each once: their copies have new ids.
func TestEditInPlace(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, more := range map[string][]string{
		"plain": nil, "ordered.fifo": {"FifoQueue", "true", "ContentBasedDeduplication", "true"},
	} {
		url := r.queue(name, more...)
		for _, body := range []string{"a1", "b1", "a2", "b2"} {
			in := &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body}
			if more != nil {
				in.MessageGroupId = aws.String("g")
			}
			r.send(in)
		}
		var ids []any
		for _, m := range r.ask("PeekMessages", object{"QueueUrl": url, "Filter": "-b1"})["Messages"].([]any) {
			ids = append(ids, m.(object)["MessageId"])
		}
		edit := object{"SetAttributes": object{"seen": object{"DataType": "Number", "StringValue": "1"}}}
		task := r.redrive(object{"QueueUrl": url, "MessageIds": ids, "DestinationArn": arn(name), "Edit": edit})
		if task["Moved"] != 3.0 || task["Skipped"] != 0.0 {
			t.Errorf("%s: moved %v, skipped %v", name, task["Moved"], task["Skipped"])
		}
		if got := r.bodies(url); got != "a1 a2 b1 b2" {
			t.Errorf("%s has %s", name, got)
		}
		if got := r.ask("PeekMessages", object{
			"QueueUrl": url, "Filter": "attr.seen:1",
		})["Messages"].([]any); len(got) != 3 {
			t.Errorf("%s: %d messages are edited", name, len(got))
		}
		for _, in := range []object{{"MessageIds": ids}, {"Edit": edit}} {
			in["QueueUrl"], in["DestinationArn"] = url, arn(name)
			r.refused(r.root, "RedriveMessages", in, 400, "the queue that the messages are in")
		}
	}
}
