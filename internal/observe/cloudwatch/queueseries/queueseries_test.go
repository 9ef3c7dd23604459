package queueseries_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/queueseries"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

const prefix = "arn:aws:sqs:us-east-1:000000000000:"

// A queue has series from its first message on, under CloudWatch's names.
func TestQueuesAreReadAsSeries(t *testing.T) {
	st, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	clock := time.Date(2026, 11, 22, 12, 0, 30, 0, time.UTC)
	configs := []queue.Config{
		{ID: 1, ARN: prefix + "orders", Retention: time.Hour, Visibility: time.Hour},
		{ID: 2, ARN: prefix + "orders.fifo", Retention: time.Hour, FIFO: true},
		{ID: 3, ARN: prefix + "orders-old", Retention: time.Hour},
	}
	var sh *shard.Shard
	open := func() {
		now := clock
		sh, err = shard.Open(shard.Options{
			Store: st, Configs: func() []queue.Config { return configs }, Keep: queue.DefaultKeep,
			Now: func() time.Time { return now },
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	open()
	t.Cleanup(func() {
		sh.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	send := func(id queue.ID, bodies ...string) {
		t.Helper()
		for _, b := range bodies {
			if _, err := sh.Send(t.Context(), id, []queue.Outgoing{{Body: b, Dedup: b, Group: "g"}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	send(1, "a", "bbb")
	send(2, "a")
	if _, err := sh.Receive(t.Context(), 1, queue.Receive{Max: 1}, 0); err != nil {
		t.Fatal(err)
	}
	sh.EmptyReceive(1)
	publish := func(topic string, sizes ...uint64) {
		t.Helper()
		for _, n := range sizes {
			count := &queue.TopicCount{Topic: "arn:aws:sns:us-east-1:000000000000:" + topic,
				Counts: [queue.TopicMetrics]uint64{
					queue.TopicPublished: 1, queue.TopicPublishedBytes: n, queue.TopicDelivered: 2,
					queue.TopicFiltered: 1, queue.TopicFilteredBody: 1,
				}}
			if _, err := sh.Publish(t.Context(), []queue.Publication{{Count: count}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	publish("orders", 10, 30)
	publish("orders-late", 5)
	for range 3 { // the clock of an open shard stands still
		sh.Close()
		clock = clock.Add(time.Minute)
		open()
		send(1, "cc")
	}
	r := queueseries.New(queueseries.Options{
		Source: source{sh}, Keep: queue.DefaultKeep, Now: func() time.Time { return clock },
		Queue: func(string) (queue.ID, time.Time, bool) { return 0, time.Time{}, false },
	})
	inside := time.Date(2026, 11, 22, 12, 1, 1, 0, time.UTC)
	sent := series.ID{
		Scope: series.Scope{Account: "000000000000", Region: "us-east-1"}, Namespace: series.SQS,
		Metric:     "NumberOfMessagesSent",
		Dimensions: []series.Dimension{{Name: series.QueueName, Value: "orders"}},
	}
	if points, err := r.Read(t.Context(), sent, inside.Add(-time.Minute), inside, time.Minute); err != nil ||
		len(points) != 2 {
		t.Errorf("up to %v: %v, %v", inside, points, err)
	}
	at := func(n int) time.Time { return time.Date(2026, 11, 22, 12, n, 0, 0, time.UTC) }
	scope := series.Scope{Account: "000000000000", Region: "us-east-1"}
	for _, c := range []struct {
		namespace, metric, queue string
		period                   time.Duration
		want                     []series.Point
	}{
		{series.SQS, "NumberOfMessagesSent", "orders", time.Minute,
			[]series.Point{point(at(0), 1, 2, 2, 2), point(at(1), 1, 1, 1, 1), point(at(2), 1, 1, 1, 1)}},
		{series.SQS, "NumberOfMessagesSent", "orders", 5 * time.Minute, []series.Point{point(at(0), 3, 4, 1, 2)}},
		{series.SQS, "SentMessageSize", "orders", 5 * time.Minute, []series.Point{point(at(0), 4, 8, 1, 3)}},
		{series.SQS, "NumberOfMessagesReceived", "orders", 5 * time.Minute, []series.Point{point(at(0), 3, 1, 0, 1)}},
		{series.SQS, "ApproximateNumberOfMessagesNotVisible", "orders", 5 * time.Minute,
			[]series.Point{point(at(0), 3, 3, 1, 1)}},
		{series.SQS, "ApproximateNumberOfMessagesVisibleInQuietGroups", "orders", 5 * time.Minute, nil},
		{series.SQS, "NumberOfDeduplicatedSentMessages", "orders", 5 * time.Minute, nil},
		{series.SQS, "NumberOfDeduplicatedSentMessages", "orders.fifo", 5 * time.Minute,
			[]series.Point{point(at(0), 1, 0, 0, 0)}},
		{series.Own, "NumberOfMessagesExpired", "orders", 5 * time.Minute, []series.Point{point(at(0), 3, 0, 0, 0)}},
		{series.Own, "NumberOfMessagesSent", "orders", 5 * time.Minute, nil},
		{series.SNS, "NumberOfMessagesPublished", "orders", time.Minute, []series.Point{point(at(0), 1, 2, 2, 2)}},
		{series.SNS, "PublishSize", "orders", 5 * time.Minute, []series.Point{point(at(0), 2, 40, 10, 30)}},
		{series.SNS, "NumberOfNotificationsDelivered", "orders", time.Minute, []series.Point{point(at(0), 1, 4, 4, 4)}},
		{series.SNS, "NumberOfNotificationsFilteredOut", "orders-late", time.Minute,
			[]series.Point{point(at(0), 1, 1, 1, 1)}},
		{series.SNS, "NumberOfNotificationsFilteredOut-MessageBody", "orders-late", time.Minute,
			[]series.Point{point(at(0), 1, 1, 1, 1)}},
		{series.SNS, "NumberOfNotificationsFailed", "orders", time.Minute, []series.Point{point(at(0), 1, 0, 0, 0)}},
		{series.SNS, "NumberOfMessagesPublished", "nothing", time.Minute, nil},
		{series.SQS, "NumberOfMessagesSent", "nothing", 5 * time.Minute, nil},
	} {
		id := series.ID{
			Scope: scope, Namespace: c.namespace, Metric: c.metric,
			Dimensions: []series.Dimension{{Name: series.QueueName, Value: c.queue}},
		}
		if c.namespace == series.SNS {
			id.Dimensions[0].Name = series.TopicName
		}
		got, err := r.Read(t.Context(), id, at(0).Add(time.Second), at(60), c.period)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s of %s: %v, %v; want %v", c.metric, c.queue, got, err, c.want)
		}
	}
	for metric, want := range map[string]string{
		"SentMessageSize": "[{1 1} {2 2} {3 1}]", "PublishSize": "[{10 1} {30 1}]",
	} {
		id := series.ID{Scope: scope, Namespace: series.SQS, Metric: metric,
			Dimensions: []series.Dimension{{Name: series.QueueName, Value: "orders"}}}
		if metric == "PublishSize" {
			id.Namespace, id.Dimensions[0].Name = series.SNS, series.TopicName
		}
		got, err := r.ReadSamples(t.Context(), id, at(0), at(60), 5*time.Minute)
		if err != nil || len(got) != 1 || got[0].Samples == nil || fmt.Sprint(got[0].Samples.Values()) != want {
			t.Errorf("samples of %s: %+v, %v", metric, got, err)
		}
	}
	names := func(f series.Filter) (out []string) {
		t.Helper()
		f.Scope = scope
		ids, err := r.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			out = append(out, id.Metric+" "+id.Dimensions[0].Value)
		}
		return out
	}
	for _, c := range []struct {
		f    series.Filter
		want []string
	}{
		{series.Filter{Metric: "NumberOfMessagesSent"},
			[]string{"NumberOfMessagesSent orders", "NumberOfMessagesSent orders.fifo"}},
		{series.Filter{Metric: "NumberOfDeduplicatedSentMessages"},
			[]string{"NumberOfDeduplicatedSentMessages orders.fifo"}},
		{series.Filter{
			Metric: "NumberOfMessagesSent", Dimensions: []series.Dimension{{Name: series.QueueName, Value: "orders"}},
		}, []string{"NumberOfMessagesSent orders"}},
		{series.Filter{Metric: "NumberOfMessagesSent", Since: clock.Add(3 * time.Hour)}, nil},
		{series.Filter{Namespace: series.SNS, Metric: "PublishSize"},
			[]string{"PublishSize orders", "PublishSize orders-late"}},
		{series.Filter{
			Metric: "PublishSize", Dimensions: []series.Dimension{{Name: series.TopicName, Value: "orders"}},
		}, []string{"PublishSize orders"}},
		{series.Filter{
			Namespace: series.SNS, Dimensions: []series.Dimension{{Name: series.QueueName, Value: "orders"}},
		}, nil},
	} {
		if got := names(c.f); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.f, got, c.want)
		}
	}
}

func point(at time.Time, count, sum, least, most float64) series.Point {
	return series.Point{Time: at, Count: count, Sum: sum, Min: least, Max: most}
}

// source is a shard without the methods that this package must not need.
type source struct{ queueseries.Source }

// Every metric of queues and topics that CloudWatch's clients may request has its number.
func TestEveryMetricIsCounted(t *testing.T) {
	for _, namespace := range []string{series.SQS, series.SNS, series.Own} {
		for _, m := range series.Metrics(namespace) {
			if !queueseries.Counts(m.Name) {
				t.Errorf("%s is not counted", m.Name)
			}
		}
	}
}
