package server

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// repeatedMost is how many lines of one text a log of notRepeated has each minute.
const repeatedMost = 100

// notRepeated returns a log for lines that clients can cause as often as they like: with policies that have no effect,
// or endpoints that refuse messages. Beyond repeatedMost in a minute, lines of the same text are left out. The next
// line of that text, in a later minute, says how many.
func notRepeated(log *slog.Logger) *slog.Logger {
	return slog.New(&repeats{log.Handler(), &repeated{texts: make(map[string]*repeatedText)}})
}

// repeats is the handler of such a log.
type repeats struct {
	slog.Handler
	*repeated
}

// repeated counts lines by their texts. There are as many texts as calls of a log in the program.
type repeated struct {
	mu    sync.Mutex
	texts map[string]*repeatedText
}

type repeatedText struct {
	minute  time.Time
	lines   int // in that minute
	leftOut int // since the last line
}

// Handle implements slog.Handler.
func (r *repeats) Handle(ctx context.Context, line slog.Record) error {
	leftOut, ok := r.count(line.Message, line.Time)
	if !ok {
		return nil
	}
	if leftOut > 0 {
		line = line.Clone()
		line.AddAttrs(slog.Int("left_out", leftOut))
	}
	return r.Handler.Handle(ctx, line)
}

// count counts a line. It returns how many were left out before it, or false if it is left out, too.
func (r *repeated) count(text string, at time.Time) (leftOut int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.texts[text]
	if t == nil {
		t = new(repeatedText)
		r.texts[text] = t
	}
	if minute := at.Truncate(time.Minute); !minute.Equal(t.minute) {
		t.minute, t.lines = minute, 0
	}
	if t.lines++; t.lines > repeatedMost {
		t.leftOut++
		return 0, false
	}
	leftOut, t.leftOut = t.leftOut, 0
	return leftOut, true
}

// WithAttrs implements slog.Handler.
func (r *repeats) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &repeats{r.Handler.WithAttrs(attrs), r.repeated}
}

// WithGroup implements slog.Handler.
func (r *repeats) WithGroup(name string) slog.Handler {
	return &repeats{r.Handler.WithGroup(name), r.repeated}
}
