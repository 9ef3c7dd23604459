package selector_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/selector"
)

const queueARN = "arn:aws:sqs:us-east-1:111122223333:jobs"

// events has one event of each kind, by name.
var events = map[string]*trail.Event{
	"create": {EventCategory: "Management", EventSource: "sqs.amazonaws.com", EventName: "CreateQueue",
		Resources: []trail.Resource{{Type: "AWS::SQS::Queue", ARN: queueARN}}},
	"list": {EventCategory: "Management", EventSource: "iam.amazonaws.com", EventName: "ListUsers", ReadOnly: true,
		UserIdentity: trail.Identity{ARN: "arn:aws:iam::111122223333:user/bob"}},
	"send": {EventCategory: "Data", EventSource: "sqs.amazonaws.com", EventName: "SendMessage",
		Resources: []trail.Resource{{Type: "AWS::SQS::Queue", ARN: queueARN}}},
	"get": {EventCategory: "Data", EventSource: "sqs.amazonaws.com", EventName: "GetQueueUrl", ReadOnly: true,
		Resources: []trail.Resource{{Type: "AWS::SQS::Queue", ARN: queueARN + "2"}}},
	"topic": {EventCategory: "Data", EventSource: "sns.amazonaws.com", EventName: "Publish",
		Resources: []trail.Resource{{Type: "AWS::SNS::Topic", ARN: "arn:aws:sns:us-east-1:111122223333:t"}}},
}

func TestTake(t *testing.T) {
	t.Parallel()
	data := func(kind, more string) string {
		return `{"Advanced":[{"Fields":[{"Name":"eventCategory","Equals":["Data"]},{"Name":"resources.type","Equals":["AWS::` + kind + `"]}` + more + `]}]}`
	}
	management := func(more string) string {
		return `{"Advanced":[{"Fields":[{"Name":"eventCategory","Equals":["Management"]}` + more + `]}]}`
	}
	for text, want := range map[string]string{
		`{}`:                                    "create list",
		`{"Basic":[{"ReadWrite":"All"}]}`:       "create list",
		`{"Basic":[{"ReadWrite":"ReadOnly"}]}`:  "list",
		`{"Basic":[{"ReadWrite":"WriteOnly"}]}`: "create",
		`{"Basic":[{"ReadWrite":"All","ExcludeSources":["iam.amazonaws.com"]}]}`: "create",
		`{"Basic":[{"ReadWrite":"All","NoManagement":true}]}`:                    "",
		`{"Basic":[{"ReadWrite":"ReadOnly"},{"ReadWrite":"WriteOnly"}]}`:         "create list",
		management(""): "create list",
		management(`,{"Name":"readOnly","Equals":["true"]}`):                    "list",
		management(`,{"Name":"eventSource","NotEquals":["iam.amazonaws.com"]}`): "create",
		management(`,{"Name":"userIdentity.arn","EndsWith":["/bob","/eve"]}`):   "list",
		data("SQS::Queue", ""): "get send",
		data("SNS::Topic", ""): "topic",
		data("SQS::Queue",
			`,{"Name":"eventName","Equals":["SendMessage"],"StartsWith":["GetQ"]}`): "get send",
		data("SQS::Queue",
			`,{"Name":"eventName","NotEquals":["SendMessage"]}`): "get",
		data("SQS::Queue",
			`,{"Name":"eventName","NotStartsWith":["Send"],"NotEndsWith":["Url"]}`): "",
		data("SQS::Queue",
			`,{"Name":"resources.ARN","EndsWith":["jobs"]}`): "send",
		data("SQS::Queue",
			`,{"Name":"resources.ARN","StartsWith":["arn:aws:sqs:us-east-1:111122223333:"],"NotEndsWith":["jobs"]}`): "get",
		data("SQS::Queue", `,{"Name":"readOnly","Equals":["false"]}`): "send",
	} {
		var s selector.Set
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		var got []string
		for _, name := range []string{"create", "get", "list", "send", "topic"} {
			if s.Take(events[name]) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s selects %v, want %s", text, got, want)
		}
		if takes := strings.Contains(text, `"Data"`); s.TakesData() != takes {
			t.Errorf("%s: selects data events %t", text, !takes)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	field := func(f string) string {
		return `{"Advanced":[{"Fields":[{"Name":"eventCategory","Equals":["Management"]},` + f + `]}]}`
	}
	for text, want := range map[string]string{
		field(`{"Name":"eventCategory","Equals":["Management"]}`): "twice",

		`{"Basic":[{"ReadWrite":"All"}],"Advanced":[{}]}`:                                                         "not both",
		`{"Basic":[{},{},{},{},{},{}]}`:                                                                           "Specify a valid number of selectors (1 to 5) for your trail.",
		`{"Basic":[{"ReadWrite":"None"}]}`:                                                                        "All, ReadOnly or WriteOnly",
		`{"Basic":[{"ReadWrite":"All","ExcludeSources":["kms"]}]}`:                                                "kms.amazonaws.com",
		`{"Advanced":[{}]}`:                                                                                       "needs the field eventCategory",
		`{"Advanced":[{"Fields":[{"Name":"eventCategory","Equals":["Data"]}]}]}`:                                  "needs the field resources.type",
		`{"Advanced":[{"Fields":[{"Name":"eventCategory","Equals":["Insight"]}]}]}`:                               "Management or Data",
		field(`{"Name":"eventName"}`):                                                                             "no operator",
		field(`{"Name":"eventName","Equals":[""]}`):                                                               "1 to 2048",
		field(`{"Name":"color","Equals":["red"]}`):                                                                "no field of that name",
		field(`{"Name":"readOnly","NotEquals":["true"]}`):                                                         "Equals with one value",
		field(`{"Name":"resources.ARN","Equals":["x"]}`):                                                          "are for data events",
		field(`{"Name":"resources.type","Equals":["AWS::S3::Bucket"]}`):                                           "AWS::SQS::Queue or AWS::SNS::Topic",
		`{"Basic":[{"ReadWrite":"All","DataResources":[{"Type":"AWS::SQS::Queue"}]}]}`:                            "Value AWS::SQS::Queue for DataResources.Type is invalid.",
		`{"Basic":[{"ReadWrite":"All","DataResources":[{"Type":"AWS::S3::Object","Values":["arn:aws:sqs:x"]}]}]}`: "Value arn:aws:sqs:x for DataResources.Values is invalid.",
		`{"Basic":[{"ReadWrite":"All","DataResources":[{"Type":"AWS::S3::Object","Values":["` +
			strings.Repeat(`arn:aws:s3","`, 250) +
			`arn:aws:s3"]}]}]}`: "Specify a valid number of DataResources.Values (0 to 250) for all your selectors.",
		field(`{"Name":"eventName","Equals":["` + strings.Repeat(`a","`, 500) + `a"]}`): "at most 500 values",
	} {
		var s selector.Set
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v, want %s", text, err, want)
		}
	}
}

// A client cannot set selectors that AWS refuses; trails that have them from an earlier version keep them.
func TestCheckNew(t *testing.T) {
	t.Parallel()
	check := func(b selector.Basic, want string) {
		t.Helper()
		b.ReadWrite = selector.All
		s := selector.Set{Basic: []selector.Basic{b}}
		if err := s.Check(); err != nil {
			t.Errorf("%+v is refused in a trail: %v", b, err)
		}
		if err := s.CheckNew(); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%+v: %v, want %s", b, err, want)
		}
	}
	resource := func(kind, value string) selector.Basic {
		return selector.Basic{DataResources: []selector.DataResource{{Type: kind, Values: []string{value}}}}
	}
	bad := func(kind, value string) {
		t.Helper()
		check(resource(kind, value), "Value "+value+" for DataResources.Values is invalid.")
	}
	good := func(kind, value string) {
		t.Helper()
		check(resource(kind, value), "")
	}
	check(selector.Basic{NoManagement: true}, "Invalid combination of parameters in EventSelectors. "+
		"When includeManagementEvents is false, DataResources must not be empty.")
	const object, function, table = "AWS::S3::Object", "AWS::Lambda::Function", "AWS::DynamoDB::Table"
	for _, value := range []string{"arn:aws:s3:::*", "arn:aws:s3:::bucket", "arn:aws:s3:::/key"} {
		bad(object, value)
	}
	for _, value := range []string{"arn:aws:s3", "arn:aws:s3:::", "arn:aws:s3:::b/", "arn:aws:s3:::b/key"} {
		good(object, value)
	}
	bad(function, "arn:aws:lambda:*")
	bad(function, "arn:aws:lambda:us-east-1:1:function:f")
	good(function, "arn:aws:lambda")
	good(function, "arn:aws:lambda:us-east-1:111122223333:function:f")
	bad(table, "arn:aws:dynamodb:::t")
	good(table, "arn:aws:dynamodb")
	good(table, "arn:aws:dynamodb:us-east-1:111122223333:table/t")
}

// Selectors for resources of missing services select nothing, and request no data events.
func TestForeignResources(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"Basic":[{"ReadWrite":"All","NoManagement":true,"DataResources":[{"Type":"AWS::S3::Object","Values":["arn:aws:s3"]},{"Type":"AWS::Lambda::Function","Values":["arn:aws:lambda"]}]}]}`,
		`{"Basic":[{"ReadWrite":"All","NoManagement":true,"DataResources":[{"Type":"AWS::DynamoDB::Table","Values":["arn:aws:dynamodb:us-east-1:111122223333:table/t"]}]}]}`,
		`{"Advanced":[{"Fields":[{"Name":"eventCategory","Equals":["Data"]},{"Name":"resources.type","Equals":["AWS::S3::Object"]},{"Name":"resources.ARN","StartsWith":["arn:aws:s3:::b/"]}]}]}`,
		`{"Advanced":[{"Fields":[{"Name":"eventCategory","Equals":["Data"]},{"Name":"resources.type","Equals":["AWS::Lambda::Function"]}]}]}`,
		`{"Advanced":[{"Fields":[{"Name":"eventCategory","Equals":["Data"]},{"Name":"resources.type","Equals":["AWS::DynamoDB::Table"]}]}]}`,
	} {
		var s selector.Set
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		e := &trail.Event{
			EventCategory: "Data", EventName: "SendMessage",
			Resources: []trail.Resource{{Type: "AWS::SQS::Queue", ARN: "arn:aws:sqs:us-east-1:111122223333:q"}},
		}
		if err := s.CheckNew(); err != nil || s.TakesData() || s.Take(e) {
			t.Errorf("%s: %v, selects data %t, selects an event of a queue %t", text, err, s.TakesData(), s.Take(e))
		}
	}
}
