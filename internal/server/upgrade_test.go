package server

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// While a node of the cluster runs an older program, no record is written that it cannot read: the first use of a
// feature that has such records is refused, through any node, and nothing of it is there. Then it works.
func TestFeaturesWaitForAllNodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, service, version, action string
		form                           url.Values
		list, shown                    string // an operation that lists what was made, and what its answer then has
	}{
		{"alarms", "monitoring", "2010-08-01", "PutMetricAlarm", url.Values{
			"AlarmName": {"full"}, "Namespace": {"AWS/SQS"}, "MetricName": {"NumberOfMessagesSent"},
			"Statistic": {"Sum"}, "Period": {"60"},
			"EvaluationPeriods": {"1"}, "Threshold": {"1"}, "ComparisonOperator": {"GreaterThanThreshold"},
		}, "DescribeAlarms", "<AlarmName>full"},
		{"alarms", "monitoring", "2010-08-01", "PutDashboard",
			url.Values{"DashboardName": {"shown"}, "DashboardBody": {`{"widgets":[]}`}}, "ListDashboards", "shown"},
		{"anomaly detectors, insight rules and alarms on bands", "monitoring", "2010-08-01", "PutAnomalyDetector",
			url.Values{
				"Namespace": {"Mine"}, "MetricName": {"shown"}, "Stat": {"Sum"},
			}, "DescribeAnomalyDetectors", "shown"},
		{"alarm mute rules", "monitoring", "2010-08-01", "PutAlarmMuteRule", url.Values{
			"Name": {"shown"}, "Rule.Schedule.Expression": {"cron(0 2 * * *)"}, "Rule.Schedule.Duration": {"PT4H"},
		}, "ListAlarmMuteRules", "shown"},
		{"topics", "sns", "2010-03-31", "CreateTopic", url.Values{"Name": {"news"}}, "ListTopics", ":news<"},
	} {
		t.Run(c.action, func(t *testing.T) {
			t.Parallel()
			var old atomic.Bool
			old.Store(true)
			p := newPair(t, func(owner, _ *Config) { beside(owner, &old) })
			for _, at := range []*Server{p.owner, p.other} {
				root := at.Root()
				ask := func(action string, form url.Values) (int, string) {
					all := url.Values{"Action": {action}, "Version": {c.version}}
					for name, values := range form {
						all[name] = values
					}
					return call(t, at, c.service, all.Encode(), &root)
				}
				old.Store(at == p.owner)
				status, body := ask(c.action, c.form)
				if at == p.owner {
					if status != http.StatusServiceUnavailable ||
						!strings.Contains(body,
							"when all nodes of the cluster support "+c.what+
								": the node c runs version 1.0, which is too old for it") {
						t.Errorf("%d %s", status, body)
					}
					if _, list := ask(c.list, nil); strings.Contains(list, c.shown) {
						t.Errorf("it is there: %s", list)
					}
					continue
				}
				if status != http.StatusOK {
					t.Errorf("%d %s", status, body)
				}
				if _, list := ask(c.list, nil); !strings.Contains(list, c.shown) {
					t.Errorf("it is not there: %s", list)
				}
			}
		})
	}
}

// A cluster that has metric alarms waits with newer kinds of alarms until all nodes know them.
func TestNewerAlarmsWaitForAllNodes(t *testing.T) {
	t.Parallel()
	var old atomic.Bool
	p := newPair(t, func(owner, _ *Config) { beside(owner, &old) })
	root := p.other.Root()
	put := func(form string) (int, string) {
		return call(t, p.other, "monitoring", "Version=2010-08-01&"+form, &root)
	}
	const metric = "Action=PutMetricAlarm&AlarmName=a&Namespace=AWS/SQS&MetricName=NumberOfMessagesSent&Statistic=Sum&Period=60" +
		"&EvaluationPeriods=1&Threshold=1&ComparisonOperator=GreaterThanThreshold"
	const composite = "Action=PutCompositeAlarm&AlarmName=c&AlarmRule=ALARM(a)"
	const band = "Action=PutMetricAlarm&AlarmName=b&EvaluationPeriods=1&ComparisonOperator=GreaterThanUpperThreshold&ThresholdMetricId=e" +
		"&Metrics.member.1.Id=e&Metrics.member.1.Expression=ANOMALY_DETECTION_BAND(m)" +
		"&Metrics.member.2.Id=m&Metrics.member.2.MetricStat.Period=60&Metrics.member.2.MetricStat.Stat=Sum" +
		"&Metrics.member.2.MetricStat.Metric.Namespace=AWS/SQS&Metrics.member.2.MetricStat.Metric.MetricName=NumberOfMessagesSent"
	for _, c := range []struct {
		form   string
		old    bool
		status int
		want   string
	}{
		{metric, false, http.StatusOK, ""},
		{metric, true, http.StatusOK, ""},
		{composite, true, http.StatusServiceUnavailable,
			"when all nodes of the cluster support composite alarms: the node c runs version 1.0"},
		{composite, false, http.StatusOK, ""},
		{composite, true, http.StatusOK, ""},
		{band, true, http.StatusServiceUnavailable,
			"when all nodes of the cluster support anomaly detectors, insight rules and alarms on bands"},
		{band, false, http.StatusOK, ""},
		{band, true, http.StatusOK, ""},
	} {
		old.Store(c.old)
		if status, body := put(c.form); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s with an old node %v: %d %s", c.form, c.old, status, body)
		}
	}
}

// Phones subscribe when all nodes know that they do: an older node would drop their messages.
func TestPhonesWaitForAllNodes(t *testing.T) {
	t.Parallel()
	var old atomic.Bool
	p := newPair(t, func(owner, _ *Config) { beside(owner, &old) })
	root := p.other.Root()
	do := func(form string) (int, string) { return call(t, p.other, "sns", "Version=2010-03-31&"+form, &root) }
	if status, body := do("Action=CreateTopic&Name=a"); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	const subscribe = "Action=Subscribe&TopicArn=arn:aws:sns:us-east-1:000000000000:a&Protocol=sms&Endpoint=%2B15555550100"
	old.Store(true)
	if status, body := do(subscribe); status != http.StatusServiceUnavailable ||
		!strings.Contains(body, "the node c runs version 1.0") {
		t.Errorf("%d %s", status, body)
	}
	old.Store(false)
	if status, body := do(subscribe); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}

// A cluster that has trails waits with their insights until all nodes know them.
func TestInsightsWaitForAllNodes(t *testing.T) {
	t.Parallel()
	var old atomic.Bool
	dir := t.TempDir()
	apitest.Must(t, 0, os.Mkdir(filepath.Join(dir, "audit"), 0o700))
	p := newPair(t, func(owner, other *Config) {
		beside(owner, &old)
		owner.TrailDir, other.TrailDir = dir, dir
	})
	do := func(op, in string) (int, string) {
		return callJSON(t, p.other, "cloudtrail", "CloudTrail_20131101."+op, in)
	}
	if status, body := do("CreateTrail", `{"Name":"all","S3BucketName":"audit"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	const put = `{"TrailName":"all","InsightSelectors":[{"InsightType":"ApiCallRateInsight"}]}`
	old.Store(true)
	if status, body := do("PutInsightSelectors", `{"TrailName":"all","InsightSelectors":[]}`); status != http.StatusOK {
		t.Errorf("without any: %d %s", status, body)
	}
	if status, body := do("PutInsightSelectors", put); status != http.StatusServiceUnavailable ||
		!strings.Contains(body, "the node c runs version 1.0") {
		t.Errorf("%d %s", status, body)
	}
	old.Store(false)
	if status, body := do("PutInsightSelectors", put); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	if _, body := do("GetTrail", `{"Name":"all"}`); !strings.Contains(body, `"HasInsightSelectors":true`) {
		t.Errorf("%s", body)
	}
}
