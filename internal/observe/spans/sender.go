package spans

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// complaintInterval is how often the log reports that a collector does not accept spans.
const complaintInterval = time.Minute

// batching says how spans are sent together.
type batching struct {
	waiting int           // spans that may wait; further ones are dropped
	most    int           // spans of a batch
	delay   time.Duration // that a span waits for others
	timeout time.Duration // of a batch
}

// newBatching returns the batching that the environment names.
func newBatching(getenv func(string) string) (batching, error) {
	var failed error
	read := func(name string, usual int) int {
		value := getenv("OTEL_BSP_" + name)
		if value == "" {
			return usual
		}
		n, err := strconv.ParseUint(value, 10, 31)
		if (err != nil || n == 0) && failed == nil {
			failed = fmt.Errorf("OTEL_BSP_%s=%q: want a number above 0", name, value)
		}
		return int(n)
	}
	b := batching{
		waiting: read("MAX_QUEUE_SIZE", 2048), most: read("MAX_EXPORT_BATCH_SIZE", 512),
		delay:   time.Duration(read("SCHEDULE_DELAY", 5000)) * time.Millisecond,
		timeout: time.Duration(read("EXPORT_TIMEOUT", 30_000)) * time.Millisecond,
	}
	b.most = min(b.most, b.waiting)
	return b, failed
}

// sender sends spans in batches. Only its goroutine waits for the collector.
type sender struct {
	batching
	upload func(context.Context, []*span) error
	log    *slog.Logger

	queue   chan *span
	ctx     context.Context // of all uploads
	cancel  context.CancelFunc
	stop    func() // ends run after the spans that wait
	stopped chan struct{}
	done    chan struct{}

	complained time.Time
	lost       int // spans since then
}

func newSender(b batching, log *slog.Logger, upload func(context.Context, []*span) error) *sender {
	s := &sender{
		batching: b, upload: upload, log: log,
		queue: make(chan *span, b.waiting), stopped: make(chan struct{}), done: make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.stop = sync.OnceFunc(func() { close(s.stopped) })
	return s
}

// add queues a span. It drops the span if too many wait.
func (s *sender) add(one *span) {
	select {
	case s.queue <- one:
	default:
	}
}

// run sends spans until close.
func (s *sender) run() {
	defer close(s.done)
	var batch []*span
	timer := time.NewTimer(s.delay)
	defer timer.Stop()
	for {
		select {
		case one := <-s.queue:
			if batch = append(batch, one); len(batch) < s.most {
				continue
			}
		case <-timer.C:
		case <-s.stopped:
			s.sendRest(batch)
			return
		}
		batch = s.sendBatch(batch)
		timer.Reset(s.delay)
	}
}

// sendRest sends a batch and the spans that wait.
func (s *sender) sendRest(batch []*span) {
	for {
		select {
		case one := <-s.queue:
			if batch = append(batch, one); len(batch) == s.most {
				batch = s.sendBatch(batch)
			}
		default:
			s.sendBatch(batch)
			return
		}
	}
}

// sendBatch sends spans, and returns an empty batch. It logs errors only from time to time.
func (s *sender) sendBatch(batch []*span) []*span {
	if len(batch) == 0 {
		return batch
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	if err := s.upload(ctx, batch); err != nil {
		s.lost += len(batch)
		if now := time.Now(); now.Sub(s.complained) >= complaintInterval {
			s.log.Warn("spans could not be sent", "spans", s.lost, "error", err)
			s.complained, s.lost = now, 0
		}
	}
	clear(batch)
	return batch[:0]
}

// close sends the spans that wait, until ctx ends.
func (s *sender) close(ctx context.Context) error {
	defer s.cancel()
	s.stop()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
