package crash

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

const (
	account = "000000000000"
	region  = "us-east-1"
)

var root = aws.Credentials{AccessKeyID: "AKIACRASHCRASHCRASH0", SecretAccessKey: "crash/crash/crash/crash/crash/crash/cras"}

// client is the service of a server's process. It never repeats a call: whether
// one was executed is what the tests are about.
type client struct {
	endpoint string
	http     *http.Client
	signer   *v4.Signer
}

func newClient(endpoint string) *client {
	return &client{
		endpoint: endpoint,
		http:     &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		signer:   v4.NewSigner(),
	}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// object is JSON.
type object map[string]any

// call makes a call of AWS JSON 1.0.
func (c *client) call(operation string, in object, out any) error {
	return c.callIn(context.Background(), operation, in, out)
}

// callIn makes a call that is given up when ctx ends.
func (c *client) callIn(ctx context.Context, operation string, in object, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint+"/", bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AmazonSQS."+operation)
	sum := sha256.Sum256(text)
	if err := c.signer.SignHTTP(ctx, root, r, hex.EncodeToString(sum[:]), "sqs", region, time.Now()); err != nil {
		return err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return err
	case answer.StatusCode >= 500:
		return fmt.Errorf("%s: %s", answer.Status, text)
	case answer.StatusCode != http.StatusOK:
		return refusalIn(string(text))
	case out == nil:
		return nil
	}
	return json.Unmarshal(text, out)
}

// refusalIn recognises what a client is told when it is refused.
func refusalIn(text string) refusal {
	for _, known := range []struct {
		words string
		refusal
	}{
		{"QueueDoesNotExist", refusedNoQueue},
		{"The receipt handle has expired", refusedExpired},
		{"Message does not exist or is not available", refusedAbsent},
		{"the receive call is not retryable", refusedStale},
		{"PurgeQueueInProgress", refusedPurging},
		{"There is already a task running", refusedMoving},
		{"ResourceNotFoundException", refusedNoTask},
	} {
		if strings.Contains(text, known.words) {
			return known.refusal
		}
	}
	return refusal(text)
}

func (c *client) url(queue string) string { return c.endpoint + "/" + account + "/" + queue }

func arn(queue string) string { return "arn:aws:sqs:" + region + ":" + account + ":" + queue }

func seconds(d time.Duration) int { return int(d / time.Second) }

func (c *client) create(q spec) error {
	attributes := map[string]string{"VisibilityTimeout": strconv.Itoa(seconds(visibility))}
	if isFIFO(q.name) {
		attributes["FifoQueue"] = "true"
	}
	if q.dead != "" {
		attributes["RedrivePolicy"] = fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, arn(q.dead), q.maxReceives)
	}
	return c.call("CreateQueue", object{"QueueName": q.name, "Attributes": attributes}, nil)
}

func (c *client) drop(queue string) error {
	return c.call("DeleteQueue", object{"QueueUrl": c.url(queue)}, nil)
}

func (c *client) purge(queue string) error {
	return c.call("PurgeQueue", object{"QueueUrl": c.url(queue)}, nil)
}

// batch is the answer to a batch, and of a single send what is needed.
type batch struct {
	Successful []struct{ Id, MessageId, SequenceNumber string }
	Failed     []struct{ Id, Message string }
}

// results returns an error for each of n entries: nil, a refusal, or, if the
// answer does not mention it, the complaint that it does not.
func (b *batch) results(n int) []error {
	out := make([]error, n)
	for i := range out {
		out[i] = fmt.Errorf("entry %d is not in the answer", i)
	}
	for _, s := range b.Successful {
		if i, err := strconv.Atoi(s.Id); err == nil && i < n {
			out[i] = nil
		}
	}
	for _, f := range b.Failed {
		if i, err := strconv.Atoi(f.Id); err == nil && i < n {
			out[i] = refusalIn(f.Message)
		}
	}
	return out
}

func (c *client) send(queue string, letters []letter) ([]sent, error) {
	var entries []object
	for i, l := range letters {
		e := object{"Id": strconv.Itoa(i), "MessageBody": body(l.name)}
		if l.group != "" {
			e["MessageGroupId"] = l.group
		}
		if isFIFO(queue) {
			e["MessageDeduplicationId"] = l.name
		} else {
			e["DelaySeconds"] = seconds(l.delay)
		}
		entries = append(entries, e)
	}
	if len(entries) == 1 {
		var out struct{ MessageId, SequenceNumber string }
		one := entries[0]
		delete(one, "Id")
		one["QueueUrl"] = c.url(queue)
		if err := c.call("SendMessage", one, &out); err != nil {
			return nil, err
		}
		return []sent{{id: out.MessageId, sequence: out.SequenceNumber}}, nil
	}
	var out batch
	if err := c.call("SendMessageBatch", object{"QueueUrl": c.url(queue), "Entries": entries}, &out); err != nil {
		return nil, err
	}
	answers := make([]sent, len(letters))
	for i, err := range out.results(len(letters)) {
		answers[i].err = err
	}
	for _, s := range out.Successful {
		if i, err := strconv.Atoi(s.Id); err == nil && i < len(answers) {
			answers[i].id, answers[i].sequence = s.MessageId, s.SequenceNumber
		}
	}
	return answers, nil
}

func (c *client) receive(queue string, r receive) ([]received, error) {
	in := object{
		"QueueUrl": c.url(queue), "MaxNumberOfMessages": r.most, "VisibilityTimeout": seconds(r.timeout),
		"WaitTimeSeconds": seconds(r.wait), "MessageSystemAttributeNames": []string{"All"},
	}
	if r.attempt != "" {
		in["ReceiveRequestAttemptId"] = r.attempt
	}
	var out struct {
		Messages []struct {
			MessageId, ReceiptHandle, Body string
			Attributes                     map[string]string
		}
	}
	if err := c.call("ReceiveMessage", in, &out); err != nil {
		return nil, err
	}
	var messages []received
	for _, m := range out.Messages {
		n, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
		if err != nil {
			return nil, err
		}
		messages = append(messages, received{
			body: m.Body, id: m.MessageId, handle: m.ReceiptHandle, receives: n,
			group: m.Attributes["MessageGroupId"], sequence: m.Attributes["SequenceNumber"],
		})
	}
	return messages, nil
}

func (c *client) remove(queue string, handles []string) ([]error, error) {
	return c.each("DeleteMessage", queue, handles, object{})
}

func (c *client) hide(queue string, handles []string, timeout time.Duration) ([]error, error) {
	return c.each("ChangeMessageVisibility", queue, handles, object{"VisibilityTimeout": seconds(timeout)})
}

// each makes a call for one message, or its batch for several.
func (c *client) each(operation, queue string, handles []string, parameters object) ([]error, error) {
	if len(handles) == 1 {
		parameters["QueueUrl"], parameters["ReceiptHandle"] = c.url(queue), handles[0]
		err := c.call(operation, parameters, nil)
		if o, _ := outcomeOf(err); o == unknown {
			return nil, err
		}
		return []error{err}, nil
	}
	var entries []object
	for i, h := range handles {
		e := object{"Id": strconv.Itoa(i), "ReceiptHandle": h}
		for name, value := range parameters {
			e[name] = value
		}
		entries = append(entries, e)
	}
	var out batch
	if err := c.call(operation+"Batch", object{"QueueUrl": c.url(queue), "Entries": entries}, &out); err != nil {
		return nil, err
	}
	return out.results(len(handles)), nil
}

func (c *client) move(queue string, rate int) (string, error) {
	in := object{"SourceArn": arn(queue)}
	if rate > 0 {
		in["MaxNumberOfMessagesPerSecond"] = rate
	}
	var out struct{ TaskHandle string }
	err := c.call("StartMessageMoveTask", in, &out)
	return out.TaskHandle, err
}

func (c *client) cancel(_, task string) error {
	return c.call("CancelMessageMoveTask", object{"TaskHandle": task}, nil)
}

func (c *client) counts(queue string) (n counts, err error) {
	var out struct{ Attributes map[string]string }
	if err := c.call("GetQueueAttributes", object{"QueueUrl": c.url(queue), "AttributeNames": []string{"All"}}, &out); err != nil {
		return n, err
	}
	for name, to := range map[string]*int{
		"ApproximateNumberOfMessages":           &n.visible,
		"ApproximateNumberOfMessagesNotVisible": &n.inFlight,
		"ApproximateNumberOfMessagesDelayed":    &n.delayed,
	} {
		if *to, err = strconv.Atoi(out.Attributes[name]); err != nil {
			return n, fmt.Errorf("%s: %w", name, err)
		}
	}
	if !isDeadLetterQueue(queue) {
		return n, nil
	}
	var tasks struct{ Results []struct{ Status string } }
	if err := c.call("ListMessageMoveTasks", object{"SourceArn": arn(queue)}, &tasks); err != nil {
		return n, err
	}
	for _, t := range tasks.Results {
		n.moving = n.moving || t.Status == "RUNNING"
	}
	return n, nil
}
