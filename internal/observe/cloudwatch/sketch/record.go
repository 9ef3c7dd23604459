package sketch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/DataDog/sketches-go/ddsketch"
)

// A sketch is stored as:
//
//	1 byte      version: 1, or 2 of a histogram
//	1:
//	then for each value, in order:
//	8 bytes     the value
//	8 bytes     how many samples have it, left out of version 1 where it is 1; see below
//	2:
//	            the histogram as DDSketch encodes it, without its scale
//
// Numbers are IEEE 754 doubles, big-endian. Values are never negative: a negative sign means that one sample has the
// value.
const (
	versionExact     = 1
	versionHistogram = 2
	single           = 1 << 63
	// storedExact is the maximum number of different values that are stored exactly.
	storedExact = 64
)

// MaxRecord is the maximum length of a record.
const MaxRecord = 1 + maxBins*(9+3) + 64

var errRecord = errors.New("the samples of a metric cannot be read")

// Encode returns the record of the sketch.
func (s *Sketch) Encode() []byte {
	if s.bins != nil || len(s.exact) > storedExact {
		out := []byte{versionHistogram}
		s.histogram().Encode(&out, true)
		return out
	}
	out := []byte{versionExact}
	for _, v := range s.exact {
		bits := math.Float64bits(v.Value)
		if v.Count == 1 {
			out = binary.BigEndian.AppendUint64(out, bits|single)
			continue
		}
		out = binary.BigEndian.AppendUint64(out, bits)
		out = binary.BigEndian.AppendUint64(out, math.Float64bits(v.Count))
	}
	return out
}

// Decode reads a record.
func Decode(record []byte) (s *Sketch, err error) {
	switch {
	case len(record) == 0 || len(record) > MaxRecord:
		return nil, errRecord
	case record[0] == versionHistogram:
		return decodeHistogram(record[1:])
	case record[0] != versionExact:
		return nil, errRecord
	}
	s = &Sketch{exact: make([]Value, 0, len(record)/8)}
	last := -1.0
	for rest := record[1:]; len(rest) > 0; {
		var v Value
		if v, rest, err = decodeValue(rest); err != nil {
			return nil, err
		}
		if v.Value <= last || !isValue(v.Value) || !isValue(v.Count) || v.Count == 0 {
			return nil, errRecord
		}
		s.exact, last = append(s.exact, v), v.Value
	}
	return s, nil
}

func decodeValue(b []byte) (v Value, rest []byte, err error) {
	if len(b) < 8 {
		return v, nil, errRecord
	}
	bits := binary.BigEndian.Uint64(b)
	v = Value{math.Float64frombits(bits &^ single), 1}
	if b = b[8:]; bits&single != 0 {
		return v, b, nil
	}
	if len(b) < 8 {
		return v, nil, errRecord
	}
	v.Count = math.Float64frombits(binary.BigEndian.Uint64(b))
	return v, b[8:], nil
}

// decodeHistogram reads a histogram. The library accepts any bytes, and may panic on those that it has not written.
func decodeHistogram(b []byte) (s *Sketch, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("%w: %v", errRecord, r)
		}
	}()
	bins, err := ddsketch.DecodeDDSketch(b, newStore, scale)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	if !isWhole(bins) {
		return nil, errRecord
	}
	return &Sketch{bins: bins}, nil
}

// lastBin is beyond the bins of the largest and the smallest double.
const lastBin = 40_000

// isWhole reports whether a histogram is one that Encode may have written.
func isWhole(bins *ddsketch.DDSketch) bool {
	total, bad := 0.0, false
	bins.GetPositiveValueStore().ForEach(func(bin int, count float64) bool {
		total += count
		bad = !isValue(count) || bin < -lastBin || bin > lastBin
		return bad
	})
	return !bad && isValue(bins.GetZeroCount()) && bins.GetNegativeValueStore().IsEmpty() &&
		math.Abs(bins.GetPositiveValueStore().TotalCount()-total) <= 1e-6*total
}
