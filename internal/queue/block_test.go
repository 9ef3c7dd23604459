package queue

import (
	"bytes"
	"reflect"
	"testing"
)

// A valid block is written again unchanged, and an invalid one is refused.
func FuzzBlock(f *testing.F) {
	rows := []Row{{Time: 0, Minutes: 1}, {Time: 3 * minute, Minutes: 1}, {Time: 59 * minute, Minutes: 1}}
	rows[1].set(MetricSent, 7)
	rows[1].Values[MetricSentBytes] = Value{70, 5, 20}
	rows[2].set(MetricVisible, 1<<40)
	f.Add(uint8(0), encodeBlock(0, 0, rows))
	f.Add(uint8(1), encodeBlock(1, 0, []Row{{Time: 5 * minute, Minutes: 4, Values: rows[1].Values}}))
	f.Add(uint8(2), encodeBlock(2, 0, nil))
	rows[1].Sizes = &Sizes{scale: 1, classes: []sizeClass{{5, 6}, {20, 1}}}
	f.Add(uint8(0), encodeBlock(0, 0, rows))
	f.Fuzz(func(t *testing.T, level uint8, b []byte) {
		n := int(level) % len(levels)
		rows, err := decodeBlock(n, 0, b)
		if err != nil {
			return
		}
		for i := range rows {
			if at := rows[i].Time; at < 0 || at >= levels[n].length || at%levels[n].step != 0 ||
				i > 0 && at <= rows[i-1].Time {
				t.Fatalf("row %d is of %v", i, at)
			}
		}
		again, err := decodeBlock(n, 0, encodeBlock(n, 0, rows))
		if err != nil || !reflect.DeepEqual(again, rows) {
			t.Errorf("%v became %v, %v", rows, again, err)
		}
	})
}

// A record of a queue with a damaged running minute is refused.
func FuzzCounting(f *testing.F) {
	m := meta{counting: counting{minute: minute, lastCall: minute, sized: sized{smallest: 1, largest: 9}}}
	m.happened[MetricSent], m.happened[MetricReceived] = 3, -1
	f.Add(m.encode(nil))
	m.sizes = &Sizes{classes: []sizeClass{{1, 1}, {9, 2}}}
	f.Add(m.encode(nil))
	f.Add((&meta{}).encode(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var m, again meta
		if m.decode(b) != nil {
			return
		}
		if err := again.decode(m.encode(nil)); err != nil || !bytes.Equal(again.encode(nil), m.encode(nil)) {
			t.Errorf("%+v became %+v, %v", m, again, err)
		}
	})
}
