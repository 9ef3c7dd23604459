package metricdata_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

var (
	now   = time.Date(2026, 11, 21, 12, 0, 30, 0, time.UTC)
	scope = series.Scope{Account: "000000000000", Region: "us-east-1"}
)

func id(metric, queue string) series.ID {
	return series.ID{
		Scope: scope, Namespace: series.SQS, Metric: metric,
		Dimensions: []series.Dimension{{Name: "QueueName", Value: queue}},
	}
}

// source has ten minutes before now: "a" counts 1 to 10, "b" 10 each; message sizes vary within a minute.
func source() *metricdata.Source {
	m := new(series.Memory)
	for i := range 10 {
		at := now.Add(time.Duration(i-10) * time.Minute)
		m.Add(id("NumberOfMessagesSent", "a"), series.Sample(at, float64(i+1)))
		m.Add(id("NumberOfMessagesSent", "b"), series.Sample(at, 10))
		m.Add(id("SentMessageSize", "a"), series.Point{Time: at, Count: 2, Sum: 30, Min: 10, Max: 20})
	}
	return &metricdata.Source{Reader: m, Levels: series.Default, Now: now}
}

func stat(id, metric, queue, statistic string, period time.Duration) metricdata.Query {
	return metricdata.Query{ID: id, Return: true, Stat: &metricdata.Stat{
		Namespace: series.SQS, Metric: metric, Dimensions: []series.Dimension{{Name: "QueueName", Value: queue}},
		Period: period, Statistic: statistic,
	}}
}

func expression(id, text string, period time.Duration) metricdata.Query {
	return metricdata.Query{ID: id, Return: true, Expression: text, Period: period}
}

func show(results []metricdata.Result) string {
	var all []string
	for _, r := range results {
		var values []string
		for _, p := range r.Points {
			values = append(values, fmt.Sprint(p.Value))
		}
		all = append(all, r.ID+"="+r.Label+":"+strings.Join(values, ","))
	}
	return strings.Join(all, " ")
}

func answer(queries ...metricdata.Query) (string, error) {
	plan, err := metricdata.Check(queries)
	if err != nil {
		return "", err
	}
	end := now.Truncate(time.Minute)
	results, err := plan.Run(context.Background(), source(), scope, end.Add(-10*time.Minute), end)
	return show(results), err
}

func TestRun(t *testing.T) {
	t.Parallel()
	hidden := func(q metricdata.Query) metricdata.Query { q.Return = false; return q }
	labelled := func(q metricdata.Query) metricdata.Query { q.Label = "L"; return q }
	sent := func(id, queue string) metricdata.Query {
		return stat(id, "NumberOfMessagesSent", queue, "Sum", 5*time.Minute)
	}
	for want, queries := range map[string][]metricdata.Query{
		"m=NumberOfMessagesSent Sum:15,40 n=NumberOfMessagesSent Minimum:1,6": {
			sent("m", "a"), stat("n", "NumberOfMessagesSent", "a", "Minimum", 5*time.Minute),
		},
		"m=a Sum:15,40 n=a Minimum:1,6 o=b:50,50": {
			sent("m", "a"), stat("n", "NumberOfMessagesSent", "a", "Minimum", 5*time.Minute), sent("o", "b"),
		},
		"m=a NumberOfMessagesSent:15,40 n=a SentMessageSize:15,15 o=b NumberOfMessagesSent:50,50": {
			sent("m", "a"), stat("n", "SentMessageSize", "a", "Average", 5*time.Minute), sent("o", "b"),
		},
		"m=NumberOfMessagesSent:15,40 n=SentMessageSize:15,15": {
			sent("m", "a"), stat("n", "SentMessageSize", "a", "Average", 5*time.Minute),
		},
		"m=NumberOfMessagesSent:15,40": {sent("m", "a"),
			hidden(stat("n", "NumberOfMessagesSent", "a", "Minimum", 5*time.Minute))},
		"m=L:":                         {labelled(sent("m", "nowhere"))},
		"m=SentMessageSize:15,15":      {stat("m", "SentMessageSize", "a", "Average", 5*time.Minute)},
		"m=SentMessageSize:20":         {stat("m", "SentMessageSize", "a", "Maximum", 10*time.Minute)},
		"m=SentMessageSize:20,20":      {stat("m", "SentMessageSize", "a", "p100", 5*time.Minute)},
		"m=NumberOfMessagesSent:10,10": {stat("m", "NumberOfMessagesSent", "b", "p99.9", 5*time.Minute)},
		"e=e:65,90 m1=NumberOfMessagesSent:15,40": {expression("e", "m1 + m2", 0), sent("m1", "a"),
			hidden(sent("m2", "b"))},
		"e2=L:130,180": {hidden(expression("e1", "SUM(METRICS())", 0)), labelled(expression("e2", "e1*2", 0)),
			hidden(sent("m1", "a")), hidden(sent("m2", "b"))},
		"e=NumberOfMessagesSent:30,80 e=NumberOfMessagesSent:100,100": {expression("e", "METRICS() * 2", 0),
			hidden(sent("m1", "a")), hidden(sent("m2", "b"))},
		"q=b:50,50 q=a:15,40": {expression("q",
			`SELECT SUM(NumberOfMessagesSent) FROM "AWS/SQS" GROUP BY QueueName ORDER BY MIN() DESC`, 5*time.Minute)},
		"q=NumberOfMessagesSent:65,90": {expression("q",
			`SELECT SUM(NumberOfMessagesSent) FROM SCHEMA("AWS/SQS", QueueName)`, 5*time.Minute)},
		"q=NumberOfMessagesSent:": {expression("q",
			`SELECT SUM(NumberOfMessagesSent) FROM "AWS/SQS" WHERE QueueName = 'c'`, 5*time.Minute)},
		"s=a:15,40 s=b:50,50": {expression("s",
			`SEARCH('{AWS/SQS,QueueName} MetricName="NumberOfMessagesSent"', 'Sum')`, 0)},
		"s=a:55 s=b:100": {expression("s",
			`SEARCH('{AWS/SQS,QueueName} MetricName="NumberOfMessagesSent"', 'Sum', 600)`, 5*time.Minute)},
		"s=L a:55": {labelled(expression("s", `SEARCH('{AWS/SQS,QueueName} sent QueueName=a NOT size', 'Sum')`,
			10*time.Minute))},
		"s=a NumberOfMessagesSent:55 s=a SentMessageSize:300": {expression("s", `SEARCH('QueueName="a"', 'Sum', 600)`,
			0)},
		"s=s:65,90": {expression("s", `SUM(SEARCH('NumberOfMessagesSent', 'Sum', 300))`, 0)},
		"s=a:20":    {expression("s", `REMOVE_EMPTY(SEARCH('size', 'Maximum', 600))`, 0)},
		"e=a:30,80 e=b:100,100": {hidden(expression("s", `SEARCH('NumberOfMessagesSent', 'Sum', 300)`, 0)),
			expression("e", "s * 2", 0)},
		"": {expression("s", `SEARCH('nowhere', 'Sum', 300)`, 0)},
		"e=e:10,10": {hidden(expression("q", `SELECT MAX(NumberOfMessagesSent) FROM "AWS/SQS" GROUP BY QueueName`,
			5*time.Minute)), expression("e", "MAX(q)", 0)},
	} {
		got, err := answer(queries...)
		if err != nil || got != want {
			t.Errorf("got %s, want %s, error %v", got, want, err)
		}
	}
}

func TestDynamicLabels(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{
		"${PROP('Dim.Else')} ${WHAT} ${MAX('x')} $ {} ${": "${PROP('Dim.Else')} ${WHAT} ${MAX('x')} $ {} ${",

		"${PROP('Dim.QueueName')}: ${MAX}": "a: 40.0",
		`${PROP("MetricName")} ${PROP('Namespace')} ${PROP('Stat')} ${PROP('Period')} ${PROP('Region')} ${PROP('AccountId')}`: "NumberOfMessagesSent AWS/SQS Sum 300 us-east-1 000000000000",
		"${FIRST} ${LAST} ${MIN} ${AVG} ${SUM} ${DATAPOINT_COUNT}":                                                            "15.0 40.0 15.0 27.5 55.0 2",
		"${LABEL}: ${FIRST_LAST_RANGE} ${MIN_MAX_RANGE}":                                                                      "NumberOfMessagesSent: 25.0 25.0",
		"${FIRST_TIME} to ${LAST_TIME}, ${MAX_TIME} ${MIN_TIME_RELATIVE} ${LAST_TIME_RELATIVE}": "2026-11-21 11:50:00 UTC to 2026-11-21 11:55:00 UTC, " +
			"2026-11-21 11:55:00 UTC 10m30s 5m30s",
		"${FIRST_LAST_TIME_RANGE} ${MIN_MAX_TIME_RANGE} ${FIRST_LAST_TIME_RANGE_RELATIVE}": "5m0s 5m0s ${FIRST_LAST_TIME_RANGE_RELATIVE}",
	} {
		q := stat("m", "NumberOfMessagesSent", "a", "Sum", 5*time.Minute)
		q.Label = label
		if got, err := answer(q); err != nil || got != "m="+want+":15,40" {
			t.Errorf("%s: %s, %v", label, got, err)
		}
	}
	s := expression("s", `SEARCH('NumberOfMessagesSent', 'Sum', 300) * 2`, 0)
	s.Label = "${PROP('Dim.QueueName')} ${PROP('MetricName')} ${PROP('Stat')} ${MAX}"
	if got, err := answer(s); err != nil ||
		got != "s=a NumberOfMessagesSent Sum 80.0:30,80 s=b NumberOfMessagesSent Sum 100.0:100,100" {
		t.Errorf("of a search: %s, %v", got, err)
	}
	q := stat("m", "NumberOfMessagesSent", "nowhere", "Sum", 5*time.Minute)
	q.Label = "${LAST} ${LAST_TIME} ${FIRST_TIME_RELATIVE}"
	if got, err := answer(q); err != nil || got != "m=-- -- --:" {
		t.Errorf("without data: %s, %v", got, err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	m := stat("m", "NumberOfMessagesSent", "a", "Sum", time.Minute)
	both := m
	both.Expression = "1"
	for want, queries := range map[string][]metricdata.Query{
		`The id "M" is not valid: it must begin with a lowercase letter and have letters, digits and underscores only`: {expression("M", "1", 0)},
		`The id "m" is there more than once`:                                 {m, m},
		"Error in expression 'm': it has both a metric and an expression":    {both},
		"Error in expression 'm': it has neither a metric nor an expression": {{ID: "m"}},
		"Error in expression 'm': the statistic tm101 is not supported; use SampleCount, Average, Sum, Minimum, Maximum, a percentile such as p99 or a range such as TM(10%:90%)": {stat("m", "x", "a", "tm101", time.Minute)},
		"Error in expression 'm': the period must be 1, 5, 10, 20, 30 or a multiple of 60 seconds":                                                                                {stat("m", "x", "a", "Sum", 15*time.Second)},
		`Error in expression 'e': expected "}", found the end at character 19 of the search`:                                                                                      {expression("e", "SEARCH('{AWS/SQS,QueueName', 'Sum')", 0)},
		"Error in expression 'e': the statistic tm101 is not supported; use SampleCount, Average, Sum, Minimum, Maximum, a percentile such as p99 or a range such as TM(10%:90%)": {expression("e", "SEARCH('{AWS/SQS}', 'tm101')", 0)},
		"Error in expression 'e': the period must be 1, 5, 10, 20, 30 or a multiple of 60 seconds":                                                                                {expression("e", "SEARCH('{AWS/SQS}', 'Sum', 31)", 0)},
		"Error in expression 'e': there is no metric or expression with the id \"n\"":                                                                                             {expression("e", "n", 0)},
		"Error in expression 'a': it refers to itself, directly or through others":                                                                                                {expression("a", "b", 0), expression("b", "a", 0)},
		"Error in expression 'q': a query needs a period":                                                                                                                         {expression("q", "SELECT SUM(m) FROM n", 0)},
		"Error in expression 'q': expected a namespace, found the end at character 19":                                                                                            {expression("q", "SELECT SUM(m) FROM", 0)},
		"Error in expression 'e': it results in a number, and an answer has time series; use TIME_SERIES to make one of it":                                                       {expression("e", "1 + 1", 0)},
	} {
		if _, err := answer(queries...); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// An answer does not depend on the order of the queries.
func TestOrderOfQueriesDoesNotMatter(t *testing.T) {
	t.Parallel()
	hidden := func(q metricdata.Query) metricdata.Query { q.Return = false; return q }
	m1, m2 := hidden(stat("m1", "NumberOfMessagesSent", "a", "Sum", 5*time.Minute)),
		hidden(stat("m2", "NumberOfMessagesSent", "b", "Sum", time.Minute))
	line, first := expression("line", "TIME_SERIES(5)", 0), expression("first", "FIRST(METRICS())", 0)
	for _, queries := range [][]metricdata.Query{
		{line, first, m1, m2}, {m1, m2, line, first}, {first, m1, line, m2},
		{hidden(expression("x", "m2", 0)), line, first, m1, m2},
	} {
		got, err := answer(queries...)
		if err != nil || !strings.Contains(got, "line=line:5,5") || strings.Contains(got, "5,5,5") ||
			!strings.Contains(got, "first=first:15,40") {
			t.Errorf("%s, %v", got, err)
		}
	}
}

// within answers queries of a window for a request with a budget.
func within(t *testing.T, size int64, from, to time.Time,
	queries ...metricdata.Query) (worked, held int, results []metricdata.Result, err error) {
	t.Helper()
	plan, err := metricdata.Check(queries)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := budget.New(size).Begin(t.Context(), scope.Account)
	defer end()
	results, err = plan.Run(ctx, source(), scope, from, to)
	return budget.Of(ctx).Worked(), budget.Of(ctx).Held(), results, err
}

// A window of any length costs no more than the kept data.
func TestWindowsAreBounded(t *testing.T) {
	t.Parallel()
	years := func(n int) time.Time { return now.AddDate(n, 0, 0) }
	for _, q := range []metricdata.Query{
		expression("e", "TIME_SERIES(1)", time.Minute), expression("e", "TIME_SERIES(1)", 24*time.Hour),
		expression("e", "FILL(m, 0)", 0),
		expression("e", "EPOCH(m)", 0), expression("e", "SORT(FILL(SEARCH('sent', 'Sum', 60), 0), SUM, ASC)", 0),
	} {
		m := stat("m", "NumberOfMessagesSent", "a", "Sum", time.Minute)
		worked, held, results, err := within(t, budget.Size, years(-1000), years(4000), q, m)
		if err != nil || worked > 10_000_000 || held > budget.Size/2 {
			t.Errorf("%s: %d samples, %d bytes, %v", q.Expression, worked, held, err)
		}
		for _, r := range results {
			if n := len(r.Points); n > 458*24*60 || n > 0 && r.Points[0].Time.Before(now.AddDate(0, 0, -457)) {
				t.Errorf("%s: %d points from %v", q.Expression, n, r.Points[0].Time)
			}
		}
	}
	past := years(-50)
	worked, _, results, err := within(t, budget.Size, past, past.Add(time.Hour), expression("e", "TIME_SERIES(1)", 0))
	if err != nil || worked > 10 || len(results) != 1 || len(results[0].Points) != 0 {
		t.Errorf("%v: %d samples, %v, %v", past, worked, results, err)
	}
}

// A request is counted before its data is read or computed.
func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	days := func(n int) time.Time { return now.Add(time.Duration(-n) * 24 * time.Hour) }
	var many []metricdata.Query
	for i := range 100 {
		many = append(many, expression(fmt.Sprint("e", i), "FILL(SEARCH('sent', 'Sum', 60), 0)", 0))
	}
	labelled := expression("e", "TIME_SERIES(1)", 0)
	labelled.Label = strings.Repeat("${SUM}", 340)
	if _, _, _, err := within(t, budget.Size, days(400), now, labelled); err == nil ||
		!strings.Contains(err.Error(), "25000000 samples") {
		t.Errorf("a label with hundreds of sums: %v", err)
	}
	for _, queries := range [][]metricdata.Query{
		many,
		{expression("e", "TIME_SERIES(1)"+strings.Repeat("+TIME_SERIES(1)", 100), 0)},
		{expression("q", `SELECT SUM(NumberOfMessagesSent) FROM "AWS/SQS" GROUP BY QueueName`, time.Minute)},
	} {
		_, held, _, err := within(t, 1<<20, days(15), now, queries...)
		if _, ok := errors.AsType[*budget.Excess](err); !ok || held > 1<<19 {
			t.Errorf("%s holds %d bytes: %v", queries[0].Expression, held, err)
		}
	}
}

// Older data is kept in longer periods only.
func TestAlign(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	at := time.Date(2026, 11, 21, 12, 7, 30, 0, time.UTC)
	for _, c := range []struct {
		age, period time.Duration
		want        string
		ok          bool
	}{
		{0, time.Minute, "12:07:00", true},
		{16 * day, time.Minute, "12:05:00", false},
		{16 * day, 5 * time.Minute, "12:05:00", true},
		{64 * day, 5 * time.Minute, "12:00:00", false},
		{64 * day, time.Hour, "12:00:00", true},
		{500 * day, time.Hour, "12:00:00", true},
	} {
		got, ok := metricdata.Align(series.Default, at.Add(c.age), at, c.period)
		if got.Format(time.TimeOnly) != c.want || ok != c.ok {
			t.Errorf("%+v: %s, %v", c, got, ok)
		}
	}
}
