package sqsbuffer_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/sqsbuffer"
)

// A worker is a handler that records its calls.
type worker struct {
	takes time.Duration // of each message
	fails func(body string, times int) error

	mu            sync.Mutex
	done          []string // in order of completion
	times         map[string]int
	busy, busiest int
}

func (w *worker) handle(ctx context.Context, m types.Message) error {
	w.mu.Lock()
	if w.times == nil {
		w.times = make(map[string]int)
	}
	w.times[*m.Body]++
	times := w.times[*m.Body]
	w.busy++
	w.busiest = max(w.busiest, w.busy)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.busy--
	}()
	select {
	case <-time.After(w.takes):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if w.fails != nil {
		if err := w.fails(*m.Body, times); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = append(w.done, *m.Body)
	return nil
}

// consume runs a consumer until the queue is empty.
func consume(t *testing.T, s *service, c *sqsbuffer.Client, queue string, w sqsbuffer.Handler,
	change ...func(*sqsbuffer.ConsumeOptions)) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Consume(ctx, queue, w, change...) }()
	for all, _ := s.stored(queue); len(all) > 0; all, _ = s.stored(queue) {
		time.Sleep(time.Second)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// errorsOf collects the errors that a consumer reports.
func errorsOf(errs *[]error) func(*sqsbuffer.ConsumeOptions) {
	var mu sync.Mutex
	return func(o *sqsbuffer.ConsumeOptions) {
		o.OnError = func(err error) {
			mu.Lock()
			defer mu.Unlock()
			*errs = append(*errs, err)
		}
	}
}

func TestConsume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.latency = 5 * time.Millisecond
		c := s.buffered(t)
		s.put(standard, bodies(500)...)
		w := &worker{takes: 100 * time.Millisecond}
		consume(t, s, c, standard, w.handle, func(o *sqsbuffer.ConsumeOptions) { o.Concurrency = 50 })
		equal(t, "handled", len(w.done), 500)
		equal(t, "at the same time", w.busiest, 50)
		if deletes := s.count("DeleteMessageBatch") + s.count("DeleteMessage"); deletes > 100 {
			t.Errorf("%d deletes of 500 messages", deletes)
		}
		// The number of messages in a receive depends on how many workers become free at once: at most ten.
		if receives := s.count("ReceiveMessage"); receives > 200 {
			t.Errorf("%d receives of 500 messages", receives)
		}
		closeClient(t, c)
	})
}

func TestConsumeOptionsOutOfRange(t *testing.T) {
	c := newService().buffered(t)
	for want, change := range map[string]func(*sqsbuffer.ConsumeOptions){
		"Concurrency is 0; it must be from 1 to 10000":                       func(o *sqsbuffer.ConsumeOptions) { o.Concurrency = 0 },
		"VisibilityTimeout is 1.5s; it must be whole seconds from 2s to 12h": func(o *sqsbuffer.ConsumeOptions) { o.VisibilityTimeout = 1500 * time.Millisecond },
		"StopTimeout is -1s; it must not be negative":                        func(o *sqsbuffer.ConsumeOptions) { o.StopTimeout = -time.Second },
		"RetryDelay and OnError must not be nil":                             func(o *sqsbuffer.ConsumeOptions) { o.OnError = nil },
	} {
		if err := c.Consume(t.Context(), standard, nil, change); err == nil || err.Error() != "sqsbuffer: "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	closeClient(t, c)
}

// A consumer whose calls wait long for a batch keeps its messages hidden until they are deleted.
func TestConsumeWithLongBatches(t *testing.T) {
	for _, queue := range []string{standard, fifo} {
		for _, takes := range []time.Duration{0, 5 * time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				s := newService()
				c := s.buffered(t, func(o *sqsbuffer.Settings) { o.MaxBatchOpenMs = 60_000 })
				s.put(queue, bodies(3)...)
				w := &worker{takes: takes}
				consume(t, s, c, queue, w.handle)
				equal(t, "handled of "+queue, len(w.done), 3)
				for body, times := range w.times {
					equal(t, body, times, 1)
				}
				closeClient(t, c)
			})
		}
	}
}

// A handler may take hours. No other consumer gets its message meanwhile.
func TestHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		s.put(standard, bodies(10)...)
		w := &worker{takes: 5 * time.Hour}
		consume(t, s, c, standard, w.handle)
		equal(t, "handled", len(w.done), 10)
		for body, times := range w.times {
			equal(t, body, times, 1)
		}
		// The ten messages share a request every 15 seconds.
		if beats := s.count("ChangeMessageVisibilityBatch"); beats < 1100 || beats > 1300 {
			t.Errorf("%d heartbeats in 5 hours", beats)
		}
		closeClient(t, c)
	})
}

// SQS hides a message for at most 12 hours.
func TestHeartbeatsEndAfterTwelveHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		s.put(standard, "slow")
		start := time.Now()
		var again atomic.Bool
		var lasted time.Duration
		var errs []error
		w := &worker{takes: 13 * time.Hour}
		consume(t, s, c, standard, func(ctx context.Context, m types.Message) error {
			if again.Swap(true) {
				return nil
			}
			err := w.handle(ctx, m)
			lasted = time.Since(start)
			return err
		}, errorsOf(&errs))
		if lasted < 12*time.Hour-time.Minute || lasted > 12*time.Hour+time.Minute {
			t.Errorf("the handler was cancelled after %v", lasted)
		}
		if len(errs) != 1 || !errors.Is(errs[0], sqsbuffer.ErrMessageLost) {
			t.Errorf("%v", errs)
		}
		closeClient(t, c)
	})
}

func TestHeartbeatsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.broken = func(operation string) string {
			return map[bool]string{true: "RequestThrottled"}[strings.HasPrefix(operation, "ChangeMessageVisibility")]
		}
		c := s.buffered(t)
		s.put(standard, "a")
		w := &worker{takes: time.Hour}
		var errs []error
		var again atomic.Bool
		start := time.Now()
		consume(t, s, c, standard, func(ctx context.Context, m types.Message) error {
			if again.Swap(true) {
				return nil
			}
			err := w.handle(ctx, m)
			if told := time.Since(start); told < 30*time.Second || told > 45*time.Second {
				t.Errorf("the handler was cancelled after %v", told)
			}
			return err
		}, errorsOf(&errs))
		if len(errs) < 2 ||
			!slices.ContainsFunc(errs, func(err error) bool { return errors.Is(err, sqsbuffer.ErrMessageLost) }) {
			t.Errorf("%v", errs)
		}
		closeClient(t, c)
	})
}

// A message whose handler fails returns, later each time, and is not deleted.
func TestHandlersFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		s.put(standard, "good", "bad", "panics", "exits")
		var errs []error
		w := &worker{fails: func(body string, times int) error {
			switch {
			case body == "good" || times > 2:
				return nil
			case body == "panics":
				panic("at the disco")
			case body == "exits":
				runtime.Goexit()
			}
			return errors.New("not now")
		}}
		start := time.Now()
		consume(t, s, c, standard, w.handle, errorsOf(&errs))
		equal(t, "handled", len(w.done), 4)
		equal(t, "errors", len(errs), 6)
		if took := time.Since(start); took < 3*time.Second || took > 5*time.Second {
			t.Errorf("the retries took %v, after 1 s and after 2 s", took)
		}
		var text []string
		for _, err := range errs {
			var failed *sqsbuffer.HandlerError
			if !errors.As(err, &failed) || (*failed.Message.Body == "panics") != (failed.Stack != nil) {
				t.Errorf("%#v", err)
				continue
			}
			text = append(text, failed.Err.Error())
		}
		slices.Sort(text)
		equal(t, "errors", fmt.Sprint(slices.Compact(text)), "[it ended its goroutine not now panic: at the disco]")
		closeClient(t, c)
	})
}

// Each group of a FIFO queue is handled in order, one message at a time, even if some fail.
func TestConsumeFIFO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.latency = time.Millisecond
		c := s.buffered(t)
		var want []string
		for i := range 200 {
			want = append(want, fmt.Sprintf("%d:%d", i%4, i))
		}
		s.put(fifo, want...)
		busy := make(map[string]bool)
		w := &worker{takes: 10 * time.Millisecond, fails: func(body string, times int) error {
			if times == 1 && strings.HasSuffix(body, "7") {
				return errors.New("not now")
			}
			return nil
		}}
		var mu sync.Mutex
		var errs []error
		start := time.Now()
		consume(t, s, c, fifo, func(ctx context.Context, m types.Message) error {
			group := m.Attributes["MessageGroupId"]
			mu.Lock()
			if busy[group] {
				t.Errorf("two concurrent messages of group %s", group)
			}
			busy[group] = true
			mu.Unlock()
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				busy[group] = false
			}()
			return w.handle(ctx, m)
		}, func(o *sqsbuffer.ConsumeOptions) { o.Concurrency = 40 }, errorsOf(&errs))
		equal(t, "errors", len(errs), 20)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("it took %v, with %d retries of a second at the same time", took, 4)
		}
		if !slices.Equal(byGroup(w.done), byGroup(want)) {
			t.Errorf("out of order: %v", w.done)
		}
		closeClient(t, c)
	})
}

// The next message of a group starts when the previous one is deleted: if the delete fails, both return, in order.
func TestConsumeFIFOWaitsForTheDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.latency = time.Millisecond
		failures := 1
		s.broken = func(operation string) string {
			if operation == "DeleteMessage" && failures > 0 {
				failures--
				return "InvalidAddress" // which the SDK does not try again
			}
			return ""
		}
		c := s.buffered(t)
		s.put(fifo, "a:1", "a:2", "a:3")
		w := new(worker)
		var errs []error
		consume(t, s, c, fifo, w.handle, errorsOf(&errs))
		equal(t, "errors", len(errs), 1)
		equal(t, "handled", fmt.Sprint(w.done), "[a:1 a:1 a:2 a:3]")
		closeClient(t, c)
	})
}

// When a consumer stops, running handlers finish, and the other messages are visible at once.
func TestConsumeStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		s.put(fifo, "a:1", "a:2", "a:3", "b:1", "b:2")
		w := &worker{takes: 10 * time.Second}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		start := time.Now()
		if err := c.Consume(ctx, fifo, w.handle); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > 11*time.Second {
			t.Errorf("it took %v", took)
		}
		slices.Sort(w.done)
		equal(t, "handled", fmt.Sprint(w.done), "[a:1 b:1]")
		all, visible := s.stored(fifo)
		equal(t, "left", fmt.Sprint(all), "[a:2 a:3 b:2]")
		equal(t, "visible", fmt.Sprint(visible), "[a:2 a:3 b:2]")
		closeClient(t, c)
	})
}

// Messages that the service has delivered when a consumer stops do not stay hidden.
func TestConsumeStopsWhileItReceives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.back = 100 * time.Millisecond
		c := s.buffered(t)
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, func() { s.put(standard, "a") })
		time.AfterFunc(time.Second+50*time.Millisecond, stop)
		if err := c.Consume(ctx, standard, new(worker).handle); err != nil {
			t.Error(err)
		}
		_, visible := s.stored(standard)
		equal(t, "visible", fmt.Sprint(visible), "[a]")
		closeClient(t, c)
	})
}

// Handlers that run too long are canceled, and their messages become visible again.
func TestConsumeStopsHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		s.put(standard, "a", "b")
		w := &worker{takes: time.Hour}
		var errs []error
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		start := time.Now()
		if err := c.Consume(ctx, standard, w.handle, errorsOf(&errs)); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took < 31*time.Second || took > 32*time.Second {
			t.Errorf("it took %v", took)
		}
		_, visible := s.stored(standard)
		equal(t, "visible", len(visible), 2)
		closeClient(t, c)
	})
}

func TestConsumeLeavesHandlersThatDoNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		s.put(standard, "a")
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		end := make(chan struct{})
		err := c.Consume(ctx, standard, func(context.Context, types.Message) error { <-end; return nil },
			func(o *sqsbuffer.ConsumeOptions) { o.StopTimeout, o.OnError = 0, func(error) {} })
		if err == nil || !strings.Contains(err.Error(), "1 messages are still being handled") {
			t.Errorf("%v", err)
		}
		close(end)
		closeClient(t, c)
	})
}

func TestCloseStopsConsumers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		s.put(standard, "a")
		w := &worker{takes: 2 * time.Second}
		ended := make(chan error, 1)
		go func() { ended <- c.Consume(t.Context(), standard, w.handle) }()
		time.Sleep(time.Second)
		closeClient(t, c)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		equal(t, "handled", len(w.done), 1)
		all, _ := s.stored(standard)
		equal(t, "left", len(all), 0)
		if err := c.Consume(t.Context(), standard, w.handle); !errors.Is(err, sqsbuffer.ErrClosed) {
			t.Errorf("%v", err)
		}
	})
}

func TestConsumeOutlivesErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		var broken atomic.Bool
		broken.Store(true)
		s.broken = func(operation string) string {
			return map[bool]string{true: "OverLimit"}[broken.Load() && operation == "ReceiveMessage"]
		}
		c := s.buffered(t)
		s.put(standard, "a")
		time.AfterFunc(10*time.Second, func() { broken.Store(false) })
		var errs []error
		w := new(worker)
		consume(t, s, c, standard, w.handle, errorsOf(&errs))
		equal(t, "errors", len(errs), 4) // after 0, 1, 3 and 7 seconds
		equal(t, "handled", len(w.done), 1)

		s.broken = func(string) string { return "QueueDoesNotExist" }
		err := c.Consume(t.Context(), standard, w.handle)
		var missing *types.QueueDoesNotExist
		if !errors.As(err, &missing) {
			t.Errorf("%v", err)
		}
		closeClient(t, c)
	})
}

// An idle consumer costs one long poll at a time.
func TestAnIdleConsumerIsCheap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		c := s.buffered(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := c.Consume(ctx, standard, new(worker).handle,
			func(o *sqsbuffer.ConsumeOptions) { o.Concurrency = 1000 }); err != nil {
			t.Error(err)
		}
		if polls := s.count("ReceiveMessage"); polls > 181 {
			t.Errorf("%d receives in an hour", polls)
		}
		closeClient(t, c)
	})
}
