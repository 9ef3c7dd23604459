package sqsbuffer_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// caller is what the plain and the buffered client have in common.
type caller interface {
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error)
}

const goroutines = 100

// Each goroutine sends one message after the other.
func BenchmarkSend(b *testing.B) {
	compare(b, nil, sendMany)
}

// Each goroutine receives one message after the other and deletes it.
func BenchmarkReceiveDelete(b *testing.B) {
	fill := func(b *testing.B, plain *sqs.Client, queue *string) {
		filler := newClient(b, plain)
		sendMany(b, filler, queue)
		if err := filler.Close(b.Context()); err != nil {
			b.Error(err)
		}
	}
	compare(b, fill, func(b *testing.B, c caller, queue *string) {
		var done atomic.Int64
		inParallel(b, func() bool { return done.Add(receiveAndDelete(b, c, queue)) < int64(b.N) && !b.Failed() })
	})
}

// receiveAndDelete returns how many messages it has received.
func receiveAndDelete(b *testing.B, c caller, queue *string) int64 {
	out, err := c.ReceiveMessage(b.Context(), &sqs.ReceiveMessageInput{QueueUrl: queue, WaitTimeSeconds: 1})
	if err != nil {
		b.Error(err)
		return 0
	}
	for _, m := range out.Messages {
		if _, err := c.DeleteMessage(b.Context(), &sqs.DeleteMessageInput{
			QueueUrl: queue, ReceiptHandle: m.ReceiptHandle,
		}); err != nil {
			b.Error(err)
		}
	}
	return int64(len(out.Messages))
}

// compare runs a benchmark with both clients, after what prepares it.
func compare(b *testing.B, prepare func(b *testing.B, plain *sqs.Client, queue *string),
	run func(b *testing.B, c caller, queue *string)) {
	plain, requests := serverClient(b)
	queues := 0
	measure := func(c caller) func(b *testing.B) {
		return func(b *testing.B) {
			queues++
			queue := createQueue(b, plain, fmt.Sprintf("%s-%d", strings.ReplaceAll(b.Name(), "/", "-"), queues), nil)
			if prepare != nil {
				prepare(b, plain, queue)
			}
			before := requests.requests.Load()
			b.ResetTimer()
			run(b, c, queue)
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
			b.ReportMetric(float64(requests.requests.Load()-before)/float64(b.N), "requests/message")
		}
	}
	b.Run("plain", measure(plain))
	buffered := newClient(b, plain)
	b.Run("buffered", measure(buffered))
	if err := buffered.Close(b.Context()); err != nil {
		b.Error(err)
	}
}

func sendMany(b *testing.B, c caller, queue *string) {
	body := aws.String(strings.Repeat("x", 1024))
	var left atomic.Int64
	left.Store(int64(b.N))
	inParallel(b, func() bool {
		if left.Add(-1) < 0 {
			return false
		}
		if _, err := c.SendMessage(b.Context(), &sqs.SendMessageInput{QueueUrl: queue, MessageBody: body}); err != nil {
			b.Error(err)
			return false
		}
		return true
	})
}

// inParallel runs a step in many goroutines, until it returns false in each.
func inParallel(b *testing.B, step func() bool) {
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for step() {
			}
		})
	}
	wg.Wait()
}
