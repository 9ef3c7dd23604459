package metricmath_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricmath"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/syntax"
)

// ser returns a series with periods of a minute: "1 - 3" has a value in the first and third minute.
func ser(text string) metricmath.Series {
	s := metricmath.Series{Period: 60}
	for i, f := range strings.Fields(text) {
		if f == "-" {
			continue
		}
		var v float64
		if _, err := fmt.Sscan(f, &v); err != nil {
			panic(err)
		}
		s.Samples = append(s.Samples, metricmath.Sample{Time: int64(i) * 60, Value: v})
	}
	return s
}

func env() *metricmath.Env {
	a, b, c := ser("1 2 3 4"), ser("10 - 30 0"), ser("- 5 - -")
	return &metricmath.Env{
		End: 240, Period: 60,
		Values: map[string]metricmath.Value{
			"a": metricmath.Of(a), "b": metricmath.Of(b), "c": metricmath.Of(c), "none": metricmath.Of(ser("")),
			"all": metricmath.ListOf([]metricmath.Series{a, b}),
		},
		Metrics: []metricmath.Metric{{ID: "a", Series: a}, {ID: "b1", Series: b}, {ID: "b2", Series: c}},
	}
}

// text formats a value as ser reads it.
func text(v metricmath.Value) string {
	if v.Kind == metricmath.Number {
		return fmt.Sprintf("%.5g", v.Number)
	}
	var all []string
	for _, s := range v.Series {
		slots := []string{"-", "-", "-", "-"}
		for _, p := range s.Samples {
			slots[p.Time/60] = fmt.Sprintf("%.5g", p.Value)
		}
		all = append(all, strings.Join(slots, " "))
	}
	if v.Kind == metricmath.List {
		return "[" + strings.Join(all, "; ") + "]"
	}
	return all[0]
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"1 + 2 * 3":   "7",
		"(1 + 2) * 3": "9",
		"2 ^ 3 ^ 2":   "512",
		"-2 ^ 2":      "-4",
		"8 - 3 - 2":   "3",
		"1.5e2 + .5":  "150.5",
		"1 / 0":       "NaN",

		"a":                "1 2 3 4",
		"a + b":            "11 - 33 4",
		"a * 2":            "2 4 6 8",
		"10 - a":           "9 8 7 6",
		"a / b":            "0.1 - 0.1 -",
		"a > 2":            "0 0 1 1",
		"a >= 2 AND a < 4": "0 1 1 0",
		"a == 1 || a == 4": "1 0 0 1",
		"a != 1 && b > 5":  "0 - 1 0",
		"1 < 2 OR 1":       "1",
		"a > AVG(none)":    "- - - -",
		"all * 2":          "[2 4 6 8; 20 - 60 0]",
		"all - a":          "[0 0 0 0; 9 - 27 -4]",
		"a - all":          "[0 0 0 0; -9 - -27 4]",

		"SUM(a)": "10", "AVG(a)": "2.5", "MIN(b)": "0", "MAX(b)": "30", "SUM(none)": "NaN",
		"SUM(all)": "11 2 33 4", "AVG(all)": "5.5 2 16.5 2", "MAX([a, b])": "10 2 30 4", "MIN([a,b])": "1 2 3 0",
		"SUM(METRICS())": "11 7 33 4", `SUM(METRICS("b"))`: "10 5 30 0", "METRICS('1')": "[10 - 30 0]",
		"ABS(a - 3)": "2 1 0 1", "ABS(-3)": "3", "CEIL(a / 2)": "1 1 2 2", "FLOOR(a / 2)": "0 1 1 2",
		"FLOOR(all / 7)": "[0 0 0 0; 1 - 4 0]",
		"PERIOD(a)":      "60", "a / PERIOD(a) * 60": "1 2 3 4",
		"DIFF(b)": "- - 20 -30", "RATE(b) * 120": "- - 20 -60", "DIFF(all)": "[- 1 1 1; - - 20 -30]",

		"FILL(b, 7)": "10 7 30 0", "FILL(c, REPEAT)": "- 5 5 5", "FILL(b, LINEAR)": "10 20 30 0",
		"FILL(c, LINEAR)": "- 5 - -",
		"FILL(c, a)":      "1 5 3 4", "FILL(none, 0)": "0 0 0 0", "FILL(all, 0)": "[1 2 3 4; 10 0 30 0]",
		"FILL(b, AVG(none))": "10 - 30 0",

		"IF(a > 2, b, -1)": "-1 -1 30 0", "IF(a > 2, b)": "- - 30 0", "IF(1, a, b)": "1 2 3 4",
		"IF(0, a, b)": "10 - 30 0", "IF(0, a)": "- - - -",
		"LOG(a * 0 + 1)": "0 0 0 0", "LOG10(b)": "1 - 1.4771 -",
		"LOG10(all * 10)": "[1 1.301 1.4771 1.6021; 2 - 2.4771 -]",
		"STDDEV(a)":       "1.118", "STDDEV([a, b])": "4.5 0 13.5 2", "STDDEV(none)": "NaN",
		"DATAPOINT_COUNT(b)": "3", "DATAPOINT_COUNT(none)": "0", "DATAPOINT_COUNT(all)": "2 1 2 2",
		"SUM(b) / DATAPOINT_COUNT(b)": "13.333",
		"DIFF_TIME(b)":                "- - 120 60", "RUNNING_SUM(b)": "10 - 40 40",
		"RUNNING_SUM(all)":        "[1 3 6 10; 10 - 40 40]",
		"METRIC_COUNT(METRICS())": "3", "METRIC_COUNT(METRICS('z'))": "0",
		"FIRST(METRICS())": "1 2 3 4", "LAST(METRICS())": "- 5 - -", "FIRST(METRICS('z'))": "- - - -",
		"SLICE(METRICS(), 1)": "[10 - 30 0; - 5 - -]", "SLICE(METRICS(), 0, 1)": "[1 2 3 4]",
		"SLICE(METRICS(), 2, 9)": "[- 5 - -]", "SLICE(METRICS(), 7)": "[]", "SLICE(METRICS(), 2, 1)": "[]",
		"SORT(METRICS(), SUM, DESC)":        "[10 - 30 0; 1 2 3 4; - 5 - -]",
		"SORT(METRICS(), MIN, ASC)":         "[10 - 30 0; 1 2 3 4; - 5 - -]",
		"SORT(METRICS(), AVG, ASC, 2)":      "[1 2 3 4; - 5 - -]",
		"SORT([none, a, b], MAX, ASC)":      "[1 2 3 4; 10 - 30 0; - - - -]",
		"SORT([none, a, b], MAX, DESC)":     "[10 - 30 0; 1 2 3 4; - - - -]",
		"FIRST(SORT(METRICS(), MAX, DESC))": "10 - 30 0",
		"MINUTE(c)":                         "0 1 2 3", "HOUR(a)": "0 0 0 0", "DAY(a)": "4 4 4 4",
		"DATE(none)": "1 1 1 1", "MONTH(a)": "1 1 1 1", "YEAR(a)": "1970 1970 1970 1970", "EPOCH(a)": "0 60 120 180",
		"IF(MINUTE(a) >= 2, a)": "- - 3 4", "EPOCH(all) * 0 + 1": "[1 1 1 1; 1 1 1 1]",
		"IF(b, 1, 0)": "1 - 1 0", "IF(AVG(none), a, b)": "- - - -", "SUM(REMOVE_EMPTY([a, none]))": "1 2 3 4",
		"REMOVE_EMPTY(a)": "1 2 3 4", "TIME_SERIES(SUM(a))": "10 10 10 10", "TIME_SERIES(AVG(none))": "- - - -",
	} {
		e, err := metricmath.Parse(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		v, err := e.Evaluate(env())
		if err != nil || text(v) != want {
			t.Errorf("%s is %s, want %s, error %v", expression, text(v), want, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"":                      "expected a value, found the end at character 1",
		"a +":                   "expected a value, found the end at character 4",
		"a b":                   `unexpected "b" at character 3`,
		"(a":                    `expected ")", found the end at character 3`,
		"a ; b":                 `unexpected ';' at character 3`,
		"ü":                     `unexpected 'ü' at character 1`,
		"SEARCH('x')":           `expected ",", found ")" at character 11`,
		"SEARCH(a, 'b')":        `expected a text in quotes, found "a" at character 8`,
		"SEARCH('x', 'y', 0)":   `expected a period in seconds, found "0" at character 18`,
		"SEARCH('x', 'y', 1.5)": `expected a period in seconds, found "1.5" at character 18`,
		"SEARCH('x', 'y', 1":    `expected ")", found the end at character 19`,
		"1 + SEARCH('x', 'y')":  "SEARCH is not supported here at character 5",
		"[" + strings.Repeat("SEARCH('x', 'y'),", 11) + "a]": "an expression has at most 10 searches at character 172",
		"a + VARIANCE(b)":         "the function VARIANCE is not supported at character 5",
		"Abc":                     `"Abc" is neither a function with its arguments nor an id, which begins with a lowercase letter at character 1`,
		"IF(a)":                   "IF takes 2 or 3 arguments at character 1",
		"IF(a,1,2,3)":             "IF takes 2 or 3 arguments at character 1",
		"SUM()":                   "SUM takes one argument at character 1",
		"FILL(a)":                 "FILL takes 2 arguments at character 1",
		"SUM(a b)":                `expected ",", found "b" at character 7`,
		"[a b]":                   `expected a comma or "]", found "b" at character 4`,
		"'x'":                     "a text can only be an argument of METRICS or SEARCH at character 1",
		"METRICS('x":              "a text begins that does not end at character 9",
		"1e999":                   `"1e999" is not a number at character 1`,
		"FILL(REPEAT, 1)":         `"REPEAT" is neither a function with its arguments nor an id, which begins with a lowercase letter at character 6`,
		strings.Repeat("(", 100):  "the expression nests more than 50 levels deep at character 51",
		strings.Repeat("-", 100):  "the expression nests more than 50 levels deep at character 52",
		strings.Repeat("1", 2049): "an expression has at most 2048 characters",

		"nowhere + 1":    `there is no metric or expression with the id "nowhere" at character 1`,
		"all + all":      `the operator "+" does not take two lists of time series at character 5`,
		"[a, 1]":         "a list has time series, not a number at character 1",
		"[all]":          "a list has time series, not a list of time series at character 1",
		"SUM(1)":         "SUM takes a time series, not a number at character 1",
		"PERIOD(all)":    "PERIOD takes a time series, not a list of time series at character 1",
		"IF(all,1,2)":    "IF does not take a list of time series at character 1",
		"FILL(a, all)":   "FILL does not fill with a list of time series at character 1",
		"TIME_SERIES(a)": "TIME_SERIES takes a number, not a time series at character 1",

		"FIRST(a)":               "FIRST takes a list of time series, not a time series at character 1",
		"METRIC_COUNT(1)":        "METRIC_COUNT takes a list of time series, not a number at character 1",
		"SLICE(all)":             "SLICE takes 2 or 3 arguments at character 1",
		"SLICE(all, 0.5)":        "SLICE takes whole numbers from 0 on as its other arguments at character 1",
		"SLICE(all, 0, -1)":      "SLICE takes whole numbers from 0 on as its other arguments at character 1",
		"SLICE(all, AVG(none))":  "SLICE takes whole numbers from 0 on as its other arguments at character 1",
		"SLICE(all, a)":          "SLICE takes whole numbers from 0 on as its other arguments at character 1",
		"SORT(all, SUM)":         "SORT takes 3 or 4 arguments at character 1",
		"SORT(all, MEDIAN, ASC)": `SORT takes one of AVG, MAX, MIN, SUM here, not "MEDIAN" at character 11`,
		"SORT(all, SUM, UP)":     `SORT takes one of ASC, DESC here, not "UP" at character 16`,
		"SORT(a, SUM, ASC)":      "SORT takes a list of time series, not a time series at character 1",
		"MINUTE(1)":              "MINUTE takes a time series, not a number at character 1",
		"RUNNING_SUM(1)":         "RUNNING_SUM takes a time series, not a number at character 1",
		"DATAPOINT_COUNT(1)":     "DATAPOINT_COUNT takes a time series, not a number at character 1",
	} {
		e, err := metricmath.Parse(expression)
		if err == nil {
			_, err = e.Evaluate(env())
		}
		if err == nil || err.Error() != want {
			t.Errorf("%.60s: %v, want %s", expression, err, want)
		}
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	e, err := metricmath.Parse("m2 + SUM([m1, m2])")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(e.IDs(), e.UsesAll()); got != "[m2 m1] false" {
		t.Errorf("got %s", got)
	}
	if e, err = metricmath.Parse("SUM(METRICS())"); err != nil || !e.UsesAll() {
		t.Errorf("got %v, %v", e, err)
	}
}

// FuzzParse checks that errors are ours and point into the text, and that a parsed expression evaluates to finite
// values. A result without some values, because they are invalid, says so.
func TestDropped(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]bool{
		"a / b": true, "(a / b) * 100": true, "100 / b": true, "a / 0": true, "SUM([a / b, 1 / b])": false,
		"a + b": false, "IF(b > 0, a / b, 0)": false, "IF(b >= 0, a / b)": true, "FILL(a / b, 0)": false,
		"LOG(b)":   true,
		"none / 0": false,
	} {
		parsed, err := metricmath.Parse(expression)
		if err != nil {
			t.Fatal(err)
		}
		v, err := parsed.Evaluate(env())
		if err != nil || v.Series[0].Dropped != want {
			t.Errorf("%s: %+v, %v", expression, v, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"SUM(METRICS('b'))/PERIOD(a)", "IF(a > 2 AND b, FILL(c, REPEAT), -1e3)", "[a, b", "2^-3^.5", "RATE(all)||1",
		"SLICE(SORT(METRICS(), SUM, DESC, 2), 0, 1)", "STDDEV(a)/DATAPOINT_COUNT([a,b])", "LOG(LAST(all))+MINUTE(c)",
		"((((", "ü'\"", `SEARCH('{a,b} c="d"', "Sum", 60)`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		e, err := metricmath.Parse(expression)
		if err == nil {
			var v metricmath.Value
			if v, err = e.Evaluate(env()); err == nil {
				for _, s := range v.Series {
					for i, p := range s.Samples {
						if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) || i > 0 && p.Time <= s.Samples[i-1].Time {
							t.Fatalf("%q has %v", expression, s.Samples)
						}
					}
				}
				return
			}
		}
		ours, ok := errors.AsType[*syntax.Error](err)
		if !ok || ours.Position < 0 || ours.Position > len([]rune(expression))+1 {
			t.Fatalf("%q: %#v", expression, err)
		}
	})
}
