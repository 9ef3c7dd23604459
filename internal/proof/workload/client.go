package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/aws/signature"
	"github.com/sluicemq/sluice/internal/proof/history"
)

const (
	account = "000000000000"
	region  = "us-east-1"
)

// Root is the identity of the clients: servers are to be started with this key.
var Root = signature.Signer{
	AccessKeyID: "AKIACRASHCRASHCRASH0", Secret: "crash/crash/crash/crash/crash/crash/cras", Region: region,
}

// Client is the service of a server. It never repeats a call: histories are about whether a call was executed.
type Client struct {
	Endpoint string // URL
	HTTP     *http.Client
	Shards   int // over which to spread the queues that can be; 0 leaves it to the server
}

// NewClient returns a client without a time limit for answers.
func NewClient(endpoint string) *Client {
	// The client has connections of its own, and uses no proxy of the environment.
	return &Client{Endpoint: endpoint, HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.HTTP.CloseIdleConnections() }

// Object is JSON.
type Object map[string]any

// Call makes a call of AWS JSON 1.0.
func (c *Client) Call(operation string, in Object, out any) error {
	return c.CallIn(context.Background(), operation, in, out)
}

// CallIn makes a call that is abandoned when ctx ends.
func (c *Client) CallIn(ctx context.Context, operation string, in Object, out any) error {
	return c.call(ctx, "sqs", "AmazonSQS."+operation, in, out)
}

// Administer calls an operation of Sluice's own.
func (c *Client) Administer(ctx context.Context, operation string, in Object, out any) error {
	return c.call(ctx, "sluice", "Sluice."+operation, in, out)
}

func (c *Client) call(ctx context.Context, service, target string, in Object, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Endpoint+"/", bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", target)
	Root.Sign(r, service, text, time.Now())
	if text, err = c.answer(r); err != nil || out == nil {
		return err
	}
	return json.Unmarshal(text, out)
}

// answer makes a request and returns the body of the answer.
func (c *Client) answer(r *http.Request) ([]byte, error) {
	answer, err := c.HTTP.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode >= 500:
		return nil, fmt.Errorf("%s: %s", answer.Status, text)
	case answer.StatusCode != http.StatusOK:
		return nil, refusalIn(string(text))
	}
	return text, nil
}

// refusalIn recognises the answer to a client that is refused.
func refusalIn(text string) history.Refusal {
	for _, known := range []struct {
		words   string
		refusal history.Refusal
	}{
		{"QueueDoesNotExist", history.NoQueue},
		{"The receipt handle has expired", history.Expired},
		{"Message does not exist or is not available", history.Absent},
		{"the receive call is not retryable", history.Stale},
		{"PurgeQueueInProgress", history.Purging},
		{"No purge of the queue", history.NotKept},
		{"No deletion of a queue", history.NotKept},
		{"there is a new queue of this name", history.Exists}, // an older one was also deleted, and could come back
		{"There is already a task running", history.Moving},
		{"ResourceNotFoundException", history.NoTask},
		{"NoSuchEntity", history.Missing},
		{"<Code>NotFound</Code>", history.Missing},
		{"InvalidClientTokenId", history.Missing},
		{"EntityAlreadyExists", history.Exists},
	} {
		if strings.Contains(text, known.words) {
			return known.refusal
		}
	}
	return history.Refusal(text)
}

// URL returns the URL of a queue.
func (c *Client) URL(queue string) string { return c.Endpoint + "/" + account + "/" + queue }

// ARN returns the ARN of a queue.
func ARN(queue string) string { return "arn:aws:sqs:" + region + ":" + account + ":" + queue }

func seconds(d time.Duration) int { return int(d / time.Second) }

// Create is part of Service.
func (c *Client) Create(q history.Queue) error {
	attributes := map[string]string{"VisibilityTimeout": strconv.Itoa(seconds(Visibility))}
	if history.IsFIFO(q.Name) {
		attributes["FifoQueue"] = "true"
	}
	if q.Dead != "" {
		attributes["RedrivePolicy"] = fmt.Sprintf(
			`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, ARN(q.Dead), q.MaxReceives,
		)
	}
	if q.Scoped {
		attributes["DeduplicationScope"], attributes["FifoThroughputLimit"] = "messageGroup", "perMessageGroupId"
	}
	in := Object{"QueueName": q.Name, "Attributes": attributes}
	if c.Shards > 0 && (q.Scoped || !history.IsFIFO(q.Name)) {
		in["tags"] = map[string]string{"sluice:shards": strconv.Itoa(c.Shards)}
	}
	return c.Call("CreateQueue", in, nil)
}

// Drop is part of Service.
func (c *Client) Drop(queue string) error {
	return c.Call("DeleteQueue", Object{"QueueUrl": c.URL(queue)}, nil)
}

// Purge is part of Service.
func (c *Client) Purge(queue string) error {
	return c.Call("PurgeQueue", Object{"QueueUrl": c.URL(queue)}, nil)
}

// UndoPurge is part of Undoer.
func (c *Client) UndoPurge(queue string) error {
	return c.Administer(context.Background(), "UndoPurge", Object{"QueueUrl": c.URL(queue)}, nil)
}

// UndoDelete is part of Undoer.
func (c *Client) UndoDelete(queue string) error {
	return c.Administer(context.Background(), "UndoDelete", Object{"QueueName": queue}, nil)
}

// batch is the answer to a batch.
type batch struct {
	Successful []success
	Failed     []failure
}

// success and failure are the results of an entry of a batch.
type (
	success struct{ Id, MessageId, SequenceNumber string }
	failure struct {
		Id, Code, Message string
		SenderFault       bool
	}
)

// results returns an error for each of n entries: nil, a refusal, or an error that the answer does not mention the
// entry.
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
		i, err := strconv.Atoi(f.Id)
		switch {
		case err != nil || i >= n:
		case f.SenderFault:
			out[i] = refusalIn(f.Message)
		default:
			out[i] = fmt.Errorf("%s: %s", f.Code, f.Message)
		}
	}
	return out
}

// sent returns the result for each of n letters.
func (b *batch) sent(n int) []Sent {
	answers := make([]Sent, n)
	for i, err := range b.results(n) {
		answers[i].Err = err
	}
	for _, s := range b.Successful {
		if i, err := strconv.Atoi(s.Id); err == nil && i < n {
			answers[i].ID, answers[i].Sequence = s.MessageId, s.SequenceNumber
		}
	}
	return answers
}

// Send is part of Service.
func (c *Client) Send(queue string, letters []Letter) ([]Sent, error) {
	var entries []Object
	for i, l := range letters {
		e := Object{"Id": strconv.Itoa(i), "MessageBody": Body(l.Name)}
		if l.Group != "" {
			e["MessageGroupId"] = l.Group
		}
		if history.IsFIFO(queue) {
			e["MessageDeduplicationId"] = l.Name
		} else {
			e["DelaySeconds"] = seconds(l.Delay)
		}
		entries = append(entries, e)
	}
	if len(entries) == 1 {
		var out struct{ MessageId, SequenceNumber string }
		one := entries[0]
		delete(one, "Id")
		one["QueueUrl"] = c.URL(queue)
		if err := c.Call("SendMessage", one, &out); err != nil {
			return nil, err
		}
		return []Sent{{ID: out.MessageId, Sequence: out.SequenceNumber}}, nil
	}
	var out batch
	if err := c.Call("SendMessageBatch", Object{"QueueUrl": c.URL(queue), "Entries": entries}, &out); err != nil {
		return nil, err
	}
	return out.sent(len(letters)), nil
}

// Receive is part of Service.
func (c *Client) Receive(queue string, r Receive) ([]Received, error) {
	in := Object{
		"QueueUrl": c.URL(queue), "MaxNumberOfMessages": r.Most, "VisibilityTimeout": seconds(r.Timeout),
		"WaitTimeSeconds": seconds(r.Wait), "MessageSystemAttributeNames": []string{"All"},
	}
	if r.Attempt != "" {
		in["ReceiveRequestAttemptId"] = r.Attempt
	}
	var out struct {
		Messages []struct {
			MessageId, ReceiptHandle, Body string
			Attributes                     map[string]string
		}
	}
	if err := c.Call("ReceiveMessage", in, &out); err != nil {
		return nil, err
	}
	var messages []Received
	for _, m := range out.Messages {
		n, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
		if err != nil {
			return nil, err
		}
		messages = append(messages, Received{
			Body: m.Body, ID: m.MessageId, Handle: m.ReceiptHandle, Receives: n,
			Group: m.Attributes["MessageGroupId"], Sequence: m.Attributes["SequenceNumber"],
		})
	}
	return messages, nil
}

// Remove is part of Service.
func (c *Client) Remove(queue string, handles []string) ([]error, error) {
	return c.each("DeleteMessage", queue, handles, Object{})
}

// Hide is part of Service.
func (c *Client) Hide(queue string, handles []string, timeout time.Duration) ([]error, error) {
	return c.each("ChangeMessageVisibility", queue, handles, Object{"VisibilityTimeout": seconds(timeout)})
}

// each makes a call for one message, or its batch for several.
func (c *Client) each(operation, queue string, handles []string, parameters Object) ([]error, error) {
	if len(handles) == 1 {
		parameters["QueueUrl"], parameters["ReceiptHandle"] = c.URL(queue), handles[0]
		err := c.Call(operation, parameters, nil)
		if o, _ := history.OutcomeOf(err); o == history.Unknown {
			return nil, err
		}
		return []error{err}, nil
	}
	var entries []Object
	for i, h := range handles {
		e := Object{"Id": strconv.Itoa(i), "ReceiptHandle": h}
		for name, value := range parameters {
			e[name] = value
		}
		entries = append(entries, e)
	}
	var out batch
	if err := c.Call(operation+"Batch", Object{"QueueUrl": c.URL(queue), "Entries": entries}, &out); err != nil {
		return nil, err
	}
	return out.results(len(handles)), nil
}

// Move is part of Service.
func (c *Client) Move(queue string, rate int) (string, error) {
	in := Object{"SourceArn": ARN(queue)}
	if rate > 0 {
		in["MaxNumberOfMessagesPerSecond"] = rate
	}
	var out struct{ TaskHandle string }
	err := c.Call("StartMessageMoveTask", in, &out)
	return out.TaskHandle, err
}

// Cancel is part of Service.
func (c *Client) Cancel(_, task string) error {
	return c.Call("CancelMessageMoveTask", Object{"TaskHandle": task}, nil)
}

// Counts is part of Service.
func (c *Client) Counts(queue string) (n Counts, err error) {
	var out struct{ Attributes map[string]string }
	if err := c.Call(
		"GetQueueAttributes", Object{"QueueUrl": c.URL(queue), "AttributeNames": []string{"All"}}, &out,
	); err != nil {
		return n, err
	}
	for name, to := range map[string]*int{
		"ApproximateNumberOfMessages":           &n.Visible,
		"ApproximateNumberOfMessagesNotVisible": &n.InFlight,
		"ApproximateNumberOfMessagesDelayed":    &n.Delayed,
	} {
		if *to, err = strconv.Atoi(out.Attributes[name]); err != nil {
			return n, fmt.Errorf("%s: %w", name, err)
		}
	}
	if !IsDead(queue) {
		return n, nil
	}
	var tasks struct{ Results []struct{ Status string } }
	if err := c.Call("ListMessageMoveTasks", Object{"SourceArn": ARN(queue)}, &tasks); err != nil {
		return n, err
	}
	for _, t := range tasks.Results {
		n.Moving = n.Moving || t.Status == "RUNNING"
	}
	return n, nil
}
