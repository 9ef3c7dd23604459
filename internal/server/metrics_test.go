package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// scrape returns the metrics page of a server.
func scrape(t *testing.T, s *Server) string {
	t.Helper()
	return scrapePage(t, s, "/metrics")
}

func scrapePage(t *testing.T, s *Server, page string) string {
	t.Helper()
	r, err := http.Get("http://" + s.exposition.listener.Addr().String() + page)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", r.Status, err)
	}
	return string(text)
}

func TestMetricsSayWhatIsDone(t *testing.T) {
	config := Default()
	config.Data, config.Listen, config.MetricsListen, config.Version = filepath.Join(t.TempDir(), "data"),
		"127.0.0.1:0", "127.0.0.1:0", "v1.2.3"
	s, _ := start(t, config)
	cred, _ := s.accounts.credentials.Root(account)
	c := &client{T: t, Base: s.Endpoint(), Region: "us-east-1", Cred: cred, Path: "/"}
	c.Make("CreateQueue", object{"QueueName": "secret-name"})
	for range 3 {
		c.Make("SendMessage", object{"QueueUrl": c.URL("secret-name"), "MessageBody": "hello"})
	}
	if a := c.Call("SendMessage", object{
		"QueueUrl": c.URL("nowhere"), "MessageBody": "hello",
	}); a.Status != http.StatusBadRequest {
		t.Fatalf("no such queue: %d", a.Status)
	}
	if a := c.As(identity.Credential{Identity: cred.Identity, Secret: "wrong"}).Call("SendMessage",
		object{}); a.Status != http.StatusForbidden {
		t.Fatalf("a wrong signature: %d", a.Status)
	}
	want := []string{
		`sluice_requests_total{code="2xx",operation="SendMessage",service="sqs"} 3`,
		`sluice_requests_total{code="4xx",operation="SendMessage",service="sqs"} 2`,
		`sluice_requests_total{code="2xx",operation="CreateQueue",service="sqs"} 1`,
		`sluice_request_duration_seconds_count{operation="SendMessage",service="sqs"} 5`,
		`sluice_trail_events_dropped_total{kind="data",stage="recording"} 0`,
		`sluice_trail_events_dropped_total{kind="management",stage="delivery"} 0`,
		`sluice_requests_in_flight 0`, `sluice_requests_memory_bytes 0`,
		`version="v1.2.3"`, "sluice_disk_low 0", "sluice_disk_free_bytes", "go_goroutines", "process_open_fds",
	}
	text := ""
	// A request may be counted only after the client has its answer.
	eventually.Succeeds(t, func() error {
		text = scrape(t, s)
		var missing []error
		for _, line := range want {
			if !strings.Contains(text, line) {
				missing = append(missing, fmt.Errorf("%s is missing", line))
			}
		}
		return errors.Join(missing...)
	})
	for _, name := range []string{"secret-name", account, cred.AccessKeyID} {
		if strings.Contains(text, name) {
			t.Errorf("it names %s", name)
		}
	}
	// Clients do not get them.
	r, err := http.Get(s.Endpoint() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode < 400 {
		t.Errorf("at the address for clients: %s", r.Status)
	}
}

// Single queues have their own pages, and the totals of all queues do not fall when one is deleted.
func TestQueuesHavePages(t *testing.T) {
	config := Default()
	config.InMemory, config.Listen, config.MetricsListen = true, "127.0.0.1:0", "127.0.0.1:0"
	s, _ := start(t, config)
	cred, _ := s.accounts.credentials.Root(account)
	c := &client{T: t, Base: s.Endpoint(), Region: "us-east-1", Cred: cred, Path: "/"}
	for _, name := range []string{"orders", "bills"} {
		c.Make("CreateQueue", object{"QueueName": name})
		c.Make("SendMessage", object{"QueueUrl": c.URL(name), "MessageBody": "hello"})
	}
	text := scrapePage(t, s, "/metrics/queues?prefix=ord")
	for _, line := range []string{
		`sluice_queue_messages{account="000000000000",queue="orders",region="us-east-1",state="visible"} 1`,
		`sluice_queue_sent_total{account="000000000000",queue="orders",region="us-east-1"} 1`,
		`sluice_queue_sent_bytes_total{account="000000000000",queue="orders",region="us-east-1"} 5`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is missing", line)
		}
	}
	if strings.Contains(text, "bills") {
		t.Error("a queue appears that was not requested")
	}
	if text := scrapePage(t, s, "/metrics/cloudwatch"); strings.Contains(text, "orders") {
		t.Error("an unfinished minute has values")
	}
	c.Make("DeleteQueue", object{"QueueUrl": c.URL("orders")})
	if text := scrape(t, s); !strings.Contains(text, "sluice_messages_sent_total 2\n") ||
		strings.Contains(text, "bills") {
		t.Error("the messages of all queues are not 2, or a queue is named")
	}
}

// The page of topics has the publications and deliveries of each existing topic.
func TestMetricsOfTopics(t *testing.T) {
	config := inMemory()
	config.MetricsListen = "127.0.0.1:0"
	s, _ := start(t, config)
	root := s.Root()
	ask := func(form string) {
		t.Helper()
		if status, body := call(t, s, "sns", "Version=2010-03-31&Action="+form, &root); status != http.StatusOK {
			t.Fatalf("%s: %d %s", form, status, body)
		}
	}
	const prefix = "arn:aws:sns:us-east-1:" + account + ":"
	c := &client{T: t, Base: s.Endpoint(), Region: "us-east-1", Cred: root, Path: "/"}
	c.Make("CreateQueue", object{"QueueName": "q"})
	ask("CreateTopic&Name=news")
	ask("CreateTopic&Name=gone")
	ask("Subscribe&Protocol=sqs&TopicArn=" + prefix + "news&Endpoint=" + c.ARN("q"))
	for range 3 {
		ask("Publish&Message=m&TopicArn=" + prefix + "news")
	}
	ask("Publish&Message=m&TopicArn=" + prefix + "gone")
	ask("DeleteTopic&TopicArn=" + prefix + "gone")
	eventually.Succeeds(t, func() error {
		text := scrapePage(t, s, "/metrics/topics")
		for _, want := range []string{"sluice_topic_published_total", "sluice_topic_published_bytes_total"} {
			if line := want + `{account="` + account + `",region="us-east-1",topic="news"} 3`; !strings.Contains(text,
				line) {
				return fmt.Errorf("no %s in %s", line, text)
			}
		}
		if !strings.Contains(text, `sluice_topic_failed_total{account="`+account+`"`) ||
			strings.Contains(text, "gone") {
			return fmt.Errorf("the page is %s", text)
		}
		return nil
	})
	if text := scrapePage(t, s, "/metrics/topics?prefix=x"); strings.Contains(text, "news") {
		t.Error(text)
	}
}
