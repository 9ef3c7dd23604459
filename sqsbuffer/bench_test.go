package sqsbuffer_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// caller is the interface of the plain and the buffered client.
type caller interface {
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error)
}

const goroutines = 100

// Each goroutine sends one message after the other.
func BenchmarkSend(b *testing.B) {
	compare(b, nil, sendMany, sendTen)
}

// Each goroutine receives and deletes one message after the other.
func BenchmarkReceiveDelete(b *testing.B) {
	fill := func(b *testing.B, plain *sqs.Client, queue *string) {
		filler := newClient(b, plain)
		sendMany(b, filler, queue)
		if err := filler.Close(b.Context()); err != nil {
			b.Error(err)
		}
	}
	compare(b, fill, receiveAndDeleteMany, receiveAndDeleteTen)
}

// receiveAndDeleteMany ends with the last message: receives that wait for more are canceled.
func receiveAndDeleteMany(b *testing.B, c caller, queue *string) {
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	var done atomic.Int64
	inParallel(goroutines, func() bool {
		if done.Add(receiveAndDelete(ctx, b, c, queue)) >= int64(b.N) {
			stop()
		}
		return ctx.Err() == nil && !b.Failed()
	})
}

// receiveAndDelete returns the number of received messages.
func receiveAndDelete(ctx context.Context, b *testing.B, c caller, queue *string) int64 {
	out, err := c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: queue, WaitTimeSeconds: 1})
	if err != nil {
		if ctx.Err() == nil {
			b.Error(err)
		}
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

// compare runs a benchmark with both clients, after its preparation. For the lower bound, five goroutines then make
// batches of ten without a buffer; tens makes one and returns its size.
func compare(b *testing.B, prepare func(b *testing.B, plain *sqs.Client, queue *string),
	run func(b *testing.B, c caller, queue *string), tens func(b *testing.B, plain *sqs.Client, queue *string) int64) {
	plain, requests := serverClient(b)
	queues := 0
	measure := func(run func(b *testing.B, queue *string)) func(b *testing.B) {
		return func(b *testing.B) {
			queues++
			queue := createQueue(b, plain, fmt.Sprintf("%s-%d", strings.ReplaceAll(b.Name(), "/", "-"), queues), nil)
			if prepare != nil {
				prepare(b, plain, queue)
			}
			transport.CloseIdleConnections() // messages of the other client
			before, client, served := requests.requests.Load(), processorTime(b, os.Getpid()), serverTime(b)
			b.ResetTimer()
			run(b, queue)
			b.StopTimer()
			perMessage := func(n int64) float64 { return float64(n) / float64(b.N) }
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
			b.ReportMetric(perMessage(requests.requests.Load()-before), "requests/message")
			b.ReportMetric(perMessage((processorTime(b, os.Getpid()) - client).Nanoseconds()), "client-ns/message")
			b.ReportMetric(perMessage((serverTime(b) - served).Nanoseconds()), "server-ns/message")
		}
	}
	b.Run("plain", measure(func(b *testing.B, queue *string) { run(b, plain, queue) }))
	buffered := newClient(b, plain)
	b.Run("buffered", measure(func(b *testing.B, queue *string) { run(b, buffered, queue) }))
	if err := buffered.Close(b.Context()); err != nil {
		b.Error(err)
	}
	b.Run("tens", measure(func(b *testing.B, queue *string) {
		var done atomic.Int64
		inParallel(5, func() bool { return done.Add(tens(b, plain, queue)) < int64(b.N) && !b.Failed() })
	}))
}

func sendTen(b *testing.B, plain *sqs.Client, queue *string) int64 {
	batch := &sqs.SendMessageBatchInput{QueueUrl: queue}
	for i := range 10 {
		batch.Entries = append(batch.Entries, types.SendMessageBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), MessageBody: &constantBody,
		})
	}
	if _, err := plain.SendMessageBatch(b.Context(), batch); err != nil {
		b.Error(err)
	}
	return 10
}

func receiveAndDeleteTen(b *testing.B, plain *sqs.Client, queue *string) int64 {
	out, err := plain.ReceiveMessage(b.Context(), &sqs.ReceiveMessageInput{QueueUrl: queue, MaxNumberOfMessages: 10})
	if err != nil {
		b.Error(err)
		return 0
	}
	batch := &sqs.DeleteMessageBatchInput{QueueUrl: queue}
	for i, m := range out.Messages {
		batch.Entries = append(batch.Entries, types.DeleteMessageBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), ReceiptHandle: m.ReceiptHandle,
		})
	}
	if len(batch.Entries) == 0 {
		return 0 // another has received the last
	}
	if _, err := plain.DeleteMessageBatch(b.Context(), batch); err != nil {
		b.Error(err)
	}
	return int64(len(batch.Entries))
}

func serverTime(b *testing.B) time.Duration { return processorTime(b, server.process.Process.Pid) }

// processorTime returns the processor time of a process, in steps of 10 ms, or 0 without /proc.
func processorTime(b *testing.B, process int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		b.Fatal(err)
	}
	system, err := strconv.Atoi(fields[12])
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

func sendMany(b *testing.B, c caller, queue *string) {
	var left atomic.Int64
	left.Store(int64(b.N))
	inParallel(goroutines, func() bool {
		if left.Add(-1) < 0 {
			return false
		}
		in := &sqs.SendMessageInput{QueueUrl: queue, MessageBody: &constantBody}
		if _, err := c.SendMessage(b.Context(), in); err != nil {
			b.Error(err)
			return false
		}
		return true
	})
}

// inParallel runs a step in many goroutines, until it returns false in each.
func inParallel(n int, step func() bool) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for step() {
			}
		})
	}
	wg.Wait()
}
