package server

import (
	"context"
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

// ReturnMemory returns unused memory of the heap to the system whenever the process is idle, until ctx ends. After a
// load, the runtime keeps garbage and room for several times of what is alive, and collects it only when new load has
// used it up; see GCPercent.
func ReturnMemory(ctx context.Context) {
	var r rest
	for wait.For(ctx, restInterval) == nil {
		if r.due(measureHeap()) {
			debug.FreeOSMemory()
			r.left = measureHeap().held
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
	left      uint64 // what was still held after the last return: to try again would return no more
}

func (r *rest) due(now heapUse) bool {
	idle := now.allocated-r.allocated <= restAllocations
	r.allocated = now.allocated
	return idle && now.held > max(now.alive, r.left)+max(worthReturning, now.alive/worthReturningPart)
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
