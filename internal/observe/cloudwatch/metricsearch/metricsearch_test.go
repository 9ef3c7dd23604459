package metricsearch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricsearch"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/syntax"
)

func id(namespace, metric string, dimensions ...string) series.ID {
	out := series.ID{Namespace: namespace, Metric: metric}
	for i := 0; i < len(dimensions); i += 2 {
		out.Dimensions = append(out.Dimensions, series.Dimension{Name: dimensions[i], Value: dimensions[i+1]})
	}
	return out
}

// known are the series that tests search, by a letter.
var known = []series.ID{
	id("AWS/SQS", "NumberOfMessagesSent", "QueueName", "orders"),                 // a
	id("AWS/SQS", "NumberOfMessagesSent", "QueueName", "orders-dead"),            // b
	id("AWS/SQS", "NumberOfMessagesDeleted", "QueueName", "orders"),              // c
	id("AWS/SQS", "NumberOfMessagesSent", "QueueName", "testInvoices2"),          // d
	id("Workers", "BacklogPerWorker", "Fleet", "orders"),                         // e
	id("Workers", "BacklogPerWorker", "Fleet", "orders", "Zone", "eu-west-1"),    // f
	id("Workers", "CPUUtilization"),                                              // g
	id("My Workers", "BacklogPerWorker", "Fleet", `say "hi"`, "Zone", "US-East"), // h
}

func found(q *metricsearch.Query) string {
	out := ""
	for i, id := range known {
		if q.Matches(id) {
			out += string(rune('a' + i))
		}
	}
	return out
}

func TestSearch(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{AWS/SQS,QueueName} MetricName="NumberOfMessagesSent"`:         "abd",
		`{AWS/SQS,QueueName}, MetricName="NumberOfMessagesSent"`:        "abd",
		` { "AWS/SQS" , "QueueName" } `:                                 "abcd",
		`{AWS/SQS}`:                                                     "abcd",
		`{AWS/SQS,QueueName,Zone}`:                                      "",
		`{Workers,Fleet}`:                                               "e",
		`{Workers,Zone,Fleet}`:                                          "f",
		`{Workers}`:                                                     "efg",
		`{"My Workers",Fleet,Zone}`:                                     "h",
		`{AWS/SQS,QueueName} QueueName=orders`:                          "abc",
		`{AWS/SQS,QueueName} QueueName="orders"`:                        "ac",
		`{AWS/SQS,QueueName} QueueName=("orders" OR "orders-dead")`:     "abc",
		`{AWS/SQS,QueueName} "QueueName"=("orders" OR "testInvoices2")`: "acd",
		`{AWS/SQS,QueueName} QueueName=(orders NOT dead) sent`:          "a",
		`{AWS/SQS,QueueName} orders NOT dead AND Sent`:                  "a",
		`{AWS/SQS,QueueName} dead OR invoices`:                          "bd",
		`{AWS/SQS,QueueName} sent AND (dead OR invoices)`:               "bd",
		`{AWS/SQS,QueueName} deleted OR sent dead`:                      "bc",
		`NOT NOT deleted`:                                               "c",
		`{AWS/SQS,QueueName} NOT sent`:                                  "c",
		`orders`:                                                        "abcef",
		`ORDERS-dead`:                                                   "b",
		`ordersdead`:                                                    "b",
		`testinvoices2`:                                                 "d",
		`Invoices2`:                                                     "d",
		`2`:                                                             "d",
		`order`:                                                         "",
		`numberofmessagessent`:                                          "abd",
		`MessagesSent`:                                                  "abd",
		`utilization`:                                                   "g",
		`cpu`:                                                           "g",
		`"CPUutilization"`:                                              "",
		`"CPUUtilization"`:                                              "g",
		`sqs sent dead`:                                                 "b",
		`Namespace=sqs MetricName=sent QueueName=invoices`:              "d",
		`Namespace="AWS/SQS" MetricName="NumberOfMessagesSent" "Fleet"`: "",
		`Namespace="Workers" MetricName="BacklogPerWorker" "Zone"`:      "f",
		`Namespace="My Workers" MetricName="BacklogPerWorker" us-east`:  "h",
		`Fleet="say \"hi\""`:   "h",
		`fleet=orders`:         "",
		`west`:                 "f",
		`MetricName=orders`:    "",
		`NOT QueueName=orders`: "defgh",
		`---`:                  "",
		`{AWS/SQS,QueueName} QueueName=(NOT (dead OR orders) OR "orders")`: "acd",
	} {
		q, err := metricsearch.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := found(q); got != want {
			t.Errorf("%s finds %q, want %q", text, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                               "a search has a namespace in braces, or a term, or both",
		"{}":                             `expected a namespace or the name of a dimension, found "}" at character 2 of the search`,
		"{a b}":                          `expected "}", found "b" at character 4 of the search`,
		"{a":                             `expected "}", found the end at character 3 of the search`,
		"a OR":                           "expected a term, found the end at character 5 of the search",
		"a AND OR b":                     `expected a term, found "OR" at character 7 of the search`,
		"(a":                             `expected ")", found the end at character 3 of the search`,
		"a)":                             `unexpected ")" at character 2 of the search`,
		"ü=":                             "expected a value, found the end at character 3 of the search",
		"a=NOT":                          `expected a value, found "NOT" at character 3 of the search`,
		"= a":                            `expected a term, found "=" at character 1 of the search`,
		`a "b`:                           "a text begins that does not end at character 3 of the search",
		"a*":                             `the placeholder '*' is not supported: a term without quotes finds parts of names at character 2 of the search`,
		":aws.AccountId=1":               "the property :aws.AccountId is not supported at character 1 of the search",
		"a {b}":                          `expected a term, found "{" at character 3 of the search`,
		strings.Repeat("(", 30):          "the search nests more than 20 levels deep at character 21 of the search",
		strings.Repeat("NOT ", 30) + "a": "the search nests more than 20 levels deep at character 81 of the search",
		strings.Repeat("a", 1025):        "a search has at most 1024 characters",
	} {
		if _, err := metricsearch.Parse(text); err == nil || err.Error() != want {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
}

// FuzzParse checks that errors are ours and point into the text, and that a negated search finds all other series.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{AWS/SQS,QueueName} MetricName="NumberOfMessagesSent"`, `a OR (b NOT "c\"") d=(e OR f)`, `{"a b"`,
		`NOT NOT ü=`, `:x=1 *`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := metricsearch.Parse(text)
		if err != nil {
			ours, ok := errors.AsType[*syntax.Error](err)
			if !ok || ours.Position < 0 || ours.Position > len([]rune(text))+1 {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		if strings.Contains(text, "{") {
			found(q)
			return
		}
		not, err := metricsearch.Parse("NOT (" + text + ")")
		if err != nil {
			if len(text) < metricsearch.MaxLength-10 && !strings.Contains(fmt.Sprint(err), "nests") {
				t.Fatalf("%q can be parsed, but not its opposite: %v", text, err)
			}
			return
		}
		if yes, no := found(q), found(not); len(yes)+len(no) != len(known) || strings.ContainsAny(yes, no) {
			t.Fatalf("%q finds %q, its opposite %q", text, yes, no)
		}
	})
}
