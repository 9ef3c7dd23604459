package server

import (
	"context"
	"log/slog"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/sluicemq/sluice/internal/tool/wait"
)

const (
	// restInterval is how often ReturnMemory checks whether the process is idle.
	restInterval = 30 * time.Second
	// restAllocations is the maximum that an idle process allocates in restInterval.
	restAllocations = 32 << 20
	// worthReturning is the minimum amount of memory for which a collection pays. A larger heap takes longer to
	// collect: for it, the minimum is a quarter of the live data.
	worthReturning     = 8 << 20
	worthReturningPart = 4
)

// ReturnMemory returns unused memory to the system whenever the process is idle, until ctx ends. After a load, the
// runtime keeps garbage, and room for several times the live data, and collects it only when new load has used it up;
// see GCPercent. The pages of the program are returned as well, once in each idle period.
func ReturnMemory(ctx context.Context, log *slog.Logger) {
	var r rest
	for wait.For(ctx, restInterval) == nil {
		if r.due(measureHeap()) {
			debug.FreeOSMemory()
			r.left = measureHeap().held
		}
		if r.begins() {
			if err := returnProgram(); err != nil {
				log.Debug("the pages of the program stay in memory", "error", err)
			}
		}
	}
}

// heapUse is the state of the process's heap, in bytes.
type heapUse struct {
	allocated uint64 // since the start of the process
	held      uint64 // that the system counts as used
	alive     uint64 // at the last collection
}

// rest decides when a process is idle and has memory to return.
type rest struct {
	allocated uint64 // at the last look
	left      uint64 // memory still held after the last return: another attempt would not return more
	idle      bool   // at the last look
	begun     bool   // begins has returned true since the process was last busy
}

// due reports whether the process is idle and its heap has memory to return.
func (r *rest) due(now heapUse) bool {
	r.idle = now.allocated-r.allocated <= restAllocations
	r.allocated = now.allocated
	return r.idle && now.held > max(now.alive, r.left)+max(worthReturning, now.alive/worthReturningPart)
}

// begins reports whether the process is idle since the last look of due.
func (r *rest) begins() bool {
	begins := r.idle && !r.begun
	r.begun = r.idle
	return begins
}

func measureHeap() heapUse {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	value := func(i int) uint64 { return samples[i].Value.Uint64() }
	return heapUse{allocated: value(0), alive: value(1), held: value(2) + value(3) + value(4)}
}
