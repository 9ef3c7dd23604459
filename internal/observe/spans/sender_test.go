package spans

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// sent records batches, such as "a b" at second 5.
type sent struct {
	began   time.Time
	batches []string
	err     error
}

func (r *sent) upload(_ context.Context, batch []*span) error {
	var names []string
	for _, s := range batch {
		names = append(names, s.name)
	}
	r.batches = append(r.batches, fmt.Sprint(time.Since(r.began), " ", strings.Join(names, " ")))
	return r.err
}

func addAll(s *sender, names string) {
	for name := range strings.FieldsSeq(names) {
		s.add(&span{name: name})
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &sent{began: time.Now()}
		s := newSender(batching{waiting: 4, most: 3, delay: 5 * time.Second, timeout: time.Second}, slog.New(slog.DiscardHandler), r.upload)
		addAll(s, "a b c d lost") // before it runs: as if the collector hung
		go s.run()
		synctest.Wait()
		time.Sleep(6 * time.Second)
		synctest.Wait()
		addAll(s, "e f")
		if err := s.close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.close(t.Context()); err != nil {
			t.Error(err)
		}
		if got, want := strings.Join(r.batches, ", "), "0s a b c, 5s d, 6s e f"; got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
	})
}

// A collector that does not answer holds up nothing longer than its timeout, nor the end longer than its context.
func TestHangingUpload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSender(batching{waiting: 4, most: 1, delay: time.Second, timeout: time.Minute}, slog.New(slog.DiscardHandler),
			func(ctx context.Context, _ []*span) error { <-ctx.Done(); return ctx.Err() })
		go s.run()
		addAll(s, "a b")
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		if err := s.close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 90*time.Second {
			t.Errorf("closed with %v after %v", err, time.Since(began))
		}
		<-s.done
	})
}

// The log names lost spans once a minute.
func TestComplaints(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		r := &sent{began: time.Now(), err: errors.New("refused")}
		s := newSender(batching{waiting: 4, most: 2, delay: time.Second, timeout: time.Minute},
			slog.New(slog.NewTextHandler(&log, nil)), r.upload)
		go s.run()
		for range 3 {
			addAll(s, "a b")
			synctest.Wait()
		}
		time.Sleep(complaintInterval)
		addAll(s, "a b")
		if err := s.close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := log.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "spans=2 ") || !strings.Contains(got, "spans=6 ") {
			t.Errorf("the log says %s", got)
		}
	})
}

func TestBatchesSettings(t *testing.T) {
	t.Parallel()
	b, err := newBatching(environment(nil))
	if want := (batching{2048, 512, 5 * time.Second, 30 * time.Second}); b != want || err != nil {
		t.Errorf("%+v, %v", b, err)
	}
	b, err = newBatching(environment(map[string]string{
		"OTEL_BSP_MAX_QUEUE_SIZE": "8", "OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_BSP_EXPORT_TIMEOUT": "100",
	}))
	if want := (batching{8, 8, 50 * time.Millisecond, 100 * time.Millisecond}); b != want || err != nil {
		t.Errorf("%+v, %v", b, err)
	}
	for _, wrong := range []string{"0", "-1", "x"} {
		if _, err := newBatching(environment(map[string]string{"OTEL_BSP_SCHEDULE_DELAY": wrong})); err == nil {
			t.Errorf("%s: accepted", wrong)
		}
	}
}
