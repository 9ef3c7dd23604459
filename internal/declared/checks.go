package declared

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/topic/filter"
)

// This file finds what the API would refuse, as far as the file alone shows it: an apply of several resources would
// otherwise stop in the middle. Checks that need the server are in requirements.go.

// inRange checks that a number is within the limits of its setting, and reports a mistake if not.
func (f *fileReader) inRange(s *setting, v *yaml.Node, scope Scope, value string) bool {
	n, err := strconv.ParseFloat(value, 64)
	if s.most == 0 || err != nil || n >= float64(s.least) && n <= float64(s.most) {
		return true
	}
	bound := func(n int64) any { return s.shape.shown(scope, strconv.FormatInt(n, 10)) }
	f.fail(f.value(v), "%s: %s is from %v to %v", shorten(f.value(v).Value), s.name, bound(s.least), bound(s.most))
	return false
}

// checkAll checks all resources of the file together.
func (f *fileReader) checkAll() {
	here := make(map[Ref]*Resource, len(f.file.Resources))
	for _, r := range f.file.Resources {
		here[r.Ref] = r
	}
	for _, r := range f.file.Resources {
		switch r.Kind {
		case QueueKind:
			f.checkQueue(r, here)
		case TopicKind:
			f.checkTopic(r)
		case SubscriptionKind:
			f.checkSubscription(r)
		case AlarmKind:
			f.checkAlarm(r)
		default:
			f.checkDocuments(r)
		}
	}
}

// atHome reports whether the account and the region are known. A file is first read before any call to a server.
func (f *fileReader) atHome() bool { return accountNumber.MatchString(f.file.Home.Account) }

// wrong records a mistake in a setting.
func (f *fileReader) wrong(r *Resource, setting, format string, args ...any) {
	f.failAt(r.place(setting), format, args...)
}

func isFIFO(name string) bool { return strings.HasSuffix(name, ".fifo") }

const maxSources = 10

func (f *fileReader) checkQueue(r *Resource, here map[Ref]*Resource) {
	if target := undeliveredTarget(r.Settings["dead-letters"]); target != "" {
		f.checkDeadLetters(r, target, here)
	}
	if sources := allowedSources(r.Settings["redrive-allow"]); len(sources) > maxSources {
		f.wrong(r, "redrive-allow", "these are %d queues: at most %d", len(sources), maxSources)
	}
	if r.Settings["throughput-limit"] == "perMessageGroupId" && r.Settings["deduplication-scope"] == "queue" {
		f.wrong(r, "throughput-limit", "perMessageGroupId takes deduplication-scope: messageGroup")
	}
	if r.Settings["kms-key"] != "" && r.Settings["managed-encryption"] == "true" {
		f.wrong(r, "managed-encryption", "a queue with a kms-key cannot have managed-encryption, too")
	}
	f.checkDocument(r, "policy", policy.ForResource)
}

// checkDeadLetters checks that a queue may send its dead letters to another one.
func (f *fileReader) checkDeadLetters(r *Resource, arn string, here map[Ref]*Resource) {
	target, ok := refOfARN(arn)
	switch {
	case !ok || target.Kind != QueueKind:
		f.wrong(r, "dead-letters", "%s: want a queue, or the ARN of one", shorten(arn))
	case f.atHome() && (target.Account != r.Account || target.Region != r.Region):
		f.wrong(r, "dead-letters", "%s: dead letters go to a queue of the same account and region", shorten(arn))
	case isFIFO(target.Name) != isFIFO(r.Name):
		f.wrong(r, "dead-letters", "%s is not of the same type as %s: dead letters of a FIFO queue go to a FIFO queue, "+
			"those of a standard queue to a standard queue", shorten(target.Name), shorten(r.Name))
	case target != r.Ref && here[target] != nil && !here[target].allows(r.Ref):
		f.wrong(r, "dead-letters", "%s does not take the dead letters of %s: it has redrive-allow, and does not name it there",
			shorten(target.Name), shorten(r.Name))
	}
}

// allows reports whether a queue accepts the dead letters of another, according to the file.
func (r *Resource) allows(source Ref) bool {
	var p redriveAllow
	if json.Unmarshal([]byte(r.Settings["redrive-allow"]), &p) != nil || p.Permission == "allowAll" {
		return true
	}
	return slices.Contains(p.Sources, source.ARN(""))
}

func allowedSources(value string) []string {
	var p redriveAllow
	if json.Unmarshal([]byte(value), &p) != nil {
		return nil
	}
	return p.Sources
}

const maxDisplayName = 100

func (f *fileReader) checkTopic(r *Resource) {
	if utf8.RuneCountInString(r.Settings["display-name"]) > maxDisplayName {
		f.wrong(r, "display-name", "a display-name has at most %d characters", maxDisplayName)
	}
	f.checkDocument(r, "policy", policy.ForResource)
}

func (f *fileReader) checkSubscription(r *Resource) {
	topic, protocol, endpoint := r.subscription()
	toFIFO := protocol == "sqs" && isFIFO(endpoint)
	switch {
	case isFIFO(topic) && protocol != "sqs":
		f.failAt(r.At, "a FIFO topic delivers to queues only")
	case !isFIFO(topic) && toFIFO:
		f.failAt(r.At, "a FIFO queue can be subscribed to a FIFO topic only")
	}
	if target := undeliveredTarget(r.Settings["dead-letters"]); target != "" && isFIFO(target) != toFIFO {
		f.wrong(r, "dead-letters", "what cannot be delivered to a FIFO queue goes to a FIFO queue, "+
			"and what cannot be delivered elsewhere to a standard queue")
	}
	scope := filter.MessageAttributes
	if r.Settings["filter-scope"] == "MessageBody" {
		scope = filter.MessageBody
	}
	// Without a filter-scope in the file, the scope may be MessageBody.
	if text := r.Settings["filter"]; text != "" {
		if _, err := filter.Parse(text, scope); err != nil &&
			(r.Settings["filter-scope"] != "" || !isFilter(text, filter.MessageBody)) {
			reason, _, _ := strings.Cut(err.Error(), "\n")
			f.wrong(r, "filter", "%s", reason)
		}
	}
}

func isFilter(text string, scope filter.Scope) bool {
	_, err := filter.Parse(text, scope)
	return err == nil
}

// The uses of the documents of each kind.
var documents = map[string]policy.Use{
	managedDocument: policy.ForIdentity, "inline": policy.ForIdentity, "trust": policy.ForTrust,
}

// managedDocument is the setting with the document of a managed policy.
const managedDocument = "document"

func (f *fileReader) checkDocuments(r *Resource) {
	for _, key := range slices.Sorted(maps.Keys(r.Settings)) {
		name, _, _ := strings.Cut(key, ".")
		if use := documents[name]; use != 0 {
			f.checkDocument(r, key, use)
		}
	}
}

// checkDocument checks a policy. Its references are resolved only when the account is known.
func (f *fileReader) checkDocument(r *Resource, setting string, use policy.Use) {
	text := r.Settings[setting]
	if text == "" || !f.atHome() {
		return
	}
	// The position refers to the JSON form of the policy.
	p, err := policy.Parse(use, text)
	if err == nil && setting == managedDocument {
		err = p.CheckVersion()
	}
	if err != nil {
		reason := err.Error()
		if e, ok := errors.AsType[*policy.Error](err); ok {
			reason = e.Reason
		}
		f.wrong(r, setting, "%s", reason)
	}
}

// Limits of alarms.
const (
	maxActions     = 5
	maxDescription = 1024
	secondsOfDay   = 86_400
)

// The names of CloudWatch's statistics and units.
var (
	percentile = `(p|tm|wm|tc|ts)(\d{1,2}(\.\d{1,10})?|100)`
	aStatistic = regexp.MustCompile(
		`^(SampleCount|Average|Sum|Minimum|Maximum|IQM|` + percentile + `|(TM|WM|TC|TS|PR)\(.+\))$`,
	)
	amount = `(Bytes|Bits|(Kilo|Mega|Giga|Tera)(bytes|bits)|Count)(/Second)?`
	aUnit  = regexp.MustCompile(`^(Seconds|Microseconds|Milliseconds|Percent|None|` + amount + `)$`)
)

func (f *fileReader) checkAlarm(r *Resource) {
	f.checkMetric(r)
	f.checkPeriods(r)
	if s := r.Settings[statistic]; s != "" && !aStatistic.MatchString(s) {
		f.wrong(r, statistic, "there is no statistic %s%s", shorten(s), suggest(s, statistics))
	}
	if u := r.Settings["unit"]; u != "" && !aUnit.MatchString(u) {
		f.wrong(r, "unit", "there is no unit %s: want one such as Seconds, Bytes or Count", shorten(u))
	}
	if r.Settings["threshold"] == "" && r.Settings["attributes.ThresholdMetricId"] == "" {
		f.failAt(r.At, "alarm %s has no threshold", shorten(r.Name))
	}
	if utf8.RuneCountInString(r.Settings["description"]) > maxDescription {
		f.wrong(r, "description", "a description has at most %d characters", maxDescription)
	}
	for _, list := range []string{"notify", "notify-ok", "notify-insufficient-data"} {
		f.checkNotified(r, list)
	}
}

// checkMetric checks the name of a metric of queues and topics. Only the server knows the other metrics.
func (f *fileReader) checkMetric(r *Resource) {
	known := series.Metrics(r.Settings["namespace"])
	name, about := r.Settings["metric"], decodeDimensions(r.Settings["dimensions"])
	if name == "" || len(known) == 0 || about[series.QueueName] == "" && about[series.TopicName] == "" {
		return // AWS has others, such as what text messages have cost
	}
	var names []string
	for _, m := range known {
		names = append(names, m.Name)
	}
	if !slices.Contains(names, name) {
		f.wrong(r, "metric", "%s has no metric %s%s", r.Settings["namespace"], shorten(name), suggest(name, names))
	}
}

// checkPeriods checks the length of an alarm's periods, of one and of all together.
func (f *fileReader) checkPeriods(r *Resource) {
	number := func(setting string) int64 {
		n, err := strconv.ParseInt(r.Settings[setting], 10, 64)
		if err != nil && r.Settings[setting] != "" {
			f.wrong(r, setting, "%s: want a whole number", r.Settings[setting])
		}
		return n
	}
	period, periods, datapoints := number("period"), number("periods"), number("datapoints")
	if datapoints > periods {
		f.wrong(r, "datapoints", "these are %d datapoints of %d periods", datapoints, periods)
	}
	if period == 0 {
		return
	}
	most, said := int64(secondsOfDay), "a day"
	if period >= 3600 {
		most, said = 7*secondsOfDay, "7 days"
	}
	switch {
	case period%60 != 0 && period != 10 && period != 20 && period != 30:
		f.wrong(r, "period", "%s: a period is 10s, 20s, 30s or whole minutes", showSeconds(r.Settings["period"]))
	case period < 60 && strings.HasPrefix(r.Settings["namespace"], "AWS/"):
		f.wrong(r, "period", "%s: a period of the metrics of queues and topics is whole minutes", showSeconds(r.Settings["period"]))
	case period*periods > most:
		f.wrong(r, "periods", "%d periods of %s are longer than %s", periods, showSeconds(r.Settings["period"]), said)
	}
}

func (f *fileReader) checkNotified(r *Resource, list string) {
	var arns []string
	if json.Unmarshal([]byte(r.Settings[list]), &arns) != nil {
		return
	}
	if len(arns) > maxActions {
		f.wrong(r, list, "these are %d topics: at most %d", len(arns), maxActions)
	}
	for _, arn := range arns {
		if t, ok := refOfARN(arn); ok && t.Kind == TopicKind && t.Region != r.Region && f.atHome() {
			f.wrong(r, list, "%s: want a topic of the same region", shorten(arn))
		}
	}
}
