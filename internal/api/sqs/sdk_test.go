package sqs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

func TestLifecycle(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	u := c.Create("q", map[string]string{"VisibilityTimeout": "60"})
	out, err := c.GetQueueUrl(c.Ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("q")})
	if got := *apitest.Must(t, out, err).QueueUrl; got != *u {
		t.Errorf("the queue URL is %s, and then %s", *u, got)
	}
	c.Counts(u, 0, 0, 0)
	want := map[string]types.MessageAttributeValue{
		"s": {DataType: aws.String("String"), StringValue: aws.String("✓")},
		"n": {DataType: aws.String("Number.int"), StringValue: aws.String("-12.50")},
		"b": {DataType: aws.String("Binary.png"), BinaryValue: []byte{0, 1, 254, 255}},
	}
	sent, err := c.SendMessage(c.Ctx,
		&sqs.SendMessageInput{QueueUrl: u, MessageBody: aws.String("hello"), MessageAttributes: want,
			MessageSystemAttributes: map[string]types.MessageSystemAttributeValue{
				"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String("Root=1")},
			}})
	apitest.Must(t, sent, err)
	c.Counts(u, 1, 0, 0)
	got := c.Receive(u)
	if len(got) != 1 {
		t.Fatalf("got %d messages", len(got))
	}
	m := got[0]
	if *m.MessageId != *sent.MessageId || *m.Body != "hello" || *m.MD5OfBody != *sent.MD5OfMessageBody ||
		*m.MD5OfMessageAttributes != *sent.MD5OfMessageAttributes {
		t.Errorf("got %+v, sent %+v", m, sent)
	}
	if m.Attributes["SenderId"] != account || m.Attributes["ApproximateReceiveCount"] != "1" ||
		m.Attributes["AWSTraceHeader"] != "Root=1" {
		t.Errorf("attributes %v", m.Attributes)
	}
	if !maps.EqualFunc(m.MessageAttributes, want, func(a, b types.MessageAttributeValue) bool {
		return *a.DataType == *b.DataType && aws.ToString(a.StringValue) == aws.ToString(b.StringValue) &&
			bytes.Equal(a.BinaryValue, b.BinaryValue)
	}) {
		t.Errorf("message attributes %v", m.MessageAttributes)
	}
	c.Counts(u, 0, 1, 0)
	apitest.Equal(t, c.Bodies(u), nil)
	c.Delete(u, m, m)
	c.Counts(u, 0, 0, 0)

	_, err = c.DeleteQueue(c.Ctx, &sqs.DeleteQueueInput{QueueUrl: u})
	apitest.Must(t, 0, err)
	_, err = c.SendMessage(c.Ctx, &sqs.SendMessageInput{QueueUrl: u, MessageBody: aws.String("late")})
	apitest.Refused[*types.QueueDoesNotExist](t, err, "AWS.SimpleQueueService.NonExistentQueue")
	_, err = c.CreateQueue(c.Ctx, &sqs.CreateQueueInput{QueueName: aws.String("q")})
	apitest.Refused[*types.QueueDeletedRecently](t, err, "AWS.SimpleQueueService.QueueDeletedRecently")
}

// The SDK has its own types for SQS's errors.
func TestTypedErrors(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	u := c.Create("q", nil)
	_, err := c.CreateQueue(c.Ctx, &sqs.CreateQueueInput{
		QueueName: aws.String("q"), Attributes: map[string]string{"DelaySeconds": "1"},
	})
	apitest.Refused[*types.QueueNameExists](t, err, "QueueAlreadyExists")
	_, err = c.DeleteMessage(c.Ctx, &sqs.DeleteMessageInput{QueueUrl: u, ReceiptHandle: aws.String("garbage")})
	apitest.Refused[*types.ReceiptHandleIsInvalid](t, err, "ReceiptHandleIsInvalid")
	_, err = c.SendMessage(c.Ctx, &sqs.SendMessageInput{QueueUrl: u, MessageBody: aws.String("\x00")})
	apitest.Refused[*types.InvalidMessageContents](t, err, "InvalidMessageContents")
	_, err = c.SetQueueAttributes(c.Ctx, &sqs.SetQueueAttributesInput{
		QueueUrl: u, Attributes: map[string]string{"Nonsense": "1"},
	})
	apitest.Refused[*types.InvalidAttributeName](t, err, "InvalidAttributeName")
	_, err = c.SetQueueAttributes(c.Ctx, &sqs.SetQueueAttributesInput{
		QueueUrl: u, Attributes: map[string]string{"DelaySeconds": "901"},
	})
	apitest.Refused[*types.InvalidAttributeValue](t, err, "InvalidAttributeValue")
	_, err = c.SendMessageBatch(c.Ctx, &sqs.SendMessageBatchInput{
		QueueUrl: u, Entries: []types.SendMessageBatchRequestEntry{},
	})
	apitest.Refused[*types.EmptyBatchRequest](t, err, "AWS.SimpleQueueService.EmptyBatchRequest")
	_, err = c.StartMessageMoveTask(c.Ctx, &sqs.StartMessageMoveTaskInput{
		SourceArn: aws.String(strings.Replace(c.ARN(u), ":q", ":nobody", 1)),
	})
	apitest.Refused[*types.ResourceNotFoundException](t, err, "ResourceNotFoundException")
}

func TestVisibility(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	u := c.Create("q", map[string]string{"VisibilityTimeout": "5"})
	change := func(m types.Message, seconds int32) {
		t.Helper()
		_, err := c.ChangeMessageVisibility(c.Ctx, &sqs.ChangeMessageVisibilityInput{
			QueueUrl: u, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: seconds,
		})
		apitest.Must(t, 0, err)
	}
	c.Send(u, "default")
	first := c.Receive(u)[0]
	c.Counts(u, 0, 1, 0)
	// It becomes visible again by itself, and a receive waits for it.
	got := c.Receive(u, func(in *sqs.ReceiveMessageInput) { in.WaitTimeSeconds, in.VisibilityTimeout = 20, 100 })
	if len(got) != 1 || got[0].Attributes["ApproximateReceiveCount"] != "2" {
		t.Fatalf("got %v", got)
	}
	if *got[0].ReceiptHandle == *first.ReceiptHandle {
		t.Error("two receives returned the same handle")
	}
	apitest.Equal(t, c.Bodies(u), nil)
	change(got[0], 0)
	c.Counts(u, 1, 0, 0)
	got = c.Receive(u, visible(100))
	change(first, 0) // an older handle is equally valid
	c.Counts(u, 1, 0, 0)
	change(first, 100) // and hides it again
	c.Counts(u, 0, 1, 0)
	apitest.Equal(t, c.Bodies(u), nil)
	c.Delete(u, got[0])
	_, err := c.ChangeMessageVisibility(c.Ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: u, ReceiptHandle: first.ReceiptHandle, VisibilityTimeout: 1,
	})
	if err == nil ||
		!strings.Contains(err.Error(), "Message does not exist or is not available for visibility timeout change.") {
		t.Errorf("the message is gone: %v", err)
	}
}

func TestLateDelete(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	u := c.Create("q", comesBack)
	c.Send(u, "m")
	late := c.Receive(u)[0]
	c.Counts(u, 1, 0, 0)
	c.Delete(u, late) // a standard queue accepts it, too
	c.Counts(u, 0, 0, 0)
}

func TestDelays(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	u := c.Create("q", map[string]string{"DelaySeconds": "5"})
	c.Send(u, "delayed by the queue")
	_, err := c.SendMessageBatch(c.Ctx,
		&sqs.SendMessageBatchInput{QueueUrl: u, Entries: []types.SendMessageBatchRequestEntry{
			{Id: aws.String("a"), MessageBody: aws.String("delayed by itself"), DelaySeconds: 900},
		}})
	apitest.Must(t, 0, err)
	// The SDK cannot send 0 for one message; a request without the SDK can.
	raw := newClient(t, inJSON)
	raw.Region = c.Options().Region
	raw.Make("SendMessage", object{"QueueUrl": "q", "MessageBody": "at once", "DelaySeconds": 0})
	c.Counts(u, 1, 0, 2)
	apitest.Equal(t, c.Bodies(u), []string{"at once"})
	apitest.Equal(t, c.Bodies(u, func(in *sqs.ReceiveMessageInput) { in.WaitTimeSeconds = 20 }),
		[]string{"delayed by the queue"})
	c.Counts(u, 0, 2, 1)
}

func TestBatches(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	u := c.Create("q", nil)
	var entries []types.SendMessageBatchRequestEntry
	var want []string
	for i := range 10 {
		want = append(want, fmt.Sprint("body ", i))
		entries = append(entries, types.SendMessageBatchRequestEntry{
			Id: aws.String(fmt.Sprint(i)), MessageBody: &want[i],
		})
	}
	sent, err := c.SendMessageBatch(c.Ctx, &sqs.SendMessageBatchInput{QueueUrl: u, Entries: entries})
	if apitest.Must(t, sent, err); len(sent.Successful) != 10 || len(sent.Failed) != 0 {
		t.Fatalf("%+v", sent)
	}
	got := c.Receive(u)
	var bodies []string
	var hide []types.ChangeMessageVisibilityBatchRequestEntry
	var remove []types.DeleteMessageBatchRequestEntry
	for i, m := range got {
		bodies = append(bodies, *m.Body)
		hide = append(hide, types.ChangeMessageVisibilityBatchRequestEntry{
			Id: aws.String(fmt.Sprint(i)), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 0,
		})
		remove = append(remove, types.DeleteMessageBatchRequestEntry{
			Id: aws.String(fmt.Sprint(i)), ReceiptHandle: m.ReceiptHandle,
		})
	}
	slices.Sort(bodies)
	apitest.Equal(t, bodies, want)
	changed, err := c.ChangeMessageVisibilityBatch(c.Ctx, &sqs.ChangeMessageVisibilityBatchInput{
		QueueUrl: u, Entries: hide[:4],
	})
	if apitest.Must(t, changed, err); len(changed.Successful) != 4 {
		t.Errorf("%+v", changed)
	}
	c.Counts(u, 4, 6, 0)
	deleted, err := c.DeleteMessageBatch(c.Ctx, &sqs.DeleteMessageBatchInput{QueueUrl: u, Entries: remove})
	if apitest.Must(t, deleted, err); len(deleted.Successful) != 10 {
		t.Errorf("%+v", deleted)
	}
	c.Counts(u, 0, 0, 0)
}

func TestFIFO(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	u := c.Create("q.fifo", map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true"})
	for _, body := range []string{"a1", "b1", "a2", "a3", "b2"} {
		c.SendFIFO(u, body[:1], "", body)
	}
	c.SendFIFO(u, "a", "", "a1") // a duplicate
	c.Counts(u, 5, 0, 0)
	// One message of a group at a time, in order.
	one := func(in *sqs.ReceiveMessageInput) { in.MaxNumberOfMessages = 1 }
	a1 := c.Receive(u, one)
	b1 := c.Receive(u, one)
	apitest.Equal(t, []string{*a1[0].Body, *b1[0].Body}, []string{"a1", "b1"})
	apitest.Equal(t, c.Bodies(u), nil)
	c.Counts(u, 3, 2, 0)
	c.Delete(u, a1[0])
	rest := c.Receive(u)
	apitest.Equal(t, []string{*rest[0].Body, *rest[1].Body}, []string{"a2", "a3"})
	c.Delete(u, rest[1]) // the second one; the first keeps the group
	c.SendFIFO(u, "a", "", "a4")
	apitest.Equal(t, c.Bodies(u), nil)
	// A message that becomes visible again returns to its old place.
	_, err := c.ChangeMessageVisibility(c.Ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: u, ReceiptHandle: rest[0].ReceiptHandle, VisibilityTimeout: 0,
	})
	apitest.Must(t, 0, err)
	apitest.Equal(t, c.Bodies(u), []string{"a2", "a4"})
	_, err = c.DeleteMessage(c.Ctx, &sqs.DeleteMessageInput{QueueUrl: u, ReceiptHandle: rest[0].ReceiptHandle})
	if err == nil || !strings.HasSuffix(err.Error(), "Reason: The receipt handle has expired.") {
		t.Errorf("an older handle of a FIFO message: %v", err)
	}
	// A purge forgets the deduplication ids.
	_, err = c.PurgeQueue(c.Ctx, &sqs.PurgeQueueInput{QueueUrl: u})
	apitest.Must(t, 0, err)
	c.Counts(u, 0, 0, 0)
	c.SendFIFO(u, "a", "", "a1")
	apitest.Equal(t, c.Bodies(u), []string{"a1"})
	_, err = c.PurgeQueue(c.Ctx, &sqs.PurgeQueueInput{QueueUrl: u})
	apitest.Refused[*types.PurgeQueueInProgress](t, err, "AWS.SimpleQueueService.PurgeQueueInProgress")
}

func TestFIFOScopes(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	for scope, want := range map[string]int{"queue": 1, "messageGroup": 2} {
		u := c.Create(scope+".fifo", map[string]string{"FifoQueue": "true", "DeduplicationScope": scope})
		c.SendFIFO(u, "a", "same", "m")
		c.SendFIFO(u, "b", "same", "m")
		c.SendFIFO(u, "b", "same", "m")
		c.Counts(u, want, 0, 0)
	}
}

func TestLongPoll(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	u := c.Create("q", map[string]string{"ReceiveMessageWaitTimeSeconds": "1"})
	began := time.Now()
	apitest.Equal(t, c.Bodies(u), nil)
	if took := time.Since(began); took < 900*time.Millisecond || took > 10*time.Second {
		t.Errorf("a poll of one second took %s", took)
	}

	// A message ends the wait.
	poll := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		go func() {
			out, err := c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: u, WaitTimeSeconds: 20})
			if err == nil && len(out.Messages) != 1 {
				err = fmt.Errorf("%d messages", len(out.Messages))
			}
			done <- err
		}()
		return done
	}
	began = time.Now()
	woken := poll(c.Ctx)
	time.Sleep(arrive)
	c.Send(u, "m")
	if err := <-woken; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the message came after %s", took)
	}

	// If a consumer leaves just as the message arrives, either it or the next one gets the message; at worst after the
	// visibility timeout, if the first one's socket still took it.
	_, err := c.SetQueueAttributes(c.Ctx, &sqs.SetQueueAttributesInput{
		QueueUrl: u, Attributes: map[string]string{"VisibilityTimeout": "1"},
	})
	apitest.Must(t, 0, err)
	for range 10 {
		ctx, cancel := context.WithCancel(c.Ctx)
		gone := poll(ctx)
		time.Sleep(arrive)
		go cancel()
		body := *c.Send(u, "for either").MessageId
		if err := <-gone; err == nil {
			continue
		}
		eventually.Succeeds(t, func() error {
			got := c.Receive(u)
			c.Delete(u, got...)
			if !slices.ContainsFunc(got, func(m types.Message) bool { return *m.MessageId == body }) {
				return fmt.Errorf("the message is lost to %v", got)
			}
			return nil
		})
	}
}

// arrive is the longest time until a request has become a waiting long poll, and until the server notices a canceled
// one. A client cannot observe either. If they take longer, the test proves less but does not fail.
const arrive = 30 * time.Millisecond

func TestDeadLetterQueue(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", ".fifo"} {
		c := newSDK(t)
		fifo := maps.Clone(comesBack)
		if suffix != "" {
			fifo["FifoQueue"], fifo["ContentBasedDeduplication"] = "true", "true"
		}
		dlq := c.Create("dlq"+suffix, fifo)
		with := maps.Clone(fifo)
		with["RedrivePolicy"] = redrive(c.ARN(dlq), 2)
		u := c.Create("q"+suffix, with)
		var id string
		if suffix == "" {
			id = *c.Send(u, "m").MessageId
		} else {
			id = *c.SendFIFO(u, "g", "", "m").MessageId
		}
		for range 2 {
			apitest.Equal(t, c.Bodies(u), []string{"m"})
		}
		c.Counts(u, 1, 0, 0)
		apitest.Equal(t, c.Bodies(u), nil) // the receive after the last moves it
		c.Counts(u, 0, 0, 0)
		c.Counts(dlq, 1, 0, 0)
		got := c.Receive(dlq)
		if len(got) != 1 || *got[0].MessageId != id || got[0].Attributes["ApproximateReceiveCount"] != "3" ||
			got[0].Attributes["DeadLetterQueueSourceArn"] != c.ARN(u) {
			t.Errorf("%q: got %+v", suffix, got)
		}
		if suffix != "" &&
			(got[0].Attributes["MessageGroupId"] != "g" || got[0].Attributes["MessageDeduplicationId"] != id) {
			t.Errorf("got %v", got[0].Attributes)
		}
		out, err := c.ListDeadLetterSourceQueues(c.Ctx, &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: dlq})
		apitest.Equal(t, apitest.Must(t, out, err).QueueUrls, []string{*u})

		// And back to its source queue.
		task, err := c.StartMessageMoveTask(c.Ctx, &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(c.ARN(dlq))})
		apitest.Must(t, task, err)
		eventually.Succeeds(t, func() error {
			out, err := c.ListMessageMoveTasks(c.Ctx, &sqs.ListMessageMoveTasksInput{SourceArn: aws.String(c.ARN(dlq))})
			if apitest.Must(t, out, err); *out.Results[0].Status != "COMPLETED" ||
				out.Results[0].ApproximateNumberOfMessagesMoved != 1 {
				return fmt.Errorf("%+v", out.Results[0])
			}
			return nil
		})
		c.Counts(dlq, 0, 0, 0)
		got = c.Receive(u)
		if len(got) != 1 || *got[0].Body != "m" || got[0].Attributes["ApproximateReceiveCount"] != "1" ||
			got[0].Attributes["DeadLetterQueueSourceArn"] != "" {
			t.Errorf("%q: got %+v", suffix, got)
		}
	}
}

func TestMoveTasks(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	dlq := c.Create("dlq", nil)
	arn := aws.String(c.ARN(dlq))
	c.Create("source", map[string]string{"RedrivePolicy": redrive(*arn, 1)})
	to := c.Create("to", nil)
	for i := range 10 {
		c.Send(dlq, fmt.Sprint(i))
	}
	list := func() types.ListMessageMoveTasksResultEntry {
		out, err := c.ListMessageMoveTasks(c.Ctx, &sqs.ListMessageMoveTasksInput{SourceArn: arn})
		return apitest.Must(t, out, err).Results[0]
	}
	start := func(in *sqs.StartMessageMoveTaskInput) *string {
		t.Helper()
		in.SourceArn = arn
		out, err := c.StartMessageMoveTask(c.Ctx, in)
		return apitest.Must(t, out, err).TaskHandle
	}
	// Slow enough to be stopped before its last message.
	task := start(&sqs.StartMessageMoveTaskInput{
		DestinationArn: aws.String(c.ARN(to)), MaxNumberOfMessagesPerSecond: aws.Int32(1),
	})
	if got := list(); *got.Status != "RUNNING" || *got.TaskHandle != *task ||
		*got.ApproximateNumberOfMessagesToMove != 10 || *got.MaxNumberOfMessagesPerSecond != 1 {
		t.Errorf("%+v", got)
	}
	cancelled, err := c.CancelMessageMoveTask(c.Ctx, &sqs.CancelMessageMoveTaskInput{TaskHandle: task})
	moved := apitest.Must(t, cancelled, err).ApproximateNumberOfMessagesMoved
	if got := list(); *got.Status != "CANCELLED" || got.ApproximateNumberOfMessagesMoved != moved ||
		got.TaskHandle != nil {
		t.Errorf("%+v, %+v", cancelled, got)
	}
	c.Counts(dlq, 10-int(moved), 0, 0)
	c.Counts(to, int(moved), 0, 0)
	start(&sqs.StartMessageMoveTaskInput{
		DestinationArn: aws.String(c.ARN(to)), MaxNumberOfMessagesPerSecond: aws.Int32(500),
	})
	eventually.Succeeds(t, func() error {
		if got := list(); *got.Status != "COMPLETED" {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	c.Counts(dlq, 0, 0, 0)
	apitest.Equal(t, c.Bodies(to), []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"})

	// Messages that were sent directly have no source queue.
	c.Send(dlq, "whose?")
	start(&sqs.StartMessageMoveTaskInput{})
	eventually.Succeeds(t, func() error {
		if got := list(); *got.Status != "FAILED" || *got.FailureReason != "CouldNotDetermineMessageSource" {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	// A destination that is deleted meanwhile.
	for i := range 30 {
		c.Send(dlq, fmt.Sprint(i))
	}
	start(&sqs.StartMessageMoveTaskInput{
		DestinationArn: aws.String(c.ARN(to)), MaxNumberOfMessagesPerSecond: aws.Int32(2),
	})
	_, err = c.DeleteQueue(c.Ctx, &sqs.DeleteQueueInput{QueueUrl: to})
	apitest.Must(t, 0, err)
	eventually.Succeeds(t, func() error {
		got := list()
		if *got.Status != "FAILED" || *got.FailureReason != "AWS.SimpleQueueService.NonExistentQueue" {
			return fmt.Errorf("%+v", got)
		}
		moved = got.ApproximateNumberOfMessagesMoved
		return nil
	})
	c.Counts(dlq, 31-int(moved), 0, 0)
}

// Dead letters of a queue that now has another dead-letter queue are not moved back to it: the starter of the task was
// not checked for permission to send there.
func TestMoveTaskLeavesMessagesFromElsewhere(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	dlq := c.Create("dlq", nil)
	attributes := map[string]string{"RedrivePolicy": redrive(c.ARN(dlq), 1), "VisibilityTimeout": "0"}
	mine, payroll := c.Create("mine", attributes), c.Create("payroll", attributes)
	for _, u := range []*string{mine, payroll} {
		c.Send(u, "from "+*u)
		sent := time.Now().UnixMilli()
		// within the millisecond of its sending it would overtake other dead letters
		eventually.Succeeds(t, func() error {
			if time.Now().UnixMilli() <= sent {
				return errors.New("it is still the millisecond of the sending")
			}
			return nil
		})
		c.Receive(u)
		eventually.Succeeds(t, func() error { // the next receive exceeds the maximum
			if got := c.Receive(u); len(got) > 0 {
				return fmt.Errorf("%d messages are received again", len(got))
			}
			return nil
		})
	}
	c.Counts(dlq, 2, 0, 0)
	_, err := c.SetQueueAttributes(c.Ctx, &sqs.SetQueueAttributesInput{
		QueueUrl: payroll, Attributes: map[string]string{"RedrivePolicy": ""},
	})
	apitest.Must(t, 0, err)
	arn := aws.String(c.ARN(dlq))
	_, err = c.StartMessageMoveTask(c.Ctx, &sqs.StartMessageMoveTaskInput{SourceArn: arn})
	apitest.Must(t, 0, err)
	eventually.Succeeds(t, func() error {
		out, err := c.ListMessageMoveTasks(c.Ctx, &sqs.ListMessageMoveTasksInput{SourceArn: arn})
		got := apitest.Must(t, out, err).Results[0]
		if *got.Status != "FAILED" || *got.FailureReason != "CouldNotDetermineMessageSource" ||
			got.ApproximateNumberOfMessagesMoved != 1 {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	c.Counts(mine, 1, 0, 0)
	c.Counts(payroll, 0, 0, 0)
	c.Counts(dlq, 1, 0, 0)
}

func TestPaging(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	dlq := c.Create("dlq", nil)
	var want []string
	for i := range 7 {
		want = append(want, *c.Create(fmt.Sprint("q", i), map[string]string{"RedrivePolicy": redrive(c.ARN(dlq), 1)}))
		_, err := c.TagQueue(c.Ctx, &sqs.TagQueueInput{QueueUrl: &want[i], Tags: map[string]string{"n": fmt.Sprint(i)}})
		apitest.Must(t, 0, err)
	}
	var got []string
	pages := sqs.NewListQueuesPaginator(c, &sqs.ListQueuesInput{
		QueueNamePrefix: aws.String("q"), MaxResults: aws.Int32(3),
	})
	for pages.HasMorePages() {
		out, err := pages.NextPage(c.Ctx)
		got = append(got, apitest.Must(t, out, err).QueueUrls...)
	}
	apitest.Equal(t, got, want)
	got = nil
	sources := sqs.NewListDeadLetterSourceQueuesPaginator(c, &sqs.ListDeadLetterSourceQueuesInput{
		QueueUrl: dlq, MaxResults: aws.Int32(2),
	})
	for sources.HasMorePages() {
		out, err := sources.NextPage(c.Ctx)
		got = append(got, apitest.Must(t, out, err).QueueUrls...)
	}
	apitest.Equal(t, got, want)
	for i, u := range want {
		out, err := c.ListQueueTags(c.Ctx, &sqs.ListQueueTagsInput{QueueUrl: &u})
		if apitest.Must(t, out, err); len(out.Tags) != 1 || out.Tags["n"] != fmt.Sprint(i) {
			t.Errorf("%s: %v", u, out.Tags)
		}
	}
	// Without a limit there is no token, however many queues there are.
	out, err := c.ListQueues(c.Ctx, &sqs.ListQueuesInput{})
	if apitest.Must(t, out, err); len(out.QueueUrls) != 8 || out.NextToken != nil {
		t.Errorf("%d queues, token %v", len(out.QueueUrls), out.NextToken)
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	u := c.Create("q", nil)
	policy := `{
  "Version" : "2012-10-17",
  "Statement" : [ { "Effect":"Allow", "Principal":{"AWS":"*"}, "Action":["sqs:SendMessage"], "Resource":"` + c.ARN(u) + `",
    "Condition":{"ArnLike":{"aws:SourceArn":"arn:aws:sns:*:*:<&>"}} } ]
}`
	_, err := c.SetQueueAttributes(c.Ctx, &sqs.SetQueueAttributesInput{
		QueueUrl: u, Attributes: map[string]string{"Policy": policy},
	})
	apitest.Must(t, 0, err)
	if got := c.Attributes(u)["Policy"]; got != policy {
		t.Errorf("the policy is returned as %s", got)
	}
	_, err = c.AddPermission(c.Ctx, &sqs.AddPermissionInput{
		QueueUrl: u, Label: aws.String("l"), AWSAccountIds: []string{otherAccount}, Actions: []string{"*"},
	})
	apitest.Must(t, 0, err)
	if got := c.Attributes(u)["Policy"]; !strings.Contains(got, `"arn:aws:sns:*:*:<&>"`) ||
		!strings.Contains(got, `"Sid":"l"`) {
		t.Errorf("the policy is now %s", got)
	}
	_, err = c.RemovePermission(c.Ctx, &sqs.RemovePermissionInput{QueueUrl: u, Label: aws.String("l")})
	apitest.Must(t, 0, err)
	if got := c.Attributes(u)["Policy"]; strings.Contains(got, `"Sid"`) {
		t.Errorf("the policy is now %s", got)
	}
}

func TestRegionsAreNamespaces(t *testing.T) {
	t.Parallel()
	cred, _ := shared.RootOf(account)
	a, b := sdkOf(t, shared, cred, newRegion()), sdkOf(t, shared, cred, newRegion())
	u := a.Create("q", nil)
	_, err := b.GetQueueUrl(b.Ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("q")})
	apitest.Refused[*types.QueueDoesNotExist](t, err, "AWS.SimpleQueueService.NonExistentQueue")
	if other := b.Create("q", nil); *other != *u {
		t.Errorf("the URLs are %s and %s", *u, *other)
	}
	a.Send(u, "for a")
	b.Counts(u, 0, 0, 0)
	apitest.Equal(t, b.Bodies(u), nil)
	got := a.Receive(u)
	if len(got) != 1 {
		t.Fatalf("got %v", got)
	}
	_, err = b.DeleteMessage(b.Ctx, &sqs.DeleteMessageInput{QueueUrl: u, ReceiptHandle: got[0].ReceiptHandle})
	apitest.Refused[*types.ReceiptHandleIsInvalid](t, err, "ReceiptHandleIsInvalid")
	_, err = b.DeleteQueue(b.Ctx, &sqs.DeleteQueueInput{QueueUrl: u})
	apitest.Must(t, 0, err)
	a.Counts(u, 0, 1, 0)
}

func TestTwoAccounts(t *testing.T) {
	t.Parallel()
	cred, _ := shared.RootOf(account)
	other, _ := shared.RootOf(otherAccount)
	region := newRegion()
	a, b := sdkOf(t, shared, cred, region), sdkOf(t, shared, other, region)
	ua, ub := a.Create("q", nil), b.Create("q", nil)
	if !strings.HasSuffix(*ua, "/"+account+"/q") || !strings.HasSuffix(*ub, "/"+otherAccount+"/q") {
		t.Errorf("the URLs are %s and %s", *ua, *ub)
	}
	a.Send(ua, "for a")
	b.Send(ub, "for b")
	_, err := b.ReceiveMessage(b.Ctx, &sqs.ReceiveMessageInput{QueueUrl: ua})
	if apitest.Code(err) != "AccessDenied" {
		t.Errorf("the queue of another account: %v", err)
	}
	apitest.Equal(t, a.Bodies(ua), []string{"for a"})
	got := b.Receive(ub)
	if len(got) != 1 || got[0].Attributes["SenderId"] != otherAccount {
		t.Errorf("got %v", got)
	}
	out, err := b.ListQueues(b.Ctx, &sqs.ListQueuesInput{})
	apitest.Equal(t, apitest.Must(t, out, err).QueueUrls, []string{*ub})
}

// Several clients create, delete, change and use a queue concurrently. A request fails only because the queue does not
// exist or was deleted recently.
func TestQueuesComeAndGo(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	done := make(chan error)
	const workers = 8
	for w := range workers {
		go func() {
			var bad error
			for i := range 20 {
				name := fmt.Sprint("q", (w/2+i)%20) // others are a step ahead or behind
				for _, err := range []error{
					apitest.Second(c.CreateQueue(c.Ctx, &sqs.CreateQueueInput{QueueName: &name})),
					apitest.Second(c.SendMessage(c.Ctx, &sqs.SendMessageInput{
						QueueUrl: &name, MessageBody: aws.String("m"),
					})),
					apitest.Second(c.SetQueueAttributes(c.Ctx, &sqs.SetQueueAttributesInput{
						QueueUrl: &name, Attributes: map[string]string{"DelaySeconds": "0"},
					})),
					apitest.Second(c.TagQueue(c.Ctx, &sqs.TagQueueInput{
						QueueUrl: &name, Tags: map[string]string{"a": "b"},
					})),
					apitest.Second(c.ReceiveMessage(c.Ctx, &sqs.ReceiveMessageInput{QueueUrl: &name})),
					apitest.Second(c.DeleteQueue(c.Ctx, &sqs.DeleteQueueInput{QueueUrl: &name})),
				} {
					if code := apitest.Code(err); code == noQueue.Code ||
						code == "AWS.SimpleQueueService.QueueDeletedRecently" {
						continue
					}
					bad = errors.Join(bad, err)
				}
			}
			done <- bad
		}()
	}
	for range workers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
