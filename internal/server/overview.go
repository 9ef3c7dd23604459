package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/queue"
)

// report is one server's description of itself and of the shards that it owns. Servers send it to each other as JSON.
type report struct {
	Node      admin.NodeStatus
	Messages  admin.MessageCounts
	Uncounted bool `json:",omitzero"` // its shards did not answer
}

// reportAge is the maximum age of a report. Requests within this time share one, because it reads the state of every
// queue.
const reportAge = time.Second

// reports holds the latest report of this server.
type reports struct {
	turn chan struct{} // has a value while a caller reads
	at   time.Time
	last report
}

func newReports() *reports { return &reports{turn: make(chan struct{}, 1)} }

// get returns a report that is not too old. It waits while another caller reads, until ctx ends.
func (r *reports) get(ctx context.Context, now time.Time, look func(context.Context) report) (report, error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return report{}, context.Cause(ctx)
	}
	if age := now.Sub(r.at); age < 0 || age >= reportAge {
		made := look(ctx)
		if ctx.Err() != nil { // this caller has left; others ask again
			return report{}, context.Cause(ctx)
		}
		r.last, r.at = made, now
	}
	return r.last, nil
}

// report implements answerer.
func (a *administration) report(ctx context.Context) (report, error) {
	return a.reports.get(ctx, a.config.Now(), func(ctx context.Context) report {
		standings, err := a.storage.messages.Standings(ctx)
		if err != nil {
			a.log.Debug("the queues cannot be counted", "error", err)
		}
		return report{a.nodeStatus(), countMessages(standings, a.deadLetterQueues()), err != nil}
	})
}

func (a *administration) nodeStatus() admin.NodeStatus {
	n := admin.NodeStatus{
		Name: a.storage.node.Status().Node, Version: a.config.Version, StartedTimestamp: a.started.UnixMilli(),
		DiskLow: a.storage.isLow(), BackupRunning: a.backups.running.Load(),
	}
	if !a.config.InMemory {
		if free, size, err := a.storage.space.free(); err == nil {
			n.DiskFreeBytes, n.DiskSizeBytes = new(int64(free)), new(int64(size))
		}
	}
	if at := a.backups.last.Load(); at != 0 {
		n.LastBackup = &at
	}
	n.ContinuousBackup = a.continuous.describe()
	n.KeyService = a.secrecy.watch.describe()
	return n
}

// deadLetterQueues returns the ARNs of the dead-letter queues of queues and of subscriptions.
func (a *administration) deadLetterQueues() map[string]bool {
	out := a.topics.records.DeadLetterQueues()
	for _, q := range a.storage.catalog.Load().All() {
		if r := q.Attributes.Redrive; r != nil {
			out[r.Target] = true
		}
	}
	return out
}

// countMessages adds up the messages of queues.
func countMessages(standings []queue.Standing, dead map[string]bool) (sum admin.MessageCounts) {
	for i := range standings {
		st := &standings[i]
		n := admin.MessageCounts{
			Visible: int64(st.Counts.Visible), InFlight: int64(st.Counts.InFlight), Delayed: int64(st.Counts.Delayed),
			OldestMessage: oldestOf(st),
		}
		if dead[st.ARN] {
			n.DeadLetters = n.Visible + n.InFlight + n.Delayed
		}
		sum.Add(n)
	}
	return sum
}

// oldestOf returns the age of the oldest message of a queue at the end of its last minute, from memory.
func oldestOf(st *queue.Standing) *admin.OldestMessage {
	if st.Last == nil || st.Counts == (queue.Counts{}) {
		return nil
	}
	age := time.Duration(st.Last.Values[queue.MetricOldestAge].Max) * time.Second
	if age == 0 {
		return nil
	}
	end := st.Last.Time.Time().Add(time.Minute)
	return &admin.OldestMessage{QueueArn: st.ARN, SentTimestamp: end.Add(-age).UnixMilli()}
}

// status returns the state of the server and, in a cluster, of all nodes that answer.
func (a *administration) status(ctx context.Context) (*admin.ServerStatus, error) {
	own, err := a.report(ctx)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(question{Status: true})
	if err != nil {
		return nil, err
	}
	answers, silent := a.storage.node.Ask(ctx, text)
	cluster := a.storage.node.Status()
	out := &admin.ServerStatus{Cluster: cluster.Cluster, Silent: silent}
	all := []report{own}
	for _, answer := range answers {
		var r report
		if err := json.Unmarshal(answer, &r); err != nil {
			return nil, fmt.Errorf("the answer of another node: %w", err)
		}
		all = append(all, r)
	}
	for _, r := range all {
		out.Nodes = append(out.Nodes, r.Node)
		out.Messages.Add(r.Messages)
	}
	slices.SortFunc(out.Nodes[1:], func(n, m admin.NodeStatus) int { return strings.Compare(n.Name, m.Name) })
	a.countQueues(out)
	a.countAlarms(out)
	out.Problems = append(uncounted(all), problems(&cluster, out)...)
	return out, nil
}

func (a *administration) countQueues(out *admin.ServerStatus) {
	dead := a.deadLetterQueues()
	for _, q := range a.storage.catalog.Load().All() {
		out.Queues++
		if dead[q.Name.ARN()] {
			out.DeadLetterQueues++
		}
	}
}

func (a *administration) countAlarms(out *admin.ServerStatus) {
	out.Alarms = int64(a.monitoring.monitor.Count())
	for _, in := range a.monitoring.monitor.Where(func(al *monitor.Alarm) bool { return al.State == alarm.Alarm }) {
		out.InAlarm++
		if out.InAlarm <= admin.MaxFirstAlarms {
			out.FirstAlarms = append(out.FirstAlarms, in.ARN())
		}
	}
}

// uncounted names the servers whose queues could not be counted.
func uncounted(all []report) []status.Problem {
	out := []status.Problem{}
	for _, r := range all {
		if r.Uncounted {
			name := "The server"
			if r.Node.Name != "" {
				name = "Node " + r.Node.Name
			}
			out = append(out, status.Problem{
				Problem: name + " could not count its messages: they are missing here.",
				Advice:  "Check its /readyz and its log: a disk that cannot be written is the usual reason.",
			})
		}
	}
	return out
}

// problems returns the problems of a server or of a cluster.
func problems(cluster *status.Status, s *admin.ServerStatus) []status.Problem {
	out := cluster.Problems()
	for _, name := range s.Silent {
		out = append(out, status.Problem{
			Problem: fmt.Sprintf("Node %s has not reported its queues: its messages are not counted here.", name),
			Advice:  "Try again in a moment. A node of an older version cannot report them.",
		})
	}
	if cluster.Alone() && s.Nodes[0].DiskLow {
		out = append(out, status.Problem{
			Problem: "The disk is nearly full: nothing can be added to any queue.",
			Advice:  "Free space on it, delete messages, or start the server with a smaller --min-free-space.",
		})
	}
	return append(append(out, keyProblems(s)...), backupProblems(s)...)
}

// keyProblems returns the problems of nodes with their key services.
func keyProblems(s *admin.ServerStatus) (out []status.Problem) {
	for _, n := range s.Nodes {
		if k := n.KeyService; k != nil && k.Failure != "" {
			text := "The key service " + k.URL
			if n.Name != "" {
				text += ", which node " + n.Name + " asks,"
			}
			out = append(out, status.Problem{
				Problem: text + " does not open the encryption keys: " + k.Failure + ".",
				Advice:  "Soon no message can be encrypted or decrypted. Check the service, its key, and the server's permissions.",
			})
		}
	}
	return out
}

// backupProblems returns the problems of continuous backups, which one of the nodes makes.
func backupProblems(s *admin.ServerStatus) (out []status.Problem) {
	places, without := make(map[string]bool), false // some node has none
	making := len(s.Silent) > 0                     // a node that does not answer may make them
	for _, n := range s.Nodes {
		b := n.ContinuousBackup
		if b == nil {
			without = true
			continue
		}
		places[b.To] = true
		making = making || !b.Standby
		if b.Late {
			out = append(out, status.Problem{
				Problem: lateBackup(n.Name, b), Advice: "Check its log. It retries each time.",
			})
		}
	}
	// If all nodes are on standby, the shard control is without an owner, or changes hands.
	if len(places) > 0 && without && !making {
		out = append(out, status.Problem{
			Problem: "No node makes continuous backups: the owner of the shard control has no --backup-to.",
			Advice:  "Start all nodes with the same --backup-to.",
		})
	}
	if len(places) > 1 {
		out = append(out, status.Problem{
			Problem: "The nodes have different values of --backup-to: each place has only some of the backups.",
			Advice:  "Start all nodes with the same --backup-to.",
		})
	}
	return out
}

func lateBackup(node string, b *admin.ContinuousBackup) string {
	text := "The continuous backup to " + b.To
	if node != "" {
		text += ", by node " + node + ","
	}
	text += " is late"
	if b.Failure != "" {
		return text + ": " + b.Failure
	}
	return text + "."
}
