package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit in which Linux reports processor time.
const tick = 10 * time.Millisecond

// ProcessorTime returns how long a process of this machine has used the processors, itself and in the kernel, in steps
// of 10 ms. It returns 0 if that is unknown, as on systems other than Linux.
func ProcessorTime(pid int) (total time.Duration) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // none: unknown
	_, rest, _ := strings.Cut(string(text), ") ")
	const user, system = 11, 12
	fields := strings.Fields(rest)
	if len(fields) <= system {
		return 0
	}
	for _, i := range []int{user, system} {
		n, _ := strconv.Atoi(fields[i])
		total += time.Duration(n) * tick
	}
	return total
}

// residentMemory returns how much memory a process of this machine has, or 0 if that is unknown.
func residentMemory(pid int) int64 {
	if pid == 0 {
		return 0
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}
