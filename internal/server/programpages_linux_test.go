package server

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestReleaseProgram releases the pages of the test program, which goes on.
func TestReleaseProgram(t *testing.T) {
	before := mappedFiles(t)
	if err := releaseProgram(); err != nil {
		t.Fatal(err)
	}
	if after := mappedFiles(t); after >= before {
		t.Errorf("%d KiB of files are mapped after the release, %d before", after, before)
	}
}

func TestParseMapping(t *testing.T) {
	for line, want := range map[string]bool{
		"00400000-01a00000 r-xp 00000000 fe:00 1234                     /usr/bin/sluice":  true,
		"01a00000-03a00000 r--p 01600000 fe:00 1234                     /usr/bin/sluice":  true,
		"03a00000-03b00000 rw-p 03600000 fe:00 1234                     /usr/bin/sluice":  false,
		"03a00000-03b00000 r--s 03600000 fe:00 1234                     /usr/bin/sluice":  false,
		"7f0000000000-7f0000100000 r-xp 00000000 fe:00 99               /usr/lib/libc.so": false,
		"c000000000-c000400000 rw-p 00000000 00:00 0":                                     false,
		"": false,
	} {
		m, ok := parseMapping(line, "/usr/bin/sluice")
		if ok != want || ok && (m.start >= m.end || m.code != strings.Contains(line, "r-x")) {
			t.Errorf("%s: %+v, %t", line, m, ok)
		}
	}
}

// mappedFiles returns how many KiB of files are in the process's memory.
func mappedFiles(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssFile:")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
