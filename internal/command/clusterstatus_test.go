package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/command"
)

// fakeCluster answers like a node of a cluster.
type fakeCluster struct {
	mu     sync.Mutex
	status status.Status
	queues []status.Queue // in two pages
	asked  []string       // operations with their inputs
	// then is called after each operation except DescribeCluster, and returns the error code for it.
	then func(operation string, in map[string]any) (code string)
	// looked is called before each answer of DescribeCluster.
	looked func()
	// refusal is the error code for DescribeCluster, if any.
	refusal string
}

func (f *fakeCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "Sluice.")
	var in map[string]any
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil ||
		!strings.Contains(r.Header.Get("Authorization"), "/sluice/aws4_request") {
		http.Error(w, "not signed as it should be", http.StatusBadRequest)
		return
	}
	if operation == "DescribeCluster" {
		if f.looked != nil {
			f.looked()
		}
		if f.refusal != "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintf(w, `{"__type":"sluice#%s","message":"no"}`, f.refusal)
			return
		}
		_ = json.NewEncoder(w).Encode(f.status)
		return
	}
	if operation == "ListShardQueues" {
		page := map[string]any{"Queues": f.queues[:1], "NextToken": "more"}
		if in["NextToken"] == "more" {
			page = map[string]any{"Queues": f.queues[1:]}
		}
		_ = json.NewEncoder(w).Encode(page)
		return
	}
	f.asked = append(f.asked, fmt.Sprint(operation, in))
	if code := f.then(operation, in); code != "" {
		w.WriteHeader(http.StatusConflict)
		fmt.Fprintf(w, `{"__type":"sluice#%s","message":"no"}`, code)
	}
}

func startFake(t *testing.T, f *fakeCluster) {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	t.Setenv("AWS_ENDPOINT_URL", s.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "k")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
}

// three is a healthy cluster of three nodes and two shards.
func three() status.Status {
	s := status.Status{Cluster: "sluice", Node: "a"}
	for _, n := range []string{"a", "b", "c"} {
		s.Nodes = append(s.Nodes, status.Node{
			Name: n, Live: true, Endpoint: "http://" + n + ".example:9324", Version: "v1",
		})
	}
	for i, name := range []string{"0001", "control"} {
		sh := status.Shard{
			Name: name, Owner: s.Nodes[i].Name, Preferred: s.Nodes[i].Name, Epoch: 3, LogFirst: 5, LogLast: 9,
			LogBytes: 3 << 20, Complete: 3, Copies: 3,
		}
		for _, n := range s.Nodes {
			sh.Replicas = append(sh.Replicas, status.Replica{Node: n.Name, Role: "follower", Applied: 9})
		}
		sh.Replicas[i].Role = "owner"
		s.Nodes[i].Owns = []string{name}
		s.Shards = append(s.Shards, sh)
	}
	return s
}

func TestStatusSaysThatAllIsWell(t *testing.T) {
	startFake(t, &fakeCluster{status: three()})
	out, _, err := run(t, "cluster", "status")
	if err != nil {
		t.Fatal(err)
	}
	want := `NODE  ALIVE  OWNS  ENDPOINT               VERSION  CLOCK  CERT  NOTES
a     yes    1     http://a.example:9324  v1       ok     -     -
b     yes    1     http://b.example:9324  v1       ok     -     -
c     yes    0     http://c.example:9324  v1       ok     -     -

SHARD    OWNER  EPOCH  LOG      RECORDS  COPIES  REPLICAS
0001     a      3      3.0 MiB  5        3/3     a, b, c
control  b      3      3.0 MiB  5        3/3     a, b, c

All is well.
`
	if out != want {
		t.Errorf("printed\n%s\nwant\n%s", out, want)
	}
}

func TestStatusSaysWhatIsWrong(t *testing.T) {
	s := three()
	s.Nodes[0].SkewMillis = 2500
	s.Nodes[1].Draining = true
	s.Nodes[2].Live, s.Nodes[2].AwaySeconds = false, 90
	s.Shards[0].Owner, s.Shards[1].Preferred = "", "a"
	s.Shards[0].Replicas[1] = status.Replica{Node: "b", Role: "catching up", Applied: 4, Lag: 5}
	s.Shards[0].Replicas[2] = status.Replica{Node: "c", Role: "absent"}
	f := &fakeCluster{status: s}
	startFake(t, f)
	out, _, err := run(t, "cluster", "status")
	if command.Status(err) != 1 {
		t.Errorf("status %d, %v", command.Status(err), err)
	}
	for _, want := range []string{
		"+2.5s", "draining", "away for 1m30s", "NONE", "b (to be a)", "a, b catching up -5, c absent",
		"Shard 0001 has no owner", "The clock of node a is 2.5s ahead of", "Node c has been away for 1m30s.",
		"NOT WELL: 1 of 2 shards are not served; problems: 3.",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	out, _, err = run(t, "cluster", "status", "--json")
	var got struct {
		Nodes    []struct{ Name string }
		Problems []status.Problem
	}
	if command.Status(err) != 1 || json.Unmarshal([]byte(out), &got) != nil || len(got.Nodes) != 3 ||
		len(got.Problems) != 3 {
		t.Errorf("status %d, %v, as JSON %s", command.Status(err), err, out)
	}
}

func TestStatusThatCannotBeFoundOut(t *testing.T) {
	startFake(t, &fakeCluster{})
	if _, _, err := run(t, "cluster", "status", "--endpoint", "http://127.0.0.1:1"); command.Status(err) != 2 {
		t.Errorf("no server: status %d, %v", command.Status(err), err)
	}
	if _, _, err := run(t, "cluster", "status", "extra"); command.Status(err) != 2 {
		t.Errorf("wrong arguments: status %d, %v", command.Status(err), err)
	}
}

// A cluster that is well only for a short time is not well.
func TestStatusWaits(t *testing.T) {
	f := &fakeCluster{status: three()}
	looks := 0
	f.looked = func() {
		looks++
		f.status.Nodes[1].Leaving = looks == 1 || looks == 4
		f.refusal = map[bool]string{true: "ServiceUnavailableException"}[looks == 2]
		f.status.Shards[0].Preferred = "a"
		if looks == 6 {
			f.status.Shards[0].Preferred = "c"
		}
	}
	startFake(t, f)
	out, progress, err := run(t, "cluster", "status", "--wait", "--node", "b")
	if err != nil || looks < 7 || !strings.HasSuffix(out, "\nAll is well.\n") {
		t.Errorf("%v after %d looks, printed %q", err, looks, out)
	}
	want := "Node b is stopping.\nDescribeCluster: ServiceUnavailableException: no\nNode b is stopping.\nShard 0001 is about to move from node a to node c.\n"
	if progress != want {
		t.Errorf("reported %q, want %q", progress, want)
	}
}

func TestStatusDoesNotWaitForEver(t *testing.T) {
	f := &fakeCluster{status: three()}
	startFake(t, f)
	for name, test := range map[string]struct {
		args   []string
		status int
		said   string
	}{
		"a node that is not there": {[]string{"--wait", "--node", "d", "--timeout", "100ms"}, 1,
			"not well after 100ms: The cluster has no node d."},
		"well for too short": {[]string{"--wait", "--timeout", "100ms"}, 1, "all is well, but was not yet for 3s"},
		"no server": {[]string{"--wait", "--timeout", "100ms", "--endpoint", "http://127.0.0.1:1"}, 2,
			"not well after 100ms: DescribeCluster: http://127.0.0.1:1"},
		"a flag without effect": {[]string{"--node", "b"}, 2, "--node has no effect without --wait"},
	} {
		out, said, err := run(t, append([]string{"cluster", "status"}, test.args...)...)
		if err != nil {
			said += err.Error()
		}
		if command.Status(err) != test.status || !strings.Contains(said, test.said) {
			t.Errorf("%s: status %d, reported %q, printed %q", name, command.Status(err), said, out)
		}
	}
}

// A caller without permission is refused at once.
func TestStatusDoesNotWaitForARefusal(t *testing.T) {
	startFake(t, &fakeCluster{refusal: "AccessDeniedException"})
	if _, _, err := run(t, "cluster", "status", "--wait"); command.Status(err) != 2 ||
		!strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("status %d, %v", command.Status(err), err)
	}
	startFake(t, &fakeCluster{refusal: "NoClusterException"})
	if _, _, err := run(t, "cluster", "status"); command.Status(err) != 2 ||
		!strings.Contains(err.Error(), "For a single server there is sluice status") {
		t.Errorf("status %d, %v", command.Status(err), err)
	}
}

func TestDrainWaitsUntilNothingIsLeft(t *testing.T) {
	f := &fakeCluster{status: three()}
	f.then = func(_ string, in map[string]any) string {
		f.status.Nodes[0].Draining = in["Undo"] != true
		return ""
	}
	looks := 0
	f.looked = func() {
		if looks++; looks == 2 {
			f.status.Shards[0].Owner = "c"
		}
	}
	startFake(t, f)
	out, progress, err := run(t, "node", "drain", "a")
	if err != nil || looks < 2 || !strings.Contains(out, "a is drained") ||
		!strings.Contains(progress, "still owns 1 shards") {
		t.Errorf("%v after %d looks, printed %q and %q", err, looks, out, progress)
	}
	if _, _, err := run(t, "node", "undrain", "a"); err != nil || f.status.Nodes[0].Draining {
		t.Errorf("undrain: %v, %+v", err, f.status.Nodes[0])
	}
	if f.asked[0] != "DrainNodemap[Node:a]" || f.asked[1] != "DrainNodemap[Node:a Undo:true]" {
		t.Errorf("asked %q", f.asked)
	}
}

func TestUndrainOfNodeThatIsNotDrained(t *testing.T) {
	f := &fakeCluster{status: three(), then: func(string, map[string]any) string { return "" }}
	startFake(t, f)
	if out, _, err := run(t, "node", "undrain", "b"); err != nil || out != "node b was not drained\n" ||
		len(f.asked) > 0 {
		t.Errorf("%v, %q, asked %q", err, out, f.asked)
	}
}

func TestNodesAreCompleted(t *testing.T) {
	startFake(t, &fakeCluster{status: three()})
	for _, verb := range []string{"drain", "undrain", "remove"} {
		if out, _, err := run(t, "__complete", "node", verb, ""); err != nil || !strings.HasPrefix(out, "a\nb\nc\n") {
			t.Errorf("%s: %v, %q", verb, err, out)
		}
	}
}

func TestDrainThatCannotEnd(t *testing.T) {
	f := &fakeCluster{status: three(), then: func(string, map[string]any) string { return "" }}
	for i := range f.status.Nodes {
		f.status.Nodes[i].Draining = true
	}
	startFake(t, f)
	if _, _, err := run(t, "node", "drain", "a"); err == nil || !strings.Contains(err.Error(), "no other node") {
		t.Errorf("all are drained: %v", err)
	}
	f.status.Nodes[1].Draining = false
	if _, _, err := run(t, "node", "drain", "a", "--timeout", "1ms"); err == nil ||
		!strings.Contains(err.Error(), "--timeout") {
		t.Errorf("no time: %v", err)
	}
	if out, _, err := run(t, "node", "drain", "a", "--no-wait"); err != nil ||
		!strings.Contains(out, "is being drained") {
		t.Errorf("not waiting: %v, %q", err, out)
	}
}

func TestRemoveTellsWhyNot(t *testing.T) {
	f := &fakeCluster{status: three(), then: func(string, map[string]any) string { return "NodeAliveException" }}
	startFake(t, f)
	if _, _, err := run(t, "node", "remove", "a", "--timeout", "1ms"); err == nil ||
		!strings.Contains(err.Error(), "NodeAlive") {
		t.Errorf("a node that is alive: %v", err)
	}
	asked := 0
	f.then = func(string, map[string]any) string {
		if asked++; asked < 3 {
			return "NodeAliveException"
		}
		return ""
	}
	out, said, err := run(t, "node", "remove", "a")
	if err != nil || !strings.Contains(out, "a is removed") ||
		said != "node a counts as alive: waiting until it is not heard of any more\n" {
		t.Errorf("a node that was just stopped: %v, %q, %q", err, out, said)
	}
	f.then = func(string, map[string]any) string { return "" }
	if out, _, err := run(t, "node", "remove", "c"); err != nil || !strings.Contains(out, "c is removed") {
		t.Errorf("%v, %q", err, out)
	}
}

func TestQueuesOfShards(t *testing.T) {
	f := &fakeCluster{queues: []status.Queue{
		{QueueArn: "arn:aws:sqs:us-east-1:000000000000:jobs", Shards: []status.QueueShard{{Name: "0004"}}},
		{QueueArn: "arn:aws:sqs:us-east-1:000000000000:wide",
			Shards: []status.QueueShard{{Name: "0001", Owner: "a"}, {Name: "0004"}}},
	}}
	startFake(t, f)
	out, _, err := run(t, "cluster", "queues", "--shard", "0004")
	want := `QUEUE                                    SHARD  OWNER
arn:aws:sqs:us-east-1:000000000000:jobs  0004   NONE
arn:aws:sqs:us-east-1:000000000000:wide  0001   a
arn:aws:sqs:us-east-1:000000000000:wide  0004   NONE
`
	if err != nil || out != want {
		t.Errorf("%v, printed\n%s", err, out)
	}
}
