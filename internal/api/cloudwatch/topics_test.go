package cloudwatch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/server/servertest"
	"github.com/sluicemq/sluice/test/program"
)

// Events of a topic are metrics in AWS/SNS once their minute is over: publications, deliveries to a queue and to an
// endpoint, messages that a filter rejects, refused requests, and the outcomes of failed deliveries.
func TestMetricsOfTopics(t *testing.T) {
	program.Long(t) // a minute is counted when it is over
	t.Parallel()
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct{ Type, SubscribeURL string }
		switch err := json.NewDecoder(r.Body).Decode(&m); {
		case err != nil:
			t.Error(err)
		case m.Type == "SubscriptionConfirmation":
			if answer, err := http.Get(m.SubscribeURL); err == nil {
				_ = answer.Body.Close()
			}
		case r.URL.Path == "/gone":
			w.WriteHeader(http.StatusGone)
		}
	}))
	t.Cleanup(endpoint.Close)
	c := servertest.InMemory()
	c.EgressAllow = []string{"127.0.0.1"}
	s, _ := servertest.Start(t, c)
	root := apitest.RootActor(s.Endpoint(), s.Root())
	ctx := t.Context()

	topic, _ := mailbox(t, root) // one queue that accepts the messages
	name := topic[len("arn:aws:sns:us-east-1:000000000000:"):]
	closed, err := root.SQS.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("closed")})
	apitest.Must(t, closed, err)
	subscribe := func(protocol, to string, attributes map[string]string) string {
		t.Helper()
		out, err := root.SNS.Subscribe(ctx, &sns.SubscribeInput{
			TopicArn: &topic, Protocol: &protocol, Endpoint: &to, Attributes: attributes, ReturnSubscriptionArn: true,
		})
		return *apitest.Must(t, out, err).SubscriptionArn
	}
	const arn = "arn:aws:sqs:us-east-1:000000000000:"
	subscribe("sqs", arn+"closed", map[string]string{"RedrivePolicy": `{"deadLetterTargetArn":"` + arn + `nowhere"}`})
	subscribe("sqs", arn+"other", map[string]string{"FilterPolicy": `{"stage":["live"]}`})
	subscribe("sqs", arn+"another", map[string]string{
		"FilterPolicy": `{"stage":["live"]}`, "FilterPolicyScope": "MessageBody",
	})
	for _, path := range []string{"/here", "/gone"} {
		sub := subscribe("http", endpoint.URL+path, nil)
		eventually.Succeeds(t, func() error {
			out, err := root.SNS.GetSubscriptionAttributes(ctx, &sns.GetSubscriptionAttributesInput{
				SubscriptionArn: &sub,
			})
			if err == nil && out.Attributes["PendingConfirmation"] != "false" {
				err = errors.New("it was not confirmed")
			}
			return err
		})
	}
	for range 3 {
		_, err := root.SNS.Publish(ctx, &sns.PublishInput{TopicArn: &topic, Message: aws.String("0123456789")})
		apitest.Must(t, 0, err)
	}
	_, err = root.SNS.Publish(ctx, &sns.PublishInput{
		TopicArn: &topic, Message: aws.String(`{"stage":1}`),
		MessageAttributes: map[string]snstypes.MessageAttributeValue{
			"a": {DataType: aws.String("String"), StringValue: aws.String("b")},
		},
	})
	apitest.Must(t, 0, err)

	sum := func(metric string) (sum, samples float64, err error) {
		out, err := root.CW.GetMetricStatistics(ctx, &cloudwatch.GetMetricStatisticsInput{
			Namespace: aws.String("AWS/SNS"), MetricName: &metric,
			Dimensions: []types.Dimension{{Name: aws.String("TopicName"), Value: &name}},
			StartTime:  aws.Time(time.Now().Add(-time.Hour)), EndTime: aws.Time(time.Now().Add(time.Minute)),
			Period:     aws.Int32(7200),
			Statistics: []types.Statistic{types.StatisticSum, types.StatisticSampleCount},
		})
		if err != nil {
			return 0, 0, err
		}
		for _, p := range out.Datapoints {
			sum += *p.Sum
			samples += *p.SampleCount
		}
		return sum, samples, nil
	}
	wants := map[string]float64{
		"NumberOfMessagesPublished": 4, "PublishSize": 30 + 11 + 8, "NumberOfNotificationsDelivered": 8,
		"NumberOfNotificationsFailed":               8,
		"NumberOfNotificationsFailedToRedriveToDlq": 4, "NumberOfNotificationsRedrivenToDlq": 0,
		"NumberOfNotificationsFilteredOut":                     8,
		"NumberOfNotificationsFilteredOut-NoMessageAttributes": 3,
		"NumberOfNotificationsFilteredOut-MessageAttributes":   1,
		"NumberOfNotificationsFilteredOut-InvalidMessageBody":  3, "NumberOfNotificationsFilteredOut-MessageBody": 1,
		"NumberOfNotificationsFilteredOut-InvalidAttributes": 0,
	}
	check := func() error {
		for metric, want := range wants {
			got, samples, err := sum(metric)
			if err != nil || got != want || samples == 0 || metric == "PublishSize" && samples != 4 {
				return fmt.Errorf("%s: %v in %v samples, %w, want %v", metric, got, samples, err, want)
			}
		}
		return nil
	}
	for start := time.Now(); check() != nil && time.Since(start) < 150*time.Second; {
		// that long
		_, err := root.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: closed.QueueUrl, WaitTimeSeconds: 2})
		apitest.Must(t, 0, err)
	}
	if err := check(); err != nil {
		t.Fatal(err)
	}
	out, err := root.CW.ListMetrics(ctx, &cloudwatch.ListMetricsInput{Namespace: aws.String("AWS/SNS")})
	metrics := apitest.Must(t, out, err).Metrics
	if len(metrics) != 12 || *metrics[0].Dimensions[0].Name != "TopicName" || *metrics[0].Dimensions[0].Value != name {
		t.Errorf("the metrics are %+v", metrics)
	}
}
