package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/test/program"
	"github.com/sluicemq/sluice/test/upgrade"
)

// earlier is the commit whose program is upgraded. It has topics and alarms (format 5), but not the later formats of
// trails, of console sessions, of redrives with a selection, and of topic metrics.
const earlier = "44a8779"

// rolling is an upgrade of a cluster in use, one node after the other.
type rolling struct {
	*nodes
	old, new string // programs
	reads    int    // the newest format of the old program
	journal  *workload.Journal
}

// TestRollingUpgrade replaces the program on one node after the other of a cluster, from an earlier version to today's,
// while clients use all nodes; the first node goes back once. No acknowledged message is lost, and FIFO queues keep
// their order. Features whose formats the old program cannot read are refused until the last node is new, and then they
// work. After that no node can go back.
func TestRollingUpgrade(t *testing.T) {
	program.Long(t)
	t.Parallel()
	commit := cmp.Or(os.Getenv("SLUICE_TEST_UPGRADE_FROM"), earlier)
	seed := number(t, "SLUICE_TEST_CRASH_SEED", uint64(time.Now().UnixNano()))
	t.Logf("SLUICE_TEST_UPGRADE_FROM=%s SLUICE_TEST_CRASH_SEED=%d", commit, seed)
	today := program.Build(t)
	old, err := upgrade.Build(t.Context(), commit, t.TempDir())
	if errors.Is(err, upgrade.ErrNoHistory) {
		t.Skipf("the program of commit %s cannot be built: %v", commit, err)
	} else if err != nil {
		t.Fatal(err)
	}
	r := &rolling{nodes: newNodes(t, old), old: old, new: today, reads: newestOf(t, old)}
	t.Cleanup(r.stop)
	r.whole()

	o := workload.Options{Queues: workload.Queues(1), Patient: true}
	if eventually.Succeeds(t,
		func() error { return known(r.any(0).Notify("ListTopics", url.Values{}, nil), &o) }); o.Topics == nil {
		t.Log("the earlier program has no topics")
	}
	rng := rand.New(rand.NewPCG(seed, 4))
	users := workload.New(rng, o)
	h := &history.History{Queues: users.Standing(), Topics: users.Topics(), Slack: slack, Grace: 30 * time.Second}
	r.journal = workload.NewJournal(workload.WallClock{Began: time.Now()}, h, nil)
	e := &workload.Ending{
		Recorder: &workload.Recorder{Journal: r.journal, Worker: "test", Pick: r.pick(rand.New(rand.NewPCG(seed, 5)))},
		Wait:     time.Second, Patience: 3 * time.Minute,
	}
	if err := e.Persist(func() error { return users.Establish(e.Recorder) }); err != nil {
		t.Fatal(err)
	}
	r.learn(users.Topics())
	r.sort()

	use, over := context.WithCancel(t.Context())
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	for _, w := range users.Workers {
		own := rand.New(rand.NewPCG(rng.Uint64(), 0))
		rec := &workload.Recorder{Journal: r.journal, Worker: w.Name(), Pick: r.pick(own)}
		all.Go(func() {
			for use.Err() == nil {
				rec.Gone = false
				w.Step(rec)
				rec.Sleep(time.Duration(50+own.IntN(100)) * time.Millisecond)
			}
		})
	}
	r.replace(0, r.new)
	r.tooEarly(0, "b")
	r.replace(0, r.old) // nothing prevents that yet
	r.replace(0, r.new)
	r.replace(1, r.new)
	r.tooEarly(1, "c")
	r.replace(2, r.new)
	r.begins()
	r.noWayBack(2)
	over()
	all.Wait()
	e.Queues = users.Queues()
	e.Quiesce()
	e.Drain()
	t.Logf("after %s all queues are empty", r.journal.Now().Round(time.Second))
	report(t, h, seed)
	unanswered := 0
	for _, c := range h.Calls {
		if c.Outcome == history.Unknown {
			unanswered++
		}
	}
	t.Logf("%d calls of %d had no answer", unanswered, len(h.Calls))
	for i := range r.running {
		r.end(i)
	}
}

// known adds topics to the users of a load if the server supports them.
func known(err error, o *workload.Options) error {
	var refusal history.Refusal
	switch {
	case err == nil:
		o.Topics = workload.Topics(1)
		return nil
	case errors.As(err, &refusal):
		return nil
	}
	return err
}

// newestOf returns the newest format that a program reads, from its refusal to start on a newer one.
func newestOf(t *testing.T, binary string) (newest int) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, datadir.FormatFile), []byte(`{"format":1000,"version":"later"}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(refusedBy(t, binary, dir), "this program reads formats up to ")
	if _, err := fmt.Sscanf(text, "%d", &newest); err != nil || !found {
		t.Fatalf("the program does not report which formats it reads: %q, %v", text, err)
	}
	return newest
}

// refusedBy starts a program on a directory that it must refuse, and returns its error.
func refusedBy(t *testing.T, binary, dir string, flags ...string) string {
	t.Helper()
	p := launch(t, binary, dir, flags...)
	if endpoint, ok := <-p.endpoint; ok {
		t.Fatalf("%s serves %s at %s", binary, dir, endpoint)
	}
	if err := <-p.ended; err == nil {
		t.Error("it has ended without an error")
	}
	return p.log.String()
}

// pick chooses a running node for each call.
func (r *rolling) pick(rng *rand.Rand) func() (string, workload.Service) {
	return func() (string, workload.Service) { return "", r.any(rng.IntN(len(r.client))) }
}

// whole waits until no node of the cluster reports a problem.
func (r *rolling) whole() {
	r.Helper()
	eventually.Succeeds(r.T, func() error {
		for i := range r.client {
			var s status.Status
			if err := r.any(i).Administer(r.Context(), "DescribeCluster", workload.Object{}, &s); err != nil {
				return err
			}
			for _, p := range s.Problems() {
				return errors.New(p.Problem)
			}
		}
		return nil
	})
}

// learn waits until all nodes know the subscriptions.
func (r *rolling) learn(topics []history.Topic) {
	r.Helper()
	for _, t := range topics {
		for i := range r.client {
			eventually.Succeeds(r.T, func() error {
				n, err := r.any(i).Subscribed(t.Name)
				if err == nil && n < len(t.Queues) {
					err = fmt.Errorf("topic %s has %d subscriptions of %d", t.Name, n, len(t.Queues))
				}
				return err
			})
		}
	}
}

// end stops a node gracefully. A new one may have logged only requests that it could not answer: early ones, and some
// during the move of a shard.
func (r *rolling) end(i int) {
	r.Helper()
	r.client[i].Store(nil)
	p := r.running[i]
	p.end(r.T)
	for line := range strings.Lines(p.log.String()) {
		if p.cmd.Path == r.new && strings.Contains(line, "level=ERROR") &&
			!strings.Contains(line, `msg="request failed"`) {
			r.Errorf("node %s says: %s", r.name(i), line)
		}
	}
}

// replace upgrades a node as an operator does, and waits until all is well.
func (r *rolling) replace(i int, binary string) {
	r.Helper()
	healed := r.journal.Trouble("replace", "node "+r.name(i))
	r.end(i)
	r.binary = binary
	r.running[i] = r.start(i)
	r.wait(i)
	r.whole()
	healed()
	r.Logf("after %s node %s runs %s", r.journal.Now().Round(time.Second), r.name(i), filepath.Base(binary))
}

// sort creates a queue with messages, some of which are selected later, and a user who gets a password. A shard may
// have no owner for a moment, so each call may be repeated, which must not matter.
func (r *rolling) sort() {
	r.Helper()
	for _, queue := range []string{"unsorted.fifo", "sorted.fifo"} {
		eventually.Succeeds(r.T, func() error { return r.any(0).Create(history.Queue{Name: queue}) })
	}
	for i, body := range []string{"stays", "goes", "goes", "stays", "goes"} {
		eventually.Succeeds(r.T, func() error {
			return r.any(1).Call("SendMessage", workload.Object{
				"QueueUrl": r.any(1).URL("unsorted.fifo"), "MessageBody": body, "MessageGroupId": "g",
				"MessageDeduplicationId": fmt.Sprint(i),
			}, nil)
		})
	}
	eventually.Succeeds(r.T, func() error {
		_, err := r.root(2).IAM.CreateUser(r.Context(), &iam.CreateUserInput{UserName: aws.String("ann")})
		return unlessThere(err)
	})
}

// unlessThere ignores the error that a resource already exists.
func unlessThere(err error) error {
	if apitest.Code(err) == "EntityAlreadyExists" {
		return nil
	}
	return err
}

// root returns a caller of a node.
func (r *rolling) root(i int) *apitest.Actor {
	return apitest.NewActor(r.any(i).Endpoint, workload.Root.AccessKeyID, workload.Root.Secret, "", nil)
}

// features are operations that write data that older programs cannot read.
func (r *rolling) features(i int) map[int]func() error {
	return map[int]func() error{
		formats.Selections: func() error {
			return r.any(i).Administer(r.Context(), "RedriveMessages", workload.Object{
				"QueueUrl": "unsorted.fifo", "Filter": "goes", "DestinationArn": workload.ARN("sorted.fifo"),
			}, nil)
		},
		formats.SignIn: func() error {
			_, err := r.root(i).IAM.CreateLoginProfile(r.Context(), &iam.CreateLoginProfileInput{
				UserName: aws.String("ann"), Password: aws.String("Correct-horse-1"),
			})
			return unlessThere(err)
		},
		formats.Tenants: func() error {
			limits := workload.Object{"Subscriptions": 1_000_000}
			return r.any(i).Administer(r.Context(), "SetLimits",
				workload.Object{"AccountId": strings.Split(workload.ARN("q"), ":")[4], "Limits": limits}, nil)
		},
	}
}

// tooEarly checks that a new node refuses features that the old nodes cannot read, names such a node, and has written
// nothing.
func (r *rolling) tooEarly(i int, old string) {
	r.Helper()
	for format, use := range r.features(i) {
		if format <= r.reads {
			continue
		}
		eventually.Succeeds(r.T, func() error {
			err := use()
			if err == nil {
				r.Fatalf("a feature of format %d is in use while node %s runs the old program", format, old)
			}
			if strings.Contains(err.Error(), "ServiceUnavailable") &&
				strings.Contains(err.Error(), "the node "+old+" runs version ") {
				return nil
			}
			return err
		})
	}
	for i := range r.running {
		if f, err := datadir.ReadFormat(r.data(i)); err != nil || f.Number > r.reads {
			r.Errorf("node %s has format %d, and the old program reads formats up to %d: %v", r.name(i), f.Number,
				r.reads, err)
		}
	}
}

// begins uses the new features.
func (r *rolling) begins() {
	r.Helper()
	for format, use := range r.features(0) {
		// From each other's next heartbeat the nodes learn that all are new.
		eventually.Succeeds(r.T, func() error {
			if err := use(); err != nil {
				return fmt.Errorf("a feature of format %d: %w", format, err)
			}
			return nil
		})
	}
	eventually.Succeeds(r.T, func() error {
		stay, err := r.any(1).Counts("unsorted.fifo")
		if err != nil {
			return err
		}
		if gone, err := r.any(2).Counts("sorted.fifo"); err != nil || stay.Visible != 2 || gone.Visible != 3 {
			return fmt.Errorf("of 5 messages %d stay and %d are moved, not 2 and 3: %w", stay.Visible, gone.Visible,
				err)
		}
		return nil
	})
}

// noWayBack starts the old program on the directory of a node: it refuses the directory and changes nothing in it.
func (r *rolling) noWayBack(i int) {
	r.Helper()
	healed := r.journal.Trouble("no way back", "node "+r.name(i))
	r.end(i)
	before := r.files(i)
	said := refusedBy(r.T, r.old, r.data(i), r.membership(i)...)
	if want := fmt.Sprintf("this program reads formats up to %d", r.reads); !strings.Contains(said, want) {
		r.Errorf("the old program says %q, and not %s", said, want)
	}
	if after := r.files(i); !slices.Equal(before, after) {
		r.Errorf("the old program has changed the directory from %q to %q", before, after)
	}
	r.running[i] = r.start(i)
	r.wait(i)
	r.whole()
	healed()
}

// files lists a node's files, with their sizes and modification times.
func (r *rolling) files(i int) (all []string) {
	r.Helper()
	err := filepath.WalkDir(r.data(i), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			all = append(all, fmt.Sprint(path, " ", info.Size(), " ", info.ModTime()))
		}
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
	return all
}
