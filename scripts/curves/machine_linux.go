package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// datasync makes the contents of a file durable as the server does, without
// those of its metadata that are not needed to read it.
func datasync(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }

func cpuModel() string {
	if name := field("/proc/cpuinfo", "model name"); name != "" {
		return strings.Join(strings.Fields(name), " ")
	}
	return runtime.GOARCH // ARM's kernel does not say
}

func kernel() string {
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return strings.TrimSpace(string(release))
}

// fileSystem returns the type of the file system that dir is on.
func fileSystem(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "unknown file system"
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	kind, longest := "unknown file system", 0
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line) // device, mount point, type
		if len(f) < 3 {
			continue
		}
		at := strings.TrimSuffix(f[1], "/") + "/"
		if strings.HasPrefix(dir+"/", at) && len(at) >= longest {
			kind, longest = f[2], len(at)
		}
	}
	return kind
}

// peakMemory returns the most bytes of memory that a process has had; 0 if
// it is not known.
func peakMemory(pid int) uint64 {
	kib, err := strconv.ParseUint(strings.TrimSuffix(field(fmt.Sprintf("/proc/%d/status", pid), "VmHWM"), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

// field returns the first value of a name in a file of "name: value" lines.
func field(file, name string) string {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
