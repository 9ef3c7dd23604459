package cloudtrail_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// dataSelector selects the data events of a type of resources.
func dataSelector(kind string, more ...types.AdvancedFieldSelector) types.AdvancedEventSelector {
	return types.AdvancedEventSelector{FieldSelectors: append([]types.AdvancedFieldSelector{
		{Field: aws.String("eventCategory"), Equals: []string{"Data"}},
		{Field: aws.String("resources.type"), Equals: []string{kind}},
	}, more...)}
}

// Calls that send and receive messages are recorded in a trail that selects them, without the messages, and nowhere
// else.
func TestDataEvents(t *testing.T) {
	t.Parallel()
	a := newAuditor(t)
	ctx := t.Context()
	makeQueue := func(name string) *string {
		out, err := a.root.SQS.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name})
		return apitest.Must(t, out, err).QueueUrl
	}
	jobs, quiet := makeQueue("jobs"), makeQueue("quiet")
	topic, err := a.root.SNS.CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String("news")})
	apitest.Must(t, topic, err)
	apitest.Must(t, 0, a.root.Send(t, *jobs)) // before any trail selects it
	apitest.Must(t, 0, apitest.Second(a.trail.CreateTrail(ctx, create("all"))))
	apitest.Must(t, 0,
		apitest.Second(a.trail.PutEventSelectors(ctx,
			&cloudtrail.PutEventSelectorsInput{TrailName: aws.String("all"),
				AdvancedEventSelectors: []types.AdvancedEventSelector{
					dataSelector("AWS::SQS::Queue",
						types.AdvancedFieldSelector{
							Field: aws.String("resources.ARN"), NotEndsWith: []string{":quiet"},
						},
						types.AdvancedFieldSelector{
							Field: aws.String("eventName"), NotEquals: []string{"GetQueueUrl"},
						}),
					dataSelector("AWS::SNS::Topic"),
				}})))
	apitest.Must(t, 0,
		apitest.Second(a.trail.StartLogging(ctx, &cloudtrail.StartLoggingInput{Name: aws.String("all")})))
	const secret = "a message that must stay secret"
	send := func(url *string) {
		t.Helper()
		_, err := a.root.SQS.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: url, MessageBody: aws.String(secret)})
		apitest.Must(t, 0, err)
	}
	send(jobs)
	send(quiet)
	_, err = a.root.SQS.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("jobs")})
	apitest.Must(t, 0, err)
	got, err := a.root.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: jobs, MaxNumberOfMessages: 10})
	message := apitest.Must(t, got, err).Messages[0]
	_, err = a.root.SQS.DeleteMessage(ctx, &sqs.DeleteMessageInput{
		QueueUrl: jobs, ReceiptHandle: message.ReceiptHandle,
	})
	apitest.Must(t, 0, err)
	_, err = a.root.SNS.Publish(ctx, &sns.PublishInput{TopicArn: topic.TopicArn, Message: aws.String(secret)})
	apitest.Must(t, 0, err)
	bob, _ := a.root.User(t, "bob", "")
	if err := bob.Send(t, *jobs); err == nil {
		t.Fatal("bob may send")
	}
	eventually.True(t, "the files", func() bool {
		a.clock.Forward(6 * time.Minute / 10)
		return len(a.files(t, "_CloudTrail_")) > 0
	})
	var events []string
	for _, path := range a.files(t, "_CloudTrail_") {
		f, err := os.Open(path)
		apitest.Must(t, 0, err)
		z, err := gzip.NewReader(f)
		apitest.Must(t, 0, err)
		var file struct{ Records []json.RawMessage }
		apitest.Must(t, 0, json.NewDecoder(z).Decode(&file))
		apitest.Must(t, 0, f.Close())
		for _, text := range file.Records {
			var e struct {
				EventName, EventCategory, ErrorCode string
				ReadOnly, ManagementEvent           bool
				Resources                           []struct{ ARN, Type string }
			}
			apitest.Must(t, 0, json.Unmarshal(text, &e))
			events = append(events, e.EventName+e.ErrorCode)
			if e.EventCategory != "Data" || e.ManagementEvent || len(e.Resources) != 1 ||
				e.ReadOnly != (e.EventName == "ReceiveMessage") || strings.Contains(string(text), secret) {
				t.Errorf("the event is %s", text)
			}
		}
	}
	slices.Sort(events)
	if got := strings.Join(events,
		" "); got != "DeleteMessage Publish ReceiveMessage SendMessage SendMessageAccessDenied" {
		t.Errorf("delivered are %s", got)
	}
	found, err := a.trail.LookupEvents(ctx, attribute(types.LookupAttributeKeyEventName, "SendMessage"))
	if n := len(apitest.Must(t, found, err).Events); n > 0 {
		t.Errorf("%d data events are in the event history", n)
	}
}

// Selectors of objects, functions and tables are stored as they are set, as Terraform modules set them, and select
// nothing.
func TestForeignSelectors(t *testing.T) {
	t.Parallel()
	a := newAuditor(t)
	ctx := t.Context()
	apitest.Must(t, 0, apitest.Second(a.trail.CreateTrail(ctx, create("all"))))
	basic := []types.EventSelector{{
		ReadWriteType: types.ReadWriteTypeAll, IncludeManagementEvents: aws.Bool(true),
		ExcludeManagementEventSources: []string{},
		DataResources: []types.DataResource{
			{Type: aws.String("AWS::S3::Object"), Values: []string{"arn:aws:s3"}},
			{Type: aws.String("AWS::Lambda::Function"), Values: []string{"arn:aws:lambda"}},
			{Type: aws.String("AWS::DynamoDB::Table"), Values: []string{"arn:aws:dynamodb"}},
		},
	}}
	put, err := a.trail.PutEventSelectors(ctx, &cloudtrail.PutEventSelectorsInput{
		TrailName: aws.String("all"), EventSelectors: basic,
	})
	if got := apitest.Must(t, put, err).EventSelectors; !reflect.DeepEqual(got, basic) {
		t.Errorf("put are %+v", got)
	}
	got, err := a.trail.GetEventSelectors(ctx, &cloudtrail.GetEventSelectorsInput{TrailName: aws.String("all")})
	if got := apitest.Must(t, got, err).EventSelectors; !reflect.DeepEqual(got, basic) {
		t.Errorf("got are %+v", got)
	}
	for _, kind := range []string{"AWS::S3::Object", "AWS::Lambda::Function", "AWS::DynamoDB::Table"} {
		put, err := a.trail.PutEventSelectors(ctx,
			&cloudtrail.PutEventSelectorsInput{TrailName: aws.String("all"),
				AdvancedEventSelectors: []types.AdvancedEventSelector{{
					FieldSelectors: []types.AdvancedFieldSelector{{Field: aws.String("eventCategory"),
						Equals: []string{"Data"}}, {Field: aws.String("resources.type"), Equals: []string{kind}}},
				}}})
		if got := apitest.Must(t, put, err).AdvancedEventSelectors; len(got) != 1 ||
			got[0].FieldSelectors[1].Equals[0] != kind {
			t.Errorf("put are %+v", got)
		}
	}
	for _, bad := range []types.DataResource{{Type: aws.String("AWS::SQS::Queue")}, {},
		{Type: aws.String("AWS::S3::Object"), Values: []string{"b"}}} {
		err := apitest.Second(a.trail.PutEventSelectors(ctx, &cloudtrail.PutEventSelectorsInput{
			TrailName:      aws.String("all"),
			EventSelectors: []types.EventSelector{{DataResources: []types.DataResource{bad}}},
		}))
		if apitest.Code(err) != "InvalidEventSelectorsException" {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
