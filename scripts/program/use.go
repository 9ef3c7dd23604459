package program

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Use is what a process has used.
type Use struct {
	CPU                time.Duration // of the processors, its own and the kernel's for it
	Memory, PeakMemory uint64        // bytes: now, and at most
}

// UseOf returns what a process has used.
func UseOf(pid int) Use {
	status := fmt.Sprintf("/proc/%d/status", pid)
	return Use{CPU: cpu(pid), Memory: kibibytes(Field(status, "VmRSS")), PeakMemory: kibibytes(Field(status, "VmHWM"))}
}

func cpu(pid int) (total time.Duration) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	const user, system, tick = 11, 12, 10 * time.Millisecond
	if len(fields) <= system {
		return 0
	}
	for _, i := range []int{user, system} {
		n, _ := strconv.Atoi(fields[i])
		total += time.Duration(n) * tick
	}
	return total
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
