package remote

import (
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// The kinds of messages between nodes.
const (
	kindCall   = "shard"        // a call, answered with its result
	kindCancel = "shard-cancel" // the consumer of a receive has gone
)

// callID names a receive in progress, so that it can be cancelled. It consists of the random number of a Caller and a
// counter.
type callID struct{ caller, count uint64 }

// header begins every call, after the version.
type header struct {
	code     byte // of the method
	shard    int
	position uint64        // of the caller's copy of the control shard
	budget   time.Duration // how long the caller waits
	call     callID        // of a receive; otherwise zero
	queue    queue.ID
}

func putHeader(w *writer, h *header) {
	w.Byte(version)
	w.Byte(h.code)
	w.Uint(uint64(h.shard))
	w.Uint(h.position)
	w.Duration(h.budget)
	putCall(w, h.call)
	w.Uint(uint64(h.queue))
}

func getHeader(r *reader) header {
	return header{
		code: r.Byte(), shard: int(r.Uint()), position: r.Uint(), budget: r.Duration(), call: getCall(r),
		queue: queue.ID(r.Uint()),
	}
}

func putCall(w *writer, c callID) {
	w.Uint(c.caller)
	w.Uint(c.count)
}

func getCall(r *reader) callID { return callID{r.Uint(), r.Uint()} }

// An answer is the version, the error, and the result if there is no error. To a call
// of a version that it does not know, a node answers with noVersion and the version
// that it knows: all versions have that in common.
const noVersion = 0

// The answer to a receive has room for the maximum delivery of a shard and its other fields: those of ten messages take
// less than 64 KiB.
const _ = uint(messenger.MaxPayload - shard.MaxReceive - 64<<10)
