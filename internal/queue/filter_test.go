package queue

import (
	"fmt"
	"testing"
)

func TestFilter(t *testing.T) {
	const ids = 100_000
	var f filter
	mistaken := 0
	for i := range ids {
		id := fmt.Sprint("id", i)
		if f.has(hashOf(kindDedup, id)) {
			mistaken++
		}
		f.add(hashOf(kindDedup, id))
	}
	for i := range ids {
		if !f.has(hashOf(kindDedup, fmt.Sprint("id", i))) {
			t.Fatalf("id%d was added and is not found", i)
		}
	}
	if mistaken > ids/1000 {
		t.Errorf("%d of %d new ids are found", mistaken, ids)
	}
	if f.has(hashOf(kindAttempt, "id1")) && f.has(hashOf(kindAttempt, "id2")) && f.has(hashOf(kindAttempt, "id3")) {
		t.Error("kinds are confused")
	}
}

func BenchmarkFilter(b *testing.B) {
	var f filter
	for i := range uint64(1_000_000) {
		f.add(i * 0x9E3779B97F4A7C15)
	}
	hash := uint64(1)
	found := 0
	for b.Loop() {
		hash = hash*6364136223846793005 + 1442695040888963407
		if f.has(hash) {
			found++
		}
	}
	b.ReportMetric(100*float64(found)/float64(b.N), "%mistaken")
}
