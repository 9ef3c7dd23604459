package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/aws/signature"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// endpoint calls SQS on a server.
type endpoint struct {
	url    string
	signer signature.Signer
}

func start(t *testing.T) *endpoint {
	t.Helper()
	c := server.Default()
	c.InMemory, c.Listen = true, "127.0.0.1:0"
	s, _ := servertest.Start(t, c)
	root := s.Root()
	return &endpoint{s.Endpoint(),
		signature.Signer{AccessKeyID: root.AccessKeyID, Secret: root.Secret, Region: "us-east-1"}}
}

// refusal is an error of the server.
type refusal struct{ Type, Message string }

func (r refusal) Error() string     { return r.Type + ": " + r.Message }
func (r refusal) ErrorCode() string { return r.Type[strings.IndexByte(r.Type, '#')+1:] }

func (e *endpoint) SQS(ctx context.Context, action string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url+"/", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Target": {"AmazonSQS." + action}}
	e.signer.Sign(r, "sqs", body, time.Now())
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		var wrong struct {
			Type    string `json:"__type"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(answer, &wrong); err != nil {
			return err
		}
		return refusal(wrong)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}

// must calls SQS, and fails the test after an error.
func (e *endpoint) must(t *testing.T, action string, in, out any) {
	t.Helper()
	if err := e.SQS(t.Context(), action, in, out); err != nil {
		t.Fatalf("%s: %v", action, err)
	}
}

func (e *endpoint) create(t *testing.T, name string, attributes map[string]string) string {
	t.Helper()
	if strings.HasSuffix(name, ".fifo") {
		attributes = map[string]string{"FifoQueue": "true"}
	}
	var out struct{ QueueUrl string }
	e.must(t, "CreateQueue", map[string]any{"QueueName": name, "Attributes": attributes}, &out)
	return out.QueueUrl
}

// drain receives all messages of a queue and deletes them.
func (e *endpoint) drain(t *testing.T, url string) (all []*received) {
	t.Helper()
	for {
		var out struct{ Messages []*received }
		e.must(t, "ReceiveMessage", map[string]any{
			"QueueUrl": url, "MaxNumberOfMessages": 10, "AttributeNames": []string{"All"},
			"MessageAttributeNames": []string{"All"},
		}, &out)
		for _, m := range out.Messages {
			e.must(t, "DeleteMessage", map[string]string{"QueueUrl": url, "ReceiptHandle": m.ReceiptHandle}, nil)
		}
		if all = append(all, out.Messages...); len(out.Messages) == 0 {
			return all
		}
	}
}

// hidden is how long messages stay hidden at the source: longer than any run takes.
const hidden = time.Hour

// mover moves messages without pauses, and fails the test after a warning.
func mover(t *testing.T, from, to API) *Mover {
	t.Helper()
	always := func(api API) func() (API, error) { return func() (API, error) { return api, nil } }
	return &Mover{
		From: always(from), To: always(to), Workers: 4, Hidden: int(hidden.Seconds()), Pause: 10 * time.Millisecond,
		Wait: time.Minute, Finish: time.Minute,
		Warn: func(text string) { t.Error(text) }, Progress: func(int) {},
	}
}

// fill sends numbered messages, to a FIFO queue in five groups.
func fill(t *testing.T, e *endpoint, url string, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		in := map[string]any{"QueueUrl": url, "MessageBody": strconv.Itoa(i)}
		if strings.HasSuffix(url, ".fifo") {
			in["MessageGroupId"], in["MessageDeduplicationId"] = fmt.Sprintf("group-%d", i%5), "same-"+strconv.Itoa(i)
		}
		e.must(t, "SendMessage", in, nil)
	}
}

// source is the side from which messages are received. It records them.
type source struct {
	*endpoint
	mu       sync.Mutex
	received []map[string]any // queue and receipt handle, as for ChangeMessageVisibility
}

func (s *source) SQS(ctx context.Context, action string, in, out any) error {
	err := s.endpoint.SQS(ctx, action, in, out)
	if action != "ReceiveMessage" || err != nil {
		return err
	}
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	var answer struct{ Messages []received }
	if err := json.Unmarshal(text, &answer); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range answer.Messages {
		s.received = append(s.received, map[string]any{
			"QueueUrl": in.(map[string]any)["QueueUrl"], "ReceiptHandle": m.ReceiptHandle, "VisibilityTimeout": 0,
		})
	}
	return nil
}

// reappear makes messages visible again that were received and not deleted, as if their visibility timeout were over.
func (s *source) reappear(t *testing.T) {
	t.Helper()
	for _, m := range s.received {
		if err := s.endpoint.SQS(t.Context(), "ChangeMessageVisibility", m, nil); err != nil && !isRefusal(err) {
			t.Fatal(err)
		}
	}
}

// killer stops a run for good at a call, as if it were killed: before the call has an effect, or before its answer
// arrives.
type killer struct {
	API
	action string
	after  bool // the call has its effect
	calls  atomic.Int32
	killed chan struct{}
}

const killedAt = 3 // the call

func (k *killer) SQS(ctx context.Context, action string, in, out any) error {
	last := action == k.action && k.calls.Add(1) == killedAt
	if last && !k.after {
		close(k.killed)
	}
	select {
	case <-k.killed:
		<-ctx.Done() // until the test ends
		return ctx.Err()
	default:
	}
	err := k.API.SQS(ctx, action, in, out)
	if last {
		close(k.killed)
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

func TestARunThatWasKilledIsResumed(t *testing.T) {
	const n = 30
	for _, action := range []string{"SendMessageBatch", "DeleteMessageBatch"} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", action, after), func(t *testing.T) {
				t.Parallel()
				from, to := start(t), start(t)
				var queues []Queue
				for _, name := range []string{"jobs", "orders.fifo"} {
					q := Queue{name, from.create(t, name, nil), to.create(t, name, nil)}
					fill(t, from, q.From, 0, n)
					queues = append(queues, q)
				}
				killed := make(chan struct{})
				received := &source{endpoint: from}
				first := mover(t, &killer{API: received, action: action, after: after, killed: killed}, &killer{
					API: to, action: action, after: after, killed: killed,
				})
				if action == "SendMessageBatch" {
					first.From = func() (API, error) { return received, nil }
				} else {
					first.To = func() (API, error) { return to, nil }
				}
				first.Workers = 1 // which worker makes the third call is random
				first.Finish = 0  // it does nothing more
				ctx, cancel := context.WithCancel(context.Background())
				ended := make(chan struct{})
				go func() { defer close(ended); _, _ = first.Run(ctx, queues) }()
				<-killed
				received.reappear(t)
				if _, err := mover(t, from, to).Run(t.Context(), queues); err != nil {
					t.Error(err)
				}
				cancel()
				<-ended
				check(t, to.drain(t, queues[0].To), to.drain(t, queues[1].To), n)
			})
		}
	}
}

// check compares the arrived messages with the sent ones: all of them, at most one batch twice, and a FIFO queue in
// order.
func check(t *testing.T, standard, fifo []*received, n int) {
	t.Helper()
	seen := make(map[string]int)
	for _, m := range standard {
		seen[m.Body]++
	}
	if len(seen) != n || len(standard) > n+mostMessages {
		t.Errorf("%d messages arrived, %d of them different, of %d", len(standard), len(seen), n)
	}
	groups := make(map[string][]string)
	for _, m := range fifo {
		groups[m.group()] = append(groups[m.group()], m.Body)
	}
	for i := range 5 {
		var want []string
		for body := i; body < n; body += 5 {
			want = append(want, strconv.Itoa(body))
		}
		if got := groups[fmt.Sprintf("group-%d", i)]; !slices.Equal(got, want) {
			t.Errorf("group %d: %v, want %v", i, got, want)
		}
	}
}

func TestMessagesKeepWhatTheyCarry(t *testing.T) {
	from, to := start(t), start(t)
	q := Queue{"jobs", from.create(t, "jobs", nil), to.create(t, "jobs", map[string]string{"DelaySeconds": "900"})}
	from.must(t, "SendMessage", map[string]any{
		"QueueUrl": q.From, "MessageBody": "hello", "MessageGroupId": "tenant-7",
		"MessageAttributes": map[string]any{
			"n": attribute{DataType: "Number.int", StringValue: new("7")},
			"b": attribute{DataType: "Binary", BinaryValue: []byte{0, 255}},
		},
		"MessageSystemAttributes": map[string]any{
			traceHeader: attribute{DataType: "String", StringValue: new("Root=1-5759e988-bd862e3fe1be46a994272793")},
		},
	}, nil)
	results, err := mover(t, from, to).Run(t.Context(), []Queue{q})
	if err != nil || len(results) != 1 || results[0] != (Result{Queue: "jobs", Moved: 1}) {
		t.Fatalf("%+v, %v", results, err)
	}
	arrived := to.drain(t, q.To) // at once: the delay has passed at the source
	if len(arrived) != 1 {
		t.Fatalf("%d messages", len(arrived))
	}
	m := arrived[0]
	if m.Body != "hello" || m.group() != "tenant-7" ||
		m.Attributes[traceHeader] != "Root=1-5759e988-bd862e3fe1be46a994272793" {
		t.Errorf("%+v", m)
	}
	if n, b := m.MessageAttributes["n"],
		m.MessageAttributes["b"]; *n.StringValue != "7" || n.DataType != "Number.int" ||
		!bytes.Equal(b.BinaryValue, []byte{0, 255}) {
		t.Errorf("attributes: %+v", m.MessageAttributes)
	}
}

func TestAGroupStaysBehindAMessageThatIsRefused(t *testing.T) {
	from, to := start(t), start(t)
	q := Queue{"orders.fifo", from.create(t, "orders.fifo", nil), to.create(t, "orders.fifo", nil)}
	to.must(t, "SetQueueAttributes",
		map[string]any{"QueueUrl": q.To, "Attributes": map[string]string{"MaximumMessageSize": "1024"}}, nil)
	for _, m := range [][2]string{{"a", "1"}, {"a", strings.Repeat("x", 2000)}, {"b", "2"}, {"a", "3"}, {"b", "4"}} {
		from.must(t, "SendMessage",
			map[string]any{
				"QueueUrl": q.From, "MessageBody": m[1], "MessageGroupId": m[0], "MessageDeduplicationId": m[1][:1],
			}, nil)
	}
	run := mover(t, from, to)
	var warnings []string
	run.Workers, run.Wait = 1, 0
	run.Warn = func(text string) { warnings = append(warnings, text) }
	results, err := run.Run(t.Context(), []Queue{q})
	if err != nil || results[0] != (Result{Queue: "orders.fifo", Moved: 3, Refused: 1, Left: 2}) {
		t.Errorf("%+v, %v", results, err)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "refuses message") {
		t.Errorf("warnings: %q", warnings)
	}
	var bodies []string
	for _, m := range to.drain(t, q.To) {
		bodies = append(bodies, m.Body)
	}
	if slices.Sort(bodies); !slices.Equal(bodies, []string{"1", "2", "4"}) {
		t.Errorf("arrived: %q", bodies)
	}
}

func TestFollowingEndsWithItsContext(t *testing.T) {
	from, to := start(t), start(t)
	q := Queue{"jobs", from.create(t, "jobs", nil), to.create(t, "jobs", nil)}
	ctx, cancel := context.WithCancel(t.Context())
	run := mover(t, from, to)
	run.Follow = true
	results := make(chan []Result, 1)
	go func() {
		all, err := run.Run(ctx, []Queue{q})
		if err != nil {
			t.Error(err)
		}
		results <- all
	}()
	fill(t, from, q.From, 0, 30) // while it runs
	var arrived []*received
	for len(arrived) < 30 {
		arrived = append(arrived, to.drain(t, q.To)...)
	}
	cancel()
	if all := <-results; len(all) != 1 || all[0] != (Result{Queue: "jobs", Moved: 30}) {
		t.Errorf("%+v", all)
	}
}
