package cloudtrail_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// client returns the SDK's client of CloudTrail for an actor.
func client(endpoint string, a *apitest.Actor) *cloudtrail.Client {
	return cloudtrail.New(cloudtrail.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, Retryer: aws.NopRetryer{}, HTTPClient: apitest.HTTPClient(),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return a.Keys, nil }),
	})
}

func attribute(key types.LookupAttributeKey, value string) *cloudtrail.LookupEventsInput {
	return &cloudtrail.LookupEventsInput{
		LookupAttributes: []types.LookupAttribute{{AttributeKey: key, AttributeValue: &value}},
	}
}

// Every created resource leaves an event that says who did what, but without secrets; messages leave none.
func TestLookupEvents(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	trail := client(s.Endpoint(), root)
	lookup := func(in *cloudtrail.LookupEventsInput) []types.Event {
		t.Helper()
		out, err := trail.LookupEvents(t.Context(), in)
		return apitest.Must(t, out, err).Events
	}
	q, err := root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{
		QueueName: aws.String("jobs"), Attributes: map[string]string{"DelaySeconds": "3"},
	})
	url := apitest.Must(t, q, err).QueueUrl
	if err := root.Send(t, *url); err != nil {
		t.Fatal(err)
	}
	bob, _ := root.User(t, "bob", "")
	if _, err := bob.SQS.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{
		QueueUrl: url,
	}); apitest.Code(err) != "AccessDenied" {
		t.Fatal(err)
	}
	session, err := bob.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
	token := apitest.Must(t, session, err).Credentials.SessionToken
	eventually.True(t, "the event of GetSessionToken",
		func() bool { return len(lookup(attribute(types.LookupAttributeKeyEventName, "GetSessionToken"))) == 1 })

	all := lookup(&cloudtrail.LookupEventsInput{})
	text := ""
	for _, e := range all {
		text += *e.EventName + " "
		if strings.Contains(*e.CloudTrailEvent, *token) ||
			strings.Contains(*e.CloudTrailEvent, bob.Keys.SecretAccessKey) {
			t.Errorf("a secret is in %s", *e.CloudTrailEvent)
		}
	}
	for _, name := range []string{"SendMessage", "GetQueueUrl"} {
		if strings.Contains(text, name) {
			t.Errorf("%s is in the trail: %s", name, text)
		}
	}
	for _, c := range []struct {
		in   *cloudtrail.LookupEventsInput
		want string
	}{
		{attribute(types.LookupAttributeKeyEventName, "CreateQueue"), "CreateQueue"},
		{attribute(types.LookupAttributeKeyResourceName, "jobs"), "DeleteQueue CreateQueue"},
		{attribute(types.LookupAttributeKeyResourceName, "arn:aws:sqs:us-east-1:000000000000:jobs"),
			"DeleteQueue CreateQueue"},
		{attribute(types.LookupAttributeKeyResourceType, "AWS::SQS::Queue"), "DeleteQueue CreateQueue"},
		{attribute(types.LookupAttributeKeyUsername, "bob"), "GetSessionToken DeleteQueue"},
		{attribute(types.LookupAttributeKeyAccessKeyId, bob.Keys.AccessKeyID), "GetSessionToken DeleteQueue"},
		{attribute(types.LookupAttributeKeyEventSource, "sqs.amazonaws.com"), "DeleteQueue CreateQueue"},
		{attribute(types.LookupAttributeKeyEventId, "none"), ""},
		{&cloudtrail.LookupEventsInput{EndTime: aws.Time(time.Now().Add(-time.Hour))}, ""},
		{&cloudtrail.LookupEventsInput{EventCategory: types.EventCategoryInsight}, ""},
	} {
		var names []string
		for _, e := range lookup(c.in) {
			names = append(names, *e.EventName)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.in.LookupAttributes, got, c.want)
		}
	}

	var made struct {
		UserIdentity                        struct{ Type, ARN string }
		RequestParameters, ResponseElements json.RawMessage
		EventSource, ErrorCode              string
	}
	created := lookup(attribute(types.LookupAttributeKeyEventName, "CreateQueue"))[0]
	if err := json.Unmarshal([]byte(*created.CloudTrailEvent), &made); err != nil {
		t.Fatal(err)
	}
	if made.UserIdentity.Type != "Root" ||
		string(made.RequestParameters) != `{"queueName":"jobs","attributes":{"DelaySeconds":"3"}}` ||
		string(made.ResponseElements) != `{"queueUrl":"`+*url+`"}` || *created.ReadOnly != "false" ||
		*created.Username != "root" {
		t.Errorf("the event is %s", *created.CloudTrailEvent)
	}
	refused := lookup(attribute(types.LookupAttributeKeyEventName, "DeleteQueue"))[0]
	if err := json.Unmarshal([]byte(*refused.CloudTrailEvent), &made); err != nil || made.ErrorCode != "AccessDenied" ||
		made.UserIdentity.Type != "IAMUser" {
		t.Errorf("the event is %s", *refused.CloudTrailEvent)
	}
	keys := lookup(attribute(types.LookupAttributeKeyEventName, "CreateAccessKey"))[0]
	if !strings.Contains(*keys.CloudTrailEvent, "HIDDEN_DUE_TO_SECURITY_REASONS") ||
		!strings.Contains(*keys.CloudTrailEvent, bob.Keys.AccessKeyID) {
		t.Errorf("the event is %s", *keys.CloudTrailEvent)
	}

	// Pages.
	var paged []string
	in := &cloudtrail.LookupEventsInput{MaxResults: aws.Int32(1)}
	in.EndTime = aws.Time(*all[0].EventTime)
	for {
		out, err := trail.LookupEvents(t.Context(), in)
		for _, e := range apitest.Must(t, out, err).Events {
			paged = append(paged, *e.EventId)
		}
		if in.NextToken = out.NextToken; in.NextToken == nil {
			break
		}
	}
	first, err := trail.LookupEvents(t.Context(), &cloudtrail.LookupEventsInput{MaxResults: aws.Int32(1)})
	other := attribute(types.LookupAttributeKeyReadOnly, "false")
	other.NextToken = apitest.Must(t, first, err).NextToken
	if _, err := trail.LookupEvents(t.Context(), other); apitest.Code(err) != "InvalidNextTokenException" {
		t.Errorf("a token of other lookup attributes: %v", err)
	}
	if len(paged) < len(all) {
		t.Errorf("%d events in pages, %d at once", len(paged), len(all))
	}
}

func TestLookupRefuses(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	bob, _ := root.User(t, "bob", "")
	able, _ := root.User(t, "able", apitest.Allow("cloudtrail:LookupEvents", "*"))
	two := attribute(types.LookupAttributeKeyEventName, "x")
	two.LookupAttributes = append(two.LookupAttributes, two.LookupAttributes[0])
	now := time.Now()
	for _, c := range []struct {
		who  *apitest.Actor
		in   *cloudtrail.LookupEventsInput
		code string
	}{
		{bob, &cloudtrail.LookupEventsInput{}, "AccessDeniedException"},
		{able, &cloudtrail.LookupEventsInput{}, ""},
		{root, &cloudtrail.LookupEventsInput{MaxResults: aws.Int32(0)}, "ValidationException"},
		{root, &cloudtrail.LookupEventsInput{MaxResults: aws.Int32(51)}, "ValidationException"},
		{root, &cloudtrail.LookupEventsInput{NextToken: aws.String("x")}, "InvalidNextTokenException"},
		{root, &cloudtrail.LookupEventsInput{StartTime: &now, EndTime: aws.Time(now.Add(-time.Second))},
			"InvalidTimeRangeException"},
		{root, attribute("Color", "x"), "ValidationException"},
		{root, two, "InvalidLookupAttributesException"},
		{root, &cloudtrail.LookupEventsInput{LookupAttributes: slices.Repeat(two.LookupAttributes, 2)},
			"InvalidLookupAttributesException"},
		{root, &cloudtrail.LookupEventsInput{EventCategory: "other"}, "ValidationException"},
	} {
		if _, err := client(s.Endpoint(), c.who).LookupEvents(t.Context(), c.in); apitest.Code(err) != c.code {
			t.Errorf("%+v: %v, want %q", c.in, err, c.code)
		}
	}
	_, err := client(s.Endpoint(), bob).LookupEvents(t.Context(), &cloudtrail.LookupEventsInput{})
	const want = "to perform: cloudtrail:LookupEvents because no"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("bob: %v, want %q", err, want)
	}
	// Another account does not see it.
	otherRoot, _ := s.RootOf(apitest.OtherAccount)
	out, err := client(s.Endpoint(), apitest.RootActor(s.Endpoint(), otherRoot)).LookupEvents(t.Context(),
		&cloudtrail.LookupEventsInput{})
	if n := len(apitest.Must(t, out, err).Events); n != 0 {
		t.Errorf("another account sees %d events", n)
	}
}
