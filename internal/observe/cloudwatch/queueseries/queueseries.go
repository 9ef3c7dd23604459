// Package queueseries reads the series of queues and topics from the shards that have counted them, as a series.Reader.
// It guarantees that a queue that is spread over several shards is one series, and that a series continues when the
// queue is deleted and created again.
package queueseries

import (
	"context"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/sketch"
	"github.com/sluicemq/sluice/internal/queue"
)

// Source is the source of the rows: a shard, or all shards of a cluster.
type Source interface {
	// Series returns the rows of a name. It may look only at the shards of the queue with that id, and looks at all
	// shards if the id is 0.
	Series(ctx context.Context, id queue.ID, name string, from, to queue.Instant) ([]queue.Row, error)
	// SizedSeries is Series of rows with their Sizes.
	SizedSeries(ctx context.Context, id queue.ID, name string, from, to queue.Instant) ([]queue.Row, error)
	// SeriesNames returns at most queue.NamesAtOnce names.
	SeriesNames(ctx context.Context, prefix, after string, since queue.Instant) ([]queue.SeriesName, error)
}

// Options configures a Reader.
type Options struct {
	Source Source
	// Queue returns the id of a queue by its ARN, and its creation time.
	Queue func(arn string) (id queue.ID, created time.Time, ok bool)
	Keep  queue.Keep
	Now   func() time.Time
}

// Reader reads the series of queues.
type Reader struct{ Options }

var _ series.Reader = (*Reader)(nil)

// New returns a Reader.
func New(o Options) *Reader { return &Reader{o} }

// Levels returns how long the points of each resolution are kept.
func Levels(k queue.Keep) series.Levels {
	levels := series.Default
	levels[0].Keep, levels[1].Keep, levels[2].Keep = k.Minutes, k.FiveMinutes, k.Hours
	return levels
}

// metrics are the engine's numbers of the metrics.
var metrics = map[string]queue.Metric{
	"NumberOfMessagesSent":                               queue.MetricSent,
	"SentMessageSize":                                    queue.MetricSentBytes,
	"NumberOfMessagesReceived":                           queue.MetricReceived,
	"NumberOfEmptyReceives":                              queue.MetricEmptyReceives,
	"NumberOfMessagesDeleted":                            queue.MetricDeleted,
	"NumberOfDeduplicatedSentMessages":                   queue.MetricDeduplicated,
	"NumberOfMessagesExpired":                            queue.MetricExpired,
	"NumberOfMessagesDeadLettered":                       queue.MetricDeadLettered,
	"NumberOfMessagesMoved":                              queue.MetricMoved,
	"ApproximateNumberOfMessagesVisible":                 queue.MetricVisible,
	"ApproximateNumberOfMessagesNotVisible":              queue.MetricInFlight,
	"ApproximateNumberOfMessagesDelayed":                 queue.MetricDelayed,
	"ApproximateAgeOfOldestMessage":                      queue.MetricOldestAge,
	"ApproximateNumberOfGroupsWithInflightMessages":      queue.MetricGroupsInFlight,
	"ApproximateNumberOfNoisyGroups":                     queue.MetricNoisyGroups,
	"ApproximateNumberOfMessagesVisibleInQuietGroups":    queue.MetricVisibleInQuietGroups,
	"ApproximateNumberOfMessagesNotVisibleInQuietGroups": queue.MetricInFlightInQuietGroups,
	"ApproximateNumberOfMessagesDelayedInQuietGroups":    queue.MetricDelayedInQuietGroups,
	"ApproximateAgeOfOldestMessageInQuietGroups":         queue.MetricOldestAgeInQuietGroups,
}

// topicMetrics are the same for topics.
var topicMetrics = map[string]queue.TopicMetric{
	"NumberOfMessagesPublished":                            queue.TopicPublished,
	"PublishSize":                                          queue.TopicPublishedBytes,
	"NumberOfNotificationsDelivered":                       queue.TopicDelivered,
	"NumberOfNotificationsFailed":                          queue.TopicFailed,
	"NumberOfNotificationsFilteredOut":                     queue.TopicFiltered,
	"NumberOfNotificationsFilteredOut-NoMessageAttributes": queue.TopicFilteredNoAttributes,
	"NumberOfNotificationsFilteredOut-MessageAttributes":   queue.TopicFilteredAttributes,
	"NumberOfNotificationsFilteredOut-MessageBody":         queue.TopicFilteredBody,
	"NumberOfNotificationsFilteredOut-InvalidAttributes":   queue.TopicFilteredInvalidAttributes,
	"NumberOfNotificationsFilteredOut-InvalidMessageBody":  queue.TopicFilteredInvalidBody,
	"NumberOfNotificationsRedrivenToDlq":                   queue.TopicRedriven,
	"NumberOfNotificationsFailedToRedriveToDlq":            queue.TopicNotRedriven,
}

// prefix is the beginning of the ARNs of the queues or topics of a scope. The engine knows a queue or topic by its ARN.
func prefix(namespace string, s series.Scope) string {
	service := "sqs"
	if namespace == series.SNS {
		service = "sns"
	}
	return "arn:aws:" + service + ":" + s.Region + ":" + s.Account + ":"
}

// namespaces are the namespaces of the metrics of queues and topics.
var namespaces = []string{series.SQS, series.SNS, series.Own}

// Read implements series.Reader.
func (r *Reader) Read(
	ctx context.Context, id series.ID, from, to time.Time, period time.Duration,
) ([]series.Point, error) {
	return r.read(ctx, id, from, to, period, false)
}

// ReadSamples implements series.Reader. The samples of a row are known if all are the same; those of sizes also if the
// row has the number of messages of each size.
func (r *Reader) ReadSamples(
	ctx context.Context, id series.ID, from, to time.Time, period time.Duration,
) ([]series.Point, error) {
	return r.read(ctx, id, from, to, period, true)
}

func (r *Reader) read(
	ctx context.Context, id series.ID, from, to time.Time, period time.Duration, samples bool,
) ([]series.Point, error) {
	m, known := series.Find(id.Namespace, id.Metric)
	if !known || !slices.Contains(namespaces, id.Namespace) || len(id.Dimensions) != 1 ||
		id.Dimensions[0].Name != m.Dimension {
		return nil, nil
	}
	from = from.UTC().Truncate(series.Minute)
	name := prefix(id.Namespace, id.Scope) + id.Dimensions[0].Value
	if ok, err := r.has(ctx, m, name); !ok || err != nil {
		return nil, err
	}
	request := budget.Of(ctx)
	n := Levels(r.Keep).Points(r.Now(), from, to)
	if err := request.Work(n); err != nil {
		return nil, err
	}
	held := n * (rowBytes + series.PointBytes)
	if err := request.Hold(held); err != nil {
		return nil, err
	}
	defer request.Release(held)
	if samples && m.Kind == series.Size {
		return r.sampled(ctx, m, name, from, to, period)
	}
	rows, err := r.rows(ctx, name, from, to, r.Source.Series)
	if err != nil {
		return nil, err
	}
	points := make([]series.Point, 0, len(rows))
	for i := range rows {
		if p, ok := point(m, &rows[i]); ok {
			if samples {
				p = p.WithSamples(nil)
			}
			points = append(points, p)
		}
	}
	return series.Group(points, from, period), nil
}

// sampledAtOnce is the length of time for which rows with the numbers of messages of each size are read at once.
const sampledAtOnce = 6 * time.Hour

// sampled reads the points of sizes with their samples. The request is charged for all that it may hold at once.
func (r *Reader) sampled(
	ctx context.Context, m series.Metric, name string, from, to time.Time, period time.Duration,
) (out []series.Point, err error) {
	request, held := budget.Of(ctx), 0
	defer func() { request.Release(held) }()
	hold := func(n int) error {
		if err := request.Hold(max(0, n-held)); err != nil {
			return err
		}
		request.Release(max(0, held-n))
		held = n
		return nil
	}
	levels := Levels(r.Keep)
	for start := r.oldest(from); start.Before(to); {
		end := start.Truncate(sampledAtOnce).Add(sampledAtOnce) // rows of an hour must not be divided
		if end.After(to) {
			end = to
		}
		n := levels.Points(r.Now(), start, end)
		if err := request.Work(n * maxSizes); err != nil {
			return nil, err
		}
		if err := hold(series.SampleBytes(out) + n*queue.MaxSizesBytes); err != nil {
			return nil, err
		}
		rows, err := r.rows(ctx, name, start, end, r.Source.SizedSeries)
		if err != nil {
			return nil, err
		}
		start = end
		for i := range rows {
			if p, ok := point(m, &rows[i]); ok {
				out = series.AppendGroup(out, p.WithSamples(sizes(&rows[i])), from, period)
			}
		}
		if err := hold(series.SampleBytes(out)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// maxSizes is the maximum number of sizes that are read for a row.
const maxSizes = queue.MaxSizesBytes / 32

// sizes returns the sizes of a row's messages, or nil.
func sizes(row *queue.Row) *sketch.Sketch {
	if row.Sizes == nil {
		return nil
	}
	v := row.Values[queue.MetricSentBytes]
	var all []sketch.Value
	row.Sizes.Each(func(size float64, n uint64) {
		all = append(all, sketch.Value{Value: min(max(size, float64(v.Min)), float64(v.Max)), Count: float64(n)})
	})
	return sketch.Of(all...)
}

// rowBytes is the memory of a row.
const rowBytes = int(unsafe.Sizeof(queue.Row{}))

// has reports whether queues of that kind have a metric.
func (r *Reader) has(ctx context.Context, m series.Metric, name string) (bool, error) {
	if m.Only != series.Fair {
		return of(m, queue.SeriesName{Name: name}), nil
	}
	names, err := r.Source.SeriesNames(ctx, name, "", 0)
	return err == nil && len(names) > 0 && names[0].Name == name && of(m, names[0]), err
}

// of reports whether a queue has a metric, according to its name's record.
func of(m series.Metric, n queue.SeriesName) bool {
	fifo := strings.HasSuffix(n.Name, ".fifo")
	switch m.Only {
	case series.FIFO:
		return fifo
	case series.Fair:
		return n.Fair && !fifo
	default:
		return true
	}
}

// rows reads the rows of a name. It asks only the shards of the queue if the queue existed at the beginning of the
// time. A topic may have been published to on any shard.
func (r *Reader) rows(
	ctx context.Context, name string, from, to time.Time,
	read func(ctx context.Context, id queue.ID, name string, from, to queue.Instant) ([]queue.Row, error),
) ([]queue.Row, error) {
	now := r.Now()
	from = r.oldest(from)
	if end := to.Truncate(series.Minute); end.Before(to) { // a minute that began before the end counts
		to = end.Add(series.Minute)
	}
	if to.After(now) {
		to = now
	}
	var shards queue.ID // 0: all
	if strings.HasPrefix(name, "arn:aws:sqs:") {
		if id, created, ok := r.Queue(name); ok && !created.After(from) {
			shards = id
		}
	}
	return read(ctx, shards, name, queue.At(from), queue.At(to))
}

// oldest returns the first instant, not before another, for which there may be rows.
func (r *Reader) oldest(from time.Time) time.Time {
	if oldest := r.Now().Add(-r.Keep.Hours - longestBlock); from.Before(oldest) {
		return oldest.Truncate(time.Hour)
	}
	return from
}

// longestBlock is how much longer than its retention the oldest row may be kept.
const longestBlock = 10 * 24 * time.Hour

// value returns a metric of a row.
func value(m series.Metric, row *queue.Row) queue.Value {
	if m.Namespace == series.SNS {
		return row.Values[topicMetrics[m.Name]]
	}
	return row.Values[metrics[m.Name]]
}

// point returns the point of a metric in a row.
func point(m series.Metric, row *queue.Row) (series.Point, bool) {
	v := value(m, row)
	p := series.Point{
		Time: row.Time.Time(), Count: float64(row.Minutes), Sum: float64(v.Sum), Min: float64(v.Min),
		Max: float64(v.Max),
	}
	if m.Kind == series.Size {
		p.Count = float64(row.Values[queue.MetricSent].Sum)
	}
	return p, p.Count > 0
}

// PointOf returns the point of a queue's metric in a row, or false if the queue does not have the metric.
func PointOf(m series.Metric, arn string, row *queue.Row) (series.Point, bool) {
	fair := row.Values[queue.MetricNoisyGroups].Sum > 0
	if !of(m, queue.SeriesName{Name: arn, Fair: fair}) {
		return series.Point{}, false
	}
	return point(m, row)
}

// List implements series.Reader.
func (r *Reader) List(ctx context.Context, f series.Filter) ([]series.ID, error) {
	if f.Namespace != "" && !slices.Contains(namespaces, f.Namespace) {
		return nil, nil
	}
	var out []series.ID
	for _, kind := range kinds {
		if f.Namespace != "" && !slices.Contains(kind.namespaces, f.Namespace) {
			continue
		}
		start := prefix(kind.namespaces[0], f.Scope)
		begins := start
		for _, d := range f.Dimensions {
			if d.Name == kind.dimension {
				begins = start + d.Value
			}
		}
		for after, more := "", true; more; {
			names, err := r.Source.SeriesNames(ctx, begins, after, queue.At(f.Since))
			if err != nil {
				return nil, err
			}
			if err := r.countNames(ctx, f, kind.namespaces, len(names)); err != nil {
				return nil, err
			}
			for _, n := range names {
				out = append(out, idsOf(f, kind.namespaces, n, strings.TrimPrefix(n.Name, start))...)
				after = n.Name
			}
			more = len(names) == queue.NamesAtOnce
		}
	}
	slices.SortFunc(out, series.ID.Compare)
	return out, nil
}

// countNames counts the series of that many names before they are created.
func (r *Reader) countNames(ctx context.Context, f series.Filter, namespaces []string, names int) error {
	each := 0
	for _, namespace := range namespaces {
		for _, m := range series.Metrics(namespace) {
			if (f.Namespace == "" || f.Namespace == namespace) && (f.Metric == "" || f.Metric == m.Name) {
				each++
			}
		}
	}
	if err := budget.Of(ctx).Work(names * max(1, each)); err != nil {
		return err
	}
	return budget.Of(ctx).Hold(names * each * series.IDBytes)
}

// kinds are queues and topics.
var kinds = []struct {
	namespaces []string
	dimension  string
}{
	{[]string{series.SQS, series.Own}, series.QueueName},
	{[]string{series.SNS}, series.TopicName},
}

// idsOf returns the series of a queue or topic that a filter selects.
func idsOf(f series.Filter, namespaces []string, n queue.SeriesName, name string) (out []series.ID) {
	for _, namespace := range namespaces {
		for _, m := range series.Metrics(namespace) {
			id := series.ID{
				Scope: f.Scope, Namespace: namespace, Metric: m.Name,
				Dimensions: []series.Dimension{{Name: m.Dimension, Value: name}},
			}
			if of(m, n) && f.Matches(id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// Counts reports whether the engine counts a metric.
func Counts(name string) bool {
	_, queues := metrics[name]
	_, topics := topicMetrics[name]
	return queues || topics
}
