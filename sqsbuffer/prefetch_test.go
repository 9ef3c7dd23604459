package sqsbuffer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/sqsbuffer"
)

func receive(t *testing.T, c *sqsbuffer.Client, n int32) []types.Message {
	t.Helper()
	out, err := c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(standard), MaxNumberOfMessages: n,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Messages
}

func TestReceivesAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.latency = time.Millisecond
		c := s.buffered(t)
		s.put(standard, bodies(1000)...)
		seen := make(map[string]bool)
		for range 1000 {
			messages := receive(t, c, 1)
			equal(t, "messages", len(messages), 1)
			seen[*messages[0].Body] = true
		}
		equal(t, "different messages", len(seen), 1000)
		if calls := s.count("ReceiveMessage"); calls > 200 {
			t.Errorf("%d calls for 1000 messages", calls)
		}
		equal(t, "asked for the visibility timeout", s.count("GetQueueAttributes"), 1)
		if busy := s.most("ReceiveMessage", standard); busy > 10 {
			t.Errorf("%d receives at the same time", busy)
		}
		closeClient(t, c)
	})
}

// A caller that takes an occasional message does not make the client hoard messages.
func TestNoMoreIsKeptThanIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		s.put(standard, bodies(100)...)
		for range 20 {
			m := receive(t, c, 1)[0]
			if _, err := c.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
				QueueUrl: aws.String(standard), ReceiptHandle: m.ReceiptHandle,
			}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			all, visible := s.stored(standard)
			if kept := len(all) - len(visible); kept > 4 {
				t.Fatalf("%d messages are kept, for one in five seconds", kept)
			}
			time.Sleep(5 * time.Second)
		}
		closeClient(t, c)
		for _, m := range s.queues[standard] {
			if m.received > 2 {
				t.Errorf("%s was received %d times", m.body, m.received)
			}
		}
	})
}

// When callers stop asking, the client stops, too.
func TestNoPollsWithoutCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		s.put(standard, bodies(30)...)
		for range 40 { // the last ones find nothing
			receive(t, c, 10)
		}
		time.Sleep(time.Minute)
		polls := s.count("ReceiveMessage")
		time.Sleep(time.Hour)
		equal(t, "receives in an hour without callers", s.count("ReceiveMessage")-polls, 0)
		equal(t, "under way", s.underWay("ReceiveMessage", standard), 0)
		closeClient(t, c)
	})
}

// An empty queue costs one long poll at a time, however many callers wait.
func TestAnEmptyQueueIsCheap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		var wg sync.WaitGroup
		for range 5 {
			for range 50 {
				wg.Go(func() { equal(t, "messages", len(receive(t, c, 1)), 0) })
			}
			wg.Wait()
		}
		if polls := s.count("ReceiveMessage"); polls > 6 {
			t.Errorf("%d polls in 100 seconds", polls)
		}
		closeClient(t, c)
	})
}

func TestAWaitingCallerGetsWhatComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		start := time.Now()
		time.AfterFunc(7*time.Second, func() { s.put(standard, "a") })
		equal(t, "messages", len(receive(t, c, 10)), 1)
		equal(t, "time", time.Since(start), 7*time.Second)

		start = time.Now()
		out, err := c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: aws.String(standard), WaitTimeSeconds: 3,
		})
		if err != nil || len(out.Messages) > 0 {
			t.Errorf("%v, %v", out, err)
		}
		equal(t, "time", time.Since(start), 3*time.Second)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: aws.String(standard),
		}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that left: %v", err)
		}
		closeClient(t, c)
	})
}

// A message that arrives when a caller's wait ends goes to that caller or to the next one.
func TestNothingIsLostAtTheEndOfPatience(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			s := newService()
			c := s.buffered(t)
			time.AfterFunc(time.Second, func() { s.put(standard, "a") })
			start, got := time.Now(), 0
			for got == 0 {
				out, err := c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
					QueueUrl: aws.String(standard), WaitTimeSeconds: 1,
				})
				if err != nil {
					t.Fatal(err)
				}
				got += len(out.Messages)
			}
			equal(t, "time", time.Since(start), time.Second)
			closeClient(t, c)
		})
	}
}

func TestShortPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t, func(s *sqsbuffer.Settings) { s.LongPoll = false })
		start := time.Now()
		equal(t, "messages", len(receive(t, c, 10)), 0)
		s.put(standard, "a")
		equal(t, "messages", len(receive(t, c, 10)), 1)
		equal(t, "time", time.Since(start), 0)
		// A caller that wants to wait must make its own call.
		time.AfterFunc(time.Second, func() { s.put(standard, "b") })
		out, err := c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: aws.String(standard), WaitTimeSeconds: 5,
		})
		if err != nil || len(out.Messages) != 1 {
			t.Errorf("%v, %v", out, err)
		}
		closeClient(t, c)
	})
}

func TestMessagesWhoseVisibilityHasPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t, func(s *sqsbuffer.Settings) { s.VisibilityTimeoutSeconds = 10 })
		s.put(standard, bodies(10)...)
		for i := range 5 {
			equal(t, "message", *receive(t, c, 1)[0].Body, fmt.Sprintf("m%03d", i))
			synctest.Wait()
		}
		// The client keeps some of the others. They become visible, and another client takes them.
		time.Sleep(11 * time.Second)
		out, err := c.Client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: aws.String(standard), MaxNumberOfMessages: 10, VisibilityTimeout: 1000,
		})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "taken by another", len(out.Messages), 10)
		equal(t, "messages that are left", len(receive(t, c, 10)), 0)
		equal(t, "asked for the visibility timeout", s.count("GetQueueAttributes"), 0)
		closeClient(t, c)
	})
}

// Every message is usable for most of its visibility timeout, even if it arrived at the end of a long poll that is
// longer than the timeout.
func TestVisibilityShorterThanALongPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.visibility = 5 * time.Second
		c := s.buffered(t)
		time.AfterFunc(19*time.Second, func() { s.put(standard, "a") })
		equal(t, "messages", len(receive(t, c, 10)), 1)
		closeClient(t, c)
	})
}

func TestCallsNotReceivedAhead(t *testing.T) {
	for name, in := range map[string]*sqs.ReceiveMessageInput{
		"another visibility timeout": {QueueUrl: aws.String(standard), VisibilityTimeout: 100},
		"a FIFO queue":               {QueueUrl: aws.String(fifo)},
		"too many":                   {QueueUrl: aws.String(standard), MaxNumberOfMessages: 11},
		"a receive attempt":          {QueueUrl: aws.String(standard), ReceiveRequestAttemptId: aws.String("a")},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newService()
			c := s.buffered(t)
			s.put(*in.QueueUrl, "a:1", "b:2", "c:3", "d:4", "e:5", "f:6", "g:7", "h:8", "i:9", "j:10", "k:11", "l:12")
			for range 2 {
				if out, err := c.ReceiveMessage(t.Context(), in); err != nil || len(out.Messages) == 0 {
					t.Errorf("%s: %v, %v", name, out, err)
				}
			}
			equal(t, name+": calls", s.count("ReceiveMessage"), 2)
			closeClient(t, c)
		})
	}
}

// The client prefetches the attributes that callers request.
func TestAttributeNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		s.latency = time.Millisecond
		s.put(standard, bodies(100)...)
		for range 100 {
			if _, err := c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
				QueueUrl: aws.String(standard), MessageAttributeNames: []string{"tenant"},
			}); err != nil {
				t.Fatal(err)
			}
		}
		equal(t, "names", fmt.Sprint(s.askedNames()), "[tenant]")
		if calls := s.count("ReceiveMessage"); calls > 50 {
			t.Errorf("%d calls for 100 messages", calls)
		}
		closeClient(t, c)
	})
}

// Without permission to read the queue's visibility timeout, nothing is prefetched.
func TestVisibilityCannotBeHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.broken = func(operation string) string {
			return map[string]string{"GetQueueAttributes": "AccessDeniedException"}[operation]
		}
		c := s.buffered(t)
		s.put(standard, bodies(5)...)
		for range 5 {
			equal(t, "messages", len(receive(t, c, 1)), 1)
		}
		equal(t, "calls", s.count("ReceiveMessage"), 5)
		equal(t, "asked for the visibility timeout", s.count("GetQueueAttributes"), 1)
		closeClient(t, c)
	})
}

func TestErrorsReachThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.broken = func(operation string) string {
			return map[string]string{"ReceiveMessage": "OverLimit"}[operation]
		}
		c := s.buffered(t)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				_, err := c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(standard)})
				var over *types.OverLimit
				if !errors.As(err, &over) {
					t.Errorf("%v", err)
				}
			})
		}
		wg.Wait()
		closeClient(t, c)
	})
}

func TestCloseGivesBackWhatWasNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		s.put(standard, bodies(50)...)
		for range 20 {
			receive(t, c, 1)
		}
		waiting := make(chan error)
		go func() {
			_, err := c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(standard + "-empty")})
			waiting <- err
		}()
		synctest.Wait()
		closeClient(t, c)
		if err := <-waiting; !errors.Is(err, sqsbuffer.ErrClosed) {
			t.Errorf("a receive that waits: %v", err)
		}
		_, visible := s.stored(standard)
		equal(t, "visible", len(visible), 30)
		if !slices.Contains(visible, "m049") {
			t.Errorf("%v", visible)
		}
	})
}

// Prefetched messages are not returned after a purge, and messages sent after it are not hidden for long.
func TestPurgeDropsWhatWasReceivedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		s.put(standard, bodies(100)...)
		for range 30 { // until some are prefetched
			receive(t, c, 1)
		}
		synctest.Wait() // for the receive that the last one has started
		if _, visible := s.stored(standard); len(visible) > 69 {
			t.Fatalf("%d messages are visible: none is prefetched", len(visible))
		}
		if _, err := c.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: aws.String(standard)}); err != nil {
			t.Fatal(err)
		}
		s.put(standard, "after")
		messages := receive(t, c, 10)
		if len(messages) != 1 || *messages[0].Body != "after" {
			t.Errorf("%d messages arrived", len(messages))
		}
		closeClient(t, c)
	})
}

// Messages of a receive during a purge may have been sent after it: they return at once.
func TestPurgeWhileReceiving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.back = 100 * time.Millisecond
		c := s.buffered(t)
		time.AfterFunc(950*time.Millisecond, func() {
			if _, err := c.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: aws.String(standard)}); err != nil {
				t.Error(err)
			}
		})
		time.AfterFunc(time.Second, func() { s.put(standard, "a") }) // after the purge, whose answer is on its way
		start := time.Now()
		messages := receive(t, c, 1)
		if len(messages) != 1 || *messages[0].Body != "a" {
			t.Errorf("%d messages arrived", len(messages))
		}
		equal(t, "given back", s.count("ChangeMessageVisibilityBatch"), 1)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
		closeClient(t, c)
	})
}
