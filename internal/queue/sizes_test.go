package queue

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/formats"
)

// Sizes count each message near its true size, do not depend on the order, and survive encoding.
func TestSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for name, c := range map[string]struct {
		span  func() uint64
		error float64
	}{
		"few":       {func() uint64 { return 1000 + 37*rng.Uint64N(exactSizes) }, 0},
		"an octave": {func() uint64 { return 1000 + rng.Uint64N(1000) }, 1.0 / 128},
		"all": {func() uint64 {
			return 1 + rng.Uint64N(1<<(1+rng.Uint64N(20)))
		}, 1.0 / 32},
		"small":   {func() uint64 { return rng.Uint64N(100) }, 0},
		"numbers": {func() uint64 { return rng.Uint64() >> rng.Uint64N(64) }, 1.0 / 8},
	} {
		t.Run(name, func(t *testing.T) {
			var values []uint64
			for range 5000 {
				values = append(values, c.span())
			}
			var whole, first, second Sizes
			for i, v := range values {
				whole.add(v, 1)
				if i%3 == 0 {
					first.add(v, 1)
				} else {
					second.add(v, 1)
				}
			}
			if n := len(whole.classes); n > maxSizes || whole.Count() != 5000 {
				t.Errorf("%d classes of %d messages", n, whole.Count())
			}
			for _, merged := range []*Sizes{first.merged(&second), second.merged(&first)} {
				if !reflect.DeepEqual(*merged, whole) {
					t.Errorf("merged are %v, want %v", merged, whole)
				}
			}
			read, err := ReadSizes(whole.AppendTo(nil))
			if err != nil || !reflect.DeepEqual(*read, whole) {
				t.Errorf("%v became %v, %v", whole, read, err)
			}
			slices.Sort(values)
			whole.Each(func(size float64, n uint64) {
				for _, v := range values[:n] {
					if d := math.Abs(size - float64(v)); d > c.error*float64(v) {
						t.Fatalf("%d counts as %v", v, size)
					}
				}
				values = values[n:]
			})
		})
	}
}

// Sizes of messages are stored as soon as all programs read their format: in the running minute and in rows, across
// restarts and merges of rows.
func TestSizesAreStored(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	r.keep = DefaultKeep
	r.keep.UpTo = formats.PausedGroups
	r.reload()
	r.configure(Config{ID: 1, ARN: "jobs", Retention: time.Hour, Visibility: time.Minute})
	do := func(f func(*Engine) error) {
		t.Helper()
		if err := r.do(f); err != nil {
			t.Fatal(err)
		}
	}
	send := func(sizes ...int) {
		t.Helper()
		do(func(e *Engine) error {
			for _, n := range sizes {
				if _, err := e.Send(1, []Outgoing{{Body: string(make([]byte, n))}}); err != nil {
					return err
				}
				if err := e.CountTopic(&TopicCount{Topic: "news",
					Counts: [TopicMetrics]uint64{TopicPublished: 1, TopicPublishedBytes: uint64(n)}}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	sizes := func(name string) (out []string) {
		t.Helper()
		rows, err := SizedSeries(r.keys.sorted().Get, name, 0, minuteOf(r.now)+hour)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			text := "unknown"
			if s := row.sizesOf(); s != nil {
				text = ""
				s.Each(func(size float64, n uint64) { text += fmt.Sprintf("%dx%v ", n, size) })
			} else if row.Values[MetricSent].Sum == 0 {
				continue
			}
			out = append(out, text)
		}
		return out
	}
	send(5, 5)
	r.advance(time.Minute)
	send(5, 9)
	r.advance(time.Minute)
	if got := r.engine.Format(); got >= formats.Sizes {
		t.Fatalf("the format is %d before all nodes read it", got)
	}
	r.engine.Allow(formats.Sizes)
	send(5, 5, 9)
	if got := r.engine.Format(); got != formats.Sizes {
		t.Errorf("the format is %d", got)
	}
	r.keep.UpTo = 0
	r.reload()
	send(9, 1)
	r.advance(time.Minute)
	for _, name := range []string{"jobs", "news"} {
		if got := fmt.Sprintf("%q", sizes(name)); got != `["2x5 " "unknown" "1x1 2x5 2x9 "]` {
			t.Errorf("%s: %s", name, got)
		}
	}
	r.advance(21 * time.Minute) // so that the next two minutes become one row
	send(3)
	r.advance(time.Minute)
	send(4, 4)
	r.advance(DefaultKeep.Minutes + 2*time.Hour)
	for _, name := range []string{"jobs", "news"} {
		if got := fmt.Sprintf("%q", sizes(name)); got != `["unknown" "1x3 2x4 "]` {
			t.Errorf("merged, %s: %s", name, got)
		}
	}
	rows, err := Series(r.keys.sorted().Get, "jobs", 0, minuteOf(r.now)+hour)
	if err != nil || slices.ContainsFunc(rows, func(r Row) bool { return r.Sizes != nil }) {
		t.Errorf("rows without sizes: %v, %v", rows, err)
	}
}

// BenchmarkSizes sends messages of varying sizes, for comparison with BenchmarkStandard.
func BenchmarkSizes(b *testing.B) {
	b.Run("one", func(b *testing.B) { benchSizes(b, 1) })
	b.Run("20", func(b *testing.B) { benchSizes(b, 20) })
	b.Run("2000", func(b *testing.B) { benchSizes(b, 2000) })
}

func benchSizes(b *testing.B, different int) {
	body := string(make([]byte, 3000))
	for name, upTo := range map[string]int{"kept": 0, "left out": formats.PausedGroups} {
		b.Run(name, func(b *testing.B) {
			keep := DefaultKeep
			keep.UpTo = upTo
			benchKeeping(b, keep, Config{ID: 1, ARN: "arn:aws:sqs:us-east-1:000000000000:orders"}, 0,
				func(n int) Outgoing {
					return Outgoing{Body: body[:1000+n*7919%different]}
				})
		})
	}
}
