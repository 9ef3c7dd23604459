package main

import (
	"strings"
	"testing"
)

// Both servers are loaded, and the ratios belong to one round.
func TestPaired(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and loads servers")
	}
	t.Chdir("../..")
	var out, progress strings.Builder
	err := run(t.Context(),
		[]string{"--dir", t.TempDir(), "--rounds", "2", "--duration", "100ms", "--other", "--metrics-keep-minutes 0",
			"--load", "--producers 2 --consumers 2"}, &out, &progress)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(progress.String(), "round ") != 4 ||
		strings.Count(out.String(), "| `--producers 2 --consumers 2` |") != 3 {
		t.Errorf("%s\n%s", progress.String(), out.String())
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	write(&out, "--fifo",
		[2][]figures{{{100, 10, 5}, {200, 12, 6}, {90, 11, 7}}, {{100, 20, 6}, {100, 12, 6}, {100, 10, 6}}})
	for _, want := range []string{"| messages/s | 100 | 100 | 1.000 (0.900 to 2.000) |",
		"| 11.0 µs | 12.0 µs | 1.000 (0.500 to 1.100) |", "| 6.0 µs | 6.0 µs | 1.000 (0.833 to 1.167) |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in\n%s", want, out.String())
		}
	}
}
