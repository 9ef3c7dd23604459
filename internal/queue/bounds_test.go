package queue

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The sizes of this test: the limit that the shard's owner sets for a call, and the excess that a call may have: two
// messages of the maximum size with their keys, and the records that End writes.
const (
	testLimit = 16 << 10
	testBody  = 4 << 10
	testUnit  = 4 * testBody
)

// For all contents of the queues and all work that is due, no call makes a transaction longer than its limit, except
// for indivisible work. Further calls finish the remaining work.
func TestTransactionsAreBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := &boundsTest{t: t, rig: newRig(t)}
		defer b.rig.close()
		b.rig.keep = DefaultKeep
		b.rig.copies = extent{copies: 1000, bytes: boundsQueues * testBody / 2}
		b.rig.reload()
		b.configure()
		t.Repeat(map[string]func(*rapid.T){
			"":         func(*rapid.T) {},
			"flood":    b.flood,
			"flood 2":  b.flood,
			"receive":  func(*rapid.T) { b.receive(b.id("queue")) },
			"show":     func(*rapid.T) { b.show(b.id("queue")) },
			"bury":     b.bury,
			"bury 2":   b.bury,
			"move":     b.move,
			"select":   b.selectAll,
			"publish":  b.publish,
			"accept":   b.accept,
			"purge":    b.purge,
			"jump":     b.jump,
			"advance":  b.advance,
			"advance2": b.advance,
		})
		b.drain()
	})
}

const (
	boundsStandard ID = iota + 1
	boundsFIFO
	boundsLetters
	boundsFIFOLetters
	boundsElsewhere
	boundsMany // the first of many queues
)

const boundsQueues = 40

type boundsTest struct {
	t    *rapid.T
	rig  *rig
	sent int
	held map[ID][]Delivery
}

func (b *boundsTest) configure() {
	b.held = make(map[ID][]Delivery)
	c := Config{Retention: time.Hour, Visibility: 20 * time.Minute, PurgeAnytime: true}
	add := func(id ID, change func(*Config)) {
		c := c
		c.ID, c.ARN = id, fmt.Sprint("q", id)
		change(&c)
		b.rig.configure(c)
	}
	add(boundsLetters, func(c *Config) { c.Delay = time.Minute })
	add(boundsFIFOLetters, func(c *Config) { c.FIFO, c.Delay = true, time.Minute })
	add(boundsElsewhere, func(c *Config) { c.Elsewhere = true })
	add(boundsStandard, func(c *Config) { c.Redrive = &Redrive{Target: "q3", MaxReceives: 1} })
	add(boundsFIFO, func(c *Config) {
		c.FIFO, c.Delay, c.Redrive = true, 5*time.Second, &Redrive{Target: "q4", MaxReceives: 1}
	})
	for id := boundsMany; id < boundsMany+boundsQueues; id++ {
		add(id, func(c *Config) { c.FIFO, c.Delay = id%2 == 0, time.Minute })
	}
}

// call makes a call of the engine in its own transaction and checks the transaction's size; own is the size of the
// client's input.
func (b *boundsTest) call(what string, own int, f func(*Engine) error) {
	r := b.rig
	tx := r.begin()
	defer tx.Release()
	r.engine.Begin(tx, r.now)
	r.engine.Limit(tx.Size() + testLimit)
	if err := f(r.engine); err != nil && !IsRefusal(err) {
		b.t.Fatalf("%s: %v", what, err)
	}
	made := tx.Size()
	if most := testLimit + testUnit + own; made > most {
		b.t.Fatalf("%s makes a transaction of %d bytes, more than %d", what, made, most)
	}
	r.engine.End()
	if n := tx.Size() - made; n > 200*(5+boundsQueues) {
		b.t.Fatalf("after %s, the end of the transaction takes %d bytes", what, n)
	}
	r.commit(tx)
}

func (b *boundsTest) id(name string) ID {
	return rapid.SampledFrom([]ID{boundsStandard, boundsFIFO, boundsLetters, boundsFIFOLetters, boundsMany,
		boundsMany + 1}).Draw(b.t, name)
}

func (b *boundsTest) message(size int) Outgoing {
	b.sent++
	return Outgoing{
		Body:  strings.Repeat("x", size),
		Group: fmt.Sprintf("%0128d", b.sent%7), Dedup: fmt.Sprint(b.sent),
	}
}

// flood sends many messages, ten in a call.
func (b *boundsTest) flood(*rapid.T) { b.fill(b.id("queue")) }

func (b *boundsTest) fill(id ID) {
	size := rapid.SampledFrom([]int{0, 100, testBody}).Draw(b.t, "size of the messages")
	for range rapid.IntRange(1, 10).Draw(b.t, "calls") {
		var batch []Outgoing
		for range 10 {
			batch = append(batch, b.message(size))
		}
		b.call("send", 10*(size+1000), func(e *Engine) error {
			_, err := e.Send(id, batch)
			return err
		})
	}
}

// bury makes many messages due that go to the dead-letter queue with the next receive.
func (b *boundsTest) bury(*rapid.T) {
	id := rapid.SampledFrom([]ID{boundsStandard, boundsFIFO}).Draw(b.t, "queue")
	b.fill(id)
	b.rig.now = b.rig.now.Add(10 * time.Second) // the delay
	b.receive(id)
	b.show(id)
	b.receive(id)
}

func (b *boundsTest) receive(id ID) {
	for range rapid.IntRange(1, 10).Draw(b.t, "calls") {
		b.call("receive", 10*600, func(e *Engine) error {
			got, err := e.Receive(id, Receive{Max: 10})
			b.held[id] = append(b.held[id], got...)
			return err
		})
	}
}

// show makes all received messages of a queue visible.
func (b *boundsTest) show(id ID) {
	for _, d := range b.held[id] {
		b.call("visibility", 1000, func(e *Engine) error {
			_, err := e.ChangeVisibility(id, []Visibility{{Receipt: Receipt{d.Position, d.Receipt}}})
			return err
		})
	}
	b.held[id] = nil
}

func (b *boundsTest) move(*rapid.T) {
	b.sent++
	id, to := b.id("queue"), rapid.SampledFrom([]string{"q1", "q2", "q5"}).Draw(b.t, "to")
	task := MoveTask{ID: fmt.Sprint(b.sent), Destination: to, Rate: rapid.SampledFrom([]int{0, 100}).Draw(b.t, "rate")}
	b.call("move", 1000, func(e *Engine) error { return e.StartMove(id, task) })
}

// selectAll moves messages, and makes their bodies large.
func (b *boundsTest) selectAll(*rapid.T) {
	b.sent++
	body := strings.Repeat("y", testBody)
	id := b.id("queue")
	task := MoveTask{
		ID: fmt.Sprint(b.sent), Destination: "q5",
		Selection: &Selection{Edit: &Edit{Body: &body, MaxSize: testBody, MaxAttributes: 10}},
	}
	b.call("selection", 1000+testBody, func(e *Engine) error { return e.StartMove(id, task) })
}

func (b *boundsTest) publish(*rapid.T) {
	size := rapid.SampledFrom([]int{0, 100, testBody}).Draw(b.t, "size")
	var p Publication
	for id := boundsMany; id < boundsMany+boundsQueues; id++ {
		p.Copies = append(p.Copies, Copy{Queue: id, Message: b.message(size)})
	}
	b.call("publish", boundsQueues*(size+1000), func(e *Engine) error {
		_, err := e.Publish([]Publication{p})
		return err
	})
}

func (b *boundsTest) accept(*rapid.T) {
	id := b.id("queue")
	var all []Transfer
	for range rapid.IntRange(1, 100).Draw(b.t, "messages") {
		o := b.message(10)
		all = append(all, Transfer{
			Position: Position(b.sent), Message: *o.message(b.rig.now), Copy: rapid.Bool().Draw(b.t, "copy"),
		})
	}
	b.call("accept", len(all)*1000, func(e *Engine) error { return e.Accept(id, FromShard{7}, all) })
}

func (b *boundsTest) purge(*rapid.T) {
	id := rapid.SampledFrom([]ID{boundsStandard, boundsMany, boundsElsewhere}).Draw(b.t, "queue")
	b.call("purge", boundsQueues*(testBody+1000),
		func(e *Engine) error { _, err := e.Purge(Purging{Queue: id}); return err })
}

func (b *boundsTest) jump(*rapid.T) {
	b.rig.now = b.rig.now.Add(rapid.SampledFrom([]time.Duration{time.Second, time.Minute, 20 * time.Minute, time.Hour,
		30 * 24 * time.Hour}).Draw(b.t, "time"))
}

func (b *boundsTest) advance(*rapid.T) { b.call("advance", 0, (*Engine).Advance) }

// drain lets the engine do all work that is due.
func (b *boundsTest) drain() {
	for n := 0; b.rig.engine.NextWake() <= b.rig.now; n++ {
		if n == 100_000 {
			b.t.Fatal("the engine makes no progress")
		}
		b.call("advance", 0, (*Engine).Advance)
	}
	b.rig.check()
}
