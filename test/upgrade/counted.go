package upgrade

import (
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/formats"
)

// counted checks what was counted of what was done. The server writes the row of a minute that was running when the old
// server stopped once it has started.
func (k *checker) counted(want *Content) error {
	return k.persist(func() error { return k.countedNow(want) })
}

func (k *checker) countedNow(want *Content) error {
	if want.Format >= formats.Series && want.Counted {
		if err := k.sum(want, "AWS/SQS", "NumberOfMessagesSent", "QueueName", "jobs", 26); err != nil {
			return err
		}
	}
	if want.Format >= formats.Sizes && want.Median != nil {
		if err := k.median(want); err != nil {
			return err
		}
	}
	if want.Format >= formats.TopicSeries && len(want.Topics) > 0 {
		return k.sum(want, "AWS/SNS", "NumberOfMessagesPublished", "TopicName", "news", 1)
	}
	return nil
}

// median checks the median of the sizes of the messages that were sent on the day.
func (k *checker) median(want *Content) error {
	var found struct {
		Datapoints []struct{ ExtendedStatistics map[string]float64 }
	}
	if err := k.CloudWatch(k.ctx, "GetMetricStatistics", map[string]any{
		"Namespace": "AWS/SQS", "MetricName": "SentMessageSize",
		"Dimensions": []map[string]string{{"Name": "QueueName", "Value": "jobs"}},
		"StartTime":  want.Made.Truncate(24 * time.Hour).Unix(), "EndTime": want.Made.Add(time.Hour).Unix(),
		"Period": 86_400, "ExtendedStatistics": []string{"p50"},
	}, &found); err != nil {
		return err
	}
	if len(found.Datapoints) != 1 {
		return fmt.Errorf("there are %d medians of sizes", len(found.Datapoints))
	}
	if got := found.Datapoints[0].ExtendedStatistics["p50"]; got < want.Median.Least || got > want.Median.Most {
		return fmt.Errorf("the median of sizes is %g, not within %+v", got, *want.Median)
	}
	return nil
}

// sum compares what a metric has counted in the hour in which a fixture was made.
func (k *checker) sum(want *Content, namespace, metric, dimension, value string, n float64) error {
	var found struct{ Datapoints []struct{ Sum float64 } }
	if err := k.CloudWatch(k.ctx, "GetMetricStatistics", map[string]any{
		"Namespace": namespace, "MetricName": metric,
		"Dimensions": []map[string]string{{"Name": dimension, "Value": value}},
		"StartTime":  want.Made.Add(-time.Hour).Unix(), "EndTime": want.Made.Add(time.Hour).Unix(),
		"Period": 60, "Statistics": []string{"Sum"},
	}, &found); err != nil {
		return err
	}
	got := 0.0
	for _, p := range found.Datapoints {
		got += p.Sum
	}
	if got != n {
		return fmt.Errorf("%s of %s was %g, not %g", metric, value, got, n)
	}
	return nil
}
