package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/command"
)

// startServerThatSays starts a server with this answer to DescribeServer.
func startServerThatSays(t *testing.T, s *admin.ServerStatus) {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Amz-Target") != "Sluice.DescribeServer" {
			http.Error(w, "what?", http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(s)
	}))
	t.Cleanup(h.Close)
	t.Setenv("AWS_ENDPOINT_URL", h.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "k")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
}

// aServer is a healthy single server that has been up for a bit more than two hours.
func aServer() *admin.ServerStatus {
	ago := func(d time.Duration) int64 { return time.Now().Add(-d - 500*time.Millisecond).UnixMilli() }
	return &admin.ServerStatus{
		Nodes: []admin.NodeStatus{{
			Version: "v1", StartedTimestamp: ago(2*time.Hour + 5*time.Minute), DiskFreeBytes: new(int64(3 << 30)),
			DiskSizeBytes: new(int64(8 << 30)),
			LastBackup:    new(ago(49 * time.Hour)),
		}},
		Queues: 12, DeadLetterQueues: 3, Alarms: 7, InAlarm: 2, FirstAlarms: []string{"arn:a"},
		Messages: admin.MessageCounts{
			Visible: 5, InFlight: 2, Delayed: 1, DeadLetters: 4,
			OldestMessage: &admin.OldestMessage{
				QueueArn: "arn:aws:sqs:us-east-1:000000000000:jobs", SentTimestamp: ago(90 * time.Second),
			},
		},
	}
}

func TestStatusOfServer(t *testing.T) {
	startServerThatSays(t, aServer())
	out, _, err := run(t, "status")
	want := `NODE  VERSION  UP FOR  DISK                     LAST BACKUP
-     v1       2h5m    3.0 GiB free of 8.0 GiB  2d1h ago

queues          12, of which dead-letter queues: 3
messages        visible: 5, in flight: 2, delayed: 1
oldest message  sent 1m30s ago, in arn:aws:sqs:us-east-1:000000000000:jobs
dead letters    4
alarms          7, of which in ALARM: 2 (arn:a and 1 more)

All is well.
`
	if err != nil || out != want {
		t.Errorf("%v, printed\n%s\nwant\n%s", err, out, want)
	}
}

func TestStatusOfServerThatIsUnwell(t *testing.T) {
	s := aServer()
	s.Nodes[0].DiskLow, s.Nodes[0].BackupRunning, s.Nodes[0].Name = true, true, "a"
	s.Nodes = append(s.Nodes, admin.NodeStatus{Name: "b", Version: "v2"})
	s.Messages.OldestMessage, s.FirstAlarms = nil, nil
	s.Problems = []status.Problem{{Problem: "The disk is nearly full.", Advice: "Make space."}}
	startServerThatSays(t, s)
	out, _, err := run(t, "status")
	if command.Status(err) != 1 {
		t.Errorf("status %d, %v", command.Status(err), err)
	}
	for _, want := range []string{
		"NEARLY FULL: 3.0 GiB free of 8.0 GiB", "under way", "none since it was started", "oldest message  -\n",
		"in ALARM: 2\n",
		"The disk is nearly full.\n  Make space.\nNOT WELL; problems: 1.\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	out, _, err = run(t, "status", "--json")
	var got admin.ServerStatus
	if command.Status(err) != 1 || json.Unmarshal([]byte(out), &got) != nil ||
		fmt.Sprint(got.Problems) != fmt.Sprint(s.Problems) || got.Messages.DeadLetters != 4 {
		t.Errorf("status %d, %v, as JSON %s", command.Status(err), err, out)
	}
}

func TestStatusOfNoServer(t *testing.T) {
	startServerThatSays(t, aServer())
	if _, _, err := run(t, "status", "--endpoint", "http://127.0.0.1:1"); command.Status(err) != 2 {
		t.Errorf("status %d, %v", command.Status(err), err)
	}
}
