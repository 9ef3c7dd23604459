package server

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// A process that returns the pages of its program gets them back when it needs them.
func TestReturnProgram(t *testing.T) {
	if segments, err := programSegments(); err != nil {
		t.Fatal(err)
	} else if len(segments) == 0 {
		t.Skip("the program can be loaded at any address")
	}
	touched := filePages(t)
	for range 3 {
		if err := returnProgram(); err != nil {
			t.Fatal(err)
		}
		if left := filePages(t); left > touched/2 {
			t.Errorf("%d KiB of files are left in memory, of %d", left, touched)
		}
		if got := fmt.Sprintf("%v", map[string]float64{"a": 1.5}); got != "map[a:1.5]" {
			t.Error(got)
		}
	}
}

// filePages returns the KiB of files in the memory of this process.
func filePages(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`RssFile:\s*(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Skip("this system does not say how much memory files take")
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
