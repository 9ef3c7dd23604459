package queue

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sluicemq/sluice/internal/formats"
)

// In every sequence of events while the copies of publications are made, each queue gets one copy of each publication.
// Copies from a FIFO topic arrive in the order of publication.
func TestBacklog(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := &backlogTest{t: t, rig: newRig(t), queues: make(map[ID][]string)}
		defer b.rig.close()
		b.rig.copies = extent{copies: 3, bytes: 40}
		for id := ID(1); id <= 6; id++ {
			b.rig.configure(Config{
				ID: id, ARN: fmt.Sprint("q", id), FIFO: id%2 == 0, Internal: id == 2, PurgeAnytime: true,
				Retention: time.Hour, Elsewhere: id >= 5,
			})
			if id > 2 {
				b.queues[id] = nil
			}
		}
		b.rig.load()
		t.Repeat(map[string]func(*rapid.T){
			"":          func(*rapid.T) {},
			"publish":   b.publish,
			"publish 2": b.publish,
			"step":      b.step,
			"step 2":    b.step,
			"lose":      b.lose,
			"reload":    func(*rapid.T) { b.rig.load() },
			"drop":      b.drop,
			"purge":     b.purge,
			"count":     b.count,
		})
		for before := ^uint64(0); b.rig.engine.backlog.waiting(); {
			next := b.rig.engine.backlog.head<<32 + b.rig.engine.backlog.next
			if next == before {
				t.Fatal("a step makes no copy")
			}
			before = next
			b.step(t)
		}
		b.rig.drain()
		if n := b.rig.engine.NextWake(); b.rig.engine.backlog.waiting() || n <= b.rig.now {
			t.Fatalf("work is left at %v", n)
		}
		b.compare()
	})
}

type backlogTest struct {
	t      *rapid.T
	rig    *rig
	n      int
	queues map[ID][]string // the expected contents of each, in the order of publication
}

// draw generates a publication to the FIFO topic, which is queue 2, or to a standard topic.
func (b *backlogTest) draw() Publication {
	b.n++
	p := Publication{Group: "g", Dedup: fmt.Sprint(b.n)}
	if rapid.Bool().Draw(b.t, "FIFO") {
		p.Topic = 2
	}
	binary.BigEndian.PutUint64(p.ID[:], uint64(b.n))
	body := fmt.Sprintf("%t %05d %s", p.Topic != 0, b.n, strings.Repeat("x", rapid.IntRange(0, 40).Draw(b.t, "length")))
	for _, id := range []ID{3, 4, 5, 6, deletedBefore} {
		for range 1 + rapid.IntRange(0, 1).Draw(b.t, "copies") { // FIFO queues drop the second
			p.Copies = append(p.Copies, Copy{
				Queue: id, Message: Outgoing{ID: p.ID, Body: body, Group: "g", Dedup: p.Dedup},
			})
		}
	}
	return p
}

func (b *backlogTest) publish(*rapid.T) {
	var all []Publication
	for range rapid.IntRange(1, 3).Draw(b.t, "publications") {
		all = append(all, b.draw())
	}
	f := func(e *Engine) error {
		_, err := e.Publish(all)
		return err
	}
	if err := b.rig.transact(f); err != nil {
		b.t.Fatal(err)
	}
	for _, p := range all {
		for _, c := range p.Copies {
			if held, ok := b.queues[c.Queue]; ok && (c.Queue != 4 || !slices.Contains(held, c.Message.Body)) {
				b.queues[c.Queue] = append(held, c.Message.Body)
			}
		}
	}
}

func (b *backlogTest) step(*rapid.T) {
	if err := b.rig.transact((*Engine).Advance); err != nil {
		b.t.Fatal(err)
	}
}

func (b *backlogTest) lose(*rapid.T) {
	p := b.draw()
	tx := b.rig.begin()
	b.rig.engine.Begin(tx, b.rig.now)
	_, err := b.rig.engine.Publish([]Publication{p})
	if err == nil && rapid.Bool().Draw(b.t, "advance") {
		err = b.rig.engine.Advance()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.rig.engine.End()
	tx.undo()
	tx.Release()
	b.rig.load()
}

// drop deletes a queue: copies on their way to it are lost.
func (b *backlogTest) drop(*rapid.T) {
	id := ID(rapid.IntRange(3, 100).Draw(b.t, "queue"))
	if _, ok := b.queues[id]; !ok {
		return
	}
	delete(b.queues, id)
	b.rig.forget(id)
	if err := b.rig.transact(func(e *Engine) error { return e.Drop(id) }); err != nil {
		b.t.Fatal(err)
	}
}

func (b *backlogTest) purge(*rapid.T) {
	id := ID(rapid.IntRange(3, 100).Draw(b.t, "queue"))
	if _, ok := b.queues[id]; !ok {
		return
	}
	b.queues[id] = nil
	if err := b.rig.transact(func(e *Engine) error { _, err := e.Purge(Purging{Queue: id}); return err }); err != nil {
		b.t.Fatal(err)
	}
}

// count checks that copies that are still to be made are counted, including those that a FIFO queue will drop.
func (b *backlogTest) count(*rapid.T) {
	for id, held := range b.queues {
		n, err := b.rig.engine.Counts(id)
		if err != nil || n.Visible < uint64(len(held)) || id != 4 && n.Visible != uint64(len(held)) {
			b.t.Fatalf("queue %d counts %+v, %v, want %d messages", id, n, err, len(held))
		}
	}
}

func (b *backlogTest) compare() {
	for id, want := range b.queues {
		var got []string
		stored := b.rig.stored(id)
		for _, p := range sortedPositions(stored) {
			got = append(got, stored[p].Body)
		}
		for _, topic := range []string{"true", "false"} {
			of := func(all []string) (out []string) {
				for _, body := range all {
					if strings.HasPrefix(body, topic) {
						out = append(out, body)
					}
				}
				if topic == "false" {
					slices.Sort(out)
				}
				return out
			}
			if !reflect.DeepEqual(of(got), of(want)) {
				b.t.Fatalf("queue %d holds %q, want %q", id, of(got), of(want))
			}
		}
	}
}

// An engine whose configs are older than the backlog keeps the copies for queues that it does not know. They arrive
// when it learns of the queues, and are dropped when it learns that the queues were deleted.
func TestBacklogOfUnknownQueues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	r.copies = extent{copies: 1, bytes: 1 << 20}
	configs := []Config{
		{ID: 1, ARN: "q1", Retention: time.Hour}, {ID: 2, ARN: "q2", Retention: time.Hour},
		{ID: 3, ARN: "q3", Elsewhere: true},
		{ID: 4, ARN: "q4", Retention: time.Hour}, {ID: 5, ARN: "q5", Elsewhere: true},
	}
	for _, cfg := range configs {
		r.configure(cfg)
	}
	r.load()
	var p Publication
	for id := ID(1); id <= 5; id++ {
		p.Copies = append(p.Copies, Copy{Queue: id, Message: Outgoing{Body: fmt.Sprint(id)}})
	}
	must := func(f func(*Engine) error) {
		t.Helper()
		if err := r.transact(f); err != nil {
			t.Fatal(err)
		}
	}
	must(func(e *Engine) error { _, err := e.Publish([]Publication{p, p}); return err })
	counts := func(want ...uint64) {
		t.Helper()
		for i, n := range want {
			if got, err := r.engine.Counts(ID(i + 1)); err != nil || got.Visible != n {
				t.Errorf("queue %d holds %+v, %v; want %d", i+1, got, err, n)
			}
		}
	}
	for id := ID(2); id <= 5; id++ {
		r.hide(id)
	}
	for r.load(); r.engine.backlog.waiting(); r.load() { // after each copy
		must((*Engine).Advance)
	}
	if got := r.engine.Unknown(); !slices.Equal(got, []ID{2, 3, 4, 5}) {
		t.Errorf("the queues %v are unknown", got)
	}
	r.configure(configs[1])
	r.configure(configs[2])
	counts(2, 2, 2)
	r.drop(4)
	r.drop(5)
	r.reload()
	counts(2, 2, 2)
	if got := r.engine.Unknown(); len(got) > 0 {
		t.Errorf("the queues %v are unknown", got)
	}
	for _, id := range []ID{4, 5} {
		lo, hi := queueRange(id)
		must(func(e *Engine) error {
			return e.tx.Scan(lo, hi,
				func(k, _ []byte) bool { t.Errorf("%q of a deleted queue is stored", k); return true })
		})
	}
}

// Copies for an unknown queue, and the copies that Configure makes of them, may be in one transaction.
func TestUnknownQueueAppears(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		r := newRig(t)
		cfg := Config{ID: 1, ARN: "q", Retention: time.Hour, Elsewhere: elsewhere}
		r.configure(cfg)
		r.copies = extent{copies: 1, bytes: 1 << 20}
		r.load()
		p := Publication{
			Copies: []Copy{{Queue: 1, Message: Outgoing{Body: "a"}}, {Queue: 1, Message: Outgoing{Body: "b"}}},
		}
		err := r.transact(func(e *Engine) error { _, err := e.Publish([]Publication{p}); return err })
		if err != nil {
			t.Fatal(err)
		}
		r.hide(1)
		r.load()
		err = r.transact(func(e *Engine) error {
			if err := e.Advance(); err != nil {
				return err
			}
			if u, ok, err := e.Use(1); ok || err != nil {
				t.Errorf("the use of an unknown queue is %+v, %v", u, err)
			}
			if _, err := e.Publish([]Publication{p}); !errors.Is(err, ErrNotKnown) {
				t.Errorf("a publication to an unknown queue: %v", err)
			}
			return e.Configure(cfg)
		})
		if err != nil {
			t.Fatal(err)
		}
		r.configure(cfg)
		r.reload()
		if n, err := r.engine.Counts(1); err != nil || n.Visible != 2 {
			t.Errorf("elsewhere %t: %+v, %v", elsewhere, n, err)
		}
		r.close()
	}
}

// A publication with more copies than fit into a commit is stored once. Its copies are made in commits of bounded size.
func TestLargePublications(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	const queues = 100
	p := Publication{}
	for id := ID(1); id <= queues; id++ {
		r.configure(Config{ID: id, ARN: fmt.Sprint("q", id), Retention: time.Hour})
		p.Copies = append(p.Copies, Copy{
			Queue: id, Message: Outgoing{Body: strings.Repeat("x", 256<<10)}, Tail: fmt.Sprint(id),
		})
	}
	sizes := func(f func(*Engine) error) int {
		tx := r.begin()
		defer tx.Release()
		r.engine.Begin(tx, r.now)
		if err := f(r.engine); err != nil {
			t.Fatal(err)
		}
		r.engine.End()
		n := tx.Size()
		r.commit(tx)
		return n
	}
	size := sizes(func(e *Engine) error {
		_, err := e.Publish([]Publication{p})
		return err
	})
	if size > 300<<10 {
		t.Errorf("%d bytes for the publication", size)
	}
	steps := 0
	for ; r.engine.NextWake() <= r.now; steps++ {
		if n := sizes((*Engine).Advance); n > 800<<10 {
			t.Errorf("%d bytes in a step", n)
		}
	}
	for id := ID(1); id <= queues; id++ {
		for _, m := range r.stored(id) {
			if !strings.HasSuffix(m.Body, "x"+fmt.Sprint(id)) {
				t.Errorf("queue %d got %q", id, m.Body[256<<10:])
			}
		}
	}
	if n, err := r.engine.Counts(queues); err != nil || n.Visible != 1 || steps < 30 || steps > 60 {
		t.Errorf("%+v, %v after %d steps", n, err, steps)
	}
	if got := r.engine.Format(); got != formats.Topics {
		t.Errorf("format %d", got)
	}
}

// The backlog is bounded: publications that would have to wait are refused until there is room. Others are accepted.
func TestFullBacklog(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	p := Publication{}
	for id := ID(1); id <= 10; id++ {
		r.configure(Config{ID: id, ARN: fmt.Sprint("q", id), Retention: time.Hour})
		for range 10 {
			p.Copies = append(p.Copies, Copy{Queue: id, Message: Outgoing{Body: strings.Repeat("x", 256<<10)}})
		}
	}
	publish := func(p Publication) error {
		return r.transact(func(e *Engine) error {
			_, err := e.Publish([]Publication{p})
			return err
		})
	}
	accepted := 0
	for ; publish(p) == nil; accepted++ {
		if accepted > 10 {
			t.Fatal("no publication is refused")
		}
	}
	if err := publish(p); !errors.Is(err, ErrBacklogFull) || !r.engine.BacklogFull() || accepted != 3 {
		t.Errorf("%v after %d publications", err, accepted)
	}
	if err := publish(Publication{Copies: p.Copies[:1]}); err != nil {
		t.Errorf("a publication that need not wait: %v", err)
	}
	for r.engine.BacklogFull() {
		if err := r.transact((*Engine).Advance); err != nil {
			t.Fatal(err)
		}
	}
	if err := publish(p); err != nil {
		t.Errorf("when there is room: %v", err)
	}
}

func FuzzBacklog(f *testing.F) {
	f.Add((&backlogRecord{head: 1, end: 3, next: 2}).encode())
	f.Add(encodeBacklogged(&expansion{sequence: 1 << 63, Publication: &Publication{Copies: []Copy{{Queue: 1}}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var record, again backlogRecord
		if record.decode(b) == nil && (again.decode(record.encode()) != nil || again != record) {
			t.Errorf("%+v became %+v", record, again)
		}
		if x, err := decodeBacklogged(b); err == nil {
			if y, err := decodeBacklogged(encodeBacklogged(x)); err != nil || !reflect.DeepEqual(x, y) {
				t.Errorf("%+v became %+v, %v", x, y, err)
			}
		}
	})
}

// A recount finds a row of the backlog that is missing or cut short. The engine returns an error for it.
func TestLostRowsOfTheBacklog(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	r.configure(Config{ID: 1, ARN: "q", Retention: time.Hour})
	r.copies = extent{copies: 1, bytes: 1}
	r.load()
	p := Publication{Copies: []Copy{{Queue: 1, Message: Outgoing{Body: "a"}}, {Queue: 1, Message: Outgoing{Body: "b"}}}}
	err := r.transact(func(e *Engine) error {
		_, err := e.Publish([]Publication{p, p})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for k, v := range r.keys {
		if id, _ := queueOf([]byte(k)); id != ofShard || k == string(clockKey) {
			continue
		}
		rows++
		for what, lost := range map[string]func(mirror){
			"missing":   func(keys mirror) { delete(keys, k) },
			"cut short": func(keys mirror) { keys[k] = mirrored{value: v.value[:len(v.value)-1]} },
			"too long":  func(keys mirror) { keys[k] = mirrored{value: append(slices.Clone(v.value), 0)} },
		} {
			keys := maps.Clone(r.keys)
			lost(keys)
			if _, found, err := Leftovers(keys.sorted(), r.configs); err != nil || len(found) == 0 {
				t.Errorf("%q is %s: %q, %v", k, what, found, err)
			}
		}
	}
	if rows != 3 {
		t.Errorf("%d rows", rows)
	}
}

// A purge of more copies than one transaction can rewrite takes several transactions. Copies that are made meanwhile do
// not stay, and do not come back if the purge is interrupted. Copies of later publications stay.
func TestPurgeOfABacklogIsBounded(t *testing.T) {
	t.Parallel()
	for _, cut := range []int{0, 1, 2} {
		r := newRig(t)
		defer r.close()
		r.copies = extent{copies: 1, bytes: 1 << 20}
		for id := ID(1); id <= 3; id++ {
			r.configure(Config{ID: id, ARN: fmt.Sprint("q", id), Retention: time.Hour, PurgeAnytime: true})
		}
		r.load()
		publish := func(body string) {
			p := Publication{}
			for id := ID(1); id <= 3; id++ {
				p.Copies = append(p.Copies, Copy{Queue: id, Message: Outgoing{Body: body}})
			}
			publish := func(e *Engine) error { _, err := e.Publish([]Publication{p}); return err }
			if err := r.transact(publish); err != nil {
				t.Fatal(err)
			}
		}
		const publications, size, limit = 20, 10 << 10, 32 << 10
		for range publications {
			publish(strings.Repeat("x", size))
		}
		p, steps := Purging{Queue: 2}, 0
		for ; !p.Done; steps++ {
			if steps == cut && cut > 0 {
				r.load() // and the client retries
				p = Purging{Queue: 2}
			}
			err := r.transact(func(e *Engine) (err error) {
				e.Limit(e.tx.Size() + limit)
				if p, err = e.Purge(p); e.tx.Size() > limit+2*size {
					t.Errorf("a step of %d bytes", e.tx.Size())
				}
				return err
			})
			if err == nil {
				err = r.transact((*Engine).Advance)
			}
			if err != nil {
				t.Fatal(err)
			}
			if steps == 2 {
				publish("later")
			}
		}
		if steps < publications*size/limit {
			t.Errorf("%d steps", steps)
		}
		r.drain()
		want := map[ID]uint64{1: publications + 1, 2: 1, 3: publications + 1}
		for id, n := range want {
			if got, err := r.engine.Counts(id); err != nil || got.Visible != n {
				t.Errorf("interrupted at %d: queue %d has %+v, %v, want %d", cut, id, got, err, n)
			}
		}
	}
}
