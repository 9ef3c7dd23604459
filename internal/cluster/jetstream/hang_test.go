//go:build unix

package jetstream

import (
	"syscall"
	"testing"
)

// The leader hangs, another takes its place, and it resumes without noticing. It must never tell a reader that the log
// is shorter than it is.
func TestLeaderHangs(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, nil)
	ctx := testContext(t)
	w := &writer{t: t, log: c.log(0, "1")}
	c.kill(2)
	victim := c.child(2)
	lead(t, w, "n2")
	w.mustAppend(ctx, 10)
	at := followed(t, c.log(1, "1"))
	if err := victim.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.mustAppend(ctx, 50)
	reach(t, ctx, at, w.at)
	if err := victim.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		w.mustAppend(ctx, 1)
		fresh := &Log{conn: c.conns[1], name: "1", stream: w.log.stream, subject: w.log.subject, tail: w.log.tail}
		records, e, err := fresh.Read(ctx, w.at)
		if err != nil || e.Last != w.at || len(records) != 1 || records[0].Position != w.at {
			t.Fatalf("the log ends at %d, and a read sees %d records, %+v, %v", w.at, len(records), e, err)
		}
	}
	reach(t, ctx, at, w.at)
	w.check(ctx, c.log(1, "1"))
}
