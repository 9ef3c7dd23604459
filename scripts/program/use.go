package program

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/bench"
)

// Use holds the resources that a process has used.
type Use struct {
	CPU                time.Duration // processor time, in user mode and in the kernel
	Memory, PeakMemory uint64        // bytes: now, and the maximum
}

// UseOf returns the resources that a process has used.
func UseOf(pid int) Use {
	status := fmt.Sprintf("/proc/%d/status", pid)
	return Use{
		CPU: bench.ProcessorTime(pid), Memory: kibibytes(Field(status, "VmRSS")),
		PeakMemory: kibibytes(Field(status, "VmHWM")),
	}
}

func kibibytes(value string) uint64 {
	kib, _ := strconv.ParseUint(strings.TrimSuffix(value, " kB"), 10, 64)
	return kib << 10
}

// Field returns the first value of a name in a file of "name: value" lines, or "" if there is none.
func Field(file, name string) string {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
