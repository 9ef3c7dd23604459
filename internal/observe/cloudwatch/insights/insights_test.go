package insights_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/insights"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/syntax"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`SELECT AVG(NumberOfMessagesSent) FROM "AWS/SQS"`:                                                                         `{Average NumberOfMessagesSent AWS/SQS [] [] []  false 500}`,
		`select max("Backlog") from Mine where Worker = 'a' and "Zone" != 'b' limit 3`:                                            `{Maximum Backlog Mine [] [{Worker a false} {Zone b true}] []  false 3}`,
		"SELECT\nSUM(m)\nFROM SCHEMA(\"AWS/SQS\", QueueName, \"x y\") GROUP BY QueueName, \"x y\" ORDER BY COUNT() DESC LIMIT 10": `{Sum m AWS/SQS [QueueName x y] [] [QueueName x y] SampleCount true 10}`,
		`SELECT MIN(m) FROM n ORDER BY AVG() ASC`:                                                                                 `{Minimum m n [] [] [] Average false 500}`,
	} {
		q, err := insights.Parse(text)
		if err != nil || fmt.Sprint(*q) != want || !insights.Is(text) {
			t.Errorf("%s: %v, %v, want %s", text, q, err, want)
		}
	}
	for _, text := range []string{"SUM(METRICS())", "selected + 1", ""} {
		if insights.Is(text) {
			t.Errorf("%q is not a query", text)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                              "expected SELECT, found the end at character 1",
		"SELECT m FROM n":                               "the function m is not supported; use AVG, COUNT, MAX, MIN or SUM at character 8",
		"SELECT P99(m) FROM n":                          "the function P99 is not supported; use AVG, COUNT, MAX, MIN or SUM at character 8",
		"SELECT AVG(m FROM n":                           `expected ), found "FROM" at character 14`,
		"SELECT AVG(m) FROM":                            "expected a namespace, found the end at character 19",
		"SELECT AVG(m) FROM n WHERE a":                  "expected =, found the end at character 29",
		"SELECT AVG(m) FROM n WHERE a = b":              `expected a value in single quotes, found "b" at character 32`,
		"SELECT AVG(m) FROM n WHERE a = 'b":             "a text begins that does not end at character 32",
		"SELECT AVG(m) FROM n WHERE a > 'b'":            `unexpected '>' at character 30`,
		"SELECT AVG(m) FROM n GROUP QueueName":          `expected BY, found "QueueName" at character 28`,
		"SELECT AVG(m) FROM n ORDER BY x":               "the function x is not supported; use AVG, COUNT, MAX, MIN or SUM at character 31",
		"SELECT AVG(m) FROM n LIMIT 501":                `expected a limit from 1 to 500, found "501" at character 28`,
		"SELECT AVG(m) FROM n LIMIT 1 x":                `unexpected "x" at character 30`,
		"SELECT AVG(m) FROM n WHERE a = 'b' OR c = 'd'": `unexpected "OR" at character 36`,
		"ü":                       `unexpected 'ü' at character 1`,
		strings.Repeat("x", 2049): "a query has at most 2048 characters",
	} {
		_, err := insights.Parse(text)
		if err == nil || err.Error() != want {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	of := func(namespace, metric string, dimensions ...string) series.ID {
		id := series.ID{Namespace: namespace, Metric: metric}
		for i := 0; i < len(dimensions); i += 2 {
			id.Dimensions = append(id.Dimensions, series.Dimension{Name: dimensions[i], Value: dimensions[i+1]})
		}
		return id
	}
	all := []series.ID{
		of("AWS/SQS", "m", "QueueName", "b"), of("AWS/SQS", "m", "QueueName", "a"),
		of("AWS/SQS", "other", "QueueName", "a"),
		of("Mine", "m", "QueueName", "a"), of("AWS/SQS", "m", "QueueName", "a", "Zone", "z"), of("AWS/SQS", "m"),
	}
	for text, want := range map[string]string{
		`SELECT SUM(m) FROM "AWS/SQS"`:                                           "m:4",
		`SELECT SUM(m) FROM SCHEMA("AWS/SQS", QueueName)`:                        "m:2",
		`SELECT SUM(m) FROM SCHEMA("AWS/SQS")`:                                   "m:1",
		`SELECT SUM(m) FROM "AWS/SQS" GROUP BY QueueName`:                        "a:2 b:1",
		`SELECT SUM(m) FROM "AWS/SQS" GROUP BY QueueName, Zone`:                  "a z:1",
		`SELECT SUM(m) FROM "AWS/SQS" WHERE QueueName != 'a' GROUP BY QueueName`: "b:1",
		`SELECT SUM(m) FROM "AWS/SQS" WHERE QueueName = 'a' AND Zone = 'z'`:      "m:1",
		`SELECT SUM(m) FROM "AWS/SQS" WHERE QueueName = 'c'`:                     "",
	} {
		q, err := insights.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, g := range q.Groups(all) {
			got = append(got, fmt.Sprintf("%s:%d", g.Label, len(g.IDs)))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s has %s, want %s", text, s, want)
		}
	}
}

// Values with spaces do not merge two groups.
func TestGroupsAreApart(t *testing.T) {
	t.Parallel()
	of := func(x, y string) series.ID {
		return series.ID{
			Namespace: "n", Metric: "m", Dimensions: []series.Dimension{{Name: "x", Value: x}, {Name: "y", Value: y}},
		}
	}
	q, err := insights.Parse("SELECT SUM(m) FROM n GROUP BY x, y")
	if err != nil {
		t.Fatal(err)
	}
	groups := q.Groups([]series.ID{of("a b", "c"), of("a", "b c"), of("a b", "c")})
	if len(groups) != 2 || len(groups[0].IDs) != 1 || len(groups[1].IDs) != 2 {
		t.Errorf("%+v", groups)
	}
}

func TestTopAndMerge(t *testing.T) {
	t.Parallel()
	at := time.Unix(0, 0)
	point := func(minute int, v float64) series.Point {
		return series.Sample(at.Add(time.Duration(minute)*time.Minute), v)
	}
	merged := insights.Merge([]series.Point{point(0, 1), point(1, 2)}, []series.Point{point(1, 4), point(2, 8)})
	if len(merged) != 3 || merged[1].Count != 2 || insights.Statistic("Average").Of(merged[1]) != 3 {
		t.Errorf("merged to %v", merged)
	}
	results := []insights.Result{{"a", []series.Point{point(0, 1), point(1, 9)}}, {"b", []series.Point{point(0, 6)}},
		{"c", nil}}
	for order, want := range map[string]string{
		"MAX() DESC": "a b", "AVG() DESC": "b a", "COUNT() ASC": "c b", "MIN() DESC": "b a", "SUM()": "c b",
	} {
		q, err := insights.Parse("SELECT SUM(m) FROM n ORDER BY " + order + " LIMIT 2")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range q.Top(slices.Clone(results)) {
			got = append(got, r.Label)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", order, s, want)
		}
	}
}

// FuzzParse checks that errors are ours and point into the text.
func FuzzParse(f *testing.F) {
	f.Add(`SELECT MAX("a") FROM SCHEMA("AWS/SQS", QueueName) WHERE QueueName != 'q' AND b = 'c' GROUP BY QueueName ORDER BY MAX() DESC LIMIT 10`)
	f.Add("select ü")
	f.Fuzz(func(t *testing.T, text string) {
		q, err := insights.Parse(text)
		if err == nil {
			if q.Limit < 1 || q.Limit > insights.MaxLimit || q.Metric == "" || q.Namespace == "" || !insights.Is(text) {
				t.Fatalf("%q becomes %+v", text, q)
			}
			return
		}
		ours, ok := errors.AsType[*syntax.Error](err)
		if !ok || ours.Position < 0 || ours.Position > len([]rune(text))+1 {
			t.Fatalf("%q: %#v", text, err)
		}
	})
}

// FuzzCost looks for the most expensive query to match. The cost of every query is bounded by its length, and covers
// the compared dimensions.
func FuzzCost(f *testing.F) {
	f.Add(`SELECT MAX(m) FROM SCHEMA(n, d0, d1) WHERE d0 != 'q' AND d29 = 'c' GROUP BY d3, d4`, 30)
	f.Add("SELECT SUM(m) FROM n WHERE d29 != 'a'"+strings.Repeat(" AND d29 != 'a'", 100), 30)
	f.Fuzz(func(t *testing.T, text string, dimensions int) {
		q, err := insights.Parse(text)
		if err != nil || dimensions < 0 || dimensions > 30 {
			return
		}
		id := series.ID{Namespace: q.Namespace, Metric: q.Metric}
		for i := range dimensions {
			id.Dimensions = append(id.Dimensions, series.Dimension{Name: fmt.Sprint("d", i), Value: "v"})
		}
		cost := q.Cost(id)
		if most := 1 + dimensions*len(text)/32; cost < 1 || cost > most {
			t.Errorf("%q costs %d, want at most %d", text, cost, most)
		}
		compared := dimensions * (len(q.Schema) + 2*len(q.GroupBy) + len(q.Where))
		if compared > 64*cost {
			t.Errorf("%q costs %d, and makes up to %d comparisons", text, cost, compared)
		}
	})
}
