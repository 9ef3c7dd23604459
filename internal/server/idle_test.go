package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// An unused queue from a user's point of view: it is announced in the log, the trail and the metrics, the announcement
// survives a restart, and then the queue is deleted. Queues with a message or with the tag, and queues on which others
// depend, stay.
func TestIdleQueuesAreDeleted(t *testing.T) {
	t.Parallel()
	log := new(journal)
	clock := new(apitest.Clock)
	config := inMemory()
	config.InMemory, config.Data, config.MetricsListen = false, t.TempDir(), "127.0.0.1:0"
	config.DeleteIdleAfter, config.idleNow = 720*time.Hour, clock.Now
	config.Logger = slog.New(slog.NewTextHandler(log, nil))
	s, stop := start(t, config)
	watched := func() error {
		if s.storage.catalog.Load().IdleSince().IsZero() {
			return fmt.Errorf("the use of queues is not recorded")
		}
		return nil
	}
	eventually.Succeeds(t, watched)
	if have, err := datadir.ReadFormat(config.Data); err != nil || have.Number != formats.Idle {
		t.Errorf("the data directory has the format %d, %v", have.Number, err)
	}
	c := apitest.NewSDK(t, s.Endpoint(), s.Root(), "us-east-1")
	old := c.Create("old", nil)
	dead := c.Create("dead", nil)
	c.Create("work", map[string]string{"RedrivePolicy": redrive(c.ARN(dead), 3)})
	busy, kept := c.Create("busy", nil), c.Create("kept", nil)
	c.Create("watched", nil)
	owner := s.Root()
	status, body := call(t, s, "monitoring",
		"Version=2010-08-01&Action=PutMetricAlarm&AlarmName=a&Namespace=AWS/SQS&MetricName=NumberOfMessagesSent"+
			"&Dimensions.member.1.Name=QueueName&Dimensions.member.1.Value=watched&Statistic=Sum&Period=60&EvaluationPeriods=1&Threshold=1"+
			"&ComparisonOperator=GreaterThanThreshold", &owner)
	if status != http.StatusOK {
		t.Fatal(body)
	}

	clock.Forward(30*24*time.Hour - 20*time.Hour)
	has := func(want string) func() error {
		return func() error {
			if !strings.Contains(scrape(t, s), want) {
				return fmt.Errorf("the metrics have no %s", want)
			}
			return nil
		}
	}
	eventually.Succeeds(t, has("\nsluice_idle_queues_announced 4\n"))
	if n := log.count("an unused queue will be deleted"); n != 4 {
		t.Errorf("%d announcements in the log", n)
	}
	events := func() map[string]int {
		found, _, err := s.audit.trail.Find(trail.Query{Account: account, Max: 1000})
		apitest.Must(t, 0, err)
		names := make(map[string]int)
		for _, e := range found {
			if strings.Contains(e.Text, `"eventType":"AwsServiceEvent"`) {
				names[e.EventName]++
			}
		}
		return names
	}
	if got := events(); len(got) != 1 || got["AnnounceIdleQueueDeletion"] != 4 {
		t.Errorf("the trail has %v", got)
	}
	root := s.Root()
	for page, want := range map[string]string{
		"ListMetrics&Namespace=Sluice/Queues": "IdleQueuesAnnounced",
		"GetMetricStatistics&Namespace=Sluice/Queues&MetricName=IdleQueuesAnnounced&Period=86400&Statistics.member.1=Maximum&StartTime=" +
			clock.Now().Add(-24*time.Hour).UTC().Format(time.RFC3339) + "&EndTime=" +
			clock.Now().Add(24*time.Hour).UTC().Format(time.RFC3339): "<Maximum>4",
	} {
		eventually.Succeeds(t, func() error {
			if status, body := call(t, s, "monitoring", "Version=2010-08-01&Action="+page,
				&root); !strings.Contains(body, want) {
				return fmt.Errorf("%s: %d %s", page, status, body)
			}
			return nil
		})
	}
	c.Send(busy, "m")
	_, err := c.TagQueue(t.Context(), &sqs.TagQueueInput{
		QueueUrl: kept, Tags: map[string]string{"sluice:idle": "keep"},
	})
	apitest.Must(t, 0, err)
	apitest.Must(t, 0, stop())

	s, _ = start(t, config)
	c = apitest.NewSDK(t, s.Endpoint(), s.Root(), "us-east-1")
	clock.Forward(24*time.Hour + 10*time.Minute)
	eventually.Succeeds(t, func() error {
		for _, name := range []string{"old", "work"} {
			if _, err := c.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(name)}); err == nil {
				return fmt.Errorf("%s exists", name)
			}
		}
		return nil
	})
	eventually.Succeeds(t, has("\nsluice_idle_queues_deleted_total 2\n"))
	for _, name := range []string{"dead", "busy", "kept", "watched"} {
		if _, err := c.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(name)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := events(); got["DeleteIdleQueue"] != 2 || got["RevokeIdleQueueDeletion"] != 2 ||
		got["AnnounceIdleQueueDeletion"] != 4 {
		t.Errorf("the trail has %v", got)
	}
	if got := c.Bodies(busy); len(got) != 1 || got[0] != "m" {
		t.Errorf("received %q", got)
	}
	if _, err := c.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: old, MessageBody: aws.String("late"),
	}); apitest.Code(err) != "AWS.SimpleQueueService.NonExistentQueue" {
		t.Errorf("a send to the queue that was deleted: %v", err)
	}
}
