package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/queue"
)

// describe returns a server's description of itself.
func describe(t *testing.T, s *Server) (out admin.ServerStatus, size int) {
	t.Helper()
	status, body := callAdmin(t, s, "DescribeServer", "{}")
	if status != http.StatusOK || json.Unmarshal([]byte(body), &out) != nil {
		t.Fatalf("%d %s", status, body)
	}
	return out, len(body)
}

// A server reports the number of messages in all accounts, the dead letters among them, and its own state.
func TestServerSaysHowItStands(t *testing.T) {
	t.Parallel()
	config := inMemory()
	config.InMemory, config.Data, config.Version = false, t.TempDir(), "v1.2.3"
	began := time.Now()
	var seconds atomic.Int64 // that have passed
	config.Now = func() time.Time { return began.Add(time.Duration(seconds.Load()) * time.Second) }
	s, _ := start(t, config)
	c := &client{T: t, Dialect: inJSON, Base: s.Endpoint(), Region: "us-east-1", Cred: s.Root(), Path: "/"}
	empty, _ := describe(t, s)
	if n := empty.Nodes; len(n) != 1 || n[0].Version != "v1.2.3" || n[0].StartedTimestamp != began.UnixMilli() ||
		n[0].DiskFreeBytes == nil || n[0].LastBackup != nil {
		t.Errorf("the server is %+v", n)
	}
	if empty.Queues != 0 || empty.Messages != (admin.MessageCounts{}) || len(empty.Problems) != 0 {
		t.Errorf("a new server has %+v", empty)
	}
	c.Make("CreateQueue", object{"QueueName": "failed"})
	policy := redrive("arn:aws:sqs:us-east-1:"+account+":failed", 3)
	c.Make("CreateQueue", object{"QueueName": "jobs", "Attributes": object{"RedrivePolicy": policy}})
	for _, queue := range []string{"jobs", "jobs", "failed"} {
		c.Make("SendMessage", object{"QueueUrl": queue, "MessageBody": "x"})
	}
	c.Make("SendMessage", object{"QueueUrl": "jobs", "MessageBody": "x", "DelaySeconds": 9})
	c.Make("ReceiveMessage", object{"QueueUrl": "jobs"})
	seconds.Add(2)
	is, _ := describe(t, s)
	if want := (admin.MessageCounts{Visible: 2, InFlight: 1, Delayed: 1, DeadLetters: 1}); is.Messages != want ||
		is.Queues != 2 || is.DeadLetterQueues != 1 {
		t.Errorf("%+v, want %+v in 2 queues", is, want)
	}
	s.storage.space.low.Store(true)
	fetchBackup(t, s)
	seconds.Add(2)
	is, _ = describe(t, s)
	if n := is.Nodes[0]; !n.DiskLow || n.LastBackup == nil || n.BackupRunning || len(is.Problems) != 1 {
		t.Errorf("with a full disk and a backup: %+v", is)
	}
}

// fetchBackup downloads a backup of a server and discards it.
func fetchBackup(t *testing.T, s *Server) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, s.Endpoint()+BackupPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	apitest.SignAt(t, r, s.Root(), admin.ServiceName, "us-east-1", time.Now())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", answer.Status, err)
	}
}

// The answer is as long with 10,000 queues as with none, and concurrent callers share one count of them.
func TestStatusOfManyQueues(t *testing.T) {
	t.Parallel()
	var standings []queue.Standing
	dead := make(map[string]bool)
	for i := range 10_000 {
		arn := fmt.Sprintf("arn:aws:sqs:us-east-1:000000000000:queue-%d", i)
		dead[arn] = i%2 == 0
		last := &queue.Row{Time: queue.At(time.Unix(600, 0)), Minutes: 1}
		last.Values[queue.MetricOldestAge].Max = uint64(i % 100)
		standings = append(standings, queue.Standing{
			ARN: arn, Counts: queue.Counts{Visible: 3, InFlight: 2, Delayed: 1}, Last: last,
		})
	}
	got := countMessages(standings, dead)
	if got.Visible != 30_000 || got.InFlight != 20_000 || got.Delayed != 10_000 || got.DeadLetters != 30_000 {
		t.Errorf("counted %+v", got)
	}
	if o := got.OldestMessage; o == nil || o.SentTimestamp != time.Unix(660-99, 0).UnixMilli() {
		t.Errorf("the oldest is %+v", o)
	}
	text, err := json.Marshal(report{Messages: got})
	if err != nil || len(text) > 1000 {
		t.Errorf("a report has %d bytes, %v", len(text), err)
	}
	looks := 0
	r := newReports()
	look := func(context.Context) report { looks++; return report{Uncounted: looks == 2} }
	for _, after := range []time.Duration{0, 500 * time.Millisecond, reportAge, reportAge + 900*time.Millisecond} {
		got, err := r.get(t.Context(), time.Unix(1000, 0).Add(after), look)
		if err != nil || got.Uncounted != (looks == 2) {
			t.Fatal(got, err)
		}
	}
	if looks != 2 {
		t.Errorf("%d looks", looks)
	}
	left, leave := context.WithCancel(t.Context())
	if _, err := r.get(left, time.Unix(2000, 0),
		func(context.Context) report { leave(); return report{} }); err == nil {
		t.Error("the report for a caller who has left is kept")
	}
	if got, err := r.get(t.Context(), time.Unix(2000, 0), look); err != nil || looks != 3 {
		t.Errorf("the next caller gets %+v after %d counts, %v", got, looks, err)
	}
}

// Numbers that cannot be read are reported as missing, with their owners.
func TestStatusOfWhatCannotBeCounted(t *testing.T) {
	t.Parallel()
	got := uncounted([]report{{}, {Uncounted: true}, {Node: admin.NodeStatus{Name: "b"}, Uncounted: true}})
	if len(got) != 2 || !strings.HasPrefix(got[0].Problem, "The server could not") ||
		!strings.HasPrefix(got[1].Problem, "Node b could not") {
		t.Errorf("%+v", got)
	}
}

// A queue without messages has no oldest message, even if it had messages in the last minute.
func TestOldestMessageOfQueue(t *testing.T) {
	t.Parallel()
	last := &queue.Row{Time: queue.At(time.Unix(60, 0)), Minutes: 1}
	last.Values[queue.MetricOldestAge].Max = 5
	for name, st := range map[string]queue.Standing{
		"emptied since":    {Last: last},
		"not measured yet": {Counts: queue.Counts{Visible: 1}},
		"came just now":    {Counts: queue.Counts{Visible: 1}, Last: new(queue.Row)},
	} {
		if got := oldestOf(&st); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Another node's part is added. A node that cannot answer is named.
func TestStatusOfOtherNodes(t *testing.T) {
	t.Parallel()
	a := admin.MessageCounts{Visible: 1, OldestMessage: &admin.OldestMessage{QueueArn: "new", SentTimestamp: 9}}
	a.Add(admin.MessageCounts{
		Visible: 2, InFlight: 3, Delayed: 4, DeadLetters: 5,
		OldestMessage: &admin.OldestMessage{QueueArn: "old", SentTimestamp: 3},
	})
	a.Add(admin.MessageCounts{})
	if a.Visible != 3 || a.InFlight != 3 || a.Delayed != 4 || a.DeadLetters != 5 || a.OldestMessage.QueueArn != "old" {
		t.Errorf("%+v", a)
	}
	s, _ := start(t, inMemory())
	if _, err := s.peers.answer(t.Context(), []byte(`{"Later":true}`)); err == nil {
		t.Error("a newer program's question is answered")
	}
	var r report
	text, err := s.peers.answer(t.Context(), []byte(`{"Status":true}`))
	if err != nil || json.Unmarshal(text, &r) != nil || r.Node.StartedTimestamp == 0 {
		t.Errorf("%s, %v", text, err)
	}
}
