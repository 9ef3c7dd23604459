package repository

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestExpired(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 30, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		ages string // of the moments, the first has number 1
		keep time.Duration
		want string // numbers
	}{
		"none":                       {"", 7 * day, ""},
		"the last hour":              {"59m 30m 1m 0s", 7 * day, ""},
		"one an hour":                {"3h20m 3h10m 2h50m 2h40m 61m", 7 * day, "1 2 3"}, // 9:10 9:20 9:40 9:50 11:29
		"an hour that has not ended": {"65m 50m 20m", 7 * day, "1"},                     // 11:25 11:40 12:10
		// 21st 0:00, 5:30; 21st 20:30; 22nd 0:10, 11:30
		"one a day":                 {"60h30m 55h 40h 36h20m 25h", 7 * day, "1 2 4"},
		"too old":                   {"169h 168h 167h 1h", 7 * day, "1 2"},
		"the only one is old":       {"1000h", 7 * day, ""},
		"the newest is old":         {"1000h 900h", 7 * day, "1"},
		"a short time":              {"3h 2h 1h 30m", 2 * time.Hour, "1 2"},
		"a clock that was set back": {"10m -2h -1h", 7 * day, ""},
	} {
		var moments []kept
		for i, age := range strings.Fields(c.ages) {
			d, err := time.ParseDuration(age)
			if err != nil {
				t.Fatal(err)
			}
			moments = append(moments, kept{int64(i + 1), now.Add(-d)})
		}
		got := strings.Trim(fmt.Sprint(expired(moments, now, c.keep)), "[]")
		if got != c.want {
			t.Errorf("%s: %s expire, want %s", name, got, c.want)
		}
	}
}

// The result does not depend on how often the retention is applied, and no gap is longer than allowed.
func TestExpiredStepByStep(t *testing.T) {
	t.Parallel()
	const every, keep = 7 * time.Minute, 5 * 24 * time.Hour
	begin := time.Date(2026, 11, 1, 0, 3, 0, 0, time.UTC)
	var all, left []kept
	now := begin
	for i := range int(8 * 24 * time.Hour / every) {
		now = begin.Add(time.Duration(i) * every)
		all, left = append(all, kept{int64(i + 1), now}), append(left, kept{int64(i + 1), now})
		if i%3 == 0 {
			left = without(left, expired(left, now, keep))
		}
	}
	left = without(left, expired(left, now, keep))
	if want := without(all, expired(all, now, keep)); !slices.Equal(left, want) {
		t.Errorf("step by step %v are left, at once %v", left, want)
	}
	if n := len(left); n < 9+23+4 || n > 9+25+5 {
		t.Errorf("%d are left", n)
	}
	for i, k := range left[:len(left)-1] {
		gap := left[i+1].at.Sub(k.at)
		switch age := now.Sub(k.at); {
		case age < keepAll && gap > every, age < keepHourly && gap > time.Hour+every, gap > 24*time.Hour+every:
			t.Errorf("between %s and %s are %s", k.at, left[i+1].at, gap)
		}
	}
}

func without(list []kept, numbers []int64) []kept {
	return slices.DeleteFunc(slices.Clone(list), func(k kept) bool { return slices.Contains(numbers, k.number) })
}
