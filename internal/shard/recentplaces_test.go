package shard

import (
	"bytes"
	"testing"
)

// recentKey is the key of a message of queue 1.
func recentKey(position uint16) []byte {
	return []byte{0, 0, 0, 0, 0, 0, 0, 1, 'm', 0, 0, 0, 0, 0, 0, byte(position >> 8), byte(position)}
}

// A message is cached until another takes its place.
func TestRecentPlaces(t *testing.T) {
	var r recent
	first, neighbour, rival := recentKey(5), recentKey(6), recentKey(5+recentMessages)
	want := func(key []byte, record string) {
		t.Helper()
		if got, ok := r.append([]byte("-"), key); string(got) != "-"+record || ok != (record != "") {
			t.Errorf("%q, %v", got, ok)
		}
	}
	want(first, "")
	r.Put(first, []byte("first"))
	r.Put(neighbour, []byte("neighbour"))
	want(first, "first")
	want(neighbour, "neighbour")
	r.Put(rival, []byte("rival"))
	want(first, "")
	want(rival, "rival")
	r.Put(rival, bytes.Repeat([]byte("x"), recentLength+1))
	want(rival, "")
	r.Put(first, []byte("again"))
	r.clear()
	want(first, "")
}
