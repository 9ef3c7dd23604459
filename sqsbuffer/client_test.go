package sqsbuffer_test

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/sluicemq/sluice/sqsbuffer"
)

func digest(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

func send(ctx context.Context, c *sqsbuffer.Client, queue, body string) error {
	group, _, _ := strings.Cut(body, ":")
	in := &sqs.SendMessageInput{QueueUrl: &queue, MessageBody: &body}
	if queue == fifo {
		in.MessageGroupId = &group
	}
	out, err := c.SendMessage(ctx, in)
	if err == nil && *out.MD5OfMessageBody != digest(body) {
		return fmt.Errorf("%q got the answer of another message", body)
	}
	return err
}

// sendAll sends bodies concurrently and returns the errors.
func sendAll(ctx context.Context, c *sqsbuffer.Client, queue string, bodies ...string) []error {
	errs := make([]error, len(bodies))
	var wg sync.WaitGroup
	for i, body := range bodies {
		wg.Go(func() { errs[i] = send(ctx, c, queue, body) })
	}
	wg.Wait()
	return errs
}

func bodies(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("m%03d", i)
	}
	return out
}

func closeClient(t *testing.T, c *sqsbuffer.Client) {
	t.Helper()
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func check(t *testing.T, errs []error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestSettingsOutOfRange(t *testing.T) {
	for want, change := range map[string]func(*sqsbuffer.Settings){
		"LongPollWaitTimeoutSeconds is 21; it must be from 1 to 20":                            func(s *sqsbuffer.Settings) { s.LongPollWaitTimeoutSeconds = 21 },
		"MaxBatchOpenMs is -1; it must be from 0 to 60000":                                     func(s *sqsbuffer.Settings) { s.MaxBatchOpenMs = -1 },
		"MaxBatchSize is 11; it must be from 1 to 10":                                          func(s *sqsbuffer.Settings) { s.MaxBatchSize = 11 },
		"MaxBatchSizeBytes is 0; it must be from 1 to 1048576":                                 func(s *sqsbuffer.Settings) { s.MaxBatchSizeBytes = 0 },
		"MaxDoneReceiveBatches is -1; it must be from 0 to 1000":                               func(s *sqsbuffer.Settings) { s.MaxDoneReceiveBatches = -1 },
		"MaxInflightOutboundBatches is 0; it must be from 1 to 1000":                           func(s *sqsbuffer.Settings) { s.MaxInflightOutboundBatches = 0 },
		"MaxInflightReceiveBatches is -2; it must be from 0 to 1000":                           func(s *sqsbuffer.Settings) { s.MaxInflightReceiveBatches = -2 },
		"VisibilityTimeoutSeconds is 0; it must be from 1 to 43200, or -1 for the queue's own": func(s *sqsbuffer.Settings) { s.VisibilityTimeoutSeconds = 0 },
	} {
		_, err := sqsbuffer.New(newService().client(), change)
		if err == nil || err.Error() != "sqsbuffer: "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestTheGuidesDefaults(t *testing.T) {
	_, err := sqsbuffer.New(newService().client(), func(s *sqsbuffer.Settings) {
		equal(t, "defaults", *s, sqsbuffer.Settings{
			LongPoll: true, LongPollWaitTimeoutSeconds: 20, MaxBatchOpenMs: 200, MaxBatchSize: 10,
			MaxBatchSizeBytes:     1048576,
			MaxDoneReceiveBatches: 10, MaxInflightOutboundBatches: 5, MaxInflightReceiveBatches: 10,
			VisibilityTimeoutSeconds: -1,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSendsShareBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		start := time.Now()
		check(t, sendAll(t.Context(), c, standard, bodies(40)...))
		equal(t, "time until full batches were sent", time.Since(start), 0)
		equal(t, "calls", s.count("SendMessageBatch"), 4)

		check(t, sendAll(t.Context(), c, standard, bodies(3)...))
		equal(t, "time that a batch is open", time.Since(start), 200*time.Millisecond)
		equal(t, "calls", s.count("SendMessageBatch"), 5)

		check(t, []error{send(t.Context(), c, standard, "alone")})
		equal(t, "single calls", s.count("SendMessage"), 1)
		closeClient(t, c)
	})
}

func TestBatchesAreBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t, func(s *sqsbuffer.Settings) { s.MaxBatchSizeBytes = 100 })
		check(t, []error{send(t.Context(), c, standard, strings.Repeat("y", 300))})
		big := strings.Repeat("x", 40)
		check(t, sendAll(t.Context(), c, standard, big, big, big, big)) // alike: goroutines run in any order
		equal(t, "batches", fmt.Sprint(s.sizes), "[2 2]")
		equal(t, "single calls", s.count("SendMessage"), 1)
		closeClient(t, c)
	})
}

func TestNoWaitWithoutOpenTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t, func(s *sqsbuffer.Settings) { s.MaxBatchOpenMs = 0 })
		start := time.Now()
		check(t, []error{send(t.Context(), c, standard, "a")})
		equal(t, "wait", time.Since(start), 0)
		closeClient(t, c)
	})
}

func TestOutboundBatchesUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.latency = time.Second
		c := s.buffered(t)
		start := time.Now()
		check(t, sendAll(t.Context(), c, standard, bodies(100)...))
		equal(t, "at the same time", s.most("SendMessageBatch", standard), 5)
		equal(t, "time", time.Since(start), 2*time.Second)
		closeClient(t, c)
	})
}

// Ten batches for a FIFO queue are sent one after the other, in the order of the calls.
func TestOrderOfFIFOQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.latency = 10 * time.Millisecond
		c := s.buffered(t)
		var want []string
		var waits []func() (*sqs.SendMessageOutput, error)
		for i := range 95 {
			body := fmt.Sprintf("g%d:%d", i%3, i)
			want = append(want, body)
			waits = append(waits, c.SendMessageAsync(t.Context(), &sqs.SendMessageInput{
				QueueUrl: aws.String(fifo), MessageBody: &body, MessageGroupId: aws.String("g"),
			}))
		}
		for _, wait := range waits {
			if _, err := wait(); err != nil {
				t.Fatal(err)
			}
		}
		equal(t, "at the same time", s.most("SendMessageBatch", fifo), 1)
		if !slices.Equal(s.order, want) {
			t.Errorf("the messages have the order %v", s.order)
		}
		closeClient(t, c)
	})
}

// A batch for a FIFO queue whose callers have all left may still be stored. The next batch waits for its end.
func TestOrderBehindACallThatWasGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.latency, s.lingers = time.Second, time.Second
		c := s.buffered(t, func(s *sqsbuffer.Settings) { s.MaxBatchOpenMs = 0 })
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error)
		go func() { first <- send(ctx, c, fifo, "g:1") }()
		synctest.Wait()
		start := time.Now()
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that left got %v", err)
		}
		equal(t, "time until it left", time.Since(start), 0)
		s.latency = 10 * time.Millisecond
		check(t, []error{send(t.Context(), c, fifo, "g:2")})
		time.Sleep(time.Minute)
		equal(t, "order", fmt.Sprint(s.order), "[g:1 g:2]")
		closeClient(t, c)
	})
}

func TestFailuresReachTheirCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.refuse = func(body string) string {
			code, _ := strings.CutPrefix(body, "refuse ")
			return map[bool]string{true: code}[code != body]
		}
		c := s.buffered(t)
		errs := sendAll(t.Context(), c, standard, "a", "refuse InvalidMessageContents", "b",
			"refuse InvalidParameterValue", "refuse AWS.SimpleQueueService.UnsupportedOperation")
		check(t, []error{errs[0], errs[2]})
		var contents *types.InvalidMessageContents
		var unsupported *types.UnsupportedOperation
		var generic *smithy.GenericAPIError
		if !errors.As(errs[1], &contents) || !errors.As(errs[3], &generic) || !errors.As(errs[4], &unsupported) {
			t.Fatalf("the errors are %v", errs)
		}
		equal(t, "message", contents.ErrorMessage(), "it is InvalidMessageContents")
		equal(t, "code", generic.Code, "InvalidParameterValue")
		equal(t, "fault", generic.Fault, smithy.FaultClient)
		var operation *smithy.OperationError
		if !errors.As(errs[1], &operation) || operation.OperationName != "SendMessage" {
			t.Errorf("it is not an error of SendMessage: %v", errs[1])
		}
		_, err := c.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
			QueueUrl: aws.String(standard), ReceiptHandle: aws.String("?"),
		})
		var invalid *types.ReceiptHandleIsInvalid
		if !errors.As(err, &invalid) {
			t.Errorf("delete with an invalid handle: %v", err)
		}
		closeClient(t, c)
	})
}

// An entry that the SDK would retry is retried alone.
func TestFaultsOfTheServiceAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		tries := 0
		s.refuse = func(body string) string {
			if body == "unlucky" {
				if tries++; tries < 3 {
					return "InternalError"
				}
			}
			return ""
		}
		c := s.buffered(t)
		check(t, sendAll(t.Context(), c, standard, "a", "unlucky", "b"))
		equal(t, "tries", tries, 3)
		closeClient(t, c)
	})
}

// If a request is refused because of one entry, only that entry is refused.
func TestOneCallDoesNotSpoilABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.maxBatch = 25
		c := s.buffered(t)
		check(t,
			sendAll(t.Context(), c, standard, strings.Repeat("a", 20), strings.Repeat("b", 20),
				strings.Repeat("c", 20)))

		errs := sendAll(t.Context(), c, fifo, "g:1", "g:2")
		check(t, errs)
		var wg sync.WaitGroup
		wg.Go(func() { check(t, sendAll(t.Context(), c, fifo, "g:3", "h:4", "i:5")) })
		_, err := c.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: aws.String(fifo), MessageBody: aws.String("no group"),
		})
		wg.Wait()
		if err != nil { // the model accepts it alone; the test is about the others
			t.Error(err)
		}
		equal(t, "stored", len(s.queues[fifo]), 6)

		// A message that the SDK refuses never reaches a batch.
		_, err = c.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(standard)})
		var missing smithy.InvalidParamsError
		if !errors.As(err, &missing) {
			t.Errorf("a message without a body: %v", err)
		}
		closeClient(t, c)
	})
}

func TestAWholeBatchFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.broken = func(string) string { return "QueueDoesNotExist" }
		c := s.buffered(t)
		for _, err := range sendAll(t.Context(), c, standard, "a", "b") {
			var missing *types.QueueDoesNotExist
			var operation *smithy.OperationError
			if !errors.As(err, &missing) || !errors.As(err, &operation) || operation.OperationName != "SendMessage" {
				t.Errorf("%v", err)
			}
		}
		closeClient(t, c)
	})
}

func TestChecksums(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.corrupt = func(body string) bool { return body == "b" }
		c := s.buffered(t)
		errs := sendAll(t.Context(), c, standard, "a", "b", "c")
		check(t, []error{errs[0], errs[2]})
		var wrong *sqsbuffer.ChecksumError
		if !errors.As(errs[1], &wrong) || wrong.Of != "body" {
			t.Errorf("%v", errs[1])
		}
		closeClient(t, c)
	})
}

func TestACallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.latency = time.Second
		c := s.buffered(t)

		// Before the batch is sent: it is not sent.
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() { left <- send(ctx, c, standard, "left early") }()
		others := make(chan []error)
		go func() { others <- sendAll(t.Context(), c, standard, "a", "b") }()
		time.Sleep(100 * time.Millisecond)
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that left got %v", err)
		}
		check(t, <-others)
		equal(t, "stored", len(s.order), 2)

		// While the batch is under way: the others are not affected.
		ctx, cancel = context.WithCancel(t.Context())
		go func() { left <- send(ctx, c, standard, "left late") }()
		go func() { others <- sendAll(t.Context(), c, standard, "c", "d") }()
		time.Sleep(500 * time.Millisecond)
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that left got %v", err)
		}
		check(t, <-others)
		equal(t, "stored", len(s.order), 5)

		// If all leave, the request is canceled.
		ctx, cancel = context.WithCancel(t.Context())
		go func() { others <- sendAll(ctx, c, standard, "e", "f") }()
		time.Sleep(500 * time.Millisecond)
		cancel()
		<-others
		synctest.Wait()
		equal(t, "under way", s.underWay("SendMessageBatch", standard), 0)
		equal(t, "stored", len(s.order), 5)

		// A context that has ended sends nothing.
		if err := send(ctx, c, standard, "too late"); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		closeClient(t, c)
	})
}

func TestDeletesAndVisibilities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		s.put(standard, bodies(20)...)
		var received []types.Message
		for range 2 {
			out, err := c.Client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
				QueueUrl: aws.String(standard), MaxNumberOfMessages: 10,
			})
			if err != nil {
				t.Fatal(err)
			}
			received = append(received, out.Messages...)
		}
		var wg sync.WaitGroup
		for i, m := range received {
			wg.Go(func() {
				var err error
				if i%2 == 0 {
					_, err = c.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
						QueueUrl: aws.String(standard), ReceiptHandle: m.ReceiptHandle,
					})
				} else {
					_, err = c.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{
						QueueUrl: aws.String(standard), ReceiptHandle: m.ReceiptHandle,
					})
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		all, visible := s.stored(standard)
		equal(t, "left", len(all), 10)
		equal(t, "visible", len(visible), 10)
		equal(t, "deletes", s.count("DeleteMessageBatch"), 1)
		equal(t, "changes", s.count("ChangeMessageVisibilityBatch"), 1)
		closeClient(t, c)
	})
}

func TestCloseSendsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		wait := c.SendMessageAsync(t.Context(), &sqs.SendMessageInput{
			QueueUrl: aws.String(standard), MessageBody: aws.String("a"),
		})
		start := time.Now()
		closeClient(t, c)
		closeClient(t, c)
		equal(t, "time", time.Since(start), 0)
		if _, err := wait(); err != nil {
			t.Error(err)
		}
		if err := send(t.Context(), c, standard, "b"); !errors.Is(err, sqsbuffer.ErrClosed) {
			t.Errorf("a send after Close: %v", err)
		}
		if _, err := c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: aws.String(standard),
		}); !errors.Is(err, sqsbuffer.ErrClosed) {
			t.Errorf("a receive after Close: %v", err)
		}
	})
}

func TestCloseGivesUpInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.latency = time.Hour
		c := s.buffered(t)
		wait := c.SendMessageAsync(t.Context(), &sqs.SendMessageInput{
			QueueUrl: aws.String(standard), MessageBody: aws.String("a"),
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if err := c.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close returns %v", err)
		}
		equal(t, "time", time.Since(start), time.Minute)
		if _, err := wait(); !errors.Is(err, sqsbuffer.ErrClosed) {
			t.Errorf("the send: %v", err)
		}
	})
}
