package sqsbuffer_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/sqsbuffer"
)

// These tests use a real server: the program of the surrounding module, built and run as a separate process, so that
// this module does not depend on it.

const (
	rootKey    = "LOCAL"
	rootSecret = "local-development"
)

var server struct {
	once     sync.Once
	dir      string
	process  *exec.Cmd
	endpoint string
	err      error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if server.process != nil {
		if err := errors.Join(server.process.Process.Signal(os.Interrupt), server.process.Wait()); err != nil {
			fmt.Fprintln(os.Stderr, "the server stopped with", err)
			code = 1
		}
	}
	if server.dir != "" {
		_ = os.RemoveAll(server.dir)
	}
	os.Exit(code)
}

// counting counts the requests of a client.
type counting struct{ requests atomic.Int64 }

func (c *counting) Do(r *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	return transport.Do(r)
}

// A transport that keeps as many connections as benchmarks have goroutines.
var transport = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}

// serverClient returns a client of the server, which it starts if necessary.
func serverClient(t testing.TB) (*sqs.Client, *counting) {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds the server")
	}
	source, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(source, "cmd", "sluice")); err != nil {
		t.Skip("the source of the server is not around this module")
	}
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot tell the server to stop")
	}
	server.once.Do(func() { server.err = startServer(source) })
	if server.err != nil {
		t.Fatal(server.err)
	}
	count := new(counting)
	return sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: &server.endpoint, HTTPClient: count,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: rootKey, SecretAccessKey: rootSecret}, nil
		}),
	}), count
}

func startServer(source string) error {
	program, err := serverProgram(source)
	if err != nil {
		return err
	}
	serve := exec.Command(program, "serve", "--in-memory", "--listen", "127.0.0.1:0", "--log-level", "error",
		"--max-message-size", "1048576", "--root-access-key-id", rootKey, "--root-secret-access-key", rootSecret)
	serve.Stderr = os.Stderr
	printed, err := serve.StdoutPipe()
	if err != nil {
		return err
	}
	if err := serve.Start(); err != nil {
		return err
	}
	server.process = serve
	for lines := bufio.NewScanner(printed); lines.Scan(); {
		if endpoint, ok := strings.CutPrefix(lines.Text(), "export AWS_ENDPOINT_URL_SQS="); ok {
			server.endpoint = endpoint
			return nil
		}
	}
	return errors.New("the server does not say its endpoint")
}

// serverProgram returns the path of the server's program. It builds the program unless SLUICE_TEST_PROGRAM names one of
// the same source.
func serverProgram(source string) (string, error) {
	if program := os.Getenv("SLUICE_TEST_PROGRAM"); program != "" {
		return program, nil
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return "", err
	}
	if server.dir, err = os.MkdirTemp("", "sqsbuffer-"); err != nil {
		return "", err
	}
	program := filepath.Join(server.dir, "sluice")
	build := exec.Command(tool, "build", "-o", program, "./cmd/sluice")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return program, nil
}

// createQueue creates a queue on the server.
func createQueue(t testing.TB, c *sqs.Client, name string, attributes map[string]string) *string {
	t.Helper()
	out, err := c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		t.Fatal(err)
	}
	return out.QueueUrl
}

func newClient(t testing.TB, plain *sqs.Client, change ...func(*sqsbuffer.Settings)) *sqsbuffer.Client {
	t.Helper()
	c, err := sqsbuffer.New(plain, change...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestServerSendReceiveDelete(t *testing.T) {
	plain, requests := serverClient(t)
	queue := createQueue(t, plain, "jobs", nil)
	c := newClient(t, plain)
	const n = 500
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			_, err := c.SendMessage(t.Context(), &sqs.SendMessageInput{
				QueueUrl: queue, MessageBody: aws.String(fmt.Sprint("job ", i)),
				MessageAttributes: map[string]types.MessageAttributeValue{
					"number": {DataType: aws.String("Number"), StringValue: aws.String(fmt.Sprint(i))},
					"bytes":  {DataType: aws.String("Binary.raw"), BinaryValue: []byte{0, byte(i), 255}},
				},
				MessageSystemAttributes: map[string]types.MessageSystemAttributeValue{
					"AWSTraceHeader": {DataType: aws.String("String"),
						StringValue: aws.String("Root=1-5759e988-bd862e3fe1be46a994272793")},
				},
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()

	var mu sync.Mutex
	seen := make(map[string]int)
	for range 32 {
		wg.Go(func() {
			for {
				out, err := c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
					QueueUrl: queue, WaitTimeSeconds: 1, MessageAttributeNames: []string{"All"},
				})
				if err != nil {
					t.Error(err)
				}
				if err != nil || len(out.Messages) == 0 {
					return
				}
				for _, m := range out.Messages {
					if got := "job " + *m.MessageAttributes["number"].StringValue; got != *m.Body {
						t.Errorf("%s has the attributes of %s", *m.Body, got)
					}
					if _, err := c.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
						QueueUrl: queue, ReceiptHandle: m.ReceiptHandle,
					}); err != nil {
						t.Error(err)
					}
					mu.Lock()
					seen[*m.Body]++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	equal(t, "different messages", len(seen), n)
	if got := requests.requests.Load(); got > 3*n/5 {
		t.Errorf("%d requests for %d calls", got, 3*n)
	}
	closeClient(t, c)
}

func TestServerFIFO(t *testing.T) {
	plain, _ := serverClient(t)
	queue := createQueue(t, plain, "orders.fifo", map[string]string{
		"FifoQueue": "true", "ContentBasedDeduplication": "true",
	})
	c := newClient(t, plain)
	var waits []func() (*sqs.SendMessageOutput, error)
	for i := range 200 {
		waits = append(waits, c.SendMessageAsync(t.Context(), &sqs.SendMessageInput{
			QueueUrl: queue, MessageBody: aws.String(fmt.Sprint(i)), MessageGroupId: aws.String(fmt.Sprint(i % 3)),
		}))
	}
	for _, wait := range waits {
		if out, err := wait(); err != nil || out.SequenceNumber == nil {
			t.Fatalf("%v, %v", out, err)
		}
	}
	last := map[string]int{"0": -1, "1": -1, "2": -1}
	for received := 0; received < 200; {
		out, err := c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: queue, MaxNumberOfMessages: 10,
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{"MessageGroupId"},
		})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for _, m := range out.Messages {
			received++
			var i int
			if _, err := fmt.Sscan(*m.Body, &i); err != nil {
				t.Fatal(err)
			}
			group := m.Attributes["MessageGroupId"]
			if i <= last[group] {
				t.Errorf("in group %s, %d came after %d", group, i, last[group])
			}
			last[group] = i
			wg.Go(func() {
				if _, err := c.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
					QueueUrl: queue, ReceiptHandle: m.ReceiptHandle,
				}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	closeClient(t, c)
}

// Batched calls get the same errors as single calls.
func TestServerErrors(t *testing.T) {
	plain, _ := serverClient(t)
	queue := createQueue(t, plain, "errors", map[string]string{"MaximumMessageSize": "1024"})
	c := newClient(t, plain)
	large := strings.Repeat("x", 2000)
	var wg sync.WaitGroup
	for _, body := range []string{"a", "\x00", "b", large} {
		wg.Go(func() {
			in := &sqs.SendMessageInput{QueueUrl: queue, MessageBody: &body}
			_, err := c.SendMessage(t.Context(), in)
			_, alone := plain.SendMessage(t.Context(), in)
			if fmt.Sprintf("%T", root(err)) != fmt.Sprintf("%T", root(alone)) {
				t.Errorf("%.10q in a batch: %v, alone: %v", body, err, alone)
			}
		})
	}
	for _, handle := range []string{"garbage", "more garbage"} {
		wg.Go(func() {
			_, err := c.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: queue, ReceiptHandle: &handle})
			var invalid *types.ReceiptHandleIsInvalid
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), "The input receipt handle") {
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
	missing := aws.String(*queue + "-missing")
	for range 2 {
		wg.Go(func() {
			_, err := c.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: missing, MessageBody: aws.String("a")})
			var gone *types.QueueDoesNotExist
			if !errors.As(err, &gone) {
				t.Errorf("%v", err)
			}
			if _, err = c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
				QueueUrl: missing,
			}); !errors.As(err, &gone) {
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
	closeClient(t, c)
}

// root returns the innermost error.
func root(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

func TestServerCloseGivesBack(t *testing.T) {
	plain, _ := serverClient(t)
	queue := createQueue(t, plain, "given-back", nil)
	c := newClient(t, plain)
	for range 100 {
		c.SendMessageAsync(t.Context(), &sqs.SendMessageInput{QueueUrl: queue, MessageBody: aws.String("a")})
	}
	taken := 0
	for taken < 50 {
		out, err := c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: queue})
		if err != nil {
			t.Fatal(err)
		}
		taken += len(out.Messages)
	}
	closeClient(t, c)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		out, err := plain.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
			QueueUrl: queue, AttributeNames: []types.QueueAttributeName{"All"},
		})
		if err != nil {
			t.Fatal(err)
		}
		// The server takes back the messages of receives that Close has canceled.
		if out.Attributes["ApproximateNumberOfMessages"] == fmt.Sprint(100-taken) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d were taken, and %v", taken, out.Attributes)
		}
	}
}

func TestServerConsume(t *testing.T) {
	plain, requests := serverClient(t)
	queue := createQueue(t, plain, "consumed", nil)
	c := newClient(t, plain)
	const n = 1000
	for i := range n {
		c.SendMessageAsync(t.Context(), &sqs.SendMessageInput{QueueUrl: queue, MessageBody: aws.String(fmt.Sprint(i))})
	}
	before := requests.requests.Load()
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	seen := make(map[string]bool)
	err := c.Consume(ctx, *queue, func(_ context.Context, m types.Message) error {
		mu.Lock()
		defer mu.Unlock()
		if seen[*m.Body] = true; len(seen) == n {
			stop()
		}
		return nil
	}, func(o *sqsbuffer.ConsumeOptions) { o.Concurrency = 100 })
	if err != nil {
		t.Error(err)
	}
	if got := requests.requests.Load() - before; got > n/2 {
		t.Errorf("%d requests for %d messages", got, n)
	}
	out, err := plain.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: queue, AttributeNames: []types.QueueAttributeName{"All"},
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "left",
		out.Attributes["ApproximateNumberOfMessages"]+out.Attributes["ApproximateNumberOfMessagesNotVisible"], "00")
	closeClient(t, c)
}

// A message that always fails is moved to the dead-letter queue by the queue's redrive policy, and then the rest of its
// group is handled.
func TestServerConsumePoison(t *testing.T) {
	plain, _ := serverClient(t)
	c := newClient(t, plain)
	dead := createQueue(t, plain, "dead.fifo", map[string]string{"FifoQueue": "true"})
	queue := createQueue(t, plain, "poisoned.fifo", map[string]string{
		"FifoQueue": "true", "ContentBasedDeduplication": "true",
		"RedrivePolicy": `{"maxReceiveCount":"3","deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead.fifo"}`,
	})
	for _, body := range []string{"1", "poison", "2", "3"} {
		c.SendMessageAsync(t.Context(), &sqs.SendMessageInput{
			QueueUrl: queue, MessageBody: &body, MessageGroupId: aws.String("g"),
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	var handled []string
	err := c.Consume(ctx, *queue, func(_ context.Context, m types.Message) error {
		handled = append(handled, *m.Body)
		switch *m.Body {
		case "poison":
			panic(*m.Body)
		case "3":
			stop()
		}
		return nil
	}, func(o *sqsbuffer.ConsumeOptions) {
		o.RetryDelay = func(types.Message) time.Duration { return 0 }
		o.OnError = func(error) {}
	})
	if err != nil {
		t.Error(err)
	}
	equal(t, "handled", fmt.Sprint(handled), "[1 poison poison poison 2 3]")
	out, err := plain.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: dead, WaitTimeSeconds: 10})
	if err != nil || len(out.Messages) != 1 || *out.Messages[0].Body != "poison" {
		t.Errorf("in the dead-letter queue: %v, %v", out, err)
	}
	closeClient(t, c)
}
