package declared

import "strings"

// A form distinguishes settings with one value from those with several.
type form uint8

const (
	single  form = iota
	entries      // a mapping; the file has only some of the entries
	whole        // a list that the file has whole
)

// setting is a setting of a kind of resources.
type setting struct {
	name      string // in the file
	attribute string // in the API, if it differs
	shape     *shape
	form      form
	standard  string // default of resources that do not set it
	fixed     bool   // set at creation, and immutable
	raw       bool   // the API accepts the value as JSON, not as a text
	least     int64  // of a number
	most      int64  // of a number; 0: no limit
	doc       string
}

// kindSettings are the settings of each kind.
var kindSettings = map[Kind][]setting{
	QueueKind: {
		{
			name:      "visibility-timeout",
			attribute: "VisibilityTimeout",
			shape:     &secondsShape,
			standard:  "30",
			most:      43_200,
			doc:       "how long a received message is hidden from other consumers",
		},
		{
			name:      "retention",
			attribute: "MessageRetentionPeriod",
			shape:     &secondsShape,
			standard:  "345600",
			least:     60,
			most:      1_209_600,
			doc:       "how long a message is kept",
		},
		{
			name:      "delay",
			attribute: "DelaySeconds",
			shape:     &secondsShape,
			standard:  "0",
			most:      900,
			doc:       "how long a new message is hidden",
		},
		{
			name:      "wait",
			attribute: "ReceiveMessageWaitTimeSeconds",
			shape:     &secondsShape,
			standard:  "0",
			most:      20,
			doc:       "how long a receive waits for a message",
		},
		{
			name:      "max-message-size",
			attribute: "MaximumMessageSize",
			shape:     &bytesShape,
			least:     1024,
			most:      1 << 20,
			doc:       "how large a message may be",
		},
		{
			name:      "dead-letters",
			attribute: "RedrivePolicy",
			shape:     &deadLettersShape,
			doc:       "the queue to which messages go that were received too often, or a mapping with queue and max-receives, or none",
		},
		{
			name:      "redrive-allow",
			attribute: "RedriveAllowPolicy",
			shape:     &redriveAllowShape,
			doc:       "the queues that may have this one for their dead letters, or allowAll or denyAll",
		},
		{
			name:      "content-based-deduplication",
			attribute: "ContentBasedDeduplication",
			shape:     &boolShape,
			standard:  "false",
			doc:       "FIFO queues: whether messages with the same body are duplicates",
		},
		{
			name:      "deduplication-scope",
			attribute: "DeduplicationScope",
			shape:     ref(wordShape("queue", "messageGroup")),
			standard:  "queue",
			doc:       "FIFO queues: where deduplication ids are unique",
		},
		{
			name:      "throughput-limit",
			attribute: "FifoThroughputLimit",
			shape:     ref(wordShape("perQueue", "perMessageGroupId")),
			standard:  "perQueue",
			doc:       "FIFO queues: what AWS's limit of throughput holds for",
		},
		{
			name:      "managed-encryption",
			attribute: "SqsManagedSseEnabled",
			shape:     &boolShape,
			standard:  "true",
			doc:       "whether the queue is encrypted with the server's first key",
		},
		{
			name:      "kms-key",
			attribute: "KmsMasterKeyId",
			shape:     &textShape,
			doc:       "the key that the queue is encrypted with, from the server's key file",
		},
		{
			name:      "kms-key-reuse",
			attribute: "KmsDataKeyReusePeriodSeconds",
			shape:     &secondsShape,
			standard:  "300",
			least:     60,
			most:      86_400,
			doc:       "how long a data key of it is used",
		},
		{
			name: "policy", attribute: "Policy", shape: &documentShape,
			doc: "who may do what with the queue; none takes it away",
		},
		{name: permission, shape: &documentShape, form: entries, doc: "-"},
		{name: "attributes", shape: &textShape, form: entries, doc: "other attributes, by the names of SQS"},
		tagSetting,
	},
	TopicKind: {
		{
			name: "display-name", attribute: "DisplayName", shape: &textShape,
			doc: "the name that mails of the topic come from",
		},
		{name: "policy", attribute: "Policy", shape: &documentShape, doc: "who may do what with the topic"},
		{
			name:      "delivery-policy",
			attribute: "DeliveryPolicy",
			shape:     &deliveryShape,
			doc:       "how often a delivery to a URL is tried again, and when",
		},
		{
			name:      "signature-version",
			attribute: "SignatureVersion",
			shape:     ref(wordShape("1", "2")),
			standard:  "1",
			doc:       "how messages for URLs are signed",
		},
		{
			name:      "tracing",
			attribute: "TracingConfig",
			shape:     ref(wordShape("PassThrough", "Active")),
			standard:  "PassThrough",
			doc:       "whether AWS traces messages",
		},
		{
			name:      "kms-key",
			attribute: "KmsMasterKeyId",
			shape:     &textShape,
			doc:       "the key that waiting messages are encrypted with, from the server's key file",
		},
		{
			name:      "content-based-deduplication",
			attribute: "ContentBasedDeduplication",
			shape:     &boolShape,
			standard:  "false",
			doc:       "FIFO topics: whether messages with the same body are duplicates",
		},
		{
			name:      "throughput-scope",
			attribute: "FifoThroughputScope",
			shape:     ref(wordShape("Topic", "MessageGroup")),
			doc:       "FIFO topics: what AWS's limit of throughput holds for",
		},
		{name: "attributes", shape: &textShape, form: entries, doc: "other attributes, by the names of SNS"},
		tagSetting,
	},
	SubscriptionKind: {
		{
			name:      "raw",
			attribute: "RawMessageDelivery",
			shape:     &boolShape,
			standard:  "false",
			doc:       "whether messages come as they are, without the JSON around them",
		},
		{
			name:      "filter",
			attribute: "FilterPolicy",
			shape:     &filterShape,
			standard:  "{}",
			doc:       "which messages the subscription gets; none: all",
		},
		{
			name:      "filter-scope",
			attribute: "FilterPolicyScope",
			shape:     ref(wordShape("MessageAttributes", "MessageBody")),
			standard:  "MessageAttributes",
			doc:       "what the filter looks at",
		},
		{
			name:      "dead-letters",
			attribute: "RedrivePolicy",
			shape:     &undeliveredShape,
			doc:       "the queue to which messages go that could not be delivered, or none",
		},
		{
			name:      "delivery-policy",
			attribute: "DeliveryPolicy",
			shape:     &deliveryShape,
			doc:       "how often a delivery to a URL is tried again, and when",
		},
		{name: "attributes", shape: &textShape, form: entries, doc: "other attributes, by the names of SNS"},
	},
	AlarmKind: {
		{name: "description", attribute: "AlarmDescription", shape: &textShape, doc: "what the alarm is about"},
		{
			name:      "namespace",
			attribute: "Namespace",
			shape:     &textShape,
			doc:       "the namespace of the metric; with queue or topic it is theirs",
		},
		{
			name: "metric", attribute: "MetricName", shape: &textShape,
			doc: "the name of the metric, such as ApproximateAgeOfOldestMessage",
		},
		{
			name:      "dimensions",
			attribute: "Dimensions",
			shape:     &dimensionsShape,
			standard:  "[]",
			raw:       true,
			doc:       "a mapping of the dimensions of the metric",
		},
		{
			name: statistic, shape: &textShape,
			doc: "Sum, Average, Minimum, Maximum, SampleCount, or one such as p99 or TM(10%:90%)",
		},
		{
			name: "period", attribute: "Period", shape: &secondsShape, raw: true, least: 10, most: 604_800,
			doc: "how long a period is",
		},
		{name: "unit", attribute: "Unit", shape: &textShape, doc: "only measurements in this unit count"},
		{
			name:      "metrics",
			attribute: "Metrics",
			shape:     &metricsShape,
			raw:       true,
			doc:       "in place of a metric: queries as CloudWatch has them, with expressions",
		},
		{
			name:      "when",
			attribute: "ComparisonOperator",
			shape:     &comparisonShape,
			doc:       "how the metric compares with the threshold in an alarm: >, >=, <, <=",
		},
		{
			name: "threshold", attribute: "Threshold", shape: &numberShape, raw: true,
			doc: "what the metric is compared with",
		},
		{
			name:      "periods",
			attribute: "EvaluationPeriods",
			shape:     &numberShape,
			raw:       true,
			least:     1,
			most:      60_480,
			doc:       "how many of the last periods are looked at",
		},
		{
			name:      "datapoints",
			attribute: "DatapointsToAlarm",
			shape:     &numberShape,
			raw:       true,
			least:     1,
			most:      60_480,
			doc:       "in how many of them it has to be so",
		},
		{
			name:      "missing-data",
			attribute: "TreatMissingData",
			shape:     ref(wordShape("missing", "breaching", "notBreaching", "ignore")),
			standard:  "missing",
			doc:       "what a period counts as that has no data",
		},
		{
			name:      "low-samples",
			attribute: "EvaluateLowSampleCountPercentile",
			shape:     ref(wordShape("evaluate", "ignore")),
			doc:       "whether percentiles of few values are evaluated",
		},
		actionsEnabled, notifySetting, notifyOKSetting, notifyNoDataSetting,
		{name: "attributes", shape: &jsonShape, form: entries, raw: true, doc: "other members of PutMetricAlarm"},
		tagSetting,
	},
	CompositeKind: {
		{name: "description", attribute: "AlarmDescription", shape: &textShape, doc: "what the alarm is about"},
		{
			name:      "rule",
			attribute: "AlarmRule",
			shape:     &ruleShape,
			doc:       "which states of other alarms make it one, such as ALARM(a) AND NOT OK(b)",
		},
		{
			name:      suppressor,
			attribute: "ActionsSuppressor",
			shape:     &suppressorShape,
			doc:       "the alarm that keeps this one from notifying, or none",
		},
		{
			name:      suppressor + "-wait",
			attribute: "ActionsSuppressorWaitPeriod",
			shape:     &secondsShape,
			raw:       true,
			doc:       "how long notifications wait for the suppressor to alarm",
		},
		{
			name:      suppressor + "-extension",
			attribute: "ActionsSuppressorExtensionPeriod",
			shape:     &secondsShape,
			raw:       true,
			doc:       "how long they still wait when the suppressor no longer alarms",
		},
		actionsEnabled, notifySetting, notifyOKSetting, notifyNoDataSetting,
		{name: "attributes", shape: &jsonShape, form: entries, raw: true, doc: "other members of PutCompositeAlarm"},
		tagSetting,
	},
	PolicyKind: {pathSetting,
		{name: "description", shape: &textShape, fixed: true, doc: "what the policy is for"},
		{name: "document", shape: &documentShape, doc: "the policy"},
		tagSetting,
	},
	GroupKind: {pathSetting, attachedSetting, inlineSetting},
	UserKind: {pathSetting, attachedSetting, inlineSetting,
		{name: "groups", shape: &groupShape, form: whole, doc: "the groups that the user is in"},
		boundarySetting,
		{
			name:     accessKey,
			shape:    &boolShape,
			standard: "false",
			doc:      "whether the user has an access key: one is made if there is none, and none is ever deleted",
		},
		tagSetting,
	},
	RoleKind: {pathSetting,
		{name: "trust", shape: &documentShape, doc: "the policy that says who may assume the role"},
		{name: "description", shape: &textShape, doc: "what the role is for"},
		{
			name:     "max-session",
			shape:    &secondsShape,
			standard: "3600",
			least:    3600,
			most:     43_200,
			doc:      "how long a session of the role lasts at most",
		},
		attachedSetting, inlineSetting, boundarySetting, tagSetting,
	},
	LimitKind: {
		{
			name: "sends-per-second", attribute: "SendsPerSecond", shape: &limitShape,
			doc: "messages sent or published in a second",
		},
		{
			name: "receives-per-second", attribute: "ReceivesPerSecond", shape: &limitShape,
			doc: "messages received in a second",
		},
		{
			name: "concurrent-requests", attribute: "ConcurrentRequests", shape: &limitShape,
			doc: "requests in progress at a time",
		},
		{
			name: "stored-messages", attribute: "StoredMessages", shape: &limitShape,
			doc: "accounts: messages in all queues together",
		},
		{
			name: "stored-bytes", attribute: "StoredBytes", shape: &limitBytesShape,
			doc: "accounts: bytes of these messages",
		},
		{name: "queues", attribute: "Queues", shape: &limitShape, doc: "accounts: queues in all regions together"},
		{name: "topics", attribute: "Topics", shape: &limitShape, doc: "accounts: topics in all regions together"},
		{
			name: "subscriptions", attribute: "Subscriptions", shape: &limitShape,
			doc: "accounts: subscriptions in all regions together",
		},
	},
}

// Names of settings that the API does not have under these names.
const (
	permission = "permission" // entries, by the ARNs of topics that may send: statements of the policy
	statistic  = "statistic"
	accessKey  = "access-key"
	suppressor = "suppressor"
)

var (
	actionsEnabled = setting{
		name:      "actions-enabled",
		attribute: "ActionsEnabled",
		shape:     &boolShape,
		standard:  "true",
		raw:       true,
		doc:       "whether anything is notified",
	}
	notifySetting = setting{
		name:      "notify",
		attribute: "AlarmActions",
		shape:     &topicsShape,
		standard:  "[]",
		raw:       true,
		doc:       "the topics that are notified when the state becomes ALARM",
	}
	notifyOKSetting = setting{
		name:      "notify-ok",
		attribute: "OKActions",
		shape:     &topicsShape,
		standard:  "[]",
		raw:       true,
		doc:       "the topics that are notified when the state becomes OK",
	}

	notifyNoDataSetting = setting{
		name: "notify-insufficient-data", attribute: "InsufficientDataActions", shape: &topicsShape, standard: "[]",
		raw: true,
		doc: "the topics that are notified when the state becomes INSUFFICIENT_DATA",
	}

	tagSetting = setting{
		name: "tags", shape: &textShape, form: entries, doc: "tags; those that are not named are left alone",
	}
	pathSetting = setting{
		name: "path", shape: &textShape, standard: "/", fixed: true, doc: "the path, which is part of the ARN",
	}
	attachedSetting = setting{
		name:  "policies",
		shape: &managedShape,
		form:  whole,
		doc:   "managed policies: of this file by their names, of AWS by theirs, others by their ARNs",
	}
	inlineSetting = setting{
		name:  "inline",
		shape: &documentShape,
		form:  entries,
		doc:   "policies of its own, by their names; none takes one away",
	}
	boundarySetting = setting{
		name:  "boundary",
		shape: &managedShape,
		doc:   "the managed policy that is the most that can be allowed, or none",
	}
)

func ref(s shape) *shape { return &s }

// settingOf returns the setting of a key of a resource's settings; the key may be an entry of that setting.
func settingOf(k Kind, key string) *setting {
	name, _, isEntry := strings.Cut(key, ".")
	for i := range kindSettings[k] {
		if s := &kindSettings[k][i]; s.name == name && (s.form != single) == isEntry {
			return s
		}
	}
	return nil
}

// byAttribute returns the setting of an attribute of the API, or nil.
func byAttribute(k Kind, attribute string) *setting {
	for i := range kindSettings[k] {
		if s := &kindSettings[k][i]; s.attribute == attribute {
			return s
		}
	}
	return nil
}
