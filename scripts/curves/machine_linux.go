package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/sluicemq/sluice/scripts/program"
)

// datasync makes the contents of a file durable as the server does, without
// those of its metadata that are not needed to read it.
func datasync(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }

func cpuModel() string {
	if name := program.Field("/proc/cpuinfo", "model name"); name != "" {
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
