package command

import (
	"math"
	"testing"
)

func TestByteCount(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1073741824": 1 << 30, "512MiB": 512 << 20, "1 GiB": 1 << 30, "3KiB": 3 << 10, "2TiB": 2 << 40, "7B": 7,
		"9223372036854775807": math.MaxInt64,
		"":                    -1, "-1": -1, "many": -1, "1.5GiB": -1, "5%": -1, "1GB": -1, "MiB": -1,
		"9223372036854775807KiB": -1, "18446744073709551615": -1,
	} {
		got := int64(-1)
		if err := (byteCount{&got}).Set(text); (err != nil) != (want < 0) || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}
