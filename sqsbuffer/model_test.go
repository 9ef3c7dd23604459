package sqsbuffer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/sqsbuffer"
)

// Whatever the settings, latencies and failures are, the client does what the plain
// one does: what a caller is told was stored is, and is what it sent; what it is told
// was refused is not; each message is received, and deleted once it is; the groups of
// a FIFO queue keep their order; and the limits of the settings hold.
func TestAgainstTheModel(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { againstTheModel(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func againstTheModel(t *testing.T, r *rand.Rand) {
	s := newService()
	s.latency = time.Duration(r.IntN(50)) * time.Millisecond
	s.visibility = time.Duration(5+r.IntN(30)) * time.Second
	s.maxBatch = 50 + r.IntN(500)
	refusals := r.IntN(2) * 3
	s.refuse = func(body string) string {
		if refusals > 0 && len(body)%7 == 0 {
			return []string{"InvalidMessageContents", "InternalError"}[len(body)/7%2]
		}
		return ""
	}
	var settings sqsbuffer.Settings
	c := s.buffered(t, func(set *sqsbuffer.Settings) {
		set.LongPoll = r.IntN(4) > 0
		set.MaxBatchOpenMs = r.IntN(300)
		set.MaxBatchSize = 1 + r.IntN(10)
		set.MaxBatchSizeBytes = 20 + r.IntN(400)
		set.MaxInflightOutboundBatches = 1 + r.IntN(5)
		set.MaxInflightReceiveBatches = r.IntN(5)
		set.MaxDoneReceiveBatches = r.IntN(5)
		settings = *set
	})
	queue := []string{standard, fifo}[r.IntN(2)]

	// Producers send, each in a group of its own; some leave.
	var mu sync.Mutex
	sent := make(map[string]bool) // body: whether the caller was told that it is stored
	told := make(map[string]error)
	var producers sync.WaitGroup
	for p := range 1 + r.IntN(8) {
		n, patience, seed := r.IntN(30), time.Duration(1+r.IntN(20))*100*time.Millisecond, r.Uint64()
		producers.Go(func() {
			r := rand.New(rand.NewPCG(seed, 2))
			for i := range n {
				body := fmt.Sprintf("%d:%d:%s", p, i, strings.Repeat("x", r.IntN(40)))
				ctx, cancel := context.WithCancel(t.Context())
				if r.IntN(5) == 0 {
					ctx, cancel = context.WithTimeout(t.Context(), patience)
				}
				err := send(ctx, c, queue, body)
				cancel()
				mu.Lock()
				sent[body], told[body] = err == nil, err
				mu.Unlock()
			}
		})
	}
	// Consumers receive and delete until there is nothing left.
	ctx, stop := context.WithCancel(t.Context())
	received := make(map[string]int)
	var order []string
	var consumers sync.WaitGroup
	for range 1 + r.IntN(4) {
		n := int32(1 + r.IntN(10))
		consumers.Go(func() {
			for ctx.Err() == nil {
				out, err := c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &queue, MaxNumberOfMessages: n, WaitTimeSeconds: 1})
				if err != nil {
					continue
				}
				for _, m := range out.Messages {
					mu.Lock()
					received[*m.Body]++
					order = append(order, *m.Body)
					mu.Unlock()
					if _, err := c.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle}); err != nil {
						t.Errorf("deleting %s: %v", *m.Body, err)
					}
				}
			}
		})
	}
	producers.Wait()
	for {
		time.Sleep(time.Second)
		if all, _ := s.stored(queue); len(all) == 0 {
			break
		}
	}
	stop()
	consumers.Wait()
	closeClient(t, c)

	for body, ok := range sent {
		if times := received[body]; ok && times != 1 {
			t.Errorf("%q was stored, and received %d times", body, times)
		} else if !ok && times > 0 && told[body] != nil && !isCanceled(told[body]) {
			t.Errorf("%q was refused (%v), and received", body, told[body])
		}
	}
	equal(t, "messages that were stored", len(order), len(s.order))
	if queue == fifo && !slices.Equal(byGroup(order), byGroup(s.order)) {
		t.Errorf("the groups are out of order: %v", order)
	}
	for _, size := range s.sizes {
		if size > settings.MaxBatchSize {
			t.Errorf("a batch of %d, with %+v", size, settings)
		}
	}
	limit := settings.MaxInflightOutboundBatches
	if queue == fifo {
		limit = 1
	}
	if busiest := s.busiest["SendMessageBatch "+queue]; busiest > limit {
		t.Errorf("%d batches at the same time, with %+v", busiest, settings)
	}
}

func isCanceled(err error) bool {
	return strings.Contains(err.Error(), "canceled") || strings.Contains(err.Error(), "deadline")
}

// byGroup sorts bodies by their groups, keeping the order in each.
func byGroup(bodies []string) []string {
	sorted := slices.Clone(bodies)
	slices.SortStableFunc(sorted, func(a, b string) int {
		groupA, _, _ := strings.Cut(a, ":")
		groupB, _, _ := strings.Cut(b, ":")
		return strings.Compare(groupA, groupB)
	})
	return sorted
}
