package inspect_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

func (r *rig) deleteQueue(url string) {
	r.Helper()
	out, err := r.root.SQS.DeleteQueue(r.Context(), &sqs.DeleteQueueInput{QueueUrl: &url})
	apitest.Must(r.T, out, err)
}

// A deletion is undone: until then the queue is gone for all operations, and afterwards it is unchanged.
func TestUndoDelete(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dead := r.queue("dead.fifo", "FifoQueue", "true")
	policy := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"sqs:SendMessage","Resource":"*"}]}`
	url := r.queue(
		"q.fifo", "FifoQueue", "true", "ContentBasedDeduplication", "true", "VisibilityTimeout", "600", "Policy",
		policy,
		"RedrivePolicy", `{"deadLetterTargetArn":"`+arn("dead.fifo")+`","maxReceiveCount":3}`,
	)
	_, err := r.root.SQS.TagQueue(t.Context(), &sqs.TagQueueInput{QueueUrl: &url, Tags: map[string]string{"team": "a"}})
	apitest.Must(t, url, err)
	send := func(body string) {
		t.Helper()
		r.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageGroupId: aws.String("g")})
	}
	name := object{"QueueName": "q.fifo"}
	nothing := func() {
		t.Helper()
		r.refused(r.root, "UndoDelete", name, http.StatusBadRequest, "No deletion of a queue q.fifo can be undone")
	}
	attributes := func() string {
		t.Helper()
		out, err := r.root.SQS.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
			QueueUrl: &url, AttributeNames: []types.QueueAttributeName{"All"},
		})
		tags, tagErr := r.root.SQS.ListQueueTags(t.Context(), &sqs.ListQueueTagsInput{QueueUrl: &url})
		return fmt.Sprint(apitest.Must(t, out, err).Attributes, apitest.Must(t, tags, tagErr).Tags)
	}
	nothing()
	send("a")
	got, err := r.root.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url})
	handle := apitest.Must(t, got, err).Messages[0].ReceiptHandle
	send("b")
	was := attributes()
	r.deleteQueue(url)
	gone := func(what string, err error) {
		t.Helper()
		if err == nil || apitest.Code(err) != "AWS.SimpleQueueService.NonExistentQueue" {
			t.Errorf("%s of a deleted queue gave %v", what, err)
		}
	}
	deletion := &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: handle}
	_, err = r.root.SQS.DeleteMessage(t.Context(), deletion)
	gone("the receipt handle", err)
	_, err = r.root.SQS.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("q.fifo")})
	gone("the name", err)
	list, err := r.root.SQS.ListQueues(t.Context(), new(sqs.ListQueuesInput))
	if urls := apitest.Must(t, list, err).QueueUrls; len(urls) != 1 || urls[0] != dead {
		t.Errorf("listed are %q", urls)
	}
	sources, err := r.root.SQS.ListDeadLetterSourceQueues(t.Context(), &sqs.ListDeadLetterSourceQueuesInput{
		QueueUrl: &dead,
	})
	if urls := apitest.Must(t, sources, err).QueueUrls; len(urls) != 0 {
		t.Errorf("sources are %q", urls)
	}
	back := r.ask("UndoDelete", name)
	if again := r.ask("UndoDelete", name); fmt.Sprint(again) != fmt.Sprint(back) { // the first answer was lost
		t.Errorf("the repetition returns %v, after %v", again, back)
	}
	if fmt.Sprint(back["QueueUrl"], back["Messages"]) != url+"2" || back["DeletedTimestamp"] == nil {
		t.Errorf("the undo returns %v", back)
	}
	if is := attributes(); is != was {
		t.Errorf("the attributes are\n%s\nand were\n%s", is, was)
	}
	send("b") // which is a duplicate
	_, err = r.root.SQS.DeleteMessage(t.Context(), deletion)
	apitest.Must(t, deletion, err)
	if got := fmt.Sprint(r.receive(url, 10)); got != "[b]" {
		t.Errorf("received %s", got)
	}
	r.deleteQueue(url)
	r.ask("UndoDelete", name)
	r.ask("UndoDelete", name)
}

// An undo that is repeated after a lost answer finds the restored queue, even if an older queue of that name could also
// be restored.
func TestRepeatedUndoDelete(t *testing.T) {
	t.Parallel()
	config := servertest.InMemory()
	config.NoCoolDowns = true
	s, _ := servertest.Start(t, config)
	r := &rig{t, s, apitest.RootActor(s.Endpoint(), s.Root())}
	name := object{"QueueName": "q"}
	r.deleteQueue(r.queue("q"))
	url := r.queue("q")
	r.sendBodies(url, "a")
	r.deleteQueue(url)
	for range 2 {
		if back := r.ask("UndoDelete", name); fmt.Sprint(back["Messages"]) != "1" {
			t.Errorf("the undo returns %v", back)
		}
	}
	r.deleteQueue(url)
	r.queue("q")
	r.refused(r.root, "UndoDelete", name, http.StatusBadRequest, "there is a new queue of this name")
}

// The name of a deleted queue and its place in the account's limit are free again, and if they are used, the undo is
// refused.
func TestUndoDeleteIsRefused(t *testing.T) {
	t.Parallel()
	config := servertest.InMemory()
	config.NoCoolDowns = true
	s, _ := servertest.Start(t, config)
	r := &rig{t, s, apitest.RootActor(s.Endpoint(), s.Root())}
	name := object{"QueueName": "q"}
	r.deleteQueue(r.queue("q"))
	r.refused(r.root, "UndoDelete", object{}, http.StatusBadRequest, "Must specify a queue name")
	r.refused(r.root, "UndoDelete", object{"QueueName": "q", "QueueOwnerAWSAccountId": "x"}, http.StatusBadRequest,
		"does not exist")
	limit := func(n int) {
		t.Helper()
		r.ask("SetLimits", object{"AccountId": apitest.Account, "Limits": object{"Queues": n}})
	}
	limit(1)
	r.queue("other")
	r.refused(r.root, "UndoDelete", name, http.StatusForbidden, "as many queues as this server allows, 1")
	limit(5)
	r.queue("q")
	r.refused(r.root, "UndoDelete", name, http.StatusBadRequest, "there is a new queue of this name")
}

// Messages of a deleted queue count as stored by its account until it can no longer be restored.
func TestDeletedQueueCountsAsStored(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ask("SetLimits", object{"AccountId": apitest.Account, "Limits": object{"StoredMessages": 3}})
	url := r.queue("q")
	r.sendBodies(url, "a", "b")
	r.deleteQueue(url)
	other := r.queue("other")
	r.sendBodies(other, "c")
	_, err := r.root.SQS.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &other, MessageBody: aws.String("d")})
	if err == nil || apitest.Code(err) != "OverLimit" {
		t.Errorf("a send beyond the limit returned %v", err)
	}
	if got := fmt.Sprint(r.ask("UndoDelete", object{"QueueName": "q"})["Messages"]); got != "2" {
		t.Errorf("%s messages came back", got)
	}
}

// Only the queue's own account can allow it, by the queue's ARN and tags.
func TestUndoDeleteNeedsPermission(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q")
	_, err := r.root.SQS.TagQueue(t.Context(), &sqs.TagQueueInput{QueueUrl: &url, Tags: map[string]string{"team": "a"}})
	apitest.Must(t, url, err)
	allowed := func(team string) string {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sluice:UndoDelete","Resource":"` +
			arn("q") +
			`","Condition":{"StringEquals":{"aws:ResourceTag/team":"` + team + `"}}}]}`
	}
	r.deleteQueue(url)
	name := object{"QueueName": "q"}
	none, _ := r.root.User(t, "none", "")
	ofB, _ := r.root.User(t, "b", allowed("b"))
	ofA, _ := r.root.User(t, "a", allowed("a"))
	for _, who := range []*apitest.Actor{none, ofB} {
		r.refused(who, "UndoDelete", name, http.StatusForbidden, "is not authorized to perform: sluice:UndoDelete")
		r.refused(who, "UndoDelete", object{"QueueName": "never"}, http.StatusForbidden,
			"is not authorized to perform: sluice:UndoDelete")
	}
	cred, _ := r.server.RootOf(apitest.OtherAccount)
	other := apitest.RootActor(r.server.Endpoint(), cred)
	r.refused(other, "UndoDelete", object{"QueueName": "q", "QueueOwnerAWSAccountId": apitest.Account},
		http.StatusForbidden, "sluice:UndoDelete")
	if status, out := ofA.Sluice(t, "UndoDelete", name); status != http.StatusOK {
		t.Errorf("%d %v", status, out)
	}
}
