package queue

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sluicemq/sluice/internal/formats"
)

// TopicMetric is the number of a topic's counter, in the rows of topics. It is stored: numbers are never reused, and a
// new metric gets the next one. The first two have the same meaning as for queues, so that the same code adds up rows.
type TopicMetric uint8

// The metrics of topics, all of them counters.
const (
	TopicPublished                        = TopicMetric(MetricSent)      // messages that were accepted
	TopicPublishedBytes                   = TopicMetric(MetricSentBytes) // their texts and attributes
	TopicDelivered            TopicMetric = iota                         // copies that reached a queue or an endpoint
	TopicFailed                                                          // copies that were abandoned
	TopicRedriven                                                        // of these, moved to a dead-letter queue
	TopicNotRedriven                                                     // and refused by the dead-letter queue
	TopicFiltered                                                        // copies that a filter policy rejected
	TopicFilteredNoAttributes                                            // of these, by the reason
	TopicFilteredAttributes
	TopicFilteredBody
	TopicFilteredInvalidAttributes
	TopicFilteredInvalidBody
	topicMetricsEnd // behind the last
)

// TopicMetrics is the number of metrics of topics.
const TopicMetrics = int(topicMetricsEnd)

// Their numbers stay below the numbers of queue metrics that are not summed.
const _ = uint(MetricOldestAge) - uint(topicMetricsEnd)

// TopicCount counts events of a topic. It counts at most one publication, because it has the size of that publication.
type TopicCount struct {
	Topic  string // ARN
	Counts [TopicMetrics]uint64
}

// CountTopic counts events of a topic, as part of the transaction.
func (pu *publisher) CountTopic(c *TopicCount) error {
	if c == nil || pu.topics.series.off() || c.Counts == [TopicMetrics]uint64{} {
		return nil
	}
	return pu.topics.count(c)
}

// topicMinutes counts the events of topics in the running minute. Each topic with events has a record, which is written
// in the transaction of the events. When the minute is over, the record becomes a row of the topic's series.
type topicMinutes struct {
	*transaction
	series  *series
	running map[string]*topicMinute // by ARN
	order   []*topicMinute          // by minute; includes those that were ended out of turn
	dirty   []*topicMinute
	totals  map[string]*TopicStanding // by ARN: events since the engine was loaded
}

// TopicStanding holds the counters of a topic since the engine was loaded.
type TopicStanding struct {
	ARN      string
	Happened [TopicMetrics]uint64
}

// maxTopicCounters limits how many topics have in-memory counters. Other topics are not counted until the next load.
const maxTopicCounters = 10_000

// TopicStandings returns the counters of topics since the engine was loaded, even of topics deleted since.
func (pu *publisher) TopicStandings() []TopicStanding {
	out := make([]TopicStanding, 0, len(pu.topics.totals))
	for _, t := range pu.topics.totals {
		out = append(out, *t)
	}
	return out
}

// total adds events to the counters of a topic.
func (ts *topicMinutes) total(c *TopicCount) {
	t := ts.totals[c.Topic]
	if t == nil {
		if len(ts.totals) >= maxTopicCounters {
			return
		}
		t = &TopicStanding{ARN: c.Topic}
		ts.totals[c.Topic] = t
	}
	for m, n := range c.Counts {
		t.Happened[m] += n
	}
}

type topicMinute struct {
	name   string
	minute Instant
	counts [TopicMetrics]uint64
	sized  // the messages that were published

	dirty, ended bool
}

func newTopicMinutes(t *transaction, s *series) topicMinutes {
	return topicMinutes{
		transaction: t, series: s, running: make(map[string]*topicMinute), totals: make(map[string]*TopicStanding),
	}
}

// topicMinuteKey is the key of a topic's record.
func topicMinuteKey(name string) key { return tableKey(ofShard, tableTopic).string(name) }

func (ts *topicMinutes) count(c *TopicCount) error {
	now := minuteOf(ts.now)
	t := ts.running[c.Topic]
	if t != nil && t.minute != now {
		if err := ts.end(t); err != nil {
			return err
		}
		t = nil
	}
	if t == nil {
		t = &topicMinute{name: c.Topic, minute: now}
		ts.running[t.name] = t
		ts.order = append(ts.order, t)
	}
	t.add(c, !ts.series.unsized)
	ts.total(c)
	if !t.dirty {
		t.dirty = true
		ts.dirty = append(ts.dirty, t)
	}
	return nil
}

func (t *topicMinute) add(c *TopicCount, sizes bool) {
	if c.Counts[TopicPublished] > 0 {
		t.sized.add(c.Counts[TopicPublishedBytes], t.counts[TopicPublished], sizes)
	}
	for m, n := range c.Counts {
		t.counts[m] += n
	}
}

// end writes the row of a minute of a topic that is over.
func (ts *topicMinutes) end(t *topicMinute) error {
	if err := ts.series.write(t.name, t.row(), false); err != nil {
		return err
	}
	ts.tx.Delete(topicMinuteKey(t.name))
	delete(ts.running, t.name)
	t.ended, t.dirty = true, false
	return nil
}

func (t *topicMinute) row() Row {
	r := Row{Time: t.minute, Minutes: 1}
	for m, n := range t.counts {
		r.set(Metric(m), n)
	}
	t.put(&r)
	return r
}

// topicsAtOnce limits the minutes of topics that a call of Advance ends.
const topicsAtOnce = workAtOnce / 4

// advance ends minutes that are over.
func (ts *topicMinutes) advance() error {
	for range topicsAtOnce {
		if ts.next() > ts.now || ts.Full() {
			return nil
		}
		t := ts.order[0]
		ts.order = ts.order[1:]
		if err := ts.end(t); err != nil {
			return err
		}
	}
	return nil
}

// next returns when the first minute is over, or a time in the far future.
func (ts *topicMinutes) next() Instant {
	for len(ts.order) > 0 && ts.order[0].ended {
		ts.order = ts.order[1:]
	}
	if len(ts.order) == 0 {
		ts.order = nil
		return never
	}
	return ts.order[0].minute + minute
}

// save writes the records that have changed.
func (ts *topicMinutes) save() (wrote bool) {
	for _, t := range ts.dirty {
		if t.dirty {
			ts.tx.Set(topicMinuteKey(t.name), t.encode())
			ts.needs(formats.TopicSeries)
			if t.sizes != nil {
				ts.needs(formats.Sizes)
			}
			t.dirty, wrote = false, true
		}
	}
	ts.dirty = ts.dirty[:0]
	return wrote
}

// load reads the records, or removes them if counting is off.
func (ts *topicMinutes) load() error {
	lo, hi := tableRange(ofShard, tableTopic)
	var bad error
	err := ts.tx.Scan(lo, hi, func(k, v []byte) bool {
		t := &topicMinute{name: string(k[keyOf0:])}
		bad = t.decode(v)
		if t.sizes != nil {
			ts.series.unsized = false
			ts.needs(formats.Sizes)
		}
		ts.order = append(ts.order, t)
		return bad == nil
	})
	if err := firstError(err, bad); err != nil {
		return fmt.Errorf("running minutes of topics: %w", err)
	}
	if len(ts.order) == 0 {
		return nil
	}
	if ts.series.keep.off() {
		ts.tx.DeleteRange(lo, hi)
		ts.order = nil
		return nil
	}
	ts.series.waits = false
	ts.needs(formats.TopicSeries)
	slices.SortStableFunc(ts.order, func(a, b *topicMinute) int { return cmp.Compare(a.minute, b.minute) })
	for _, t := range ts.order {
		ts.running[t.name] = t
	}
	return nil
}

// happenedInTopics adds the events of topics in the running minute.
func happenedInTopics(r Reader, to map[string][Metrics]int64) error {
	lo, hi := tableRange(ofShard, tableTopic)
	var bad error
	err := r.Scan(lo, hi, func(k, v []byte) bool {
		t := topicMinute{name: string(k[keyOf0:])}
		bad = t.decode(v)
		sum := to[t.name]
		for m, n := range t.counts {
			sum[m] += int64(n)
		}
		to[t.name] = sum
		return bad == nil
	})
	return firstError(err, bad)
}

// sizedTopicVersion is the version of a topic's record with the sizes of the messages. Records without sizes have
// recordVersion, which older programs can read.
const sizedTopicVersion = 2

// encode returns the record of a topic:
//
//	version | minute | bits of the counters that are not 0 | these | sizes, if messages were published
func (t *topicMinute) encode() []byte {
	w := newRecord(32)
	if t.sizes != nil {
		w.Writer[0] = sizedTopicVersion
	}
	w.Uint(uint64(t.minute / minute))
	w.Sparse(TopicMetrics, func(m int) bool { return t.counts[m] != 0 }, func(m int) { w.Uint(t.counts[m]) })
	if t.counts[TopicPublished] != 0 {
		t.sized.encode(&w)
	}
	return w.Writer
}

func (t *topicMinute) decode(b []byte) error {
	r := readRecordUpTo(sizedTopicVersion, b)
	t.minute = getMinute(r)
	r.Sparse(TopicMetrics, func(m int) { t.counts[m] = r.Uint() })
	if t.counts[TopicPublished] != 0 {
		t.sized.decode(r, b[0] == sizedTopicVersion, t.counts[TopicPublished])
	}
	return r.done("running minute of a topic")
}
