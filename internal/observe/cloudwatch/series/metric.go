package series

// Namespaces of metrics that Sluice counts itself. Clients' own metrics have other namespaces.
const (
	SQS = "AWS/SQS"
	SNS = "AWS/SNS"
	// Own holds the metrics of queues that AWS does not have.
	Own = "Sluice/SQS"
)

// Names of dimensions.
const (
	QueueName = "QueueName"
	TopicName = "TopicName"
)

// Units of metrics.
const (
	Count   = "Count"
	Bytes   = "Bytes"
	Seconds = "Seconds"
)

// Kind is the kind of samples of a metric.
type Kind uint8

// Kinds of metrics.
const (
	// Counter: the minute's sum is the number of events. The minute has one sample, even if it is zero.
	Counter Kind = iota
	// Size: each event has a sample; a minute without events has no point.
	Size
	// Gauge: one sample per minute, with the value at its end.
	Gauge
	// Age: a gauge of which the maximum counts if several shards have a value.
	Age
)

// Metric is a metric of every queue or of every topic.
type Metric struct {
	Namespace string
	Name      string
	Unit      string
	Kind      Kind
	Dimension string // the name of its only dimension
	// Only restricts the metric to some queues.
	Only Only
}

// Only restricts a metric to some queues.
type Only uint8

// The kinds of queues that have a metric.
const (
	Every Only = iota
	FIFO
	// Fair: standard queues with message groups.
	Fair
)

// Metrics of queues, with CloudWatch's names, and those of AWS's topics.
var (
	queueMetrics = []Metric{
		{SQS, "NumberOfMessagesSent", Count, Counter, QueueName, Every},
		{SQS, "SentMessageSize", Bytes, Size, QueueName, Every},
		{SQS, "NumberOfMessagesReceived", Count, Counter, QueueName, Every},
		{SQS, "NumberOfEmptyReceives", Count, Counter, QueueName, Every},
		{SQS, "NumberOfMessagesDeleted", Count, Counter, QueueName, Every},
		{SQS, "NumberOfDeduplicatedSentMessages", Count, Counter, QueueName, FIFO},
		{SQS, "ApproximateNumberOfMessagesVisible", Count, Gauge, QueueName, Every},
		{SQS, "ApproximateNumberOfMessagesNotVisible", Count, Gauge, QueueName, Every},
		{SQS, "ApproximateNumberOfMessagesDelayed", Count, Gauge, QueueName, Every},
		{SQS, "ApproximateAgeOfOldestMessage", Seconds, Age, QueueName, Every},
		{SQS, "ApproximateNumberOfGroupsWithInflightMessages", Count, Gauge, QueueName, FIFO},
		{SQS, "ApproximateNumberOfNoisyGroups", Count, Gauge, QueueName, Fair},
		{SQS, "ApproximateNumberOfMessagesVisibleInQuietGroups", Count, Gauge, QueueName, Fair},
		{SQS, "ApproximateNumberOfMessagesNotVisibleInQuietGroups", Count, Gauge, QueueName, Fair},
		{SQS, "ApproximateNumberOfMessagesDelayedInQuietGroups", Count, Gauge, QueueName, Fair},
		{SQS, "ApproximateAgeOfOldestMessageInQuietGroups", Seconds, Age, QueueName, Fair},
		{Own, "NumberOfMessagesExpired", Count, Counter, QueueName, Every},
		{Own, "NumberOfMessagesDeadLettered", Count, Counter, QueueName, Every},
		{Own, "NumberOfMessagesMoved", Count, Counter, QueueName, Every},
	}
	topicMetrics = []Metric{
		{SNS, "NumberOfMessagesPublished", Count, Counter, TopicName, Every},
		{SNS, "PublishSize", Bytes, Size, TopicName, Every},
		{SNS, "NumberOfNotificationsDelivered", Count, Counter, TopicName, Every},
		{SNS, "NumberOfNotificationsFailed", Count, Counter, TopicName, Every},
		{SNS, "NumberOfNotificationsFilteredOut", Count, Counter, TopicName, Every},
		{SNS, "NumberOfNotificationsFilteredOut-NoMessageAttributes", Count, Counter, TopicName, Every},
		{SNS, "NumberOfNotificationsFilteredOut-MessageAttributes", Count, Counter, TopicName, Every},
		{SNS, "NumberOfNotificationsFilteredOut-MessageBody", Count, Counter, TopicName, Every},
		{SNS, "NumberOfNotificationsFilteredOut-InvalidAttributes", Count, Counter, TopicName, Every},
		{SNS, "NumberOfNotificationsFilteredOut-InvalidMessageBody", Count, Counter, TopicName, Every},
		{SNS, "NumberOfNotificationsRedrivenToDlq", Count, Counter, TopicName, Every},
		{SNS, "NumberOfNotificationsFailedToRedriveToDlq", Count, Counter, TopicName, Every},
	}
)

// Metrics returns the metrics that Sluice counts in a namespace, in order; none for an unknown namespace.
func Metrics(namespace string) []Metric {
	var out []Metric
	for _, list := range [][]Metric{queueMetrics, topicMetrics} {
		for _, m := range list {
			if m.Namespace == namespace {
				out = append(out, m)
			}
		}
	}
	return out
}

// Find returns the metric of that name.
func Find(namespace, name string) (Metric, bool) {
	for _, m := range Metrics(namespace) {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}
