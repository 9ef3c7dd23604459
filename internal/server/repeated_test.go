package server

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// Lines that a client causes again and again do not fill the log. Other lines appear.
func TestRepeatedLinesAreLeftOut(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := notRepeated(slog.New(slog.NewTextHandler(&out, nil))).With("wing", "topics")
	began := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	write := func(at time.Time, text string) {
		if err := log.Handler().Handle(context.Background(), slog.NewRecord(at, slog.LevelWarn, text, 0)); err != nil {
			t.Error(err)
		}
	}
	for range 1000 {
		write(began, "refused")
	}
	write(began, "another")
	write(began.Add(time.Minute), "refused")
	text := out.String()
	if n := strings.Count(text, "msg=refused"); n != repeatedMost+1 {
		t.Errorf("%d lines, want %d", n, repeatedMost+1)
	}
	if !strings.Contains(text, "msg=another") || strings.Count(text, "left_out=900") != 1 ||
		strings.Count(text, "wing=topics") != repeatedMost+2 {
		t.Errorf("log: %s", text[len(text)-300:])
	}
}
