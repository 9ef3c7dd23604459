package monitor

import (
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

func TestBlock(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var h block
	h[0] = series.Sample(began, 1.5)
	h[59] = series.Point{Time: began.Add(59 * time.Minute), Count: 2, Sum: 3, Min: 1, Max: 2}
	record := h.encode()
	if len(record) != 1+9+33 {
		t.Errorf("the record has %d bytes", len(record))
	}
	if again, err := decodeBlock(began, time.Minute, record); err != nil || again != h {
		t.Errorf("read again as %v, %v", again, err)
	}
	if empty, err := decodeBlock(began, time.Minute, nil); err != nil || empty != (block{}) {
		t.Errorf("no record is %v, %v", empty, err)
	}
}

// FuzzDecodeBlock checks that a decoded block is encoded to the same bytes, and that nothing else is accepted.
func FuzzDecodeBlock(f *testing.F) {
	h := block{3: series.Sample(time.Time{}, 1), 9: {Count: 2, Sum: 3, Min: 1, Max: 2}}
	f.Add(h.encode())
	f.Add([]byte{2})
	f.Fuzz(func(t *testing.T, record []byte) {
		h, err := decodeBlock(time.Unix(0, 0), time.Minute, record)
		if err != nil || len(record) == 0 {
			return
		}
		again, err := decodeBlock(time.Unix(0, 0), time.Minute, h.encode())
		if err != nil {
			t.Fatalf("%x: %v", record, err)
		}
		for i := range h {
			if a, b := h[i], again[i]; a.Count > 0 && (a.Count != b.Count || a.Time != b.Time) {
				t.Fatalf("%x: minute %d is %v, then %v", record, i, a, b)
			}
		}
	})
}
