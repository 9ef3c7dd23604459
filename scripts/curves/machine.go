package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Machine describes the machine, on which the figures depend.
type Machine struct {
	CPU        string
	Cores      int
	System     string // operating system, kernel, architecture
	Go         string // version that built the server, and whether with cgo
	Commit     string // of the project; empty if git does not know
	FileSystem string
	Syncs      float64 // syncs of a small append per second, before the measurements
	Date       string
}

// describeMachine describes this machine and the program on it.
func describeMachine(ctx context.Context, binary, dir string) (m Machine, err error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return m, err
	}
	m.Go = strings.TrimPrefix(info.GoVersion, "go")
	for _, s := range info.Settings {
		if s.Key == "CGO_ENABLED" && s.Value == "0" {
			m.Go += " without cgo" // its memory is another
		}
	}
	if out, err := exec.CommandContext(
		ctx, "git", "describe", "--always", "--dirty", "--exclude=*",
	).Output(); err == nil {
		m.Commit = strings.TrimSpace(string(out))
	}
	m.CPU, m.Cores = cpuModel(), runtime.NumCPU()
	m.System = strings.TrimSpace(runtime.GOOS + " " + kernel())
	m.System += " " + runtime.GOARCH
	m.FileSystem = fileSystem(dir)
	m.Date = time.Now().Format(time.DateOnly)
	m.Syncs, err = syncRate(dir, syncTime)
	return m, err
}

func (m Machine) String() string {
	s := fmt.Sprintf("%s, %s, %s, Go %s, %s, %s syncs/s, %s",
		m.CPU, count(m.Cores, "core"), m.System, m.Go, m.FileSystem, thousands(m.Syncs), m.Date)
	if m.Commit != "" {
		s += ", commit " + m.Commit
	}
	return s
}

// syncTime is how long the disk is measured.
const syncTime = 500 * time.Millisecond

// syncRate returns how many appends of 128 bytes, each made durable before the
// next, a file in dir takes in a second.
func syncRate(dir string, d time.Duration) (perSecond float64, err error) {
	f, err := os.CreateTemp(dir, "curves-sync-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	small := make([]byte, 128)
	began := time.Now()
	for n := 1; ; n++ {
		if _, err := f.Write(small); err != nil {
			return 0, err
		}
		if err := datasync(f); err != nil {
			return 0, err
		}
		if took := time.Since(began); took >= d {
			return float64(n) / took.Seconds(), nil
		}
	}
}
