package jetstream

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// logger passes on the log lines of an embedded server. Its notices and warnings are details for an operator, and most
// of its errors concern an absent node and repeat many times a second: each kind is logged once per minute.
type logger struct {
	log   *slog.Logger
	fatal chan error // the first fatal line: the server does not start

	mu   sync.Mutex
	said map[string]time.Time // by kind
}

const sayAgain = time.Minute

func newLogger(log *slog.Logger) *logger {
	return &logger{log: log.With("component", "nats"), fatal: make(chan error, 1), said: make(map[string]time.Time)}
}

func (l *logger) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *logger) Warnf(format string, v ...any)   { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *logger) Debugf(string, ...any)           {}
func (l *logger) Tracef(string, ...any)           {}

func (l *logger) Errorf(format string, v ...any) {
	kind := kindOf(format)
	l.mu.Lock()
	again := time.Since(l.said[kind]) < sayAgain
	if !again {
		l.said[kind] = time.Now()
	}
	l.mu.Unlock()
	if again {
		l.Warnf(format, v...)
		return
	}
	l.log.Warn(fmt.Sprintf(format, v...))
}

// kindOf returns the kind of a line: its format without the connection at its beginning, which differs with each
// attempt.
func kindOf(format string) string {
	if _, connection, ok := strings.Cut(format, "id:"); ok {
		if _, text, ok := strings.Cut(connection, " - "); ok {
			return text
		}
	}
	return format
}

func (l *logger) Fatalf(format string, v ...any) {
	err := fmt.Errorf(format, v...)
	l.log.Error(err.Error())
	select {
	case l.fatal <- err:
	default:
	}
}
