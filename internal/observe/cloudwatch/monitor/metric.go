package monitor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Metric is a metric that a program has sent.
type Metric struct {
	ID   series.ID
	Unit string    // of its samples
	Last time.Time // the hour of its newest point
}

// MaxMetrics is the maximum number of an account's own metrics.
const MaxMetrics = 1000

// PointsKept is how long points are kept.
const PointsKept = 15 * 24 * time.Hour

// ErrTooManyMetrics reports that an account has the maximum number of metrics.
var ErrTooManyMetrics = errors.New("the account has as many custom metrics as it can have")

// Sample is what a program has sent of a metric.
type Sample struct {
	ID    series.ID
	Unit  string
	Point series.Point // the minute of its time
	Fine  bool         // of high resolution: it also counts by the second
}

// hash returns the storage key of a metric.
func hash(id series.ID) string { return digest(parts(id)) }

// parts returns the identity of a metric, except for the unit.
func parts(id series.ID) []string {
	parts := []string{id.Account, id.Region, id.Namespace, id.Metric}
	for _, d := range Ordered(id.Dimensions) {
		parts = append(parts, d.Name, d.Value)
	}
	return parts
}

func digest(parts []string) string {
	var text strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&text, "%d:%s", len(p), p)
	}
	sum := sha256.Sum256([]byte(text.String()))
	return hex.EncodeToString(sum[:16])
}

// Ordered returns dimensions ordered by name.
func Ordered(all []series.Dimension) []series.Dimension {
	return slices.SortedFunc(slices.Values(all), func(a, b series.Dimension) int {
		return strings.Compare(a.Name, b.Name)
	})
}

func pointsKey(metric string, began time.Time) string {
	return keyPoints + metric + "/" + fmt.Sprintf("%08x", began.Unix()/3600)
}

// Put adds samples. Samples of a minute that already has some are added to those.
func (m *Monitor) Put(ctx context.Context, samples []Sample) error {
	return m.Change(ctx, func(tx *Tx) error {
		added := make(map[string]*Metric)
		for _, s := range samples {
			if err := m.putSample(tx, &s, added); err != nil {
				return err
			}
		}
		fresh := make(map[string]int) // by account
		for key, metric := range added {
			if m.metric(key) == nil {
				fresh[metric.ID.Account]++
			}
			metricTable.Put(tx.tx, key, metric)
		}
		for account, n := range fresh {
			if m.countMetrics(account)+n > MaxMetrics {
				return ErrTooManyMetrics
			}
		}
		return nil
	})
}

// putSample adds a sample to the record of its hour, and records in added how the record of its metric changes.
func (m *Monitor) putSample(tx *Tx, s *Sample, added map[string]*Metric) error {
	find := func(key string) *Metric { return cmp.Or(added[key], m.metric(key)) }
	key := keyOf(s, find)
	began := s.Point.Time.UTC().Truncate(time.Hour)
	record, err := tx.tx.Get(pointsKey(key, began))
	if err != nil {
		return err
	}
	h, err := decodeBlock(began, series.Minute, record)
	if err != nil {
		return err
	}
	p := s.Point
	p.Time = p.Time.UTC().Truncate(series.Minute)
	minute := p.Time.Minute()
	if err := m.putSketch(tx, minutes, s.ID.Account, key, h[minute], p); err != nil {
		return err
	}
	h[minute] = p.Merge(h[minute])
	tx.tx.Put(pointsKey(key, began), h.encode())
	if s.Fine {
		if err := m.putSeconds(tx, s.ID.Account, key, s.Point); err != nil {
			return err
		}
	}

	switch was := find(key); {
	case was == nil:
		added[key] = &Metric{ID: s.ID, Unit: s.Unit, Last: began}
	case was.Last.Before(began):
		is := *was
		is.Last = began
		added[key] = &is
	}
	return nil
}

func (m *Monitor) metric(key string) *Metric {
	r := m.records.RLock()
	defer m.records.RUnlock()
	return r.metrics[key]
}

func (m *Monitor) countMetrics(account string) int {
	r := m.records.RLock()
	defer m.records.RUnlock()
	return len(r.sent[account])
}

// IsOwn reports whether a namespace is reserved: programs cannot send metrics to it.
func IsOwn(namespace string) bool {
	return isCounted(namespace) || strings.HasPrefix(namespace, "Sluice/")
}

// isCounted reports whether the metrics of a namespace are stored not here, but with the counts of queues and topics.
func isCounted(namespace string) bool {
	return strings.HasPrefix(namespace, "AWS/") || namespace == series.Own
}

// Reader returns a reader of all metrics: those of own, and those that programs have sent.
func (m *Monitor) Reader(own series.Reader) series.Reader { return &metricReader{m, own} }

// Source returns the source of a query at a time.
func (m *Monitor) Source(own series.Reader, levels series.Levels, now time.Time) *metricdata.Source {
	return &metricdata.Source{Reader: m.Reader(own), Levels: levels, Now: now, Training: m.training}
}

type metricReader struct {
	*Monitor
	own series.Reader
}

// Read implements series.Reader.
func (r *metricReader) Read(
	ctx context.Context, id series.ID, from, to time.Time, period time.Duration,
) ([]series.Point, error) {
	if isCounted(id.Namespace) {
		if !hasPoints(id, period) {
			return nil, nil
		}
		return r.own.Read(ctx, id, from, to, period)
	}
	all := func(_ *resolution, _ string, points []series.Point, _ time.Time) ([]series.Point, error) {
		return points, nil
	}
	return r.merged(ctx, id, from, to, period, all)
}

// ReadSamples implements series.Reader.
func (r *metricReader) ReadSamples(
	ctx context.Context, id series.ID, from, to time.Time, period time.Duration,
) ([]series.Point, error) {
	if isCounted(id.Namespace) {
		if !hasPoints(id, period) {
			return nil, nil
		}
		return r.own.ReadSamples(ctx, id, from, to, period)
	}
	return r.merged(
		ctx,
		id,
		from,
		to,
		period,
		func(of *resolution, key string, points []series.Point, from time.Time) ([]series.Point, error) {
			return r.sampled(ctx, of, id.Account, key, points, from, period)
		},
	)
}

// hasPoints reports whether a metric that is counted by the minute may have points of a period.
func hasPoints(id series.ID, period time.Duration) bool {
	known, ok := series.Find(id.Namespace, id.Metric)
	return period >= series.Minute && (!ok || id.Unit == "" || id.Unit == known.Unit)
}

// merged reads the points under each key of a series, changes them with a function, which also gets the beginning of
// the periods, and merges them into points of a period.
func (r *metricReader) merged(ctx context.Context, id series.ID, from, to time.Time, period time.Duration,
	change func(of *resolution, key string, points []series.Point, from time.Time) ([]series.Point, error),
) ([]series.Point, error) {
	of := minutes
	if period < series.Minute {
		of = seconds
	}
	from = from.UTC().Truncate(min(period, series.Minute))
	var points []series.Point
	for _, key := range r.keys(id) {
		some, err := r.blocks(ctx, of, key, from, to)
		if err == nil {
			some, err = change(of, key, some, from)
		}
		if err != nil {
			return nil, err
		}
		points = append(points, some...)
	}
	slices.SortStableFunc(points, func(a, b series.Point) int { return a.Time.Compare(b.Time) })
	return series.Group(points, from, period), nil
}

// beginOf returns the beginning of the hour or minute of a key's points.
func beginOf(key string, length time.Duration) (time.Time, error) {
	var n int64
	if _, err := fmt.Sscanf(key[strings.LastIndexByte(key, '/')+1:], "%08x", &n); err != nil {
		return time.Time{}, errPoints
	}
	return time.Unix(n*int64(length/time.Second), 0).UTC(), nil
}

// List implements series.Reader.
func (r *metricReader) List(ctx context.Context, f series.Filter) ([]series.ID, error) {
	var all []series.ID
	if f.Namespace == "" || isCounted(f.Namespace) {
		own, err := r.own.List(ctx, f)
		if err != nil {
			return nil, err
		}
		all = own
	}
	sent, err := r.sent(ctx, f)
	all = append(all, sent...)
	slices.SortFunc(all, series.ID.Compare)
	return slices.CompactFunc(all, series.ID.Equal), err
}

// sent returns the metrics sent by programs that a filter selects.
func (r *metricReader) sent(ctx context.Context, f series.Filter) (out []series.ID, err error) {
	all := r.records.RLock().sent[f.Account]
	defer r.records.RUnlock()
	if err := budget.Of(ctx).Work(len(all)); err != nil {
		return nil, err
	}
	if err := budget.Of(ctx).Hold(len(all) * series.IDBytes); err != nil {
		return nil, err
	}
	for _, metric := range all {
		if f.Matches(metric.ID) && metric.Last.Add(time.Hour).After(f.Since) {
			out = append(out, metric.ID)
		}
	}
	return out, nil
}

// sweepMetrics removes points that are too old, and metrics that have none left.
func (m *Monitor) sweepMetrics(ctx context.Context, now time.Time) error {
	oldest := now.Add(-PointsKept)
	r := m.records.RLock()
	keys := slices.Collect(maps.Keys(r.metrics))
	m.records.RUnlock()
	for _, key := range keys {
		if err := m.sweepSeconds(ctx, key, now); err != nil {
			return err
		}
		var old []string
		lo, hi := keyPoints+key+"/", pointsKey(key, oldest)
		if err := m.control.Store().Scan([]byte(lo), []byte(hi), func(k, _ []byte) bool {
			old = append(old, string(k))
			return len(old) < sweepAtOnce
		}); err != nil {
			return err
		}
		metric := m.metric(key)
		gone := metric != nil && metric.Last.Add(time.Hour).Before(oldest) && len(old) < sweepAtOnce
		if len(old) == 0 && !gone {
			continue
		}
		if err := m.control.Change(ctx, func(tx *control.Tx) error {
			for _, k := range old {
				tx.Delete(k)
			}
			if gone && m.metric(key) == metric {
				metricTable.Delete(tx, key)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
