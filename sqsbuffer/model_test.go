package sqsbuffer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/sqsbuffer"
)

// With all settings, latencies and failures, the client behaves like the plain one: a message is stored if its caller
// got that answer, and not stored if its caller was refused; each message is received, and then deleted; the groups of
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

	// Producers send, each in its own group; some leave.
	var mu sync.Mutex
	sent := make(map[string]bool) // body: whether the answer says that it is stored
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
	// Consumers receive and delete until the queue is empty.
	ctx, stop := context.WithCancel(t.Context())
	received := make(map[string]int)
	var order []string
	var consumers sync.WaitGroup
	for range 1 + r.IntN(4) {
		n := int32(1 + r.IntN(10))
		consumers.Go(func() {
			for ctx.Err() == nil {
				out, err := c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
					QueueUrl: &queue, MaxNumberOfMessages: n, WaitTimeSeconds: 1,
				})
				if err != nil {
					continue
				}
				for _, m := range out.Messages {
					mu.Lock()
					received[*m.Body]++
					order = append(order, *m.Body)
					mu.Unlock()
					if _, err := c.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
						QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle,
					}); err != nil {
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
			t.Errorf("%q was refused (%v) and received", body, told[body])
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
	if busiest := s.most("SendMessageBatch", queue); busiest > limit {
		t.Errorf("%d batches at the same time, with %+v", busiest, settings)
	}
}

// However handlers and requests fail, every message is handled to its end, never by two handlers at once, the groups of
// a FIFO queue in order, and within the concurrency limit. A consumer that is stopped early leaves nothing behind.
func TestConsumeAgainstTheModel(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { consumeAgainstTheModel(t, rand.New(rand.NewPCG(seed, 3))) })
		})
	}
}

func consumeAgainstTheModel(t *testing.T, r *rand.Rand) {
	s := newService()
	s.latency = time.Duration(r.IntN(50)) * time.Millisecond
	c := s.buffered(t)
	queue := []string{standard, fifo}[r.IntN(2)]
	var all []string
	for i := range 1 + r.IntN(150) {
		all = append(all, fmt.Sprintf("%d:%d", r.IntN(5), i))
	}
	s.put(queue, all...)

	limit, failing, slow := 1+r.IntN(30), 1+r.IntN(10), time.Duration(1+r.IntN(90))*time.Second
	var mu sync.Mutex
	busy := make(map[string]int)
	busyAtAll := 0
	w := &worker{takes: slow, fails: func(body string, times int) error {
		if times == 1 && len(body)%failing == 0 {
			return fmt.Errorf("not now")
		}
		return nil
	}}
	handler := func(ctx context.Context, m types.Message) error {
		key := *m.Body
		if queue == fifo {
			key, _, _ = strings.Cut(key, ":")
		}
		mu.Lock()
		busy[key]++
		busyAtAll++
		if busy[key] > 1 || busyAtAll > limit {
			t.Errorf("%d of %s at the same time, and %d of all", busy[key], key, busyAtAll)
		}
		mu.Unlock()
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			busy[key]--
			busyAtAll--
		}()
		return w.handle(ctx, m)
	}
	settings := func(o *sqsbuffer.ConsumeOptions) {
		o.Concurrency, o.VisibilityTimeout, o.StopTimeout = limit, 10*time.Second, 2*time.Minute
		o.OnError = func(err error) {
			var failed *sqsbuffer.HandlerError
			if !errors.As(err, &failed) {
				t.Error(err)
			}
		}
	}
	for range r.IntN(3) {
		ctx, stop := context.WithTimeout(t.Context(), time.Duration(r.IntN(200))*time.Second)
		if err := c.Consume(ctx, queue, handler, settings); err != nil {
			t.Error(err)
		}
		stop()
		time.Sleep(5 * time.Minute) // the longest delay of a message that failed
		if left, visible := s.stored(queue); len(left) != len(visible) {
			t.Errorf("%d messages are left, and %d of them are visible", len(left), len(visible))
		}
	}
	consume(t, s, c, queue, handler, settings)
	closeClient(t, c)

	if queue == fifo && !slices.Equal(byGroup(w.done), byGroup(all)) {
		t.Errorf("the groups are out of order: %v", w.done)
	}
	slices.Sort(w.done)
	slices.Sort(all)
	if !slices.Equal(w.done, all) {
		t.Errorf("%d of %d messages were handled to their end", len(w.done), len(all))
	}
}

func isCanceled(err error) bool {
	return strings.Contains(err.Error(), "canceled") || strings.Contains(err.Error(), "deadline")
}

// byGroup sorts bodies by group, and keeps the order in each.
func byGroup(bodies []string) []string {
	sorted := slices.Clone(bodies)
	slices.SortStableFunc(sorted, func(a, b string) int {
		groupA, _, _ := strings.Cut(a, ":")
		groupB, _, _ := strings.Cut(b, ":")
		return strings.Compare(groupA, groupB)
	})
	return sorted
}
