package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// deadLetterLines limits the log lines about dead letters in each deadLetterSpan: when thousands of messages fail, a
// few lines are enough.
const (
	deadLetterLines = 20
	deadLetterSpan  = time.Second
)

// deadLetterLog logs each message that moves to a dead-letter queue: its id, source, destination and number of
// receives, but not its content.
type deadLetterLog struct {
	log *slog.Logger

	mu      sync.Mutex
	began   queue.Instant // of the span
	lines   int           // in it
	omitted int           // messages without a line, since the last line
}

func (l *deadLetterLog) write(letters []queue.DeadLetter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range letters {
		d := &letters[i]
		if d.At < l.began || d.At >= l.began.Add(deadLetterSpan) {
			l.began, l.lines = d.At, 0
		}
		if l.lines == deadLetterLines {
			l.omitted++
			continue
		}
		l.lines++
		attrs := []slog.Attr{
			slog.String("queue", d.ARN), slog.String("dead_letter_queue", d.Target),
			slog.String("message_id", d.Message.ID.String()),
			slog.Uint64("receive_count", d.Receives),
		}
		if l.omitted > 0 {
			attrs = append(attrs, slog.Int("not_logged_before", l.omitted))
			l.omitted = 0
		}
		l.log.LogAttrs(context.Background(), slog.LevelInfo, "message moved to its dead-letter queue", attrs...)
	}
}
