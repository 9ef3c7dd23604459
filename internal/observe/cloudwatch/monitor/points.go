package monitor

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// The points of a metric in an hour are one record:
//
//	1 byte      version, 1
//	then for each minute that has samples, in order:
//	1 byte      minute, 0 to 59 (in the record of a minute: second); 64 is added if the four numbers below are one
//	8 bytes     the value of a single sample; or 32 bytes: number of samples, sum, least, greatest
//
// Numbers are IEEE 754 doubles, big-endian.
const (
	pointsVersion = 1
	singleSample  = 64
)

var errPoints = errors.New("the points of a metric cannot be read")

// block holds the points of an hour, by minute, or of a minute, by second. Points without samples have the count 0.
type block [60]series.Point

// encode returns the record of the block.
func (b *block) encode() []byte {
	out := []byte{pointsVersion}
	for minute, p := range b {
		switch {
		case p.Count == 0:
		case p.Count == 1 && p.Sum == p.Min && p.Sum == p.Max:
			out = appendFloats(append(out, byte(minute)|singleSample), p.Sum)
		default:
			out = appendFloats(append(out, byte(minute)), p.Count, p.Sum, p.Min, p.Max)
		}
	}
	return out
}

func appendFloats(out []byte, all ...float64) []byte {
	for _, n := range all {
		out = binary.BigEndian.AppendUint64(out, math.Float64bits(n))
	}
	return out
}

// decodeBlock reads the record of a block with points at the given interval. A missing record is a block without
// points.
func decodeBlock(began time.Time, step time.Duration, record []byte) (b block, err error) {
	if len(record) == 0 {
		return b, nil
	}
	if record[0] != pointsVersion {
		return b, errPoints
	}
	for rest, last := record[1:], -1; len(rest) > 0; {
		head, n := rest[0], 4
		minute := int(head &^ singleSample)
		if head&singleSample != 0 {
			n = 1
		}
		if minute > 59 || minute <= last || len(rest) < 1+8*n {
			return b, errPoints
		}
		var v [4]float64
		for i := range n {
			v[i] = math.Float64frombits(binary.BigEndian.Uint64(rest[1+8*i:]))
		}
		p := series.Point{
			Time: began.Add(time.Duration(minute) * step).UTC(), Count: v[0], Sum: v[1], Min: v[2], Max: v[3],
		}
		if n == 1 {
			p.Count, p.Sum, p.Min, p.Max = 1, v[0], v[0], v[0]
		}
		b[minute], last, rest = p, minute, rest[1+8*n:]
	}
	return b, nil
}
