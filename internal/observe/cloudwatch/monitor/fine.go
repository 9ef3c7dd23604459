package monitor

import (
	"context"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Samples of high resolution are stored twice: in the minute's point, as all others are, and in a record of the minute
// with a point for each second that has samples:
//
//	monitor/points/seconds/HASH/MINUTE      minutes since 1970, as eight hexadecimal digits
//
// The record looks like that of an hour; see points.go. Programs that do not know it ignore keys of points of metrics
// that they do not look for.

const keySeconds = keyPoints + "seconds/"

// SecondsKept is how long seconds are kept.
const SecondsKept = 3 * time.Hour

func secondsKey(metric string, began time.Time) string {
	return keySeconds + metric + "/" + fmt.Sprintf("%08x", began.Unix()/60)
}

// putSeconds adds a sample of high resolution to the record of its minute.
func (m *Monitor) putSeconds(tx *Tx, account, key string, p series.Point) error {
	began := p.Time.UTC().Truncate(series.Minute)
	record, err := tx.tx.Get(secondsKey(key, began))
	if err != nil {
		return err
	}
	b, err := decodeBlock(began, time.Second, record)
	if err != nil {
		return err
	}
	p.Time = p.Time.UTC().Truncate(time.Second)
	second := p.Time.Second()
	if err := m.putSketch(tx, seconds, account, key, b[second], p); err != nil {
		return err
	}
	b[second] = p.Merge(b[second])
	tx.tx.Put(secondsKey(key, began), b.encode())
	return nil
}

// sweepSeconds removes the seconds of a metric that are too old.
func (m *Monitor) sweepSeconds(ctx context.Context, key string, now time.Time) error {
	var old []string
	lo, hi := keySeconds+key+"/", secondsKey(key, now.Add(-SecondsKept))
	if err := m.control.Store().Scan([]byte(lo), []byte(hi), func(k, _ []byte) bool {
		old = append(old, string(k))
		return len(old) < sweepAtOnce
	}); err != nil || len(old) == 0 {
		return err
	}
	return m.control.Change(ctx, func(tx *control.Tx) error {
		for _, k := range old {
			tx.Delete(k)
		}
		return nil
	})
}

// blocks reads the points of a window that are under a key.
func (r *metricReader) blocks(
	ctx context.Context, of *resolution, key string, from, to time.Time,
) ([]series.Point, error) {
	first, end := of.pointsKey(key, from), of.pointsKey(key, to.Add(of.block))
	request, held := budget.Of(ctx), 0
	defer func() { request.Release(held) }()
	var points []series.Point
	var failed error
	err := r.control.Store().Scan([]byte(first), []byte(end), func(k, v []byte) bool {
		if failed = countBlock(request, &held); failed != nil {
			return false
		}
		var b block
		if b, failed = decodeKey(string(k), of.block, v); failed != nil {
			return false
		}
		for _, p := range b {
			if p.Count > 0 && !p.Time.Before(from) && p.Time.Before(to) {
				points = append(points, p)
			}
		}
		return true
	})
	if err == nil {
		err = failed
	}
	return points, err
}

// countBlock counts the points of a record before they are read, and adds their memory to held.
func countBlock(request *budget.Request, held *int) error {
	const points = len(block{})
	if err := request.Work(points); err != nil {
		return err
	}
	if err := request.Hold(2 * points * series.PointBytes); err != nil { // a growing list is copied
		return err
	}
	*held += 2 * points * series.PointBytes
	return nil
}

// decodeKey parses the key of a record of points, and reads the record. length is the period of the record: an hour or
// a minute.
func decodeKey(key string, length time.Duration, record []byte) (block, error) {
	began, err := beginOf(key, length)
	if err != nil {
		return block{}, err
	}
	return decodeBlock(began, length/60, record)
}
