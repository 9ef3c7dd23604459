package bytesize_test

import (
	"testing"

	"github.com/sluicemq/sluice/internal/tool/bytesize"
)

var units = bytesize.Units{bytesize.TiB, bytesize.GiB, bytesize.MiB, bytesize.KiB}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "262144": 262144, "256KiB": 256 << 10, "1 MiB": 1 << 20, "20GiB": 20 << 30,
		"8388607TiB": 8388607 << 40,
		"":           -1, "KiB": -1, "-1": -1, "+1": -1, "1.5MiB": -1, "1B": -1, "1MB": -1, "1mib": -1,
		"8388608TiB": -1, "9223372036854775808": -1,
	} {
		if got, ok := units.Parse(text); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d, %t", text, got, ok)
		}
	}
}

func FuzzUnits(f *testing.F) {
	for _, text := range []string{"1", "512MiB", "1 TiB", "x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := units.Parse(text)
		if !ok {
			return
		}
		if again, ok := units.Parse(units.Format(n)); !ok || again != n {
			t.Errorf("%q is %d, written as %s, which is %d", text, n, units.Format(n), again)
		}
	})
}
