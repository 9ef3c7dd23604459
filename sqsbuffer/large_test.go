package sqsbuffer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/sqsbuffer"
)

// memory is an ObjectStore. It is also a server with the part of S3 that other clients of large messages need.
type memory struct {
	mu      sync.Mutex
	objects map[string]string // by bucket/key
}

func newMemory() *memory { return &memory{objects: make(map[string]string)} }

func (m *memory) Put(_ context.Context, bucket, key string, body []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[bucket+"/"+key] = string(body)
	return nil
}

func (m *memory) Get(_ context.Context, bucket, key string) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	body, ok := m.objects[bucket+"/"+key]
	if !ok {
		return nil, errors.New("there is no such object")
	}
	return io.NopCloser(strings.NewReader(body)), nil
}

func (m *memory) Delete(_ context.Context, bucket, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, bucket+"/"+key)
	return nil
}

func (m *memory) list() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Values(m.objects))
}

func (m *memory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch r.Method {
	case http.MethodPut:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = m.Put(r.Context(), bucket, key, body)
	case http.MethodDelete:
		_ = m.Delete(r.Context(), bucket, key)
		w.WriteHeader(http.StatusNoContent)
	default:
		object, err := m.Get(r.Context(), bucket, key)
		if err != nil {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "<Error><Code>NoSuchKey</Code></Error>")
			return
		}
		_, _ = io.Copy(w, object)
	}
}

func newLarge(t testing.TB, c *sqsbuffer.Client, store sqsbuffer.ObjectStore,
	change ...func(*sqsbuffer.LargeSettings)) *sqsbuffer.LargeClient {
	t.Helper()
	l, err := sqsbuffer.NewLarge(c, store, "bodies", change...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

var large = strings.Repeat("large ", 50_000)

func TestLargeMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newService(), newMemory()
		l := newLarge(t, s.buffered(t), store)
		in := &sqs.SendMessageInput{QueueUrl: aws.String(standard), MessageBody: &large,
			MessageAttributes: map[string]types.MessageAttributeValue{
				"tenant": {DataType: aws.String("String"), StringValue: aws.String("a")},
			}}
		if _, err := l.SendMessage(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		equal(t, "attributes of the caller's message", len(in.MessageAttributes), 1)
		if _, err := l.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: aws.String(standard), MessageBody: aws.String("small"),
		}); err != nil {
			t.Fatal(err)
		}
		equal(t, "objects", len(store.list()), 1)
		sent, _ := s.stored(standard)
		if !strings.HasPrefix(sent[0],
			`["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"bodies","s3Key":"`) ||
			sent[1] != "small" {
			t.Errorf("the sent body is %q", sent)
		}

		var received []types.Message
		for len(received) < 2 {
			out, err := l.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
				QueueUrl: aws.String(standard), MaxNumberOfMessages: 10,
			})
			if err != nil {
				t.Fatal(err)
			}
			received = append(received, out.Messages...)
		}
		m := received[0]
		if *m.Body != large || *m.MD5OfBody != digest(large) {
			t.Errorf("the body begins with %.100q", *m.Body)
		}
		if _, there := m.MessageAttributes["ExtendedPayloadSize"]; there || len(m.MessageAttributes) != 1 {
			t.Errorf("the attributes are %v", m.MessageAttributes)
		}
		if !strings.HasPrefix(*m.ReceiptHandle, "-..s3BucketName..-bodies-..s3BucketName..--..s3Key..-") {
			t.Errorf("the receipt handle is %q", *m.ReceiptHandle)
		}
		for _, m := range received {
			if _, err := l.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{
				QueueUrl: aws.String(standard), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 60,
			}); err != nil {
				t.Error(err)
			}
			if _, err := l.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
				QueueUrl: aws.String(standard), ReceiptHandle: m.ReceiptHandle,
			}); err != nil {
				t.Error(err)
			}
		}
		equal(t, "objects", len(store.list()), 0)
		left, _ := s.stored(standard)
		equal(t, "messages", len(left), 0)
		closeClient(t, l.Client)
	})
}

func TestLargeBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newService(), newMemory()
		l := newLarge(t, s.buffered(t), store, func(s *sqsbuffer.LargeSettings) {
			s.Threshold, s.OlderAttribute = 3,
				true
		})
		_, err := l.SendMessageBatch(t.Context(),
			&sqs.SendMessageBatchInput{QueueUrl: aws.String(fifo), Entries: []types.SendMessageBatchRequestEntry{
				{Id: aws.String("a"), MessageBody: aws.String("one"), MessageGroupId: aws.String("g")},
				{Id: aws.String("b"), MessageBody: aws.String("three"), MessageGroupId: aws.String("g")},
			}})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "objects", fmt.Sprint(store.list()), "[three]")
		out, err := l.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: aws.String(fifo), MaxNumberOfMessages: 10,
		})
		if err != nil || len(out.Messages) != 2 || *out.Messages[1].Body != "three" {
			t.Fatalf("%v, %v", out, err)
		}
		var visible []types.ChangeMessageVisibilityBatchRequestEntry
		var done []types.DeleteMessageBatchRequestEntry
		for i, m := range out.Messages {
			visible = append(visible, types.ChangeMessageVisibilityBatchRequestEntry{
				Id: aws.String(fmt.Sprint(i)), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 9,
			})
			done = append(done, types.DeleteMessageBatchRequestEntry{
				Id: aws.String(fmt.Sprint(i)), ReceiptHandle: m.ReceiptHandle,
			})
		}
		changed, err := l.ChangeMessageVisibilityBatch(t.Context(), &sqs.ChangeMessageVisibilityBatchInput{
			QueueUrl: aws.String(fifo), Entries: visible,
		})
		if err != nil || len(changed.Successful) != 2 {
			t.Errorf("%v, %v", changed, err)
		}
		deleted, err := l.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{
			QueueUrl: aws.String(fifo), Entries: done,
		})
		if err != nil || len(deleted.Successful) != 2 {
			t.Errorf("%v, %v", deleted, err)
		}
		equal(t, "objects", len(store.list()), 0)
		closeClient(t, l.Client)
	})
}

func TestConsumeLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newService(), newMemory()
		l := newLarge(t, s.buffered(t), store)
		for range 5 {
			l.SendMessageAsync(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(standard), MessageBody: &large})
		}
		ctx, stop := context.WithCancel(t.Context())
		var mu sync.Mutex
		handled := 0
		err := l.Consume(ctx, standard, func(_ context.Context, m types.Message) error {
			mu.Lock()
			defer mu.Unlock()
			if *m.Body != large {
				t.Errorf("a body begins with %.100q", *m.Body)
			}
			if handled++; handled == 5 {
				stop()
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		equal(t, "objects", len(store.list()), 0)
		closeClient(t, l.Client)
	})
}

// A FIFO queue stays in order when a body cannot be fetched: the messages behind it in its group wait for it; those of
// other groups do not.
func TestConsumeLargeFIFO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newService(), newMemory()
		failing := &failingOnce{memory: store}
		l := newLarge(t, s.buffered(t), failing)
		body := func(name string) string { return name + strings.TrimPrefix(large, name) }
		for _, name := range []string{"a:1", "a:2", "b:1", "a:3"} {
			group, _, _ := strings.Cut(name, ":")
			_, err := l.SendMessage(t.Context(), &sqs.SendMessageInput{
				QueueUrl: aws.String(fifo), MessageBody: aws.String(body(name)), MessageGroupId: &group,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		failing.at = failing.first
		ctx, stop := context.WithCancel(t.Context())
		var mu sync.Mutex
		var handled []string
		err := l.Consume(ctx, fifo, func(_ context.Context, m types.Message) error {
			mu.Lock()
			defer mu.Unlock()
			if handled = append(handled, (*m.Body)[:3]); len(handled) == 4 {
				stop()
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if !slices.Equal(byGroup(handled), []string{"a:1", "a:2", "a:3", "b:1"}) {
			t.Errorf("handled %v", handled)
		}
		closeClient(t, l.Client)
	})
}

// failingOnce is a store that fails the first read of one object.
type failingOnce struct {
	*memory
	first, at string
}

func (f *failingOnce) Put(ctx context.Context, bucket, key string, body []byte) error {
	if f.first == "" {
		f.first = key
	}
	return f.memory.Put(ctx, bucket, key, body)
}

func (f *failingOnce) Get(ctx context.Context, bucket, key string) (io.ReadCloser, error) {
	f.mu.Lock()
	fails := key == f.at
	if fails {
		f.at = ""
	}
	f.mu.Unlock()
	if fails {
		return nil, errors.New("the store is away")
	}
	return f.memory.Get(ctx, bucket, key)
}

// A message must not make a receiver read and delete objects that its sender may not.
func TestPointersThatAreNotFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newService(), newMemory()
		_ = store.Put(t.Context(), "secrets", "key", []byte("secret"))
		_ = store.Put(t.Context(), "bodies", "big", []byte("more than ten bytes"))
		_ = store.Put(t.Context(), "friends", "key", []byte("hello"))
		var mu sync.Mutex
		var reported []error
		l := newLarge(t, s.buffered(t, func(s *sqsbuffer.Settings) { s.MaxDoneReceiveBatches = 0 }), store,
			func(s *sqsbuffer.LargeSettings) {
				s.TrustedBuckets, s.MaxBodyBytes = []string{"friends"}, 10
				s.OnError = func(err error) { mu.Lock(); defer mu.Unlock(); reported = append(reported, err) }
			})
		point := func(body string) {
			_, err := l.Client.SendMessage(t.Context(),
				&sqs.SendMessageInput{QueueUrl: aws.String(standard), MessageBody: &body,
					MessageAttributes: map[string]types.MessageAttributeValue{
						"SQSLargePayloadSize": {DataType: aws.String("Number"), StringValue: aws.String("6")},
					}})
			if err != nil {
				t.Fatal(err)
			}
		}
		for body, want := range map[string]string{
			`["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"secrets","s3Key":"key"}]`: "nor among TrustedBuckets",
			`["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"bodies","s3Key":"big"}]`:  "more than 10 bytes",
			`["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"bodies","s3Key":"gone"}]`: "no such object",
			`["java.lang.Runtime",{"s3BucketName":"bodies","s3Key":"big"}]`:                                   "want the class",
			`not a pointer`: "should say where its body is",
		} {
			point(body)
			_, err := l.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
				QueueUrl: aws.String(standard), VisibilityTimeout: 1000,
			})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", body, err)
			}
		}
		point(`{"s3BucketName":"secrets","s3Key":"key"}`)
		point(`["com.amazon.sqs.javamessaging.MessageS3Pointer",{"s3BucketName":"friends","s3Key":"key"}]`)
		out, err := l.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: aws.String(standard), MaxNumberOfMessages: 10,
		})
		if err != nil || len(out.Messages) != 1 || *out.Messages[0].Body != "hello" {
			t.Fatalf("%v, %v", out, err)
		}
		equal(t, "reported", len(reported), 1)
		handle := strings.ReplaceAll(*out.Messages[0].ReceiptHandle, "friends", "secrets")
		if _, err := l.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
			QueueUrl: aws.String(standard), ReceiptHandle: &handle,
		}); err != nil {
			t.Error(err)
		}
		equal(t, "objects", len(store.list()), 3)
		equal(t, "reported", len(reported), 2)
		closeClient(t, l.Client)
	})
}

func TestLargeMessagesThatAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newService(), newMemory()
		s.refuse = func(string) string { return "InvalidMessageContents" }
		l := newLarge(t, s.buffered(t), store)
		var invalid *types.InvalidMessageContents
		_, err := l.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(standard), MessageBody: &large})
		if !errors.As(err, &invalid) {
			t.Errorf("%v", err)
		}
		equal(t, "objects that are left", len(store.list()), 0)

		attributes := map[string]types.MessageAttributeValue{}
		for i := range 10 {
			attributes[fmt.Sprint(i)] = types.MessageAttributeValue{
				DataType: aws.String("String"), StringValue: aws.String("a"),
			}
		}
		_, err = l.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: aws.String(standard), MessageBody: &large, MessageAttributes: attributes,
		})
		if err == nil || !strings.Contains(err.Error(), "it may have 9") {
			t.Errorf("%v", err)
		}
		_, err = l.SendMessage(t.Context(),
			&sqs.SendMessageInput{QueueUrl: aws.String(standard), MessageBody: aws.String("a"),
				MessageAttributes: map[string]types.MessageAttributeValue{
					"ExtendedPayloadSize": {DataType: aws.String("Number"), StringValue: aws.String("1")},
				}})
		if err == nil || !strings.Contains(err.Error(), "is reserved") {
			t.Errorf("%v", err)
		}
		closeClient(t, l.Client)
	})
}

// The answer to the first attempt may be lost, and a later attempt may fail: the message exists.
func TestLargeMessageKeepsItsBodyAfterALostAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newService(), newMemory()
		s.lost = func(operation string) bool { return operation == "SendMessage" && s.count(operation) == 1 }
		s.broken = func(operation string) string {
			if operation == "SendMessage" && s.count(operation) > 1 {
				return "RequestThrottled"
			}
			return ""
		}
		l := newLarge(t, s.buffered(t), store)
		_, err := l.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(standard), MessageBody: &large})
		var throttled *types.RequestThrottled
		if !errors.As(err, &throttled) {
			t.Errorf("%v", err)
		}
		out, err := l.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(standard)})
		if err != nil || len(out.Messages) != 1 || *out.Messages[0].Body != large {
			t.Errorf("the message that was stored: %+v, %v", out, err)
		}
		closeClient(t, l.Client)
	})
}

// Amazon's extended client for Python receives messages of a LargeClient, and vice versa.
func TestServerExtendedClientForPython(t *testing.T) {
	plain, _ := serverClient(t)
	python := pythonWith(t, "boto3", "sqs_extended_client")
	store := newMemory()
	s3 := httptest.NewServer(store)
	defer s3.Close()
	queue := createQueue(t, plain, "extended", nil)
	run := func(action, input string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "extended.py"), action, *queue,
			"bodies")
		cmd.Stdin = strings.NewReader(input)
		return output(t, cmd, s3.URL)
	}
	l := newLarge(t, newClient(t, plain), store)

	if _, err := l.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: queue, MessageBody: &large}); err != nil {
		t.Fatal(err)
	}
	if got := run("receive", ""); got != large {
		t.Errorf("Python received %.100q", got)
	}
	equal(t, "objects after Python has deleted its message", len(store.list()), 0)

	run("send", large)
	out, err := l.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: queue, MessageAttributeNames: []string{"from"},
	})
	if err != nil || len(out.Messages) != 1 || *out.Messages[0].Body != large {
		t.Fatalf("%.200v, %v", out, err)
	}
	equal(t, "attributes", len(out.Messages[0].MessageAttributes), 1)
	equal(t, "objects", len(store.list()), 1)
	if _, err := l.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
		QueueUrl: queue, ReceiptHandle: out.Messages[0].ReceiptHandle,
	}); err != nil {
		t.Fatal(err)
	}
	equal(t, "objects", len(store.list()), 0)
	closeClient(t, l.Client)
}

// The program of the documentation, with the S3 client of the SDK.
func TestServerExampleLarge(t *testing.T) {
	plain, _ := serverClient(t)
	createQueue(t, plain, "large", nil)
	store := newMemory()
	s3 := httptest.NewServer(store)
	defer s3.Close()
	dir := filepath.Join("..", "examples", "large")
	list := exec.Command("go", "list", "-deps", ".")
	list.Dir, list.Env = dir, append(os.Environ(), "GOPROXY=off")
	if out, err := list.CombinedOutput(); err != nil {
		t.Skipf("run go mod download in %s first: %s", dir, out)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", ".")
	cmd.Dir = dir
	equal(t, "printed", output(t, cmd, s3.URL), "6000000 bytes\n")
	equal(t, "objects", len(store.list()), 0)
}

// output runs a program with the server and an S3 service, and returns its output.
func output(t *testing.T, cmd *exec.Cmd, s3 string) string {
	t.Helper()
	cmd.Env = append(os.Environ(),
		"AWS_ENDPOINT_URL_SQS="+server.endpoint, "AWS_ENDPOINT_URL_S3="+s3, "AWS_REGION=us-east-1",
		"AWS_DEFAULT_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID="+rootKey, "AWS_SECRET_ACCESS_KEY="+rootSecret, "AWS_SESSION_TOKEN=",
		"AWS_REQUEST_CHECKSUM_CALCULATION=when_required", "AWS_RESPONSE_CHECKSUM_VALIDATION=when_required")
	var failure bytes.Buffer
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, failure.String())
	}
	return string(out)
}

// pythonWith finds a Python with these modules: in the project's virtual environment, or the installed one.
func pythonWith(t *testing.T, modules ...string) string {
	t.Helper()
	for _, name := range []string{filepath.Join("..", ".venv", "bin", "python"), "python3"} {
		python, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if exec.Command(python, "-c", "import "+strings.Join(modules, ", ")).Run() == nil {
			return python
		}
	}
	t.Skipf("no Python has %s", strings.Join(modules, " and "))
	return ""
}
