package bench

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestQuantilesAreCloseToTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var l latencies
	var all []time.Duration
	for range 10_000 {
		d := time.Duration(rng.ExpFloat64() * float64(3*time.Millisecond)).Truncate(time.Microsecond)
		l.add(d)
		all = append(all, d)
	}
	slices.Sort(all)
	for _, q := range []float64{0, .5, .9, .99, .999} {
		want := all[int(q*float64(len(all)))]
		got := l.quantile(q)
		if got < want || float64(got) > float64(want)*1.04+float64(time.Microsecond) {
			t.Errorf("quantile %g: %s, want %s to 4%% more", q, got, want)
		}
	}
	if l.quantile(1) != all[len(all)-1] || l.max != all[len(all)-1] {
		t.Errorf("max %s, want %s", l.max, all[len(all)-1])
	}
}

func TestBucketsMeet(t *testing.T) {
	for i := range 40*32 - 1 {
		end := bucketEnd(i)
		if bucketOf(end) != i || bucketOf(end+time.Microsecond) != i+1 {
			t.Fatalf("bucket %d ends at %s, which is in bucket %d; the next microsecond in %d",
				i, end, bucketOf(end), bucketOf(end+time.Microsecond))
		}
	}
}
