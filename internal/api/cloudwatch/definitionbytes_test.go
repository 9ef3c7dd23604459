package cloudwatch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
)

// filling is a kind of definitions whose total size in an account is limited.
type filling struct {
	op      string
	fill    func(*monitor.Tx) error // nearly all of the bytes
	large   func(i int) object      // grows the stored bytes
	small   object                  // replaces large(0)
	code    string
	message string
}

// manyMetrics returns the longest queries that an alarm can have. They differ in few bytes.
func manyMetrics(i int) (queries list) {
	var dimensions list
	for d := range 30 {
		dimensions = append(dimensions, object{"Name": fmt.Sprint("d", d), "Value": strings.Repeat("v", 1024)})
	}
	sum := fmt.Sprint(i)
	for n := range 10 {
		id := fmt.Sprint("m", n)
		sum += "+" + id
		metric := object{"Namespace": "Mine", "MetricName": "m", "Dimensions": dimensions}
		queries = append(queries, object{
			"Id": id, "Label": strings.Repeat("l", 2048), "ReturnData": false,
			"MetricStat": object{"Metric": metric, "Stat": "Sum", "Period": 60},
		})
	}
	return append(queries, object{"Id": "e", "Expression": sum, "ReturnData": true})
}

var fillings = []filling{
	{
		op: "PutMetricAlarm",
		fill: func(tx *monitor.Tx) error {
			name := monitor.Name{Scope: scope, Name: "filling"}
			return tx.Create(&monitor.Alarm{Name: name, Description: strings.Repeat("d", 28<<20)}, time.Now())
		},
		large: func(i int) object {
			return object{
				"AlarmName": fmt.Sprint(i), "Metrics": manyMetrics(i), "EvaluationPeriods": 1, "Threshold": 1,
				"ComparisonOperator": "GreaterThanThreshold",
			}
		},
		small: with(backlog, object{"AlarmName": "0"}),
		code:  "LimitExceeded", message: "The alarms of an account can take at most 32 MiB.",
	},
	{
		op:   "PutAnomalyDetector",
		fill: func(*monitor.Tx) error { return nil },
		large: func(i int) object {
			return object{
				"MetricMathAnomalyDetector": object{"MetricDataQueries": manyMetrics(i)},
				"Configuration":             object{"MetricTimezone": "America/New_York"},
			}
		},
		small: object{"MetricMathAnomalyDetector": object{"MetricDataQueries": manyMetrics(0)}},
		code:  "LimitExceededException", message: "The anomaly detectors of an account can take at most 8 MiB.",
	},
	{
		op: "PutDashboard",
		fill: func(tx *monitor.Tx) error {
			d := &monitor.Dashboard{Account: account, Name: "filling"}
			return tx.PutDashboard(d, strings.Repeat("d", 28<<20))
		},
		large: func(i int) object {
			return object{
				"DashboardName": fmt.Sprint(i),
				"DashboardBody": `{"widgets":[],"x":"` + strings.Repeat("x", 200<<10) + `"}`,
			}
		},
		small: object{"DashboardName": "0", "DashboardBody": `{"widgets":[]}`},
		code:  "InvalidParameterValue", message: "The dashboards of an account can take at most 32 MiB.",
	},
}

// The definitions of an account are limited in bytes. A change that does not grow passes, and so do changes of other
// accounts.
func TestDefinitionsHaveABoundInBytes(t *testing.T) {
	t.Parallel()
	for _, f := range fillings {
		t.Run(f.op, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, inJSON)
			if err := r.monitor.Change(t.Context(), f.fill); err != nil {
				t.Fatal(err)
			}
			put, a := 0, answer{status: 200}
			for ; a.status == 200 && put < 300; put++ {
				a = r.call(f.op, f.large(put))
			}
			if a.code != f.code || a.message != f.message || put < 10 {
				t.Fatalf("after %d: %d %s %s", put, a.status, a.code, a.message)
			}
			for _, in := range []object{f.large(0), f.small} {
				if a := r.call(f.op, in); a.status != 200 {
					t.Errorf("a change that does not grow: %d %s %s", a.status, a.code, a.message)
				}
			}
			r.caller = identity.Root(apitest.OtherAccount, "AKID2")
			if a := r.call(f.op, f.large(put)); a.status != 200 {
				t.Errorf("another account: %d %s %s", a.status, a.code, a.message)
			}
		})
	}
}
