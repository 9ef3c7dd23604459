package days

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"7d": 7 * Day, "0d": 0, "1d12h": 36 * time.Hour, "2d1h30m5s": 49*time.Hour + 30*time.Minute + 5*time.Second,
		"168h": 7 * Day, "90m": 90 * time.Minute, "0": 0, "-1h": -time.Hour, "106751d": 106751 * Day,
		"25h": 25 * time.Hour,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "d", "7", "7 d", "-1d", "+1d", "1.5d", "1d-1h", "1d+1h", "1d2", "1h1d", "1d1d", "106752d", "106751d24h",
		"99999999999999999999d",
		"1w", "one day",
	} {
		if got, err := Parse(text); !errors.Is(err, ErrNoDuration) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestFormat(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 7 * Day: "7d", 36 * time.Hour: "36h0m0s", time.Minute: "1m0s", -Day: "-24h0m0s",
		math.MaxInt64: "2562047h47m16.854775807s",
	} {
		got := Format(d)
		if got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
		if again, err := Parse(got); err != nil || again != d {
			t.Errorf("%s: %v, %v", got, again, err)
		}
	}
}
