package cloudwatch_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/server/servertest"
	"github.com/sluicemq/sluice/test/program"
)

// The SDK for Go, which uses CBOR, creates an alarm, sends a metric, reads it as KEDA does, and gets the SDK's own
// errors.
func TestSDK(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	ctx := t.Context()
	_, err := root.CW.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{
		AlarmName: aws.String("a"), MetricName: aws.String("Backlog"), Namespace: aws.String("Workers"),
		Statistic: types.StatisticMaximum,
		Period:    aws.Int32(60), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(1.5),
		ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold,
		Tags:               []types.Tag{{Key: aws.String("team"), Value: aws.String("red")}},
		EvaluationWindow: &types.EvaluationWindowMemberWallClockWindow{
			Value: types.WallClockWindow{Timezone: aws.String("UTC")},
		},
	})
	apitest.Must(t, 0, err)
	out, err := root.CW.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{
		AlarmNames: []string{"a"}, AlarmTypes: []types.AlarmType{types.AlarmTypeMetricAlarm},
	})
	alarms := apitest.Must(t, out, err).MetricAlarms
	if len(alarms) != 1 || *alarms[0].Threshold != 1.5 || alarms[0].StateValue != types.StateValueInsufficientData ||
		time.Since(*alarms[0].StateUpdatedTimestamp) > time.Hour {
		t.Fatalf("the alarms are %+v", alarms)
	}
	if w, ok := alarms[0].EvaluationWindow.(*types.EvaluationWindowMemberWallClockWindow); !ok ||
		*w.Value.Timezone != "UTC" {
		t.Errorf("the window is %+v", alarms[0].EvaluationWindow)
	}
	now := time.Now()
	_, err = root.CW.PutMetricData(ctx,
		&cloudwatch.PutMetricDataInput{Namespace: aws.String("Workers"), MetricData: []types.MetricDatum{
			{MetricName: aws.String("Backlog"), Value: aws.Float64(2.5),
				Timestamp: aws.Time(now.Add(-2 * time.Minute))},
		}})
	apitest.Must(t, 0, err)
	data, err := root.CW.GetMetricData(ctx, &cloudwatch.GetMetricDataInput{
		StartTime: aws.Time(now.Add(-300 * time.Second)), EndTime: &now, ScanBy: types.ScanByTimestampDescending,
		MetricDataQueries: []types.MetricDataQuery{{Id: aws.String("c1"), ReturnData: aws.Bool(true),
			MetricStat: &types.MetricStat{
				Metric: &types.Metric{
					Namespace: aws.String("Workers"), MetricName: aws.String("Backlog"),
					Dimensions: []types.Dimension{},
				},
				Period: aws.Int32(300), Stat: aws.String("Average"),
			}}},
	})
	results := apitest.Must(t, data, err).MetricDataResults
	if len(results) != 1 || len(results[0].Values) != 1 || results[0].Values[0] != 2.5 {
		t.Errorf("the results are %+v", results)
	}
	_, err = root.CW.SetAlarmState(ctx, &cloudwatch.SetAlarmStateInput{
		AlarmName: aws.String("nowhere"), StateValue: types.StateValueOk, StateReason: aws.String("x"),
	})
	if _, ok := errors.AsType[*types.ResourceNotFound](err); !ok {
		t.Errorf("a missing alarm: %v", err)
	}
	_, err = root.CW.GetDashboard(ctx, &cloudwatch.GetDashboardInput{DashboardName: aws.String("nowhere")})
	if _, ok := errors.AsType[*types.DashboardNotFoundError](err); !ok {
		t.Errorf("a missing dashboard: %v", err)
	}
}

// The SDK for Go creates a composite alarm, which enters ALARM when its child does, and notifies.
func TestCompositeAlarmPublishes(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	ctx := t.Context()
	topic, mail := mailbox(t, root)
	_, err := root.CW.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{
		AlarmName: aws.String("child"), MetricName: aws.String("m"), Namespace: aws.String("n"),
		Statistic: types.StatisticSum, Period: aws.Int32(60),
		EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(1),
		ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold,
		TreatMissingData:   aws.String("ignore"), // or its next evaluation, at the end of the minute, ends it
	})
	apitest.Must(t, 0, err)
	_, err = root.CW.PutCompositeAlarm(ctx, &cloudwatch.PutCompositeAlarmInput{
		AlarmName: aws.String("parent"), AlarmRule: aws.String("ALARM(child)"), AlarmActions: []string{topic},
		ActionsSuppressor: aws.String("child"), ActionsSuppressorWaitPeriod: aws.Int32(0),
		ActionsSuppressorExtensionPeriod: aws.Int32(1),
		Tags:                             []types.Tag{{Key: aws.String("team"), Value: aws.String("red")}},
	})
	apitest.Must(t, 0, err)
	_, err = root.CW.PutCompositeAlarm(ctx, &cloudwatch.PutCompositeAlarmInput{
		AlarmName: aws.String("parent"), AlarmRule: aws.String("ALARM(child)"), AlarmActions: []string{topic},
	})
	apitest.Must(t, 0, err)
	_, err = root.CW.SetAlarmState(ctx, &cloudwatch.SetAlarmStateInput{
		AlarmName: aws.String("child"), StateValue: types.StateValueAlarm, StateReason: aws.String("a test"),
	})
	apitest.Must(t, 0, err)
	received, err := root.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &mail, WaitTimeSeconds: 20})
	messages := apitest.Must(t, received, err).Messages
	if len(messages) != 1 || !strings.Contains(*messages[0].Body,
		`"AlarmRule":"ALARM(child)","TriggeringChildren":[{"Arn":"arn:aws:cloudwatch:us-east-1:000000000000:alarm:child"`) {
		t.Fatalf("received %+v", messages)
	}
	out, err := root.CW.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{
		AlarmTypes: []types.AlarmType{types.AlarmTypeCompositeAlarm},
	})
	alarms := apitest.Must(t, out, err).CompositeAlarms
	if len(alarms) != 1 || alarms[0].StateValue != types.StateValueAlarm || alarms[0].ActionsSuppressor != nil ||
		time.Since(*alarms[0].StateTransitionedTimestamp) > time.Hour {
		t.Errorf("the alarms are %+v", alarms)
	}
}

// Users may do what their policies say.
func TestAccess(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	alarm := func(name string) *cloudwatch.PutMetricAlarmInput {
		return &cloudwatch.PutMetricAlarmInput{
			AlarmName: &name, MetricName: aws.String("m"), Namespace: aws.String("n"), Statistic: types.StatisticSum,
			Period:            aws.Int32(60),
			EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(1),
			ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold,
		}
	}
	named, _ := root.User(t, "named", apitest.Allow("cloudwatch:PutMetricAlarm", "arn:aws:cloudwatch:*:*:alarm:team-*"))
	team, _ := root.User(t, "team", apitest.Allow("cloudwatch:*", "arn:aws:cloudwatch:*:*:alarm:team-*"))
	composer, _ := root.User(t, "composer", apitest.Allow("cloudwatch:PutCompositeAlarm", "*"))
	sender, _ := root.User(t, "sender",
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"cloudwatch:PutMetricData","Resource":"*",`+
			`"Condition":{"StringEquals":{"cloudwatch:namespace":"Mine"}}}]}`)
	nobody, _ := root.User(t, "nobody", "")
	tagged := alarm("team-2")
	tagged.Tags = []types.Tag{{Key: aws.String("a"), Value: aws.String("b")}}
	put := func(a *apitest.Actor, in *cloudwatch.PutMetricAlarmInput) error {
		_, err := a.CW.PutMetricAlarm(t.Context(), in)
		return err
	}
	send := func(a *apitest.Actor, namespace string) error {
		_, err := a.CW.PutMetricData(t.Context(), &cloudwatch.PutMetricDataInput{
			Namespace:  &namespace,
			MetricData: []types.MetricDatum{{MetricName: aws.String("m"), Value: aws.Float64(1)}},
		})
		return err
	}
	list := func(a *apitest.Actor) error {
		_, err := a.CW.ListMetrics(t.Context(), &cloudwatch.ListMetricsInput{})
		return err
	}
	compose := func(a *apitest.Actor, tags ...types.Tag) error {
		_, err := a.CW.PutCompositeAlarm(t.Context(), &cloudwatch.PutCompositeAlarmInput{
			AlarmName: aws.String("team-all"), AlarmRule: aws.String("TRUE"), Tags: tags,
		})
		return err
	}
	describe := func(a *apitest.Actor, kind types.AlarmType) error {
		_, err := a.CW.DescribeAlarms(t.Context(),
			&cloudwatch.DescribeAlarmsInput{AlarmNames: []string{"team-all"}, AlarmTypes: []types.AlarmType{kind}})
		return err
	}
	history := func(a *apitest.Actor, kind types.AlarmType) error {
		_, err := a.CW.DescribeAlarmHistory(t.Context(), &cloudwatch.DescribeAlarmHistoryInput{
			AlarmName: aws.String("team-all"), AlarmTypes: []types.AlarmType{kind},
		})
		return err
	}
	for what, c := range map[string]struct {
		err  error
		code string
	}{
		"a composite alarm with a permission on some alarms": {compose(team), "AccessDenied"},
		"a composite alarm with tags, which it may not set":  {compose(composer, tagged.Tags...), "AccessDenied"},
		"a composite alarm with a permission on all":         {compose(composer), ""},
		"composite alarms with a permission on some": {describe(team, types.AlarmTypeCompositeAlarm),
			"AccessDenied"},
		"metric alarms with a permission on some": {describe(team, types.AlarmTypeMetricAlarm), ""},
		"history of composite alarms with a permission on some": {history(team, types.AlarmTypeCompositeAlarm),
			"AccessDenied"},
		"history of metric alarms with a permission on some": {history(team, types.AlarmTypeMetricAlarm), ""},
		"its alarm": {put(named, alarm("team-1")), ""}, "another's alarm": {put(named, alarm("other")), "AccessDenied"},
		"its alarm with tags, which it may not set": {put(named, tagged), "AccessDenied"},
		"its namespace": {send(sender, "Mine"), ""}, "another namespace": {send(sender, "Yours"), "AccessDenied"},
		"nothing": {list(nobody), "AccessDenied"}, "root": {list(root), ""},
	} {
		if apitest.Code(c.err) != c.code {
			t.Errorf("%s: %v, want %q", what, c.err, c.code)
		}
	}
}

// mailbox creates a topic, and a queue that gets its messages.
func mailbox(t *testing.T, root *apitest.Actor) (topic, url string) {
	t.Helper()
	topicOut, err := root.SNS.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String("ops")})
	apitest.Must(t, topicOut, err)
	mayPublish := fmt.Sprintf(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},`+
			`"Action":"sqs:SendMessage","Resource":"*","Condition":{"ArnEquals":{"aws:SourceArn":%q}}}]}`,
		*topicOut.TopicArn)
	queue, err := root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{
		QueueName: aws.String("mail"), Attributes: map[string]string{"Policy": mayPublish},
	})
	apitest.Must(t, queue, err)
	_, err = root.SNS.Subscribe(t.Context(), &sns.SubscribeInput{
		TopicArn: topicOut.TopicArn, Protocol: aws.String("sqs"),
		Endpoint:   aws.String("arn:aws:sqs:us-east-1:000000000000:mail"),
		Attributes: map[string]string{"RawMessageDelivery": "true"},
	})
	apitest.Must(t, 0, err)
	return *topicOut.TopicArn, *queue.QueueUrl
}

// An alarm's notification goes through its topic to a queue. A topic of the same account needs no policy.
func TestAlarmPublishes(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	ctx := t.Context()
	topic, mail := mailbox(t, root)
	const denies = `{"Version":"2012-10-17","Statement":{"Effect":"Deny","Principal":"*","Action":"SNS:Publish","Resource":"*"}}`
	_, err := root.SNS.CreateTopic(ctx, &sns.CreateTopicInput{
		Name: aws.String("ops-closed"), Attributes: map[string]string{"Policy": denies},
	})
	apitest.Must(t, 0, err)
	_, err = root.CW.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{
		AlarmName: aws.String("a"), MetricName: aws.String("m"), Namespace: aws.String("n"),
		Statistic: types.StatisticSum, Period: aws.Int32(60),
		EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(1),
		ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold,
		AlarmActions:       []string{topic, topic + "-gone", topic + "-closed"},
	})
	apitest.Must(t, 0, err)
	_, err = root.CW.SetAlarmState(ctx, &cloudwatch.SetAlarmStateInput{
		AlarmName: aws.String("a"), StateValue: types.StateValueAlarm, StateReason: aws.String("a test"),
	})
	apitest.Must(t, 0, err)
	received, err := root.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &mail, WaitTimeSeconds: 20})
	messages := apitest.Must(t, received, err).Messages
	if len(messages) != 1 || !strings.Contains(*messages[0].Body, `"NewStateValue":"ALARM","NewStateReason":"a test"`) {
		t.Fatalf("received %+v", messages)
	}
	eventually.Succeeds(t, func() error {
		history, err := root.CW.DescribeAlarmHistory(ctx,
			&cloudwatch.DescribeAlarmHistoryInput{HistoryItemType: types.HistoryItemTypeAction})
		var summaries string
		for _, i := range apitest.Must(t, history, err).AlarmHistoryItems {
			summaries += *i.HistorySummary + "\n"
		}
		for _, want := range []string{
			"Successfully executed action " + topic + "\n",
			"Failed to execute action " + topic + `-gone. Received error: "Topic does not exist"` + "\n",
			"Failed to execute action " + topic + `-closed. Received error: "Resource: ` +
				"arn:aws:cloudwatch:us-east-1:000000000000:alarm:a is not authorized to perform: SNS:Publish on resource: " +
				topic + `-closed"` + "\n",
		} {
			if !strings.Contains(summaries, want) {
				return fmt.Errorf("there is no %q in %q", want, summaries)
			}
		}
		return nil
	})
}

// An alarm on a queue fires within 90 seconds after its cause.
func TestAlarmOnAQueue(t *testing.T) {
	program.Long(t) // an alarm is evaluated when a minute is over
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	ctx := t.Context()
	topic, mail := mailbox(t, root)
	queue, err := root.SQS.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	apitest.Must(t, queue, err)
	_, err = root.CW.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{
		AlarmName: aws.String("backlog"), MetricName: aws.String("ApproximateNumberOfMessagesVisible"),
		Namespace: aws.String("AWS/SQS"), Statistic: types.StatisticMaximum,
		Dimensions: []types.Dimension{{Name: aws.String("QueueName"), Value: aws.String("orders")}},
		Period:     aws.Int32(60), EvaluationPeriods: aws.Int32(1),
		Threshold: aws.Float64(0), ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold,
		AlarmActions: []string{topic},
	})
	apitest.Must(t, 0, err)
	apitest.Must(t, 0, root.Send(t, *queue.QueueUrl))
	sent := time.Now()
	for time.Since(sent) < 90*time.Second {
		received, err := root.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &mail, WaitTimeSeconds: 20})
		if messages := apitest.Must(t, received, err).Messages; len(messages) > 0 {
			if !strings.Contains(*messages[0].Body,
				`"NewStateValue":"ALARM","NewStateReason":"Threshold Crossed: 1 datapoint [1.0 (`) {
				t.Errorf("received %s", *messages[0].Body)
			}
			return
		}
	}
	t.Error("there was no notification in 90 seconds")
}

// Requests of Grafana and YACE to services that do not exist here fail at once with a clear error.
func TestOtherServices(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	for _, c := range []struct {
		service, path, contentType, target, body string
		status                                   int
		want                                     string
	}{
		{"oam", "/ListSinks", "application/json", "", "{}", 404, "UnknownOperationException"},
		{
			"ec2", "/", "application/x-www-form-urlencoded", "", "Action=DescribeRegions&Version=2016-11-15", 403,
			"Credential should be scoped to correct service",
		},
		{
			"logs", "/", "application/x-amz-json-1.1", "Logs_20140328.DescribeLogGroups", "{}", 403,
			"Credential should be scoped to correct service",
		},
		{
			"tagging", "/", "application/x-amz-json-1.1", "ResourceGroupsTaggingAPI_20170126.GetResources", "{}", 403,
			"Credential should be scoped to correct service",
		},
	} {
		r, err := http.NewRequest(http.MethodPost, s.Endpoint()+c.path, strings.NewReader(c.body))
		apitest.Must(t, r, err)
		r.Header.Set("Content-Type", c.contentType)
		if c.target != "" {
			r.Header.Set("X-Amz-Target", c.target)
		}
		apitest.SignAt(t, r, s.Root(), c.service, "us-east-1", time.Now())
		if status, body := apitest.Exchange(t, r); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s", c.service, status, body)
		}
	}
}

// SDKs compress the metrics that they send. Data that is not compressed as declared, or is too long, is refused.
func TestCompressedBodies(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	compressed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write([]byte(text))
		apitest.Must(t, 0, errors.Join(err, w.Close()))
		return b.String()
	}
	const metric = `{"Namespace":"Mine","MetricData":[{"MetricName":"m","Value":1}]}`
	for what, c := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"json": {compressed(metric), 200, ""},
		"query": {
			compressed("Action=PutMetricData&Version=2010-08-01&Namespace=Mine&MetricData.member.1.MetricName=m&MetricData.member.1.Value=1"),
			200, "PutMetricDataResponse",
		},
		"not compressed": {metric, 400, "is not compressed by gzip"},
		"cut":            {compressed(metric)[:20], 400, "is not compressed by gzip"},
		"a bomb": {compressed(strings.Repeat(" ", 64<<20)), 413,
			"Request size 67108864 exceeded 1048576 bytes"},
	} {
		r, err := http.NewRequest(http.MethodPost, s.Endpoint(), strings.NewReader(c.body))
		apitest.Must(t, r, err)
		r.Header.Set("Content-Encoding", "gzip")
		if what == "query" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		} else {
			r.Header.Set("Content-Type", "application/x-amz-json-1.0")
			r.Header.Set("X-Amz-Target", "GraniteServiceVersion20100801.PutMetricData")
		}
		apitest.SignAt(t, r, s.Root(), "monitoring", "us-east-1", time.Now())
		if status, body := apitest.Exchange(t, r); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s", what, status, body)
		}
	}
}
