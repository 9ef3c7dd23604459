package monitor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/sketch"
)

// The samples of a point are stored beside it, for percentiles, if they do not follow from it:
//
//	monitor/points/sketches/minutes/ACCOUNT/HOUR/HASH/MINUTE    samples of a minute; see package sketch
//	monitor/points/sketches/seconds/ACCOUNT/HOUR/HASH/SECOND    of a second, of metrics of high resolution
//
// HOUR is hours since 1970, MINUTE minutes, SECOND seconds, each as eight hexadecimal digits. A metric with one value a
// minute has no such record. A record counts only as long as it has as many samples as the point: where statistic sets
// are added, or an older program has added samples, the samples are not known.
//
// An account has sketchesAtMost bytes of records for each hour, and allSketchesAtMost for all hours. When they are used
// up, samples still count, but those of further minutes are not stored. Programs can send the samples of two weeks at
// once, so each sweep makes room for new ones: it removes the oldest hours until a quarter is free.

const (
	keySketches       = keyPoints + "sketches/"
	keyMinuteSketches = keySketches + "minutes/"
	keySecondSketches = keySketches + "seconds/"

	sketchesAtMost    = 4 << 20
	allSketchesAtMost = 256 << 20 // approximately, and as they are on the disk
)

// resolution is minutes or seconds: how points are stored, and their samples.
type resolution struct {
	step     time.Duration
	block    time.Duration // what a record of points is of
	sketches string
	kept     time.Duration
}

var (
	minutes = &resolution{series.Minute, time.Hour, keyMinuteSketches, PointsKept}
	seconds = &resolution{time.Second, series.Minute, keySecondSketches, SecondsKept}
)

// pointsKey returns the key of the record of points that has an instant.
func (r *resolution) pointsKey(metric string, at time.Time) string {
	if r.block == time.Hour {
		return pointsKey(metric, at)
	}
	return secondsKey(metric, at)
}

// sketchesOf returns the prefix of the keys of a metric's samples in an hour.
func (r *resolution) sketchesOf(account string, hour time.Time, metric string) string {
	return r.sketchHour(account, hour) + metric + "/"
}

func (r *resolution) sketchHour(account string, hour time.Time) string {
	return fmt.Sprintf("%s%08x/", r.sketchesOfAccount(account), hour.Unix()/3600)
}

func (r *resolution) sketchesOfAccount(account string) string { return r.sketches + account + "/" }

func (r *resolution) sketchKey(account, metric string, at time.Time) string {
	return fmt.Sprintf("%s%08x", r.sketchesOf(account, at, metric), at.Unix()/int64(r.step/time.Second))
}

// putSketch stores the samples of a point after an addition, if they are known and do not follow from the point.
func (m *Monitor) putSketch(tx *Tx, r *resolution, account, metric string, was, added series.Point) error {
	is := was.Merge(added)
	if is.Min == is.Max {
		return nil
	}
	key := r.sketchKey(account, metric, added.Time.UTC().Truncate(r.step))
	var record []byte
	if was.Count > 0 && was.Min != was.Max {
		var err error
		if record, err = tx.tx.Get(key); err != nil {
			return err
		}
	}
	all, err := together(was, added, record)
	if err != nil {
		return err
	}
	if all != nil {
		encoded := all.Encode()
		room, err := m.takeSketchRoom(r, account, added.Time, len(encoded)-len(record))
		if err != nil {
			return err
		}
		if room {
			tx.tx.Put(key, encoded)
			return nil
		}
	}
	if record != nil {
		tx.tx.Delete(key)
	}
	return nil
}

// together returns the combined samples of a point, with or without a record, and of another; nil if they are unknown.
func together(was, added series.Point, record []byte) (*sketch.Sketch, error) {
	samples := added.WithSamples(added.Samples).Samples
	if was.Count == 0 || samples == nil {
		return samples, nil
	}
	var known *sketch.Sketch
	if record != nil {
		var err error
		if known, err = sketch.Decode(record); err != nil {
			return nil, err
		}
	}
	return was.WithSamples(known).Samples.Merge(samples), nil
}

// sketchRoom counts the bytes of records by the beginning of their keys: by account and hour, and by account.
type sketchRoom struct {
	most int // of an account

	mu   sync.Mutex
	used map[string]int
}

// mostSketchHours is how many hours are counted at a time. Beyond that, they are counted again.
const mostSketchHours = 10_000

// takeSketchRoom reports whether an hour and its account have room for this many more bytes, and takes it. Room that a
// failed change has taken becomes free when the bytes are counted again.
func (m *Monitor) takeSketchRoom(r *resolution, account string, at time.Time, more int) (bool, error) {
	m.sketches.mu.Lock()
	defer m.sketches.mu.Unlock()
	hour, all := r.sketchHour(account, at), r.sketchesOfAccount(account)
	if len(m.sketches.used) >= mostSketchHours {
		clear(m.sketches.used)
	}
	inHour, err := m.sketches.usedBy(hour, m.sketchBytes)
	if err != nil {
		return false, err
	}
	inAll, err := m.sketches.usedBy(all, m.sketchesOnDisk)
	if err != nil {
		return false, err
	}
	if more > 0 && (inHour+more > sketchesAtMost || inAll+more > m.sketches.most) {
		return false, nil
	}
	m.sketches.used[hour], m.sketches.used[all] = inHour+more, inAll+more
	return true, nil
}

// usedBy returns the bytes of the records whose keys begin with a prefix, which measure determines if they are not
// known.
func (s *sketchRoom) usedBy(prefix string, measure func(prefix string) (int, error)) (int, error) {
	if used, known := s.used[prefix]; known {
		return used, nil
	}
	used, err := measure(prefix)
	if err == nil {
		s.used[prefix] = used
	}
	return used, err
}

func (m *Monitor) sketchBytes(prefix string) (n int, err error) {
	err = m.control.Store().Scan([]byte(prefix), []byte(prefix+"\xff"), func(_, v []byte) bool {
		n += len(v)
		return true
	})
	return n, err
}

// sketchesOnDisk begins at the first record: the tables still have those that a sweep has removed before it.
func (m *Monitor) sketchesOnDisk(prefix string) (int, error) {
	end := []byte(prefix + "\xff")
	first := end
	if err := m.control.Store().Scan([]byte(prefix), end, func(k, _ []byte) bool {
		first = bytes.Clone(k)
		return false
	}); err != nil {
		return 0, err
	}
	n, err := m.control.Store().DiskUse(first, end)
	return int(n), err
}

// sampled adds the samples to the points of a metric, and merges them into those of a period.
func (r *metricReader) sampled(
	ctx context.Context, of *resolution, account, metric string, points []series.Point, from time.Time,
	period time.Duration,
) (out []series.Point, err error) {
	request, held := budget.Of(ctx), 0
	defer func() { request.Release(held) }()
	for len(points) > 0 {
		hour, n := points[0].Time.Truncate(time.Hour), 0
		records, err := r.sketchesIn(request, of.sketchesOf(account, hour, metric))
		if err != nil {
			return nil, err
		}
		for ; n < len(points) && points[n].Time.Before(hour.Add(time.Hour)); n++ {
			p, err := withRecord(points[n], records.of[of.sketchKey(account, metric, points[n].Time)])
			if err != nil {
				return nil, err
			}
			out = series.AppendGroup(out, p, from, period)
		}
		points = points[n:]
		request.Release(records.bytes)
		now := series.SampleBytes(out)
		if err := request.Hold(max(0, now-held)); err != nil {
			return nil, err
		}
		request.Release(max(0, held-now))
		held = now
	}
	return out, nil
}

func withRecord(p series.Point, record []byte) (series.Point, error) {
	if record == nil {
		return p.WithSamples(nil), nil
	}
	known, err := sketch.Decode(record)
	if err != nil {
		return p, err
	}
	return p.WithSamples(known), nil
}

// sketchRecords holds records by key.
type sketchRecords struct {
	of    map[string][]byte
	bytes int
}

// sketchesIn reads the records whose keys begin with a prefix. The request is charged for their bytes.
func (r *metricReader) sketchesIn(request *budget.Request, prefix string) (all sketchRecords, err error) {
	all.of = make(map[string][]byte)
	scanned := r.control.Store().Scan([]byte(prefix), []byte(prefix+"\xff"), func(k, v []byte) bool {
		if err = request.Work(1 + len(v)/8); err != nil {
			return false
		}
		if err = request.Hold(len(k) + len(v)); err != nil {
			return false
		}
		all.bytes += len(k) + len(v)
		all.of[string(k)] = append([]byte(nil), v...)
		return true
	})
	if err == nil {
		err = scanned
	}
	return all, err
}

// sweepSketches removes samples that are too old.
func (m *Monitor) sweepSketches(ctx context.Context, now time.Time) error {
	for _, r := range []*resolution{minutes, seconds} {
		if err := m.sweepSketchesOf(ctx, r, now.Add(-r.kept)); err != nil {
			return err
		}
	}
	m.sketches.mu.Lock()
	defer m.sketches.mu.Unlock()
	clear(m.sketches.used)
	return nil
}

func (m *Monitor) sweepSketchesOf(ctx context.Context, r *resolution, oldest time.Time) error {
	after := r.sketches
	for {
		account, err := m.firstAccount(r.sketches, after)
		if err != nil || account == "" {
			return err
		}
		from, err := m.oldestSketches(r, account, oldest)
		if err != nil {
			return err
		}
		if err := m.removeRange(ctx, r.sketchesOfAccount(account), r.sketchHour(account, from)); err != nil {
			return err
		}
		after = r.sketchesOfAccount(account) + "\xff"
	}
}

// oldestSketches returns the first hour, not before oldest, from which on the records of an account leave a quarter of
// its room free.
func (m *Monitor) oldestSketches(r *resolution, account string, oldest time.Time) (time.Time, error) {
	end := r.sketchesOfAccount(account) + "\xff"
	var failed error
	hours := sort.Search(int(r.kept/time.Hour)+1, func(n int) bool {
		from := r.sketchHour(account, oldest.Add(time.Duration(n)*time.Hour))
		use, err := m.control.Store().DiskUse([]byte(from), []byte(end))
		failed = errors.Join(failed, err)
		return int(use) <= m.sketches.most/4*3
	})
	return oldest.Add(time.Duration(hours) * time.Hour), failed
}

// firstAccount returns the first account with keys of that prefix after a key.
func (m *Monitor) firstAccount(prefix, after string) (account string, err error) {
	err = m.control.Store().Scan([]byte(after), []byte(prefix+"\xff"), func(k, _ []byte) bool {
		account, _, _ = strings.Cut(string(k[len(prefix):]), "/")
		return false
	})
	return account, err
}

// removeRange removes the records from a key up to another.
func (m *Monitor) removeRange(ctx context.Context, from, to string) error {
	for {
		var old []string
		if err := m.control.Store().Scan([]byte(from), []byte(to), func(k, _ []byte) bool {
			old = append(old, string(k))
			return len(old) < sweepAtOnce
		}); err != nil || len(old) == 0 {
			return err
		}
		if err := m.control.Change(ctx, func(tx *control.Tx) error {
			for _, k := range old {
				tx.Delete(k)
			}
			return nil
		}); err != nil {
			return err
		}
		from = old[len(old)-1]
	}
}
