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
			t.Fatalf("id%d was added and is not there", i)
		}
	}
	if mistaken > ids/20 {
		t.Errorf("%d of %d new ids are taken for old", mistaken, ids)
	}
	if f.has(hashOf(kindAttempt, "id1")) && f.has(hashOf(kindAttempt, "id2")) && f.has(hashOf(kindAttempt, "id3")) {
		t.Error("kinds are mixed up")
	}
}
