package cloudwatch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/budget"
)

// data queries expressions over the metric m, in a window.
func data(from, to time.Time, expressions ...string) object {
	queries := list{with(stat("m", "NumberOfMessagesSent", "q", "Sum", 60), object{"ReturnData": false})}
	for i, e := range expressions {
		queries = append(queries, object{"Id": fmt.Sprint("e", i), "Expression": e})
	}
	return object{"StartTime": from, "EndTime": to, "MetricDataQueries": queries, "MaxDatapoints": 10}
}

// No window and no expression makes a request use more than its share: it is answered for the time that can have data,
// or refused, and holds nothing afterwards.
func TestRequestsHaveABudget(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.minutes("NumberOfMessagesSent", "q", 1, 2, 3)
		for _, years := range []int{10, 38, 112} {
			for _, e := range []string{"TIME_SERIES(1)", "FILL(m, 0)", "EPOCH(m)"} {
				a := r.call("GetMetricData", data(r.now.AddDate(-years, 0, 0), r.now, e))
				results, _ := a.output["MetricDataResults"].(list)
				if a.status != 200 || len(results) != 1 {
					r.Errorf("%s over %d years: %d %s", e, years, a.status, a.message)
				}
			}
		}
		for _, expressions := range [][]string{
			{"TIME_SERIES(1)" + strings.Repeat("+TIME_SERIES(1)", 100)},
			slices.Repeat([]string{"TIME_SERIES(1)"}, 10),
		} {
			r.fails("GetMetricData", data(r.now.AddDate(-2, 0, 0), r.now, expressions...), 400, "ValidationError",
				"The request needs more than 134217728 bytes of memory; ask for a shorter time range, a longer period or fewer metrics.")
		}
		if n := r.budget.Held(); n != 0 {
			r.Errorf("%d bytes are held after the requests", n)
		}
	})
}

// When other requests of the account hold its whole budget, a request is refused with AWS's throttling error.
func TestBusyAccountsAreThrottled(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.minutes("NumberOfMessagesSent", "q", 1, 2, 3)
		r.ok("PutMetricAlarm", backlog, object{})
		r.ok("PutMetricData",
			object{"Namespace": "Workers", "MetricData": list{object{"MetricName": "Load", "Value": 1}}}, object{})
		ctx, end := r.budget.Begin(t.Context(), account)
		if err := budget.Of(ctx).Hold(budget.Size / 2); err != nil {
			r.Fatal(err)
		}
		in := data(r.now.Add(-time.Hour), r.now, "m * 2")
		r.fails("GetMetricData", in, 400, "Throttling", "Rate exceeded")
		r.fails("GetMetricStatistics", object{
			"Namespace": "AWS/SQS", "MetricName": "NumberOfMessagesSent", "Dimensions": dimensions("q"),
			"StartTime": r.now.Add(-time.Hour), "EndTime": r.now, "Period": 60, "Statistics": list{"Sum"},
		}, 400, "Throttling", "Rate exceeded")
		r.fails("DescribeAlarmHistory", object{}, 400, "Throttling", "Rate exceeded")
		r.fails("ListMetrics", object{}, 400, "Throttling", "Rate exceeded")
		end()
		r.ok("GetMetricData", in, object{"MetricDataResults": list{object{
			"Id": "e0", "Label": "e0", "StatusCode": "Complete", "Values": list{6, 4, 2},
			"Timestamps": list{"2026-11-21T11:59:00Z", "2026-11-21T11:58:00Z", "2026-11-21T11:57:00Z"},
		}}})
	})
}

// Each datapoint is on one page, even if points and series are added between the pages.
func TestPagesOfDataAreStable(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		for _, order := range []string{"TimestampAscending", "TimestampDescending"} {
			for _, queue := range []string{"b", "d"} {
				r.minutes("SentMessageSize", queue+order, 1, 2, 3, 4, 5, 6, 7)
			}
			in := object{
				"StartTime": r.now.Add(-time.Hour), "EndTime": r.now.Add(time.Hour), "ScanBy": order,
				"MaxDatapoints": 3,
				"MetricDataQueries": list{
					stat("m", "SentMessageSize", "b"+order, "Sum", 60),
					object{"Id": "s", "Expression": "SEARCH('{AWS/SQS,QueueName} SentMessageSize', 'Sum', 60)"},
				},
			}
			want, got := r.pages(in, func(int) {}), r.pages(in, func(page int) {
				r.now = r.now.Add(time.Minute)
				// more points before, between and after
				r.minutes("SentMessageSize", "b"+order, slices.Repeat([]float64{1}, 20)...)
				r.minutes("SentMessageSize", fmt.Sprint("c", page, order), 9)
			})
			for point := range want {
				if got[point] != 1 {
					r.Errorf("%s: %s is there %d times", order, point, got[point])
				}
			}
			for point, n := range got {
				if n != 1 {
					r.Errorf("%s: %s is there %d times", order, point, n)
				}
			}
			r.fails("GetMetricData", with(in, object{
				"NextToken": r.call("GetMetricData", in).output["NextToken"], "EndTime": r.now,
			}), 400, "InvalidNextToken",
				"The next token is not one of this list.")
		}
	})
}

// pages reads all pages of GetMetricData, and returns how often each point occurs. It calls between after each page.
func (r *rig) pages(in object, between func(page int)) map[string]int {
	r.Helper()
	count := make(map[string]int)
	for page := range 200 {
		out := r.call("GetMetricData", in).output
		results, _ := out["MetricDataResults"].(list)
		for _, result := range results {
			one := result.(object)
			times, _ := one["Timestamps"].(list)
			for _, at := range times {
				count[fmt.Sprint(one["Id"], one["Label"], at)]++
			}
		}
		if out["NextToken"] == nil {
			return count
		}
		in = with(in, object{"NextToken": out["NextToken"]})
		between(page)
	}
	r.Fatal("the pages do not end")
	return nil
}
