package command

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestLongDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"7d": 168 * time.Hour, "1d12h": 36 * time.Hour, "168h": 168 * time.Hour, "0": 0, "": -1, "7": -1, "week": -1,
	} {
		got := time.Duration(-1)
		if err := (longDuration{&got}).Set(text); (err != nil) != (want < 0) || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// All flags for durations of days take them.
func TestFlagsWithDays(t *testing.T) {
	serve := newServe()
	for _, name := range []string{
		"backup-every", "backup-keep", "delete-idle-queues-after", "metrics-keep-minutes", "metrics-keep-five-minutes",
		"metrics-keep-hours",
	} {
		if err := serve.Flags().Set(name, "2d"); err != nil {
			t.Errorf("--%s: %v", name, err)
		}
		if got := serve.Flags().Lookup(name).Value.String(); got != "2d" {
			t.Errorf("--%s is %s", name, got)
		}
	}
	var n *int32
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	addSeconds(f, &n, "retention", "")
	if err := f.Set("retention", "14d"); err != nil || *n != 14*86400 {
		t.Errorf("a number of seconds: %v", err)
	}
	now := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	if at, err := parseTime("7d", now); err != nil || !at.Equal(now.AddDate(0, 0, -7)) {
		t.Errorf("a time: %v, %v", at, err)
	}
}
