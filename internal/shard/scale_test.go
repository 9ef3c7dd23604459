package shard

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/sluicemq/sluice/internal/queue"
)

// The scale of a queue is exact when a round has just ended, and between two rounds as exact as the messages are alike.
func TestScaleAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sc := new(scale)
		var stored []uint64 // the lengths, the oldest first
		var arrived queue.Weight
		sum := func() (n int64) {
			for _, bytes := range stored {
				n += int64(bytes)
			}
			return n
		}
		state := func() *queue.Stored { return &queue.Stored{Messages: uint64(len(stored)), Arrived: arrived} }
		rt.Repeat(map[string]func(*rapid.T){
			"send": func(rt *rapid.T) {
				bytes := rapid.Uint64Range(60, 5000).Draw(rt, "bytes")
				stored = append(stored, bytes)
				arrived.Messages++
				arrived.Bytes += bytes
			},
			"delete": func(rt *rapid.T) { stored = stored[rapid.IntRange(0, len(stored)).Draw(rt, "n"):] },
			"weigh": func(rt *rapid.T) {
				if !sc.begin(state()) {
					return
				}
				rest := stored[min(int(sc.next), len(stored)):]
				n := rapid.IntRange(0, len(rest)).Draw(rt, "n")
				var w queue.Weight
				for _, bytes := range rest[:n] {
					w.Messages++
					w.Bytes += bytes
				}
				next := sc.next + queue.Position(n)
				if n == len(rest) {
					next = 0
				}
				sc.add(w, next)
			},
			"weigh all": func(rt *rapid.T) {
				*sc = scale{}
				sc.begin(state())
				sc.add(queue.Weight{Messages: uint64(len(stored)), Bytes: uint64(sum())}, 0)
				if got := sc.bytes(state()); got != sum() {
					rt.Fatalf("just weighed: %d bytes, want %d", got, sum())
				}
			},
			"load": func(*rapid.T) { arrived = queue.Weight{} },
			"": func(rt *rapid.T) {
				if got := sc.bytes(state()); sc.begin(state()) && got < 0 {
					rt.Fatalf("%d bytes", got)
				}
			},
		})
	})
}
