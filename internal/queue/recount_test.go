package queue

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// populate fills a standard and a FIFO queue with messages in every state, and puts some into the outbox for a queue of
// another shard.
func populate(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.keep = DefaultKeep
	r.reload()
	r.configure(Config{ID: 1, ARN: "standard", Retention: time.Hour, Visibility: time.Minute})
	r.configure(Config{
		ID: 2, ARN: "fifo", Retention: time.Hour, Visibility: time.Minute, FIFO: true, Delay: time.Second,
	})
	r.configure(Config{ID: 3, ARN: "elsewhere", Elsewhere: true})
	r.configure(Config{ID: 4, ARN: "emptied", Retention: time.Hour})
	do := func(f func(*Engine) error) {
		t.Helper()
		if err := r.do(f); err != nil {
			t.Fatal(err)
		}
	}
	receive := func(id ID, attempt string) {
		do(func(e *Engine) error {
			_, err := e.Receive(id, Receive{Max: 2, Attempt: attempt})
			return err
		})
	}
	send := func(id ID, n int, delay *time.Duration) {
		do(func(e *Engine) error {
			for i := range n {
				m := Outgoing{Body: "body", Group: fmt.Sprint("g", i%3), Delay: delay, Dedup: fmt.Sprint(r.now, i)}
				if id == 1 && i%2 == 0 {
					m.Group = ""
				}
				if _, err := e.Send(id, []Outgoing{m}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	send(1, 12, nil)
	send(2, 12, nil)
	r.advance(2 * time.Second)
	receive(1, "")
	receive(1, "")
	receive(2, "attempt")
	do(func(e *Engine) error { return e.StartMove(1, MoveTask{ID: "t", Destination: "standard", Rate: 1}) })
	r.advance(time.Minute)
	send(1, 4, new(time.Minute))
	send(2, 4, nil)
	send(4, 5, nil)
	do(func(e *Engine) error { return e.StartMove(4, MoveTask{ID: "t", Destination: "elsewhere"}) })
	do(func(e *Engine) error {
		return e.Accept(1, FromShard{7},
			[]Transfer{{Position: 5, Message: Message{Body: "moved"}},
				{Position: 6, Message: Message{Body: "redriven", Source: "far"}}})
	})
	return r
}

// problems recounts all rows in keys.
func problems(t *testing.T, r *rig, keys mirror) []string {
	t.Helper()
	var out []string
	for _, cfg := range r.configs {
		recount, err := Check(keys.sorted(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, recount.Problems...)
	}
	_, strays, err := Leftovers(keys.sorted(), r.configs)
	if err != nil {
		t.Fatal(err)
	}
	return append(out, strays...)
}

// A recount finds every single row that is missing, cut short or misplaced. It cannot notice that a deduplication id, a
// task, the clock, a mark of arrival, the name of a queue or a row of series is missing, or that a deduplication id, a
// shard or a name of series was replaced by another.
func TestRecountFindsEachLostRow(t *testing.T) {
	t.Parallel()
	r := populate(t)
	defer r.close()
	if found := problems(t, r, r.keys); len(found) > 0 {
		t.Fatalf("problems of sound rows: %q", found)
	}
	tables := make(map[byte]int)
	for k := range r.keys {
		lone := k == string(clockKey) || k[8] == tableDedup || k[8] == tableTask || k[8] == tableAccepted ||
			k[8] == tableBlock || k[8] == tableOwnName
		if !lone {
			tables[k[8]]++
		}
		spoil := func(what string, change func(keys mirror)) {
			keys := maps.Clone(r.keys)
			change(keys)
			if len(problems(t, r, keys)) == 0 {
				t.Errorf("key %q %s, and the recount found nothing", k, what)
			}
		}
		if !lone {
			spoil("is missing", func(keys mirror) { delete(keys, k) })
		}
		spoil("is cut short", func(keys mirror) {
			v := keys[k].value
			keys[k] = mirrored{value: v[:len(v)-1]}
		})
		if k[8] == tableDedup || k[8] == tableAccepted || k[8] == tableName {
			continue
		}
		spoil("has a twin", func(keys mirror) {
			twin := []byte(k)
			twin[len(twin)-1] ^= 0x55
			keys[string(twin)] = keys[k]
		})
		spoil("has a longer neighbour", func(keys mirror) { keys[k+"x"] = keys[k] })
	}
	for _, table := range []byte{
		tableMeta, tableMessage, tableReceived, tableDelay, tableMember, tableGroup, tableRota, tableAge,
		tableOutbox, tableOutboxMessage, tableName,
	} {
		if tables[table] == 0 {
			t.Errorf("the test has no row in table %c", table)
		}
	}
}

// A gap is one problem, however long it is. Problems without a description are still counted.
func TestRecountIsBrief(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	cfg := Config{ID: 1, ARN: "q", Retention: time.Hour}
	r.configure(cfg)
	err := r.do(func(e *Engine) error { _, err := e.Send(1, make([]Outgoing, 3*problemsKept)); return err })
	if err != nil {
		t.Fatal(err)
	}
	keys := maps.Clone(r.keys)
	for p := Position(10); p < 50; p++ {
		delete(keys, string(messageKey(1, p)))
	}
	got, err := Check(keys.sorted(), cfg)
	if err != nil || !strings.Contains(strings.Join(got.Problems, "\n"), "l10 to l49 are missing") ||
		len(got.Problems) != 2 {
		t.Errorf("a gap: %q, %v", got.Problems, err)
	}
	for k, v := range r.keys {
		if k[8] == tableMessage {
			keys[k] = mirrored{value: bytes.Repeat(v.value, 2)}
		}
	}
	got, err = Check(keys.sorted(), cfg)
	if err != nil || len(got.Problems) != problemsKept || got.More == 0 {
		t.Errorf("all damaged: %d problems, %d more, %v", len(got.Problems), got.More, err)
	}
}

// The remains of a deleted queue are not a problem.
func TestLeftoversAreNamed(t *testing.T) {
	t.Parallel()
	r := populate(t)
	defer r.close()
	left, strays, err := Leftovers(r.keys.sorted(), r.configs[:1])
	if err != nil || len(strays) != 0 || !slices.Equal(left, []ID{2, 3, 4}) {
		t.Errorf("left %v, strays %q, error %v", left, strays, err)
	}
}

// The time range of a queue's kept records covers all of them.
func TestStrangeBucketsAreFound(t *testing.T) {
	t.Parallel()
	r := populate(t)
	defer r.close()
	old := newRecord(48)
	old.Instant(bucketStart(1))
	old.Uint(1)
	old.Raw(make([]byte, len(MessageID{})))
	for _, cfg := range r.configs {
		keys := maps.Clone(r.keys)
		keys[string(dedupKey(slotsPerBucket, cfg.ID).byte(kindDedup).string("id"))] = mirrored{value: old.Writer}
		_, strays, err := Leftovers(keys.sorted(), r.configs)
		if err != nil || len(strays) != 1 || !strings.Contains(strays[0], "bucket 1 is not in") {
			t.Errorf("%s: %q, error %v", cfg.ARN, strays, err)
		}
	}
}
