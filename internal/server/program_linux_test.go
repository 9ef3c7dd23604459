package server

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// A process that returns the pages of its program gets them back when it needs them.
func TestReturnProgram(t *testing.T) {
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

// Mappings that can be written or that have changed stay, and those of other files.
func TestCleanMappings(t *testing.T) {
	t.Parallel()
	const maps = `00400000-00402000 r--p 00000000 08:01 131                                /opt/my sluice
Size:                  8 kB
Anonymous:             0 kB
VmFlags: rd mr mw me
00402000-019c6000 r-xp 00002000 08:01 131                                /opt/my sluice
Rss:                1234 kB
Anonymous:             0 kB
019c6000-019c7000 r-xp 015c6000 08:01 131                                /opt/my sluice
Anonymous:             4 kB
030fe000-030ff000 r--p 02cfd000 08:01 131                                /opt/my sluice
Anonymous:             4 kB
030ff000-03100000 rw-p 02cfe000 08:01 131                                /opt/my sluice
Anonymous:             0 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Anonymous:          2048 kB
7f0000000000-7f0000001000 r-xp 00000000 08:01 77                         /usr/lib/libc.so.6
Anonymous:             0 kB
7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]
Anonymous:             0 kB
`
	want := []mapping{{0x400000, 0x402000}, {0x402000, 0x19c6000}}
	if got := cleanMappings(maps, "/opt/my sluice"); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}
