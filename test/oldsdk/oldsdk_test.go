// Package oldsdk runs a client from before the JSON protocol against the
// server: the AWS SDK for Go of 2023, which speaks Query. It is a module of its
// own because no program can have two versions of the SDK.
package oldsdk

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// client makes a test fail rather than return errors.
type client struct {
	*sqs.Client
	t   *testing.T
	ctx context.Context
}

// keyID and secret are the root's keys of the server that the tests start.
const (
	keyID  = "AKIAOLDSDKOLDSDKOLDS"
	secret = "a-secret-for-the-tests-of-an-old-sdk-0123"
)

var program string // the path of the server

func TestMain(m *testing.M) {
	if program = os.Getenv("SLUICE_TEST_PROGRAM"); program != "" { // as in test/program
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "oldsdk-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "sluice")
	if out, err := exec.Command("go", "build", "-C", "../..", "-o", program,
		"./cmd/sluice").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v: %s", err, out))
	}
	code := m.Run()
	_ = os.RemoveAll(dir) // the system does, too
	os.Exit(code)
}

// start runs a server until the test ends, and returns its endpoint.
func start(t *testing.T) string {
	server := exec.Command(program, "serve", "--in-memory", "--listen", "127.0.0.1:0", "--root-access-key-id", keyID,
		"--root-secret-access-key", secret)
	var log bytes.Buffer
	server.Stderr = &log
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		if err := server.Wait(); err != nil {
			t.Errorf("%v\n%s", err, log.String())
		}
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if endpoint, ok := strings.CutPrefix(lines.Text(), "export AWS_ENDPOINT_URL_SQS="); ok {
			return endpoint
		}
	}
	t.Fatal("the server did not start")
	return ""
}

// newClient starts a server and returns its client.
func newClient(t *testing.T) *client {
	c := sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(start(t)), Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: keyID, SecretAccessKey: secret}, nil
		}),
		HTTPClient: speaksQuery{t},
	})
	return &client{Client: c, t: t, ctx: t.Context()}
}

// speaksQuery checks that the client is as old as intended.
type speaksQuery struct{ t *testing.T }

func (q speaksQuery) Do(r *http.Request) (*http.Response, error) {
	if got := r.Header.Get("Content-Type"); got != "application/x-www-form-urlencoded" {
		q.t.Errorf("the client sends %q", got)
	}
	return http.DefaultClient.Do(r)
}

func must[T any](t *testing.T, out T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (c *client) create(name string, attributes map[string]string) *string {
	c.t.Helper()
	out, err := c.CreateQueue(c.ctx, &sqs.CreateQueueInput{
		QueueName: &name, Attributes: attributes, Tags: map[string]string{"made by": "old SDK"},
	})
	return must(c.t, out, err).QueueUrl
}

func (c *client) receive(u *string) []types.Message {
	c.t.Helper()
	out, err := c.ReceiveMessage(c.ctx, &sqs.ReceiveMessageInput{
		QueueUrl: u, MaxNumberOfMessages: 10, AttributeNames: []types.QueueAttributeName{"All"},
		MessageAttributeNames: []string{"All"},
	})
	return must(c.t, out, err).Messages
}

func (c *client) attributes(u *string) map[string]string {
	c.t.Helper()
	out, err := c.GetQueueAttributes(c.ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: u, AttributeNames: []types.QueueAttributeName{"All"},
	})
	return must(c.t, out, err).Attributes
}

func (c *client) counts(u *string, want string) {
	c.t.Helper()
	a := c.attributes(u)
	got := a["ApproximateNumberOfMessages"] + " " + a["ApproximateNumberOfMessagesNotVisible"] + " " +
		a["ApproximateNumberOfMessagesDelayed"]
	if got != want {
		c.t.Errorf("visible, not visible and delayed are %s, want %s", got, want)
	}
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	u := c.create("q", map[string]string{"VisibilityTimeout": "60"})
	body := "<hello> & \"goodbye\"\r\n✓"
	sent, err := c.SendMessage(c.ctx,
		&sqs.SendMessageInput{QueueUrl: u, MessageBody: &body,
			MessageAttributes: map[string]types.MessageAttributeValue{
				"color": {DataType: aws.String("String"), StringValue: aws.String("blue")},
				"count": {DataType: aws.String("Number"), StringValue: aws.String("3")},
				"blob":  {DataType: aws.String("Binary"), BinaryValue: []byte{1, 2, 3}},
			}})
	if must(t, sent, err); *sent.MD5OfMessageAttributes != "d838729972a4b70e2d2acd9d59ac847c" {
		t.Errorf("MD5OfMessageAttributes is %s", *sent.MD5OfMessageAttributes)
	}
	c.counts(u, "1 0 0")
	got := c.receive(u)
	if len(got) != 1 || *got[0].Body != body || *got[0].MessageId != *sent.MessageId ||
		*got[0].MD5OfMessageAttributes != *sent.MD5OfMessageAttributes ||
		string(got[0].MessageAttributes["blob"].BinaryValue) != "\x01\x02\x03" ||
		got[0].Attributes["ApproximateReceiveCount"] != "1" {
		t.Fatalf("got %+v", got)
	}
	c.counts(u, "0 1 0")
	_, err = c.ChangeMessageVisibility(c.ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: u, ReceiptHandle: got[0].ReceiptHandle, VisibilityTimeout: 0,
	})
	must(t, 0, err)
	got = c.receive(u)
	if len(got) != 1 || got[0].Attributes["ApproximateReceiveCount"] != "2" {
		t.Fatalf("got %+v", got)
	}
	_, err = c.DeleteMessage(c.ctx, &sqs.DeleteMessageInput{QueueUrl: u, ReceiptHandle: got[0].ReceiptHandle})
	must(t, 0, err)
	c.counts(u, "0 0 0")

	_, err = c.DeleteQueue(c.ctx, &sqs.DeleteQueueInput{QueueUrl: u})
	must(t, 0, err)
	_, err = c.GetQueueUrl(c.ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("q")})
	var gone *types.QueueDoesNotExist
	if !errors.As(err, &gone) {
		t.Errorf("the queue is gone: %v", err)
	}
	_, err = c.ReceiveMessage(c.ctx, &sqs.ReceiveMessageInput{QueueUrl: u})
	if err == nil || !strings.Contains(err.Error(), "The specified queue does not exist for this wsdl version.") {
		t.Errorf("the queue is gone: %v", err)
	}
}

func TestQueues(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	u := c.create("q", nil)
	dlq := c.create("dlq", nil)
	policy := `{"Statement":[{"Effect":"Allow","Principal":"*","Action":"SQS:SendMessage","Resource":"*"}]}`
	_, err := c.SetQueueAttributes(c.ctx, &sqs.SetQueueAttributesInput{QueueUrl: u, Attributes: map[string]string{
		"DelaySeconds": "1", "Policy": policy,
		"RedrivePolicy": `{"deadLetterTargetArn":"` + c.attributes(dlq)["QueueArn"] + `","maxReceiveCount":"3"}`,
	}})
	must(t, 0, err)
	if a := c.attributes(u); a["DelaySeconds"] != "1" || a["Policy"] != policy ||
		!strings.HasSuffix(a["RedrivePolicy"], `:dlq","maxReceiveCount":3}`) {
		t.Errorf("attributes %v", a)
	}
	sources, err := c.ListDeadLetterSourceQueues(c.ctx, &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: dlq})
	if must(t, sources, err); !slices.Equal(sources.QueueUrls, []string{*u}) {
		t.Errorf("sources %v", sources.QueueUrls)
	}
	_, err = c.TagQueue(c.ctx, &sqs.TagQueueInput{QueueUrl: u, Tags: map[string]string{"a": "", "b": "c"}})
	must(t, 0, err)
	_, err = c.UntagQueue(c.ctx, &sqs.UntagQueueInput{QueueUrl: u, TagKeys: []string{"b", "made by"}})
	must(t, 0, err)
	tags, err := c.ListQueueTags(c.ctx, &sqs.ListQueueTagsInput{QueueUrl: u})
	if v, ok := must(t, tags, err).Tags["a"]; !ok || v != "" || len(tags.Tags) != 1 {
		t.Errorf("tags %v", tags.Tags)
	}
	page, err := c.ListQueues(c.ctx, &sqs.ListQueuesInput{MaxResults: aws.Int32(1)})
	if must(t, page, err); len(page.QueueUrls) != 1 || page.NextToken == nil {
		t.Fatalf("%+v", page)
	}
	page, err = c.ListQueues(c.ctx, &sqs.ListQueuesInput{MaxResults: aws.Int32(1), NextToken: page.NextToken})
	if must(t, page, err); !slices.Equal(page.QueueUrls, []string{*u}) || page.NextToken != nil {
		t.Errorf("%+v", page)
	}
	_, err = c.AddPermission(c.ctx, &sqs.AddPermissionInput{
		QueueUrl: dlq, Label: aws.String("l"), AWSAccountIds: []string{"123456789012"},
		Actions: []string{"SendMessage", "ReceiveMessage"},
	})
	must(t, 0, err)
	_, err = c.RemovePermission(c.ctx, &sqs.RemovePermissionInput{QueueUrl: dlq, Label: aws.String("l")})
	must(t, 0, err)
	_, err = c.PurgeQueue(c.ctx, &sqs.PurgeQueueInput{QueueUrl: u})
	must(t, 0, err)
}

func TestBatches(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	u := c.create("q", nil)
	sent, err := c.SendMessageBatch(c.ctx,
		&sqs.SendMessageBatchInput{QueueUrl: u, Entries: []types.SendMessageBatchRequestEntry{
			{Id: aws.String("a"), MessageBody: aws.String("test message body 1")},
			{Id: aws.String("b"), MessageBody: aws.String("test message body 2"), DelaySeconds: 900},
			{Id: aws.String("c"), MessageBody: aws.String("\x01")},
		}})
	must(t, sent, err)
	if len(sent.Successful) != 2 || *sent.Successful[0].MD5OfMessageBody != "0e024d309850c78cba5eabbeff7cae71" ||
		len(sent.Failed) != 1 || *sent.Failed[0].Id != "c" || *sent.Failed[0].Code != "InvalidMessageContents" ||
		!sent.Failed[0].SenderFault {
		t.Errorf("%+v", sent)
	}
	c.counts(u, "1 0 1")
	m := c.receive(u)[0]
	changed, err := c.ChangeMessageVisibilityBatch(c.ctx,
		&sqs.ChangeMessageVisibilityBatchInput{QueueUrl: u, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
			{Id: aws.String("a"), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 100},
			{Id: aws.String("b"), ReceiptHandle: aws.String("x"), VisibilityTimeout: 1},
		}})
	if must(t, changed, err); len(changed.Successful) != 1 || len(changed.Failed) != 1 {
		t.Errorf("%+v", changed)
	}
	deleted, err := c.DeleteMessageBatch(c.ctx, &sqs.DeleteMessageBatchInput{
		QueueUrl: u,
		Entries:  []types.DeleteMessageBatchRequestEntry{{Id: aws.String("a"), ReceiptHandle: m.ReceiptHandle}},
	})
	if must(t, deleted, err); len(deleted.Successful) != 1 {
		t.Errorf("%+v", deleted)
	}
	c.counts(u, "0 0 1")
}

func TestFIFO(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	u := c.create("q.fifo", map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true"})
	var numbers []string
	for i := range 3 {
		out, err := c.SendMessage(c.ctx, &sqs.SendMessageInput{
			QueueUrl: u, MessageBody: aws.String(fmt.Sprint(i / 2)), MessageGroupId: aws.String("g"),
		})
		numbers = append(numbers, *must(t, out, err).SequenceNumber)
	}
	if numbers[0] != numbers[1] || numbers[1] >= numbers[2] {
		t.Errorf("sequence numbers %v", numbers)
	}
	got := c.receive(u)
	if len(got) != 2 || *got[0].Body != "0" || got[1].Attributes["SequenceNumber"] != numbers[2] ||
		got[1].Attributes["MessageGroupId"] != "g" {
		t.Errorf("got %+v", got)
	}
}

func TestLongPoll(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	u := c.create("q", nil)
	began := time.Now()
	done := make(chan error, 1)
	go func() {
		out, err := c.ReceiveMessage(c.ctx, &sqs.ReceiveMessageInput{QueueUrl: u, WaitTimeSeconds: 20})
		if err == nil && len(out.Messages) != 1 {
			err = fmt.Errorf("%d messages", len(out.Messages))
		}
		done <- err
	}()
	time.Sleep(50 * time.Millisecond) // until the poll waits
	_, err := c.SendMessage(c.ctx, &sqs.SendMessageInput{QueueUrl: u, MessageBody: aws.String("m")})
	must(t, 0, err)
	if err := <-done; err != nil || time.Since(began) > 10*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}

func TestMoveTasks(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	dlq := c.create("dlq", nil)
	arn := aws.String(c.attributes(dlq)["QueueArn"])
	to := c.create("to", map[string]string{
		"RedrivePolicy": `{"deadLetterTargetArn":"` + *arn + `","maxReceiveCount":1}`,
	})
	for range 10 { // which keep the task running for as many seconds
		_, err := c.SendMessage(c.ctx, &sqs.SendMessageInput{QueueUrl: dlq, MessageBody: aws.String("m")})
		must(t, 0, err)
	}
	task, err := c.StartMessageMoveTask(c.ctx, &sqs.StartMessageMoveTaskInput{
		SourceArn: arn, DestinationArn: aws.String(c.attributes(to)["QueueArn"]), MaxNumberOfMessagesPerSecond: 1,
	})
	must(t, task, err)
	list, err := c.ListMessageMoveTasks(c.ctx, &sqs.ListMessageMoveTasksInput{SourceArn: arn})
	if must(t, list, err); *list.Results[0].TaskHandle != *task.TaskHandle ||
		list.Results[0].ApproximateNumberOfMessagesToMove != 10 || list.Results[0].StartedTimestamp == 0 {
		t.Errorf("%+v", list.Results)
	}
	_, err = c.CancelMessageMoveTask(c.ctx, &sqs.CancelMessageMoveTaskInput{TaskHandle: task.TaskHandle})
	must(t, 0, err)
}

func TestErrors(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	u := c.create("q", nil)
	_, err := c.CreateQueue(c.ctx, &sqs.CreateQueueInput{
		QueueName: aws.String("q"), Attributes: map[string]string{"DelaySeconds": "1"},
	})
	var exists *types.QueueNameExists
	if !errors.As(err, &exists) {
		t.Errorf("got %v", err)
	}
	_, err = c.DeleteMessage(c.ctx, &sqs.DeleteMessageInput{QueueUrl: u, ReceiptHandle: aws.String("garbage")})
	var handle *types.ReceiptHandleIsInvalid
	if !errors.As(err, &handle) {
		t.Errorf("got %v", err)
	}
	_, err = c.SendMessage(c.ctx, &sqs.SendMessageInput{QueueUrl: u, MessageBody: aws.String("m"), DelaySeconds: 901})
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != "InvalidParameterValue" ||
		api.ErrorMessage() != "Value 901 for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900." {
		t.Errorf("got %v", err)
	}
}
