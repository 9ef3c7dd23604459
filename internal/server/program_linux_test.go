package server

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
)

// A process that returns the pages of its program gets them again when it needs them.
func TestReturnProgram(t *testing.T) {
	t.Parallel()
	for range 3 {
		if err := returnProgram(); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%v", map[string]float64{"a": 1.5}); got != "map[a:1.5]" {
			t.Error(got)
		}
	}
}

// Pages of a file that were read are in the memory of the process until they are returned, and can be read again.
func TestReturnPages(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	want := bytes.Repeat([]byte("page"), 256<<10)
	if err := os.WriteFile(file, want, 0o600); err != nil {
		t.Fatal(err)
	}
	mapped := mapFile(t, file, len(want))
	for range 2 {
		if !bytes.Equal(mapped, want) {
			t.Error("the mapping is not the file")
		}
		if got := resident(t, file); got < len(want)>>10 {
			t.Errorf("%d KiB of the file are in memory", got)
		}
		if err := returnPages(file); err != nil {
			t.Fatal(err)
		}
		if left := resident(t, file); left != 0 {
			t.Errorf("%d KiB of the file are left in memory", left)
		}
	}
}

func mapFile(t *testing.T, file string, size int) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapped, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(mapped) })
	return mapped
}

// resident returns the KiB of a file that are in the memory of this process.
func resident(t *testing.T, file string) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(regexp.QuoteMeta(file) + `\n(?:.*\n)*?Rss:\s*(\d+) kB`).FindSubmatch(maps)
	if found == nil {
		t.Fatalf("%s is not mapped", file)
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Mappings that are writable or changed stay, and so do those of other files.
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
