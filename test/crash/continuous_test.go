package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/test/program"
)

// TestKillContinuousBackup kills a server that makes continuous backups, under load and at random moments of a backup.
// Then it restores the last moment and some others. Each must have everything acknowledged before it, nothing twice,
// and nothing that was deleted before it. The data directory itself must keep its promises, too.
func TestKillContinuousBackup(t *testing.T) {
	program.Long(t)
	t.Parallel()
	seed := number(t, "SLUICE_TEST_CRASH_SEED", uint64(time.Now().UnixNano()))
	t.Logf("SLUICE_TEST_CRASH_SEED=%d", seed)
	b := newBackedUp(t, rand.New(rand.NewPCG(seed, 0)))
	rounds := number(t, "SLUICE_TEST_CRASH_ROUNDS", 4)
	for round := range rounds {
		b.kill(t, round == 0, round == rounds-1)
	}
	moments, queues := b.moments(t), b.queues()
	for _, m := range b.choose(moments) {
		h := b.history.Restored(m.span(b.clock))
		t.Run(fmt.Sprintf("moment %d of %d", m.Number, len(moments)), func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "restored")
			at := m.Moment.Format(time.RFC3339Nano)
			b.sluice(t, "backup", "verify", b.url(), "--at", at, "--scratch", t.TempDir())
			b.sluice(t, "restore", b.url(), "--at", at, "--data", data)
			p := launch(t, b.binary, data)
			b.drain(t, p, p.ready(t), h, queues)
			checkCountersOf(t, h, data)
			report(t, h, seed)
		})
	}
	t.Run("the original", func(t *testing.T) {
		t.Parallel()
		p := b.launch(t)
		c := p.ready(t)
		b.revived()
		b.drain(t, p, c, b.history, queues)
		checkCountersOf(t, b.history, b.data)
		report(t, b.history, seed)
		b.checkBackups(t, p)
	})
}

// backedUp is a server with continuous backups that is killed again and again, and the calls to it.
type backedUp struct {
	binary, data, place string
	rng                 *rand.Rand
	clock               workload.WallClock
	journal             *workload.Journal
	history             *history.History
	users               *workload.Load
	revived             func() // to be called when it is alive again
}

func newBackedUp(t *testing.T, rng *rand.Rand) *backedUp {
	clock := workload.WallClock{Began: time.Now()}
	j, h := newJournal(clock)
	return &backedUp{
		binary: program.Build(t), data: t.TempDir(), place: filepath.Join(t.TempDir(), "backups"), rng: rng,
		clock:   clock,
		journal: j, history: h, users: workload.New(rng, workload.Options{Patient: true}), revived: func() {},
	}
}

func (b *backedUp) url() string { return "file://" + filepath.ToSlash(b.place) }

// launch starts the server. In half of the cases its backups are so slow that it is likely to be killed during one.
func (b *backedUp) launch(t *testing.T) *process {
	t.Helper()
	flags := []string{"--backup-to", b.url(), "--backup-every", "1s"}
	if b.rng.IntN(2) == 0 {
		flags = append(flags, "--backup-bandwidth", "4MiB")
	}
	return launch(t, b.binary, b.data, flags...)
}

// kill starts the server, uses it, and kills it.
func (b *backedUp) kill(t *testing.T, first, last bool) {
	t.Helper()
	for b.rng.IntN(3) == 0 {
		p := b.launch(t)
		b.sleep(150 * time.Millisecond)
		p.kill(t)
		b.checkBackups(t, p)
	}
	p := b.launch(t)
	c := p.ready(t)
	b.revived()
	if first {
		establish(t, b.users, &workload.Recorder{Journal: b.journal, Pick: workload.To(c), Worker: "test"})
	}
	b.revived = killUnderLoad(t, p, c, b.journal, b.users, "", func(busy func()) {
		busy()
		if last || b.rng.IntN(2) == 0 {
			b.await(t, time.Now())
		}
		if b.rng.IntN(2) == 0 {
			eventually.True(t, "in a backup", func() bool { return b.files(t, b.data, "backup-*") > 0 })
		}
		b.sleep(500 * time.Millisecond)
	})
	c.Close()
	b.checkBackups(t, p)
}

// sleep makes the next step happen at a random moment.
func (b *backedUp) sleep(most time.Duration) { b.clock.Sleep(time.Duration(b.rng.Int64N(int64(most)))) }

// await waits for a backup with everything acknowledged before a time.
func (b *backedUp) await(t *testing.T, since time.Time) {
	t.Helper()
	eventually.True(t, "backed up", func() bool {
		if b.files(t, b.place, "owner.json") == 0 {
			return false
		}
		all := b.moments(t)
		return len(all) > 0 && all[len(all)-1].Moment.After(since)
	})
}

func (b *backedUp) files(t *testing.T, dir, pattern string) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// backupMoment is a moment in the output of sluice backup ls.
type backupMoment struct {
	Number  int64
	Moment  time.Time
	written time.Time // the time of its list of files
}

// span returns the time within which the backup was made: not before its moment, and before its files were stored.
func (m backupMoment) span(c workload.WallClock) (from, to time.Duration) {
	return m.Moment.Sub(c.Began) - slack, m.written.Sub(c.Began) + slack
}

// moments returns the moments that can be restored, the oldest first.
func (b *backedUp) moments(t *testing.T) []backupMoment {
	t.Helper()
	var list struct{ Backups []backupMoment }
	if err := json.Unmarshal(b.sluice(t, "backup", "ls", b.url(), "--json"), &list); err != nil {
		t.Fatal(err)
	}
	for i, m := range list.Backups {
		info, err := os.Stat(filepath.Join(b.place, "moments", fmt.Sprintf("%012d.json", m.Number)))
		if err != nil {
			t.Fatal(err)
		}
		list.Backups[i].written = info.ModTime()
	}
	return list.Backups
}

// choose returns the last moment, and two more that are later than the first messages.
func (b *backedUp) choose(all []backupMoment) (some []backupMoment) {
	last := len(all) - 1
	for _, at := range b.rng.Perm(last) {
		h := b.history.Restored(all[at].span(b.clock))
		if tally := h.Tally(); tally["send ok"] > 0 && tally["publish ok"] > 0 && len(some) < 2 {
			some = append(some, all[at])
		}
	}
	return append(some, all[last])
}

// sluice runs a command that must succeed, and returns its output.
func (b *backedUp) sluice(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), b.binary, args...)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", args, err, out, log.String())
	}
	return out
}

// queues returns all queues that ever existed, sources before their dead-letter queues.
func (b *backedUp) queues() (all []history.Queue) {
	var dead []history.Queue
	known := make(map[string]bool)
	for _, q := range b.users.Standing() {
		known[q.Name] = true
		if workload.IsDead(q.Name) {
			dead = append(dead, q)
		} else {
			all = append(all, q)
		}
	}
	for _, t := range b.users.Topics() {
		known[t.Name] = true
	}
	for _, c := range b.history.Calls {
		if c.Operation == history.Create && !known[c.Queue] {
			known[c.Queue] = true
			all = append(all, history.Queue{Name: c.Queue})
		}
	}
	return append(all, dead...)
}

// drain empties the queues of a newly started server, stops it, and records the messages in the history.
func (b *backedUp) drain(t *testing.T, p *process, c *workload.Client, h *history.History, queues []history.Queue) {
	t.Helper()
	r := &workload.Recorder{Journal: workload.NewJournal(b.clock, h, nil), Pick: workload.To(c), Worker: "test"}
	e := &workload.Ending{Recorder: r, Queues: queues}
	e.Quiesce()
	e.Drain()
	c.Close()
	p.stop(t)
}

// checkBackups checks that a server that has ended made backups without an error.
func (b *backedUp) checkBackups(t *testing.T, p *process) {
	t.Helper()
	for line := range strings.Lines(p.log.String()) {
		if strings.Contains(line, "backup") && !strings.Contains(line, "level=INFO") {
			t.Errorf("the server logs: %s", line)
		}
	}
}
