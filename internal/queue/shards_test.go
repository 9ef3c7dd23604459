package queue

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Several engines are shards of one service. Messages are lost on their way between shards, repeated by an owner that
// knows less, or undone by a commit that fails. Still, each message is in one place, in its queue or on its way there,
// and the dead letters of a FIFO group arrive in order.

func TestShards(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { testShards(t, false) })
}

func TestShardsFIFO(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { testShards(t, true) })
}

// The world of shards has two queues on separate shards, and their dead-letter queue, which is on two.
const (
	worldShards  = 4
	worldLetters = ID(3)
	worldTopic   = ID(4) // a FIFO topic, on the first shard
)

type world struct {
	t       *rapid.T
	fifo    bool
	rigs    []*rig
	sent    int
	purged  int
	tasks   int
	batches []worldBatch // that were once forwarded
	topic   int          // publications to the topic
	lazy    bool         // do leaves what has become due
}

type worldBatch struct {
	id       ID
	from     int
	messages []Transfer
}

func testShards(t *rapid.T, fifo bool) {
	w := &world{t: t, fifo: fifo}
	for shard := range worldShards {
		r := newRig(t)
		defer r.close()
		if shard%2 == 0 {
			r.copies = extent{copies: 2, bytes: 1000}
			r.reload()
		}
		w.rigs = append(w.rigs, r)
		for id := ID(1); id <= worldLetters; id++ {
			cfg := Config{
				ID: id, ARN: fmt.Sprintf("q%d", id), FIFO: fifo, Retention: time.Hour, PurgeAnytime: true,
				Elsewhere: !slices.Contains(w.homes(id), shard),
			}
			if id != worldLetters {
				cfg.Redrive = &Redrive{Target: fmt.Sprintf("q%d", worldLetters), MaxReceives: 1}
			}
			r.configure(cfg)
		}
		r.configure(Config{
			ID: worldTopic, ARN: "topic", FIFO: true, Internal: true, Retention: time.Hour, Elsewhere: shard != 0,
		})
	}
	actions := map[string]func(*rapid.T){
		"":          w.compare,
		"send":      w.send,
		"publish":   w.publish,
		"receive":   w.receive,
		"receive 2": w.receive,
		"forward":   w.forward,
		"forward 2": w.forward,
		"forward 3": w.forward,
		"stale":     w.stale,
		"advance":   w.advance,
		"reload":    w.reload,
		"shelve":    w.shelve,
		"purge":     w.purge,
	}
	if !fifo { // a message that comes back is behind those that never left
		actions["move"] = w.move
	}
	t.Repeat(actions)
	for w.waiting() > 0 {
		for shard := range w.rigs {
			for id := ID(1); id <= worldLetters; id++ {
				w.deliver(id, shard, 1000, "")
			}
		}
	}
	w.compare(t)
}

// homes are the shards that serve a queue.
func (w *world) homes(id ID) []int {
	if id == worldLetters {
		return []int{2, 3}
	}
	return []int{int(id) - 1}
}

// home is the shard of a message.
func (w *world) home(id ID, m *Message) int {
	homes := w.homes(id)
	if w.fifo {
		return homes[int(m.Group[0])%len(homes)]
	}
	return homes[int(m.Body[len(m.Body)-1])%len(homes)]
}

func (w *world) pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(w.t, label) }

// do runs f, and sometimes loses its changes.
func (w *world) do(shard int, outcome string, f func(*Engine) error) {
	if outcome == "undone" {
		w.rigs[shard].lose(f)
		return
	}
	do := w.rigs[shard].do
	if w.lazy {
		do = w.rigs[shard].transact
	}
	if err := do(f); err != nil && !errors.Is(err, ErrTaskRunning) {
		w.t.Fatalf("shard %d: %v", shard, err)
	}
}

func (w *world) send(*rapid.T) {
	id := ID(1 + w.pick("queue", 2))
	w.do(int(id)-1, "", func(e *Engine) error {
		var out []Outgoing
		for range 1 + w.pick("messages", 4) {
			w.sent++
			o := Outgoing{
				Body: fmt.Sprintf("m%05d", w.sent), Dedup: fmt.Sprint(w.sent),
				Group: string(rune('a' + w.pick("group", 3))),
			}
			binary.BigEndian.PutUint64(o.ID[:], uint64(w.sent))
			if !w.fifo && w.pick("grouped", 2) == 0 {
				o.Group = ""
			}
			out = append(out, o)
		}
		_, err := e.Send(id, out)
		return err
	})
}

// publish sends copies to some of the queues from any shard, or from the shard of the topic.
// The second time it is a duplicate.
func (w *world) publish(*rapid.T) {
	shard, p := w.pick("shard", worldShards), Publication{Group: string(rune('a' + w.pick("group", 3)))}
	if w.lazy || w.pick("to the FIFO topic", 2) == 0 { // others may be overtaken while they wait
		w.topic++
		shard, p.Topic, p.Dedup = 0, worldTopic, fmt.Sprint(w.topic)
	}
	for id := ID(1); id <= worldLetters; id++ {
		if w.pick("subscribed", 2) == 0 {
			continue
		}
		w.sent++
		o := Outgoing{
			Body: fmt.Sprintf("m%05d", w.sent), Dedup: fmt.Sprint(w.sent), Group: p.Group,
			Sender: fmt.Sprint("shard ", shard),
		}
		binary.BigEndian.PutUint64(o.ID[:], uint64(w.sent))
		p.Copies = append(p.Copies, Copy{Queue: id, Message: o})
	}
	for again := range 1 + w.pick("again", 2)*int(min(1, p.Topic)) {
		publish := func(e *Engine) error {
			published, err := e.Publish([]Publication{p})
			if err == nil && published[0].Duplicate != (again > 0) {
				w.t.Fatalf("time %d: %+v", again, published)
			}
			return err
		}
		if again == 0 && w.pick("undone first", 2) == 0 {
			w.do(shard, "undone", publish)
		}
		w.do(shard, "", publish)
	}
}

// receive receives messages and leaves them, so that the next receive finds them dead.
func (w *world) receive(*rapid.T) {
	id := ID(1 + w.pick("queue", 2))
	now := time.Duration(0)
	w.do(int(id)-1, []string{"", "", "undone"}[w.pick("outcome", 3)], func(e *Engine) error {
		_, err := e.Receive(id, Receive{Max: 1 + w.pick("max", 10), Timeout: &now})
		return err
	})
}

// move moves dead letters back, or on.
func (w *world) move(*rapid.T) {
	homes := w.homes(worldLetters)
	w.tasks++
	task := MoveTask{ID: fmt.Sprint("t", w.tasks), Destination: []string{"", "q1", "q2"}[w.pick("destination", 3)]}
	w.do(homes[w.pick("shard", len(homes))], "", func(e *Engine) error { return e.StartMove(worldLetters, task) })
}

func (w *world) forward(*rapid.T) {
	outcomes := []string{"", "", "lost", "unanswered", "undone", "half", "forgotten"}
	w.deliver(ID(1+w.pick("queue", int(worldLetters))), w.pick("shard", worldShards), 1+w.pick("most", 5),
		outcomes[w.pick("outcome", len(outcomes))])
}

// deliver does one step of forwarding.
func (w *world) deliver(id ID, shard, most int, outcome string) {
	r := w.rigs[shard]
	from, n, err := r.engine.Outbox(id)
	if err != nil || n == 0 {
		return
	}
	messages, err := ReadOutbox(r.store, id, from, most, 1<<20)
	if err != nil {
		w.t.Fatalf("%v", err)
	}
	b := worldBatch{id, shard, messages}
	w.batches = append(w.batches, b)
	switch outcome {
	case "lost":
		return
	case "half": // some of the queue's shards did not answer
		w.accept(b, w.homes(id)[:1], "")
		return
	case "unanswered", "undone":
		w.accept(b, w.homes(id), outcome)
		return
	}
	w.accept(b, w.homes(id), "")
	if outcome == "forgotten" {
		outcome = "undone"
	}
	w.do(shard, outcome, func(e *Engine) error { return e.Forwarded(id, messages[len(messages)-1].Position) })
}

// accept hands a batch to some of its destination shards.
func (w *world) accept(b worldBatch, to []int, outcome string) {
	for _, shard := range to {
		var part []Transfer
		for _, a := range b.messages {
			if w.home(b.id, &a.Message) == shard {
				part = append(part, a)
			}
		}
		w.do(shard, outcome, func(e *Engine) error { return e.Accept(b.id, FromShard{b.from}, part) })
	}
}

// stale repeats an old delivery, as an owner does that does not know that it has arrived.
func (w *world) stale(*rapid.T) {
	if len(w.batches) == 0 {
		return
	}
	b := w.batches[w.pick("batch", len(w.batches))]
	w.accept(b, w.homes(b.id), "")
}

func (w *world) advance(*rapid.T) {
	w.rigs[w.pick("shard", worldShards)].advance(time.Duration(w.pick("milliseconds", 3)) * time.Millisecond)
}

func (w *world) reload(*rapid.T) { w.rigs[w.pick("shard", worldShards)].reload() }

// shelve deletes a queue, to which copies of publications may be on their way, and brings it back. Shards learn of both
// one after the other, or from a load.
func (w *world) shelve(t *rapid.T) {
	id := ID(1 + w.pick("queue", int(worldLetters)))
	w.lazy = true
	for range w.pick("publications", 4) {
		w.publish(t)
	}
	w.lazy = false
	change := func(shelved bool) {
		first := w.pick("first", worldShards)
		for i := range w.rigs {
			r := w.rigs[(first+i)%worldShards]
			at := slices.IndexFunc(r.configs, func(c Config) bool { return c.ID == id })
			r.configs[at].Shelved = shelved
			if w.pick("reload", 3) == 0 {
				r.reload()
			} else {
				r.configure(r.configs[at])
			}
		}
	}
	change(true)
	w.advance(t)
	change(false)
}

// purge purges a queue as the router does. Messages that were forwarded before, and arrive again later, are left out.
func (w *world) purge(t *rapid.T) {
	id := ID(1 + w.pick("queue", int(worldLetters)))
	before := len(w.places())
	var marks []Mark
	for shard := range w.rigs {
		p := Purging{Queue: id, OutboxOnly: true}
		w.do(shard, "", func(e *Engine) (err error) { p, err = e.Purge(p); return err })
		if p.Last > 0 {
			marks = append(marks, Mark{From: FromShard{shard}, UpTo: p.Last})
		}
	}
	w.stale(t)
	for _, shard := range w.homes(id) {
		w.do(shard, "", func(e *Engine) error { _, err := e.Purge(Purging{Queue: id, Marks: marks}); return err })
	}
	w.purged += before - len(w.places())
	for body, place := range w.places() {
		if strings.Contains(place, fmt.Sprint("queue ", id)) {
			w.t.Fatalf("after a purge, %s is %s", body, place)
		}
	}
}

// waiting counts the messages in outboxes.
func (w *world) waiting() (n uint64) {
	for _, r := range w.rigs {
		for _, a := range r.engine.outboxes.at {
			n += a.stored
		}
	}
	return n
}

// compare looks for each message that was sent and not purged.
func (w *world) compare(*rapid.T) {
	if n := len(w.places()); n != w.sent-w.purged {
		w.t.Fatalf("%d messages of %d are left", n, w.sent-w.purged)
	}
}

// places returns where each message is.
func (w *world) places() map[string]string {
	places := make(map[string]string)
	put := func(m *Message, place string) {
		if other := places[m.Body]; other != "" {
			w.t.Fatalf("%s is %s and %s", m.Body, other, place)
		}
		places[m.Body] = place
	}
	for shard, r := range w.rigs {
		for id := ID(1); id <= worldLetters; id++ {
			stored := r.stored(id)
			if r.engine.queues[id] != nil {
				newest := make(map[string]string) // of each group and source
				for _, p := range sortedPositions(stored) {
					m := stored[p]
					put(m, fmt.Sprintf("in queue %d of shard %d", id, shard))
					line := m.Group + " from " + m.Source + m.Sender
					if w.fifo && newest[line] > m.Body {
						w.t.Fatalf("%s comes after %s in queue %d", m.Body, newest[line], id)
					}
					newest[line] = m.Body
				}
				stored = w.waitingHere(r, id)
			}
			for p, m := range stored {
				home := w.rigs[w.home(id, m)]
				if p > acceptedAt(home, id, shard) {
					put(m, fmt.Sprintf("on its way from shard %d to queue %d", shard, id))
				}
			}
		}
	}
	return places
}

// waitingHere returns the messages in the outbox of a queue that the rig's shard serves itself.
func (w *world) waitingHere(r *rig, id ID) map[Position]*Message {
	out := make(map[Position]*Message)
	if o := r.engine.outboxes.at[id]; o != nil {
		messages, err := ReadOutbox(r.store, id, o.head, 1000, 1<<20)
		if err != nil {
			w.t.Fatalf("%v", err)
		}
		for i := range messages {
			out[messages[i].Position] = &messages[i].Message
		}
	}
	return out
}

func sortedPositions(stored map[Position]*Message) []Position {
	var out []Position
	for p := range stored {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// acceptedAt is the last position that a queue has accepted from a shard.
func acceptedAt(r *rig, id ID, from int) Position {
	b, ok := r.keys[string(acceptedKey(id, FromShard{from}))]
	if !ok {
		return 0
	}
	p, err := decodeAccepted(b.value)
	if err != nil {
		r.t.Fatalf("%v", err)
	}
	return p
}
