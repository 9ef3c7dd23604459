package packages

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
	"github.com/sluicemq/sluice/scripts/prometheus"
	"github.com/sluicemq/sluice/test/program"
)

const dashboard = "../../deploy/grafana/dashboards/sluice.json"

// Every query of the dashboard has a result if there are messages. Those about clusters have none on a single machine.
func TestDashboardShowsData(t *testing.T) {
	program.Long(t)
	tool(t, "prometheus")
	t.Parallel()
	addresses, err := freeport.Take(1)
	if err != nil {
		t.Fatal(err)
	}
	metrics, client, publisher := serveMetrics(t, addresses[0])
	p, err := prometheus.Start(context.Background(), t.TempDir(), metrics, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	panels, err := prometheus.Panels(dashboard)
	if err != nil || len(panels) < 10 {
		t.Fatal(len(panels), err)
	}
	missing := func() (queries []string) {
		for _, panel := range panels {
			for _, target := range panel.Targets {
				if strings.Contains(target.Expr, "sluice_cluster_") {
					continue
				}
				now := time.Now()
				series, err := p.Range(t.Context(), target.Query(10*time.Second), now.Add(-5*time.Second), now,
					time.Second)
				if err != nil {
					t.Fatalf("%s: %v", panel.Title, err)
				}
				if len(series) == 0 {
					queries = append(queries, panel.Title+": "+target.Expr)
				}
			}
		}
		return queries
	}
	for deadline := time.Now().Add(2 * time.Minute); ; {
		use(t, client, publisher)
		left := missing()
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no data:\n%s", strings.Join(left, "\n"))
		}
	}
}

// serveMetrics runs a server that serves metrics at an address, and returns the address and clients.
func serveMetrics(t *testing.T, address string) (string, *sqs.Client, *sns.Client) {
	t.Helper()
	config := server.Default()
	config.Data, config.Listen, config.MetricsListen = t.TempDir(), "127.0.0.1:0", address
	s, _ := servertest.Start(t, config)
	endpoint, credentials := aws.String(s.Endpoint()),
		aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: s.Root().AccessKeyID, SecretAccessKey: s.Root().Secret}, nil
		})
	return address, sqs.New(sqs.Options{Region: "us-east-1", BaseEndpoint: endpoint, Credentials: credentials}),
		sns.New(sns.Options{Region: "us-east-1", BaseEndpoint: endpoint, Credentials: credentials})
}

// use fills a queue and its dead-letter queue with messages, some of them received, and publishes one. It takes two
// seconds.
func use(t *testing.T, client *sqs.Client, publisher *sns.Client) {
	t.Helper()
	topic, err := publisher.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String("news")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := publisher.Publish(t.Context(), &sns.PublishInput{
		TopicArn: topic.TopicArn, Message: aws.String("m"),
	}); err != nil {
		t.Fatal(err)
	}
	var urls []*string
	for _, name := range []string{"orders", "orders-dead"} {
		q, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
		if err != nil {
			t.Fatal(err)
		}
		urls = append(urls, q.QueueUrl)
		if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: q.QueueUrl, MessageBody: aws.String("m"),
		}); err != nil {
			t.Fatal(err)
		}
	}
	empty, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("empty")})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []*string{urls[0], empty.QueueUrl} { // the last of these makes it wait for a moment
		if _, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: url, WaitTimeSeconds: 2,
		}); err != nil {
			t.Fatal(err)
		}
	}
}
