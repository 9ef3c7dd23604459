package cloudtrail_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
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
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// auditor is a server with a bucket, audit, and a clock that can be advanced.
type auditor struct {
	*server.Server
	dir   string
	clock *apitest.Clock
	root  *apitest.Actor
	trail *cloudtrail.Client
}

func newAuditor(t *testing.T, change ...func(*server.Config)) *auditor {
	t.Helper()
	a := &auditor{dir: t.TempDir(), clock: new(apitest.Clock)}
	apitest.Must(t, 0, os.Mkdir(filepath.Join(a.dir, "audit"), 0o755))
	config := servertest.InMemory()
	config.TrailDir, config.Now = a.dir, a.clock.Now
	for _, f := range change {
		f(&config)
	}
	a.Server, _ = servertest.Start(t, config)
	a.root = apitest.NewActor(a.Endpoint(), a.Root().AccessKeyID, a.Root().Secret, "", a.clock.Now)
	a.trail = a.client(a.root, "us-east-1")
	return a
}

func (a *auditor) client(who *apitest.Actor, region string) *cloudtrail.Client {
	endpoint := a.Endpoint()
	return cloudtrail.New(cloudtrail.Options{
		Region: region, BaseEndpoint: &endpoint, Retryer: aws.NopRetryer{}, HTTPClient: apitest.HTTPClient(),
		HTTPSignerV4: apitest.SignerAt(a.clock.Now),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return who.Keys, nil
		}),
	})
}

// files returns the paths in the bucket whose names contain a text.
func (a *auditor) files(t *testing.T, part string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(a.dir, "audit"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, part) && strings.HasSuffix(path, ".json.gz") {
			out = append(out, path)
		}
		return err
	})
	apitest.Must(t, 0, err)
	return out
}

// events returns the names of the events in the files of the bucket.
func (a *auditor) events(t *testing.T) (out []string) {
	t.Helper()
	for _, path := range a.files(t, "_CloudTrail_") {
		f, err := os.Open(path)
		apitest.Must(t, 0, err)
		z, err := gzip.NewReader(f)
		apitest.Must(t, 0, err)
		var file struct{ Records []struct{ EventName string } }
		apitest.Must(t, 0, json.NewDecoder(z).Decode(&file))
		apitest.Must(t, 0, f.Close())
		for _, e := range file.Records {
			out = append(out, e.EventName)
		}
	}
	slices.Sort(out)
	return out
}

const arn = "arn:aws:cloudtrail:us-east-1:000000000000:trail/all"

// A trail is created with Terraform's calls, and delivers events to its bucket.
func TestTerraform(t *testing.T) {
	t.Parallel()
	a := newAuditor(t)
	ctx := t.Context()
	topic, err := a.root.SNS.CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String("files")})
	topicARN := apitest.Must(t, topic, err).TopicArn
	queue, err := a.root.SQS.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("told")})
	url := apitest.Must(t, queue, err).QueueUrl
	_, err = a.root.SNS.Subscribe(ctx, &sns.SubscribeInput{
		TopicArn: topicARN, Protocol: aws.String("sqs"),
		Endpoint:   aws.String("arn:aws:sqs:us-east-1:000000000000:told"),
		Attributes: map[string]string{"RawMessageDelivery": "true"},
	})
	apitest.Must(t, 0, err)
	policy := apitest.Allowing("*", "sqs:SendMessage", "arn:aws:sqs:us-east-1:000000000000:told", "")
	_, err = a.root.SQS.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{
		QueueUrl: url, Attributes: map[string]string{"Policy": `{"Version":"2012-10-17","Statement":[` + policy + `]}`},
	})
	apitest.Must(t, 0, err)

	made, err := a.trail.CreateTrail(ctx, &cloudtrail.CreateTrailInput{
		Name: aws.String("all"), S3BucketName: aws.String("audit"), S3KeyPrefix: aws.String("logs"),
		SnsTopicName:               topicARN,
		IncludeGlobalServiceEvents: aws.Bool(true), IsMultiRegionTrail: aws.Bool(false),
		IsOrganizationTrail:     aws.Bool(false),
		EnableLogFileValidation: aws.Bool(true),
		TagsList:                []types.Tag{{Key: aws.String("team"), Value: aws.String("red")}},
	})
	if out := apitest.Must(t, made, err); *out.TrailARN != arn || !*out.LogFileValidationEnabled ||
		*out.SnsTopicARN != *topicARN {
		t.Fatalf("made %+v", out)
	}
	_, err = a.trail.StartLogging(ctx, &cloudtrail.StartLoggingInput{Name: aws.String(arn)})
	apitest.Must(t, 0, err)
	put, err := a.trail.PutEventSelectors(ctx,
		&cloudtrail.PutEventSelectorsInput{TrailName: aws.String(arn), EventSelectors: []types.EventSelector{
			{ReadWriteType: types.ReadWriteTypeWriteOnly, IncludeManagementEvents: aws.Bool(true)},
		}})
	apitest.Must(t, put, err)
	described, err := a.trail.DescribeTrails(ctx, &cloudtrail.DescribeTrailsInput{TrailNameList: []string{arn}})
	list := apitest.Must(t, described, err).TrailList
	if len(list) != 1 || *list[0].HomeRegion != "us-east-1" || !*list[0].HasCustomEventSelectors ||
		*list[0].HasInsightSelectors || *list[0].S3KeyPrefix != "logs" {
		t.Errorf("described are %+v", list)
	}
	tags, err := a.trail.ListTags(ctx, &cloudtrail.ListTagsInput{ResourceIdList: []string{arn}})
	if out := apitest.Must(t, tags, err).ResourceTagList; len(out) != 1 || *out[0].ResourceId != arn ||
		len(out[0].TagsList) != 1 || *out[0].TagsList[0].Value != "red" {
		t.Errorf("the tags are %+v", out)
	}
	got, err := a.trail.GetEventSelectors(ctx, &cloudtrail.GetEventSelectorsInput{TrailName: aws.String(arn)})
	if out := apitest.Must(t, got, err).EventSelectors; len(out) != 1 ||
		out[0].ReadWriteType != types.ReadWriteTypeWriteOnly || !*out[0].IncludeManagementEvents {
		t.Errorf("the selectors are %+v", out)
	}
	status := func() *cloudtrail.GetTrailStatusOutput {
		out, err := a.trail.GetTrailStatus(ctx, &cloudtrail.GetTrailStatusInput{Name: aws.String(arn)})
		return apitest.Must(t, out, err)
	}
	if s := status(); !*s.IsLogging || s.StartLoggingTime == nil || s.LatestDeliveryTime != nil ||
		s.StopLoggingTime != nil {
		t.Errorf("the status is %+v", s)
	}

	a.clock.Forward(6 * time.Minute)
	eventually.True(t, "a delivered file", func() bool { return status().LatestDeliveryTime != nil })
	// Calls from before the trail was switched on are missing from it, and reads are not selected.
	if got, want := a.events(t), []string{"PutEventSelectors"}; !slices.Equal(got, want) {
		t.Errorf("delivered are %v, want %v", got, want)
	}
	if s := status(); s.LatestNotificationTime == nil || s.LatestDeliveryError != nil ||
		*s.LatestDeliveryAttemptSucceeded == "" {
		t.Errorf("the status is %+v", s)
	}
	told, err := a.root.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: url, WaitTimeSeconds: 10})
	messages := apitest.Must(t, told, err).Messages
	if len(messages) != 1 ||
		!strings.HasPrefix(*messages[0].Body,
			`{"s3Bucket":"audit","s3ObjectKey":["logs/AWSLogs/000000000000/CloudTrail/us-east-1/`) {
		t.Errorf("the topic was sent %+v", messages)
	}

	_, err = a.trail.UpdateTrail(ctx, &cloudtrail.UpdateTrailInput{
		Name: aws.String("all"), SnsTopicName: aws.String(""),
	})
	apitest.Must(t, 0, err)
	_, err = a.trail.StopLogging(ctx, &cloudtrail.StopLoggingInput{Name: aws.String(arn)})
	apitest.Must(t, 0, err)
	if s := status(); *s.IsLogging || s.StopLoggingTime == nil {
		t.Errorf("the status is %+v", s)
	}
	_, err = a.trail.DeleteTrail(ctx, &cloudtrail.DeleteTrailInput{Name: aws.String(arn)})
	apitest.Must(t, 0, err)
	_, err = a.trail.GetTrail(ctx, &cloudtrail.GetTrailInput{Name: aws.String("all")})
	apitest.Refused[*types.TrailNotFoundException](t, err, "TrailNotFoundException")
	// The record of calls contains all of that.
	found, err := a.trail.LookupEvents(ctx, attribute(types.LookupAttributeKeyResourceType, "AWS::CloudTrail::Trail"))
	var names []string
	for _, e := range apitest.Must(t, found, err).Events {
		if *e.ReadOnly == "false" {
			names = append(names, *e.EventName)
		}
	}
	if got := strings.Join(names,
		" "); got != "DeleteTrail StopLogging UpdateTrail PutEventSelectors StartLogging CreateTrail" {
		t.Errorf("recorded are %s", got)
	}
}

// create creates a trail.
func create(name string, change ...func(*cloudtrail.CreateTrailInput)) *cloudtrail.CreateTrailInput {
	in := &cloudtrail.CreateTrailInput{Name: &name, S3BucketName: aws.String("audit")}
	for _, f := range change {
		f(in)
	}
	return in
}

// Trails say that deliveries are recorded, as AWS's do by default. SDKs that do not know this field yet skip it.
func TestRecursiveLogging(t *testing.T) {
	t.Parallel()
	a := newAuditor(t)
	for _, c := range [][2]string{
		{"CreateTrail", `{"Name":"all","S3BucketName":"audit"}`}, {"UpdateTrail", `{"Name":"all"}`},
		{"GetTrail", `{"Name":"all"}`}, {"DescribeTrails", `{}`},
	} {
		r, err := http.NewRequest(http.MethodPost, a.Endpoint(), strings.NewReader(c[1]))
		apitest.Must(t, r, err)
		r.Header.Set("Content-Type", "application/x-amz-json-1.1")
		r.Header.Set("X-Amz-Target", "CloudTrail_20131101."+c[0])
		apitest.SignAt(t, r, a.Root(), "cloudtrail", "us-east-1", a.clock.Now())
		if status, body := apitest.Exchange(t, r); status != http.StatusOK ||
			!strings.Contains(body, `"RecursiveLogging":true`) {
			t.Errorf("%s: %d %s", c[0], status, body)
		}
	}
}

// An account's trails write to its own buckets only, and name a topic of another account only if that topic's policy
// lets CloudTrail publish for them: a forbidden topic and a missing one get the same answer.
func TestTrailsOfOtherAccounts(t *testing.T) {
	t.Parallel()
	a := newAuditor(t, func(c *server.Config) {
		c.TrailBuckets = []string{"audit=" + apitest.Account, "shared=" + apitest.Account,
			"shared=" + apitest.OtherAccount}
	})
	apitest.Must(t, 0, os.Mkdir(filepath.Join(a.dir, "shared"), 0o755))
	apitest.Must(t, 0, os.Mkdir(filepath.Join(a.dir, "nobodys"), 0o755))
	ctx := t.Context()
	otherKey, _ := a.RootOf(apitest.OtherAccount)
	other := a.client(apitest.NewActor(a.Endpoint(), otherKey.AccessKeyID, otherKey.Secret, "", a.clock.Now),
		"us-east-1")
	made, err := a.root.SNS.CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String("closed")})
	closed := *apitest.Must(t, made, err).TopicArn
	made, err = a.root.SNS.CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String("open")})
	open := *apitest.Must(t, made, err).TopicArn
	_, err = a.root.SNS.SetTopicAttributes(ctx,
		&sns.SetTopicAttributesInput{TopicArn: &open, AttributeName: aws.String("Policy"), AttributeValue: aws.String(
			`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"Service":"cloudtrail.amazonaws.com"},"Action":"SNS:Publish","Resource":"` + open +
				`","Condition":{"StringEquals":{"aws:SourceArn":"arn:aws:cloudtrail:us-east-1:` + apitest.OtherAccount +
				`:trail/theirs"}}}}`)})
	apitest.Must(t, 0, err)
	create := func(name, bucket, topic string) error {
		in := &cloudtrail.CreateTrailInput{Name: &name, S3BucketName: &bucket}
		if topic != "" {
			in.SnsTopicName = &topic
		}
		return apitest.Second(other.CreateTrail(ctx, in))
	}
	for i, c := range []struct {
		err  error
		code string
	}{
		{create("theirs", "audit", ""), "InsufficientS3BucketPolicyException"},
		{create("theirs", "nobodys", ""), "InsufficientS3BucketPolicyException"},
		{apitest.Second(a.trail.CreateTrail(ctx, &cloudtrail.CreateTrailInput{
			Name: aws.String("ours"), S3BucketName: aws.String("nobodys"),
		})), "InsufficientS3BucketPolicyException"},
		{apitest.Second(a.trail.CreateTrail(ctx, &cloudtrail.CreateTrailInput{
			Name: aws.String("ours"), S3BucketName: aws.String("audit"), SnsTopicName: &closed,
		})), ""},
		{create("not-theirs", "shared", open), "InsufficientSnsTopicPolicyException"},
		{create("theirs", "shared", open), ""},
		{apitest.Second(other.UpdateTrail(ctx, &cloudtrail.UpdateTrailInput{
			Name: aws.String("theirs"), S3BucketName: aws.String("audit"),
		})), "InsufficientS3BucketPolicyException"},
	} {
		if apitest.Code(c.err) != c.code {
			t.Errorf("%d: %v, want %q", i, c.err, c.code)
		}
	}
	missing := strings.Replace(closed, "closed", "missing", 1)
	there, absent := create("other", "shared", closed), create("other", "shared", missing)
	var a1, a2 *types.InsufficientSnsTopicPolicyException
	if !errors.As(there, &a1) || !errors.As(absent, &a2) || *a1.Message != *a2.Message {
		t.Errorf("an existing topic gets %v, a missing one %v", there, absent)
	}
}

// Invalid requests are refused with CloudTrail's errors and change nothing.
func TestTrailRefuses(t *testing.T) {
	t.Parallel()
	a := newAuditor(t)
	ctx := t.Context()
	make := func(in *cloudtrail.CreateTrailInput) error { return apitest.Second(a.trail.CreateTrail(ctx, in)) }
	apitest.Must(t, 0, make(create("all")))
	with := func(f func(*cloudtrail.CreateTrailInput)) error { return make(create("other", f)) }
	selectors := func(s ...types.AdvancedEventSelector) error {
		return apitest.Second(a.trail.PutEventSelectors(ctx, &cloudtrail.PutEventSelectorsInput{
			TrailName: aws.String("all"), AdvancedEventSelectors: s,
		}))
	}
	elsewhere := a.client(a.root, "eu-west-1")
	nobody, _ := a.root.User(t, "nobody", "")
	otherKey, _ := a.RootOf(apitest.OtherAccount)
	other := apitest.NewActor(a.Endpoint(), otherKey.AccessKeyID, otherKey.Secret, "", a.clock.Now)
	tag := func(key string) []types.Tag { return []types.Tag{{Key: &key}} }
	for i, c := range []struct {
		err  error
		code string
	}{
		{make(create("all")), "TrailAlreadyExistsException"},
		{make(create("a")), "InvalidTrailNameException"},
		{make(create("-ab")), "InvalidTrailNameException"},
		{make(create("a--b")), "InvalidTrailNameException"},
		{make(create("1.2.3.4")), "InvalidTrailNameException"},
		{make(create(strings.Repeat("a", 129))), "InvalidTrailNameException"},
		{make(create(arn)), "InvalidTrailNameException"},
		{with(func(in *cloudtrail.CreateTrailInput) { in.S3BucketName = aws.String("nowhere") }),
			"S3BucketDoesNotExistException"},
		{with(func(in *cloudtrail.CreateTrailInput) { in.S3BucketName = aws.String("../x") }),
			"InvalidS3BucketNameException"},
		{with(func(in *cloudtrail.CreateTrailInput) { in.S3KeyPrefix = aws.String("../x") }),
			"InvalidS3PrefixException"},
		{with(func(in *cloudtrail.CreateTrailInput) { in.S3KeyPrefix = aws.String(strings.Repeat("a", 201)) }),
			"InvalidS3PrefixException"},
		{with(func(in *cloudtrail.CreateTrailInput) { in.S3KeyPrefix = aws.String("a/AWSLogs/b") }),
			"InvalidS3PrefixException"},
		{with(func(in *cloudtrail.CreateTrailInput) { in.SnsTopicName = aws.String("nowhere") }),
			"InsufficientSnsTopicPolicyException"},
		{with(func(in *cloudtrail.CreateTrailInput) { in.SnsTopicName = aws.String("a b") }),
			"InvalidSnsTopicNameException"},
		{with(func(in *cloudtrail.CreateTrailInput) {
			in.IsMultiRegionTrail, in.IncludeGlobalServiceEvents = aws.Bool(true), aws.Bool(false)
		}), "InvalidParameterCombinationException"},
		{with(func(in *cloudtrail.CreateTrailInput) { in.KmsKeyId = aws.String("k") }),
			"UnsupportedOperationException"},
		{with(func(in *cloudtrail.CreateTrailInput) { in.IsOrganizationTrail = aws.Bool(true) }),
			"UnsupportedOperationException"},
		{with(func(in *cloudtrail.CreateTrailInput) { in.TagsList = tag("aws:x") }), "InvalidTagParameterException"},
		{with(func(in *cloudtrail.CreateTrailInput) { in.TagsList = append(tag("x"), tag("x")...) }),
			"InvalidTagParameterException"},
		{with(func(in *cloudtrail.CreateTrailInput) {
			for i := range 51 {
				in.TagsList = append(in.TagsList, tag(fmt.Sprint("k", i))...)
			}
		}), "TagsLimitExceededException"},
		{apitest.Second(a.trail.StartLogging(ctx, &cloudtrail.StartLoggingInput{Name: aws.String("none")})),
			"TrailNotFoundException"},
		{apitest.Second(a.trail.GetTrailStatus(ctx, &cloudtrail.GetTrailStatusInput{
			Name: aws.String("arn:aws:cloudtrail:x"),
		})), "CloudTrailARNInvalidException"},
		{apitest.Second(a.trail.AddTags(ctx, &cloudtrail.AddTagsInput{
			ResourceId: aws.String(arn + "s"), TagsList: tag("k"),
		})), "ResourceNotFoundException"},
		{apitest.Second(a.trail.AddTags(ctx, &cloudtrail.AddTagsInput{
			ResourceId: aws.String(strings.Replace(arn, "trail/", "channel/", 1)), TagsList: tag("k"),
		})), "ResourceTypeNotSupportedException"},
		{apitest.Second(elsewhere.GetTrail(ctx, &cloudtrail.GetTrailInput{Name: aws.String("all")})),
			"TrailNotFoundException"},
		{apitest.Second(elsewhere.GetTrail(ctx, &cloudtrail.GetTrailInput{Name: aws.String(arn)})), ""},
		{apitest.Second(elsewhere.StartLogging(ctx, &cloudtrail.StartLoggingInput{Name: aws.String(arn)})),
			"InvalidHomeRegionException"},
		{selectors(types.AdvancedEventSelector{
			FieldSelectors: []types.AdvancedFieldSelector{{Field: aws.String("color"), Equals: []string{"x"}}},
		}), "InvalidEventSelectorsException"},
		{selectors(), "InvalidEventSelectorsException"},
		{apitest.Second(a.trail.PutEventSelectors(ctx, &cloudtrail.PutEventSelectorsInput{
			TrailName:      aws.String("all"),
			EventSelectors: slices.Repeat([]types.EventSelector{{ReadWriteType: types.ReadWriteTypeAll}}, 6),
		})), "InvalidEventSelectorsException"},
		{apitest.Second(a.trail.ListEventDataStores(ctx, &cloudtrail.ListEventDataStoresInput{})),
			"UnsupportedOperationException"},
		{apitest.Second(a.client(nobody, "us-east-1").GetTrail(ctx, &cloudtrail.GetTrailInput{
			Name: aws.String("all"),
		})), "AccessDeniedException"},
		{apitest.Second(a.client(nobody, "us-east-1").ListPublicKeys(ctx, &cloudtrail.ListPublicKeysInput{})),
			"AccessDeniedException"},
		{apitest.Second(a.client(other, "us-east-1").GetTrail(ctx, &cloudtrail.GetTrailInput{Name: aws.String(arn)})),
			"AccessDeniedException"},
		{apitest.Second(a.trail.ListTrails(ctx, &cloudtrail.ListTrailsInput{NextToken: aws.String("x")})),
			"InvalidNextTokenException"},
		{apitest.Second(a.trail.ListTags(ctx, &cloudtrail.ListTagsInput{
			ResourceIdList: []string{arn}, NextToken: aws.String("x"),
		})), "InvalidTokenException"},
	} {
		if apitest.Code(c.err) != c.code {
			t.Errorf("%d: %v, want %q", i, c.err, c.code)
		}
	}
	foreign := strings.Replace(arn, apitest.Account, "111111111111", 1)
	const account = "AccountID in ARN is wrong, you can only access resources with AccountID " + apitest.Account + "."
	for _, c := range []struct {
		in   *cloudtrail.Client
		arn  string
		want string
	}{
		{a.trail, foreign, account},
		{elsewhere, foreign, account},
		{elsewhere, arn, "Region in ARN is wrong, you can only access resources in region eu-west-1."},
	} {
		err := apitest.Second(c.in.ListTags(ctx, &cloudtrail.ListTagsInput{ResourceIdList: []string{c.arn}}))
		if apitest.Code(err) != "CloudTrailARNInvalidException" || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("tags of %s: %v, want %s", c.arn, err, c.want)
		}
	}
	for i := range 4 {
		apitest.Must(t, 0, make(create(fmt.Sprint("more", i))))
	}
	if err := make(create("sixth")); apitest.Code(err) != "MaximumNumberOfTrailsExceededException" {
		t.Errorf("a sixth trail: %v", err)
	}
	apitest.Must(t, 0, apitest.Second(elsewhere.CreateTrail(ctx, create("there"))))
	listed, err := a.trail.ListTrails(ctx, &cloudtrail.ListTrailsInput{})
	if n := len(apitest.Must(t, listed, err).Trails); n != 6 {
		t.Errorf("%d trails are listed", n)
	}
}

// Clients can make up regions, but these do not raise an account's number of trails without bound.
func TestMostTrailsOfAccount(t *testing.T) {
	t.Parallel()
	a := newAuditor(t)
	for i := range 51 {
		made := a.client(a.root, fmt.Sprint("made-up-", i))
		err := apitest.Second(made.CreateTrail(t.Context(), create("one")))
		if (apitest.Code(err) == "MaximumNumberOfTrailsExceededException") != (i == 50) || err != nil && i < 50 {
			t.Fatalf("trail %d: %v", i, err)
		}
	}
}

// A trail of all regions is visible in each, and a user needs the permission for the trail that it names.
func TestShadowTrails(t *testing.T) {
	t.Parallel()
	a := newAuditor(t)
	ctx := t.Context()
	_, err := a.trail.CreateTrail(ctx,
		create("all", func(in *cloudtrail.CreateTrailInput) { in.IsMultiRegionTrail = aws.Bool(true) }))
	apitest.Must(t, 0, err)
	_, err = a.trail.CreateTrail(ctx, create("here"))
	apitest.Must(t, 0, err)
	here := strings.Replace(arn, "all", "here", 1)
	elsewhere := a.client(a.root, "eu-west-1")
	for _, c := range []struct {
		in   *cloudtrail.DescribeTrailsInput
		want int
	}{
		{&cloudtrail.DescribeTrailsInput{}, 1},
		{&cloudtrail.DescribeTrailsInput{IncludeShadowTrails: aws.Bool(false)}, 0},
		{&cloudtrail.DescribeTrailsInput{TrailNameList: []string{arn}}, 1},
		{&cloudtrail.DescribeTrailsInput{TrailNameList: []string{"all"}}, 0},
		{&cloudtrail.DescribeTrailsInput{TrailNameList: []string{arn + "x"}}, 0},
		{&cloudtrail.DescribeTrailsInput{TrailNameList: []string{here}}, 1},
		{&cloudtrail.DescribeTrailsInput{TrailNameList: []string{here, arn}}, 2},
		{&cloudtrail.DescribeTrailsInput{TrailNameList: []string{here}, IncludeShadowTrails: aws.Bool(false)}, 0},
	} {
		out, err := elsewhere.DescribeTrails(ctx, c.in)
		if got := len(apitest.Must(t, out, err).TrailList); got != c.want {
			t.Errorf("%+v: %d trails", c.in, got)
		}
	}
	able, _ := a.root.User(t, "able", apitest.Allow("cloudtrail:StartLogging", arn))
	as := a.client(able, "us-east-1")
	apitest.Must(t, 0, apitest.Second(as.StartLogging(ctx, &cloudtrail.StartLoggingInput{Name: aws.String("all")})))
	if _, err := as.StopLogging(ctx, &cloudtrail.StopLoggingInput{
		Name: aws.String("all"),
	}); apitest.Code(err) != "AccessDeniedException" {
		t.Errorf("StopLogging: %v", err)
	}
}
