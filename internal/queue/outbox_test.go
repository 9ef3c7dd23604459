package queue

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// letter adds a message to an outbox and returns its position.
func letter(r *rig, id ID) Position {
	r.t.Helper()
	err := r.do(func(e *Engine) error { return e.outboxes.at[id].accept(&Message{Body: "letter"}, e.now) })
	if err != nil {
		r.t.Fatalf("%v", err)
	}
	return r.engine.outboxes.at[id].last
}

// A destination takes a position that it has seen as a message that it has. A shard that is restored from a backup does
// not know which positions it has used since, but never uses one again.
func TestPositionsAreNewAfterABackup(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	cfg := Config{ID: 1, ARN: "elsewhere", Elsewhere: true}
	r.configure(cfg)
	letter(r, 1)
	backup := maps.Clone(r.keys)
	var last Position
	for range 100 {
		p := letter(r, 1)
		if p <= last {
			t.Fatalf("%v comes after %v", p, last)
		}
		last = p
	}
	back := newRig(t)
	defer back.close()
	back.now = r.now.Add(time.Second)
	back.configs = []Config{cfg}
	tx := back.begin()
	for k, v := range backup {
		tx.Set([]byte(k), v.value)
	}
	back.commit(tx)
	tx.Release()
	back.reload()
	if p := letter(back, 1); p <= last {
		t.Errorf("%v was used before; the last was %v", p, last)
	}
	// The clock of the machine that takes over may be behind.
	back.now = back.now.Add(-time.Hour)
	before := back.engine.outboxes.at[1].last
	back.reload()
	if p := letter(back, 1); p <= before {
		t.Errorf("%v comes after %v", p, before)
	}
}

// readCounter counts the reads of a store.
type readCounter struct {
	*strictTxn
	reads int
}

func (c *readCounter) Get(k []byte) ([]byte, error) {
	c.reads++
	return c.strictTxn.Get(k)
}

func (c *readCounter) Scan(lo, hi []byte, f func(k, v []byte) bool) error {
	c.reads++
	return c.strictTxn.Scan(lo, hi, f)
}

// For most shards, most queues are elsewhere. These cost nothing.
func TestAwayQueuesAreLoadedWithoutReads(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	r.configure(Config{ID: 5000, ARN: "elsewhere 5000", Elsewhere: true})
	letter(r, 5000)
	for i := range ID(10_000) {
		if i+1 != 5000 {
			r.configs = append(r.configs, Config{ID: i + 1, ARN: fmt.Sprint("elsewhere ", i+1), Elsewhere: true})
		}
	}
	tx := &readCounter{strictTxn: r.begin()}
	defer tx.Release()
	e, err := Load(tx, r.now, r.configs, r.isDeleted, r.keep)
	if err != nil {
		t.Fatal(err)
	}
	if tx.reads > 20 {
		t.Errorf("%d reads", tx.reads)
	}
	if n, err := e.Counts(5000); err != nil || n.Visible != 1 {
		t.Errorf("counted %+v, %v", n, err)
	}
	if told := e.OutboxReady(); len(told) != 1 || told[0] != 5000 {
		t.Errorf("ready are %v", told)
	}
}

// The engine does not skip messages of a queue that it has served when a config says that the queue is elsewhere.
func TestAwayQueueWithMessagesOfItsOwnIsRefused(t *testing.T) {
	t.Parallel()
	r := populate(t)
	defer r.close()
	configs := slices.Clone(r.configs)
	configs[0].Elsewhere = true
	tx := r.begin()
	_, err := Load(tx, r.now, configs, r.isDeleted, Keep{})
	if !errors.Is(err, ErrElsewhere) {
		t.Errorf("queue %d has changed sides: %v", configs[0].ID, err)
	}
	tx.undo()
	tx.Release()
	recount, err := Check(r.keys.sorted(), configs[0])
	if err != nil || !strings.Contains(strings.Join(recount.Problems, " "), "no record of the queue") {
		t.Errorf("queue %d has changed sides, recount: %q, %v", configs[0].ID, recount.Problems, err)
	}
}

// Batches are bounded, but always hold at least one message.
func TestDeparturesAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	r.configure(Config{ID: 1, ARN: "elsewhere", Elsewhere: true})
	for range 5 {
		err := r.do(func(e *Engine) error {
			return e.outboxes.at[1].accept(&Message{Body: strings.Repeat("x", 1000)}, e.now)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ most, bytes, want int }{
		{10, 1 << 20, 5}, {3, 1 << 20, 3}, {10, 2500, 2}, {10, 1, 1}, {1, 0, 1},
	} {
		from, _, err := r.engine.Outbox(1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadOutbox(r.store, 1, from, test.most, test.bytes)
		if err != nil || len(got) != test.want {
			t.Errorf("at most %d and %d bytes: %d messages, %v", test.most, test.bytes, len(got), err)
		}
	}
}
