package monitor

import (
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/series"
)

func TestHour(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var h hour
	h[0] = series.Sample(began, 1.5)
	h[59] = series.Point{Time: began.Add(59 * time.Minute), Count: 2, Sum: 3, Min: 1, Max: 2}
	record := h.encode()
	if len(record) != 1+9+33 {
		t.Errorf("the record has %d bytes", len(record))
	}
	if again, err := decodeHour(began, record); err != nil || again != h {
		t.Errorf("read again as %v, %v", again, err)
	}
	if empty, err := decodeHour(began, nil); err != nil || empty != (hour{}) {
		t.Errorf("no record is %v, %v", empty, err)
	}
}

// FuzzDecodeHour makes sure that what is read is written as the same again, and that nothing else is accepted.
func FuzzDecodeHour(f *testing.F) {
	h := hour{3: series.Sample(time.Time{}, 1), 9: {Count: 2, Sum: 3, Min: 1, Max: 2}}
	f.Add(h.encode())
	f.Add([]byte{2})
	f.Fuzz(func(t *testing.T, record []byte) {
		h, err := decodeHour(time.Unix(0, 0), record)
		if err != nil || len(record) == 0 {
			return
		}
		again, err := decodeHour(time.Unix(0, 0), h.encode())
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
