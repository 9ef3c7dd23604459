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
	// worthReturning is the least memory for which a collection pays. A larger heap takes longer to collect: there it
	// is a quarter of what is alive.
	worthReturning     = 8 << 20
	worthReturningPart = 4
)

// ReturnMemory returns unused memory of the heap, and the program's pages, to the system whenever the process is idle,
// until ctx ends. After a load, the runtime keeps garbage and room for several times of what is alive, and collects it
// only when new load has used it up; see GCPercent.
func ReturnMemory(ctx context.Context, log *slog.Logger) {
	var r rest
	released := false // since the process was busy
	for wait.For(ctx, restInterval) == nil {
		now := measureHeap()
		idle := r.idle(now)
		if idle && r.due(now) {
			debug.FreeOSMemory()
			r.left = measureHeap().held
		}
		if idle && !released {
			if err := releaseProgram(); err != nil {
				log.Debug("the pages of the program are not released", "error", err)
			}
		}
		released = idle
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
	left      uint64 // what was still held after the last return: to try again would return no more
}

// idle reports whether the process has allocated little since the last call.
func (r *rest) idle(now heapUse) bool {
	little := now.allocated-r.allocated <= restAllocations
	r.allocated = now.allocated
	return little
}

// due reports whether the heap of an idle process has enough to return.
func (r *rest) due(now heapUse) bool {
	return now.held > max(now.alive, r.left)+max(worthReturning, now.alive/worthReturningPart)
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
