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
)

// The model is the engine as it would be without storage and cost: each queue is a slice of messages in order of
// arrival. Where SQS leaves a choice (which messages of a standard queue, which group of a FIFO queue, which message
// goes to the dead-letter queue), the model reads the engine's choice, checks that it is allowed, and follows it.

func TestStandardModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { testModel(t, false, false) })
}

func TestFIFOModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { testModel(t, true, false) })
}

// The queues of these tests are often purged, and the purges undone.

func TestUndoStandardModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { testModel(t, false, true) })
}

func TestUndoFIFOModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { testModel(t, true, true) })
}

type model struct {
	t         *rapid.T
	rig       *rig
	fifo      bool
	undoing   bool // purges and undos are frequent
	queues    []*modelQueue
	names     []string    // ARNs, one for each of queues
	elsewhere *modelQueue // that another shard serves
	topic     *modelQueue // the internal queue of a FIFO topic
	told      bool        // the engine has reported its outbox
	gone      Position    // the outbox has no new message up to this position
	lastID    ID
	sent      int // number of messages sent, for their bodies
	tasks     int
	counted   map[string]*[Counters]int64 // events of queues, by ARN
}

type modelQueue struct {
	cfg      Config
	messages []*modelMessage // in order of arrival
	receipts []modelReceipt  // delivered recently
	newest   uint64          // receipt
	sequence uint64          // newest
	purged   Instant
	accepted map[string]acceptance
	attempts map[string]modelAttempt
	tasks    []*MoveTask            // most recent first
	eligible map[*modelMessage]bool // the running task has a selection and must move them
	last     map[modelLane]Position // number of its messages moved
	came     map[FromShard][]Transfer
	kept     *modelKept
	cleared  bool // messages of the line may have become indexed because others were discarded
}

type modelMessage struct {
	pos      Position
	id       MessageID
	body     string
	group    string
	dedup    string
	source   string
	sent     Instant
	arrived  Instant
	waits    bool    // for its delay to end
	due      Instant // standard queues: the end of the delay
	hidden   Instant // in flight until then
	receives uint64
	first    Instant
	last     Instant
	receipt  uint64
	held     bool // it was received in this queue
	prior    uint64
	gone     bool
}

// modelLane keeps the order of a group's messages while a task moves them.
type modelLane struct {
	group string
	to    *modelQueue
}

// modelKept holds the messages that the last purge of a queue has removed.
type modelKept struct {
	since    Instant
	messages []*modelMessage
	accepted map[string]acceptance
	attempts map[string]modelAttempt
}

type modelReceipt struct {
	m *modelMessage
	d Delivery
}

type acceptance struct {
	at       Instant
	id       MessageID
	sequence uint64
}

type modelAttempt struct {
	at    Instant
	given []modelReceipt
	until []Instant
}

func testModel(t *rapid.T, fifo, undoing bool) {
	m := &model{t: t, rig: newRig(t), fifo: fifo, undoing: undoing, counted: make(map[string]*[Counters]int64)}
	defer m.rig.close()
	if rapid.Bool().Draw(t, "few copies at once") {
		m.rig.copies = extent{copies: 2, bytes: 1000}
		m.rig.reload()
	}
	if pick(m, "series", false, true) {
		m.rig.keep = Keep{Minutes: time.Hour, FiveMinutes: 12 * time.Hour, Hours: 1000 * time.Hour}
		m.rig.reload()
	}
	if undoing || pick(m, "purges keep", true, false) {
		m.rig.kept, m.rig.undoAtOnce = true, pick(m, "brought back at once", 1, 2, 1000)
		m.rig.reload()
	}
	n := rapid.IntRange(2, 4).Draw(t, "queues")
	for i := range n {
		m.names = append(m.names, fmt.Sprintf("q%d", i+1))
		m.queues = append(m.queues, nil)
	}
	m.elsewhere = &modelQueue{
		cfg: Config{ID: 1 << 40, ARN: "elsewhere", FIFO: fifo, Elsewhere: true, Retention: 100 * 365 * 24 * time.Hour},
	}
	m.rig.configure(m.elsewhere.cfg)
	m.topic = &modelQueue{
		cfg:      Config{ID: 1 << 41, ARN: "topic", FIFO: true, Internal: true, Retention: time.Minute},
		accepted: make(map[string]acceptance),
	}
	m.rig.configure(m.topic.cfg)
	for i := range n {
		m.add(i)
	}
	t.Repeat(map[string]func(*rapid.T){
		"":           m.compare,
		"send":       m.send,
		"send more":  m.send,
		"publish":    m.publish,
		"receive":    m.receive,
		"receive 2":  m.receive,
		"receive 3":  m.receive,
		"delete":     m.delete,
		"discard":    m.discard,
		"visibility": m.visibility,
		"return":     m.giveBack,
		"advance":    m.advance,
		"advance 2":  m.advance,
		"reload":     m.reload,
		"outdated":   m.outdated,
		"lose":       m.lose,
		"configure":  m.configure,
		"purge":      m.purge,
		"undo":       m.undo,
		"forget":     m.forget,
		"drop":       m.drop,
		"shelve":     m.shelve,
		"move":       m.move,
		"forward":    m.forward,
		"accept":     m.accept,
	})
}

func (m *model) now() Instant { return m.rig.now }

func (m *model) failf(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("at %v: %s", m.now().Sub(epoch), fmt.Sprintf(format, args...))
}

// pick draws one of several values.
func pick[T any](m *model, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(m.t, label)
}

// seldom skips most actions that would otherwise undo too much.
func (m *model) seldom() {
	if !pick(m, "really", false, false, false, true) {
		m.t.Skip("not this time")
	}
}

func (m *model) pickQueue() *modelQueue {
	return m.queues[rapid.IntRange(0, len(m.queues)-1).Draw(m.t, "queue")]
}

// all returns the queues, including the one of another shard.
func (m *model) all() []*modelQueue { return append(slices.Clone(m.queues), m.elsewhere) }

func (m *model) find(arn string) *modelQueue {
	for _, q := range m.all() {
		if q != nil && q.cfg.ARN == arn {
			return q
		}
	}
	return nil
}

// Configuration.

func (m *model) attributes(cfg Config) Config {
	cfg.Delay = pick(m, "delay", 0, 0, time.Second, 10*time.Second)
	cfg.Visibility = pick(m, "visibility", 0, time.Second, time.Second, 5*time.Second, 30*time.Second, 10*time.Minute)
	cfg.Retention = pick(m, "retention", time.Minute, 5*time.Minute, time.Hour, 24*time.Hour)
	cfg.MaxInFlight = pick(m, "limit", 1, 3, 5, 100, 100)
	if cfg.PausedGroups = nil; m.fifo {
		cfg.PausedGroups = pick(m, "paused groups", nil, nil, []string{"a"}, []string{"b", "a"},
			[]string{"c", "absent"})
	}
	cfg.Redrive = nil
	if target := pick(m, "dead letters", append(m.names, "", "absent", "elsewhere")...); target != "" {
		cfg.Redrive = &Redrive{Target: target, MaxReceives: pick(m, "receives", 1, 2, 3)}
	}
	return cfg
}

func (m *model) add(i int) {
	m.lastID++
	cfg := m.attributes(Config{ID: m.lastID, ARN: m.names[i], Created: m.now(), FIFO: m.fifo})
	cfg.DedupPerGroup = m.fifo && pick(m, "dedup per group", false, true)
	m.queues[i] = &modelQueue{
		cfg: cfg, accepted: make(map[string]acceptance), attempts: make(map[string]modelAttempt),
		came: make(map[FromShard][]Transfer),
	}
	if m.counted[cfg.ARN] == nil {
		m.counted[cfg.ARN] = new([Counters]int64)
	}
	m.rig.configure(cfg)
	m.settle()
}

func (m *model) count(q *modelQueue, metric Metric, n int) {
	if q != m.elsewhere {
		m.counted[q.cfg.ARN][metric] += int64(n)
	}
}

func (m *model) countSent(q *modelQueue, body string) {
	m.count(q, MetricSent, 1)
	m.count(q, MetricSentBytes, len(body))
}

// compareSeries adds up the rows of each name, and compares the sums with the events.
func (m *model) compareSeries() {
	if m.rig.keep.off() {
		return
	}
	for _, q := range m.queues {
		rows, err := Series(m.rig.keys.sorted().Get, q.cfg.ARN, minuteOf(epoch)-hour, m.now()+hour)
		if err != nil {
			m.failf("series of %s: %v", q.cfg.ARN, err)
		}
		got := m.rig.engine.queues[q.cfg.ID].tally.happened
		for _, r := range rows {
			for i := range got {
				got[i] += int64(r.Values[i].Sum)
			}
		}
		if want := *m.counted[q.cfg.ARN]; got != want {
			m.failf("the series of %s say\n%v, and what has happened is\n%v", q.cfg.ARN, got, want)
		}
	}
}

func (m *model) configure(*rapid.T) {
	m.seldom()
	q := m.pickQueue()
	limit := q.cfg.MaxInFlight
	q.cfg = m.attributes(q.cfg)
	q.cfg.MaxInFlight = limit
	m.rig.configure(q.cfg)
	m.settle()
}

func (m *model) drop(*rapid.T) {
	m.seldom()
	m.seldom()
	i := rapid.IntRange(0, len(m.queues)-1).Draw(m.t, "queue")
	for _, x := range m.queues[i].messages {
		x.gone = true
	}
	// The series of a deleted queue lack counts that were withdrawn from earlier minutes.
	m.count(m.queues[i], MetricReceived,
		-int(min(0, m.rig.engine.queues[m.queues[i].cfg.ID].tally.happened[MetricReceived])))
	if id := m.queues[i].cfg.ID; pick(m, "while no engine is loaded", false, true) {
		m.rig.forget(id)
		m.rig.reload()
		m.told = false
	} else {
		m.rig.drop(id)
	}
	m.add(i)
}

// Time.

func (m *model) advance(*rapid.T) {
	if m.undoing && pick(m, "later", true, true, true, false) {
		m.rig.now = m.now().Add(pick(m, "time", time.Millisecond, time.Second, 10*time.Second, time.Minute))
		m.settle()
		return
	}
	d := pick(m, "time", time.Millisecond, 999*time.Millisecond, time.Second, 5*time.Second, 10*time.Second,
		30*time.Second, time.Minute, 5*time.Minute-time.Millisecond, 5*time.Minute, 12*time.Hour,
		time.Duration(rapid.IntRange(1, 100_000).Draw(m.t, "milliseconds"))*time.Millisecond)
	until := m.now().Add(d)
	if pick(m, "late", false, true) || d > time.Hour && !m.rig.keep.off() {
		m.rig.now = until
		m.settle()
		return
	}
	for wakes := 0; m.rig.engine.NextWake() <= until; wakes++ {
		if wakes == 1000 {
			m.failf("the engine wakes up again and again")
		}
		m.rig.now = m.rig.engine.NextWake()
		m.settle()
	}
	m.rig.now = until
	m.settle()
}

// outdated loads an engine with a list of queues that lacks one, and then adds that queue.
func (m *model) outdated(*rapid.T) {
	m.seldom()
	q := m.pickQueue()
	m.rig.hide(q.cfg.ID)
	m.rig.load()
	m.told = false
	m.rig.configure(q.cfg)
	m.settle()
}

// shelve deletes a queue and restores it. In between, it may load the shard again or lose the commit.
func (m *model) shelve(*rapid.T) {
	m.seldom()
	all := m.all()
	q := all[rapid.IntRange(0, len(all)-1).Draw(m.t, "queue")]
	gone := q.cfg
	gone.Shelved = true
	loaded := false
	change := func(cfg Config) {
		if pick(m, "lost", false, false, true) {
			m.rig.lose(func(e *Engine) error { return e.Configure(cfg) })
			loaded = true
		}
		m.rig.configure(cfg)
	}
	change(gone)
	if pick(m, "reload", false, true) {
		m.rig.reload()
		loaded = true
	}
	if e := m.rig.engine; e.queues[gone.ID] != nil || e.outboxes.at[gone.ID] != nil || len(e.Unknown()) > 0 {
		m.failf("the queue %s is on the shelf and still there, or is unknown", gone.ARN)
	}
	change(q.cfg)
	if loaded || q == m.elsewhere {
		m.told = false
	}
	m.settle()
}

func (m *model) reload(*rapid.T) {
	m.rig.reload()
	m.told = false
	m.settle()
}

// lose runs an operation whose commit fails.
func (m *model) lose(*rapid.T) {
	m.seldom()
	q := m.pickQueue()
	id := q.cfg.ID
	what := pick(m, "lost", "send", "receive", "delete", "purge", "drop", "advance", "accept", "forward", "publish")
	m.rig.lose(func(e *Engine) error {
		switch what {
		case "send":
			_, err := e.Send(id, []Outgoing{{Body: "lost", Group: "a", Dedup: "lost"}})
			return err
		case "receive":
			_, err := e.Receive(id, Receive{Max: 10})
			return err
		case "delete":
			var all []Receipt
			for _, r := range q.receipts {
				all = append(all, Receipt{r.d.Position, r.d.Receipt})
			}
			_, err := e.Delete(id, all)
			return err
		case "purge":
			_, err := e.Purge(Purging{Queue: id})
			return err
		case "drop":
			return e.Drop(id)
		case "advance":
			return e.Advance()
		case "accept":
			return e.Accept(id, FromShard{1},
				[]Transfer{{Position: 1 << 60, Message: Message{Body: "lost", Group: "a"}}})
		case "publish":
			lost := Outgoing{Body: "lost", Group: "a", Dedup: "lost"}
			_, err := e.Publish([]Publication{{
				Topic: m.topic.cfg.ID, Group: "a", Dedup: "x",
				Copies: []Copy{{Queue: id, Message: lost}, {Queue: m.elsewhere.cfg.ID, Message: lost}},
			}})
			return err
		case "forward":
			if len(m.elsewhere.messages) > 0 {
				return e.Forwarded(m.elsewhere.cfg.ID, m.elsewhere.messages[0].pos)
			}
		}
		return nil
	})
	m.told = false
	m.settle()
}

// settle runs the timed work of the engine and of the model, and compares them.
func (m *model) settle() {
	m.rig.drain()
	for _, q := range m.queues {
		if q == nil {
			continue
		}
		for _, x := range q.messages {
			if q.cfg.FIFO {
				x.due = x.sent.Add(q.cfg.Delay)
			}
			if x.waits && x.due <= m.now() {
				x.waits = false
			}
		}
		if q.kept != nil && m.now() >= q.kept.since.Add(UndoInterval) {
			q.kept = nil
		}
	}
	m.follow(nil)
}

// Where a message is.

func (m *model) inFlight(x *modelMessage) bool { return x.hidden > m.now() }

func (m *model) countInFlight(q *modelQueue) int {
	n := 0
	for _, x := range q.messages {
		if m.inFlight(x) {
			n++
		}
	}
	return n
}

// exhausted reports whether a receive would move x to the dead-letter queue.
func (m *model) exhausted(q *modelQueue, x *modelMessage) bool {
	policy := q.cfg.Redrive
	if policy == nil || m.find(policy.Target) == nil || policy.Target == q.cfg.ARN {
		return false
	}
	return x.receives >= uint64(policy.MaxReceives)
}

// reachable returns the messages that a receive could deliver or move to the dead-letter queue, in order for each group
// of a FIFO queue.
func (m *model) reachable(q *modelQueue) []*modelMessage {
	blocked := make(map[string]bool) // groups whose first received message is in flight
	seen := make(map[string]bool)
	for _, x := range q.messages {
		if q.cfg.FIFO && x.held && !seen[x.group] {
			seen[x.group], blocked[x.group] = true, m.inFlight(x)
		}
	}
	return slices.DeleteFunc(m.visible(q), func(x *modelMessage) bool {
		return slices.Contains(q.cfg.PausedGroups, x.group) || blocked[x.group]
	})
}

// visible returns the messages that a task with a selection could move, including those of paused groups.
func (m *model) visible(q *modelQueue) []*modelMessage {
	var out []*modelMessage
	blocked := make(map[string]bool)
	for _, x := range q.messages {
		if x.waits || m.inFlight(x) {
			blocked[x.group] = q.cfg.FIFO
		} else if !blocked[x.group] {
			out = append(out, x)
		}
	}
	return out
}

// Sending.

func (m *model) send(*rapid.T) {
	q := m.pickQueue()
	var out []Outgoing
	for range rapid.IntRange(1, 6).Draw(m.t, "messages") {
		m.sent++
		o := Outgoing{Body: fmt.Sprintf("m%d", m.sent)}
		binary.BigEndian.PutUint64(o.ID[:], uint64(m.sent))
		if q.cfg.FIFO {
			o.Group = pick(m, "group", "a", "b", "c")
			o.Dedup = pick(m, "dedup", o.Body, o.Body, "x", "y")
		} else {
			o.Group = pick(m, "group", "", "", "a", "b")
			if pick(m, "own delay", false, true) {
				d := pick(m, "delay", 0, time.Second, 20*time.Second, 15*time.Minute)
				o.Delay = &d
			}
		}
		out = append(out, o)
	}
	var sent []Sent
	err := m.rig.transact(func(e *Engine) (err error) {
		sent, err = e.Send(q.cfg.ID, out)
		return err
	})
	if err != nil || len(sent) != len(out) {
		m.failf("send: %v, %v", sent, err)
	}
	for i, o := range out {
		m.sentOne(q, o, sent[i])
	}
	m.follow(nil)
	m.settle()
}

func (m *model) sentOne(q *modelQueue, o Outgoing, s Sent) {
	x := &modelMessage{
		id: o.ID, body: o.Body, group: o.Group, dedup: o.Dedup, sent: m.now(), arrived: m.now(),
	}
	if !q.cfg.FIFO {
		delay := q.cfg.Delay
		if o.Delay != nil {
			delay = *o.Delay
		}
		x.due = m.now().Add(delay)
		x.waits = x.due > m.now()
		if s != (Sent{ID: o.ID}) {
			m.failf("%s was sent as %v", o.Body, s)
		}
		q.messages = append(q.messages, x)
		m.countSent(q, x.body)
		return
	}
	scope := o.Dedup
	if q.cfg.DedupPerGroup {
		scope = o.Group + " " + o.Dedup
	}
	if a, ok := q.accepted[scope]; ok && m.now().Sub(a.at) < 5*time.Minute {
		if s != (Sent{ID: a.id, Sequence: a.sequence, Duplicate: true}) {
			m.failf("%s is a duplicate and was sent as %v", o.Body, s)
		}
		m.count(q, MetricDeduplicated, 1)
		return
	}
	if s.Duplicate || s.ID != o.ID || s.Sequence <= q.sequence {
		m.failf("%s is no duplicate and was sent as %v after %d", o.Body, s, q.sequence)
	}
	q.sequence = s.Sequence
	q.accepted[scope] = acceptance{m.now(), s.ID, s.Sequence}
	x.waits = q.cfg.Delay > 0
	q.messages = append(q.messages, x)
	m.countSent(q, x.body)
}

// publish sends copies of a message to some of the queues, to the one of another shard and to a deleted one.
func (m *model) publish(*rapid.T) {
	var all []Publication
	for range rapid.IntRange(1, 3).Draw(m.t, "publications") {
		m.sent++
		p := Publication{Group: pick(m, "group", "a", "b"), Dedup: pick(m, "dedup", fmt.Sprint(m.sent), "x")}
		binary.BigEndian.PutUint64(p.ID[:], uint64(m.sent))
		if pick(m, "a FIFO topic", false, true) {
			p.Topic = m.topic.cfg.ID
		}
		for _, q := range append(m.all(), &modelQueue{cfg: Config{ID: deletedBefore}}) {
			if pick(m, "subscribed", false, true) {
				p.Copies = append(p.Copies, Copy{Queue: q.cfg.ID, Message: m.copyOf(p.Group)})
			}
		}
		all = append(all, p)
	}
	var published []Published
	err := m.rig.do(func(e *Engine) (err error) {
		published, err = e.Publish(all)
		return err
	})
	if err != nil || len(published) != len(all) {
		m.failf("publish: %v, %v", published, err)
	}
	var later []Copy // in the backlog
	room := m.rig.engine.backlog.atOnce
	waits := false // the FIFO topic
	for i, p := range all {
		switch {
		case !m.published(p, published[i]) || len(p.Copies) == 0:
		case waits && p.Topic != 0 || !room.take(&p):
			later = append(later, p.Copies...)
			waits = waits || p.Topic != 0
		default:
			m.copiedAll(p.Copies)
		}
	}
	m.copiedAll(later)
	m.follow(nil)
	for _, x := range m.elsewhere.messages {
		m.gone = max(m.gone, x.pos)
	}
	m.settle()
}

// copyOf makes a copy, with its own id.
func (m *model) copyOf(group string) Outgoing {
	m.sent++
	o := Outgoing{
		Body: fmt.Sprintf("m%d", m.sent), Group: group,
		Dedup: pick(m, "dedup of the copy", fmt.Sprint(m.sent), "x", "y"),
	}
	binary.BigEndian.PutUint64(o.ID[:], uint64(m.sent))
	if !m.fifo {
		o.Group = pick(m, "group of the copy", "", group)
	}
	return o
}

// published checks the answer to a publication, and reports whether copies are sent.
func (m *model) published(p Publication, got Published) bool {
	if p.Topic == 0 {
		if got != (Published{ID: p.ID}) {
			m.failf("published as %+v", got)
		}
		return true
	}
	if a, ok := m.topic.accepted[p.Dedup]; ok && m.now().Sub(a.at) < 5*time.Minute {
		if got != (Published{ID: a.id, Sequence: a.sequence, Duplicate: true}) {
			m.failf("a duplicate was published as %+v", got)
		}
		return false
	}
	if got.ID != p.ID || got.Duplicate || got.Sequence <= m.topic.sequence {
		m.failf("published as %+v after %d", got, m.topic.sequence)
	}
	m.topic.sequence = got.Sequence
	m.topic.accepted[p.Dedup] = acceptance{m.now(), got.ID, got.Sequence}
	return true
}

func (m *model) copiedAll(copies []Copy) {
	for _, c := range copies {
		m.copied(c.Queue, c.Message)
	}
}

// copied checks the result of a copy, which must be the same as for a message sent to the queue.
func (m *model) copied(id ID, o Outgoing) {
	if id == m.elsewhere.cfg.ID {
		m.elsewhere.messages = append(m.elsewhere.messages, &modelMessage{
			id: o.ID, body: o.Body, group: o.Group, dedup: o.Dedup, sent: m.now(), arrived: m.now(),
		})
		return
	}
	i := slices.IndexFunc(m.queues, func(q *modelQueue) bool { return q.cfg.ID == id })
	if i < 0 {
		return
	}
	q := m.queues[i]
	for _, stored := range m.rig.stored(id) {
		if stored.Body == o.Body {
			m.sentOne(q, o, Sent{ID: stored.ID, Sequence: stored.Sequence})
			return
		}
	}
	scope := o.Dedup
	if q.cfg.DedupPerGroup {
		scope = o.Group + " " + o.Dedup
	}
	a := q.accepted[scope]
	m.sentOne(q, o, Sent{ID: a.id, Sequence: a.sequence, Duplicate: true})
}

// Receiving.

func (m *model) receive(*rapid.T) {
	q := m.pickQueue()
	r := Receive{Max: rapid.IntRange(1, 10).Draw(m.t, "max")}
	timeout := q.cfg.Visibility
	if pick(m, "own timeout", false, true) {
		timeout = pick(m, "timeout", 0, time.Second, time.Minute, 12*time.Hour)
		r.Timeout = &timeout
	}
	if q.cfg.FIFO {
		r.Attempt = pick(m, "attempt", "", "1", "2")
	}
	var given []Delivery
	err := m.rig.transact(func(e *Engine) (err error) {
		given, err = e.Receive(q.cfg.ID, r)
		return err
	})
	m.count(q, MetricReceived, len(given))
	if a, ok := q.attempts[r.Attempt]; ok && m.now().Sub(a.at) < 5*time.Minute {
		m.repeated(q, a, r.Attempt, timeout, given, err)
	} else if m.receivedSome(q, r.Max, timeout, given, err); r.Attempt != "" && len(given) > 0 {
		m.attempted(q, r.Attempt, q.receipts[len(q.receipts)-len(given):])
	}
	m.settle()
}

func (m *model) attempted(q *modelQueue, attempt string, given []modelReceipt) {
	a := modelAttempt{at: m.now(), given: slices.Clone(given)}
	for _, r := range given {
		a.until = append(a.until, r.m.hidden)
	}
	q.attempts[attempt] = a
}

// repeated checks the answer to a known receive attempt.
func (m *model) repeated(q *modelQueue, a modelAttempt, attempt string, timeout time.Duration, given []Delivery,
	err error) {
	stale := false
	for i, r := range a.given {
		stale = stale || r.m.gone || !m.inFlight(r.m) || r.m.receipt != r.d.Receipt || r.m.hidden != a.until[i]
	}
	if stale != errors.Is(err, ErrAttemptStale) || stale && given != nil {
		m.failf("attempt %s, stale %v, gave %v, %v", attempt, stale, given, err)
	}
	if stale {
		return
	}
	for i, r := range a.given {
		r.m.hidden = m.now().Add(timeout)
		r.d.Until = r.m.hidden
		if given[i] != r.d {
			m.failf("attempt %s gave %v instead of %v", attempt, given[i], r.d)
		}
		a.given[i] = r
		q.receipts = append(q.receipts, r)
	}
	m.attempted(q, attempt, a.given)
	m.follow(nil)
}

// receivedSome checks the messages of a receive.
func (m *model) receivedSome(q *modelQueue, most int, timeout time.Duration, given []Delivery, err error) {
	inFlight := m.countInFlight(q)
	room := min(most, q.cfg.MaxInFlight-inFlight)
	if !q.cfg.FIFO && room <= 0 {
		if !errors.Is(err, ErrOverLimit) {
			m.failf("%d are in flight and a receive gives %v, %v", inFlight, given, err)
		}
		return
	}
	if err != nil {
		m.failf("receive: %v", err)
	}
	var reachable, exhausted []*modelMessage
	for _, x := range m.reachable(q) {
		if m.exhausted(q, x) {
			exhausted = append(exhausted, x)
		} else {
			reachable = append(reachable, x)
		}
	}
	held := 0
	for _, x := range q.messages {
		if x.held {
			held++
		}
	}
	out := make([]*modelMessage, 0, len(given))
	for _, d := range given {
		i := slices.IndexFunc(reachable, func(x *modelMessage) bool { return x.pos == d.Position })
		if i < 0 {
			m.failf("%v was given and is not available", d.Position)
		}
		x := reachable[i]
		if slices.Contains(out, x) {
			m.failf("%s was given twice", x.body)
		}
		out = append(out, x)
	}
	want := min(max(room, 0), len(reachable))
	// A FIFO queue keeps a bounded number of messages in memory.
	tight := q.cfg.FIFO && held+want > q.cfg.MaxInFlight
	// It delivers none while all messages that it keeps are behind others in flight, or have expired and are about to
	// be removed.
	stuck := held >= q.cfg.MaxInFlight && !slices.ContainsFunc(reachable, func(x *modelMessage) bool { return x.held })
	if len(out) != want && !(tight && (len(out) > 0 || stuck)) {
		m.failf("%d messages were given, %d wanted, %d in flight", len(out), want, inFlight)
	}
	if q.cfg.FIFO {
		m.checkOrder(reachable, out, tight)
	}
	m.follow(func(x *modelMessage, to *modelQueue) string {
		switch {
		case !slices.Contains(exhausted, x):
			return "it may still be received"
		case to != m.find(q.cfg.Redrive.Target):
			return "it is not the dead-letter queue"
		}
		for _, y := range reachable {
			if q.cfg.FIFO && y.group == x.group && y.pos < x.pos && !slices.Contains(out, y) {
				return fmt.Sprintf("%s before it was not given out", y.body)
			}
		}
		return ""
	})
	if len(out) < room && !tight {
		for _, x := range exhausted {
			if !x.gone {
				m.failf("%s should be in the dead-letter queue", x.body)
			}
		}
	}
	for i, x := range out {
		d := given[i]
		q.leave(x)
		if x.receives++; x.receives == 1 {
			x.first = m.now()
		}
		x.last, x.hidden, x.held = m.now(), m.now().Add(timeout), true
		if d.Receives != x.receives || d.First != x.first || d.Receipt <= q.newest {
			m.failf("%s was given as %+v", x.body, d)
		}
		q.newest, x.receipt = d.Receipt, d.Receipt
		q.receipts = append(q.receipts, modelReceipt{x, d})
	}
}

// checkOrder checks that out is in order in each group, and that each group is exhausted before the next begins.
func (m *model) checkOrder(reachable, out []*modelMessage, tight bool) {
	groups := make(map[string][]*modelMessage)
	for _, x := range reachable {
		groups[x.group] = append(groups[x.group], x)
	}
	for i, x := range out {
		group := groups[x.group]
		if len(group) == 0 || group[0] != x {
			m.failf("%s was given out of order", x.body)
		}
		groups[x.group] = group[1:]
		if i > 0 && out[i-1].group != x.group && len(groups[out[i-1].group]) > 0 && !tight {
			m.failf("group %s was left for %s", out[i-1].group, x.group)
		}
	}
}

// Calls of consumers with their receipts.

func (m *model) pickReceipts(q *modelQueue) []modelReceipt {
	if len(q.receipts) == 0 {
		m.t.Skip("no receipts")
	}
	q.receipts = q.receipts[max(0, len(q.receipts)-20):]
	var out []modelReceipt
	for range rapid.IntRange(1, 4).Draw(m.t, "receipts") {
		i := rapid.IntRange(1, len(q.receipts)).Draw(m.t, "receipt")
		out = append(out, q.receipts[len(q.receipts)-i])
	}
	return out
}

func (m *model) holds(r modelReceipt) bool {
	return m.inFlight(r.m) && r.m.receipt == r.d.Receipt
}

func (m *model) delete(*rapid.T) {
	q := m.pickQueue()
	picked := m.pickReceipts(q)
	var receipts []Receipt
	var want []error
	for _, r := range picked {
		receipts = append(receipts, Receipt{r.d.Position, r.d.Receipt})
		switch {
		case r.m.gone:
			want = append(want, nil)
			if k := q.kept; k != nil && slices.Contains(k.messages, r.m) {
				if k.messages = slices.DeleteFunc(k.messages,
					func(x *modelMessage) bool { return x == r.m }); len(k.messages) == 0 {
					q.kept = nil
				}
			}
		case q.cfg.FIFO && !m.holds(r):
			want = append(want, ErrReceiptExpired)
		default:
			want = append(want, nil)
			m.remove(q, r.m)
		}
	}
	var results []error
	err := m.rig.transact(func(e *Engine) (err error) {
		results, err = e.Delete(q.cfg.ID, receipts)
		return err
	})
	if err != nil || !slices.Equal(results, want) {
		m.failf("delete gave %v, %v, should %v", results, err, want)
	}
	for _, err := range want {
		if err == nil {
			m.count(q, MetricDeleted, 1)
		}
	}
	m.follow(nil)
	m.settle()
}

// discard deletes some messages by their ids, in any state, and asks for one that does not exist.
func (m *model) discard(*rapid.T) {
	q := m.pickQueue()
	ids := []MessageID{{255}}
	var picked []*modelMessage
	for _, x := range q.messages {
		if pick(m, "discard", false, false, true) {
			ids, picked = append(ids, x.id), append(picked, x)
		}
	}
	q.cleared = true
	gone := m.rig.discard(q.cfg.ID, ids)
	for _, x := range picked {
		if !slices.Contains(gone, x.id) {
			if m.now() >= x.sent.Add(q.cfg.Retention) {
				continue // it has expired
			}
			m.failf("%s was not discarded", x.body)
		}
		m.remove(q, x)
		m.count(q, MetricDeleted, 1)
	}
	if slices.Contains(gone, MessageID{255}) {
		m.failf("a message was discarded that was never sent")
	}
	m.follow(nil)
	m.settle()
}

func (m *model) visibility(*rapid.T) {
	q := m.pickQueue()
	var changes []Visibility
	var want []error
	for _, r := range m.pickReceipts(q) {
		timeout := pick(m, "timeout", 0, 0, time.Second, time.Minute, time.Hour, 12*time.Hour)
		changes = append(changes, Visibility{Receipt{r.d.Position, r.d.Receipt}, timeout})
		until := m.now().Add(timeout)
		switch {
		case r.m.gone:
			want = append(want, ErrNotReceived)
		case q.cfg.FIFO && !m.holds(r):
			want = append(want, ErrReceiptExpired)
		case until.Sub(r.m.last) > 12*time.Hour:
			want = append(want, ErrVisibilityTotal)
		default:
			want = append(want, nil)
			r.m.hidden = until
		}
	}
	var results []error
	err := m.rig.transact(func(e *Engine) (err error) {
		results, err = e.ChangeVisibility(q.cfg.ID, changes)
		return err
	})
	if err != nil || !slices.Equal(results, want) {
		m.failf("change of visibility gave %v, %v, should %v", results, err, want)
	}
	m.follow(nil)
	m.settle()
}

func (m *model) giveBack(*rapid.T) {
	q := m.pickQueue()
	picked := m.pickReceipts(q)
	attempt := ""
	if q.cfg.FIFO {
		attempt = pick(m, "attempt", "", "1", "2")
	}
	var given []Delivery
	for _, r := range picked {
		given = append(given, r.d)
	}
	n := 0 // the number that the consumer keeps
	if len(picked) > 0 {
		n = rapid.IntRange(0, len(picked)-1).Draw(m.t, "kept")
	}
	held := func(r modelReceipt) bool {
		return !r.m.gone && r.m.receipt == r.d.Receipt && r.m.hidden == r.d.Until
	}
	taken := false
	for _, r := range picked[n:] {
		if !held(r) {
			continue
		}
		taken = true
		m.count(q, MetricReceived, -1)
		q.leave(r.m)
		if r.m.receives--; r.m.receives == 0 {
			r.m.first = 0
		}
		r.m.receipt, r.m.hidden = 0, m.now()
	}
	if taken {
		delete(q.attempts, attempt)
		if q.kept != nil {
			delete(q.kept.attempts, attempt)
		}
		kept := slices.DeleteFunc(slices.Clone(picked[:n]), func(r modelReceipt) bool { return !held(r) })
		if attempt != "" && len(kept) > 0 {
			m.attempted(q, attempt, kept)
		}
	}
	err := m.rig.transact(func(e *Engine) error {
		if n == 0 {
			return e.Return(q.cfg.ID, given, attempt)
		}
		return e.Shorten(q.cfg.ID, given, n, attempt)
	})
	if err != nil {
		m.failf("return: %v", err)
	}
	m.follow(nil)
	m.settle()
}

func (m *model) remove(q *modelQueue, x *modelMessage) {
	x.gone = true
	q.messages = slices.DeleteFunc(q.messages, func(y *modelMessage) bool { return x == y })
}

func (m *model) purge(*rapid.T) {
	if !m.undoing {
		m.seldom()
	}
	q := m.pickQueue()
	err := m.rig.transact(func(e *Engine) error { _, err := e.Purge(Purging{Queue: q.cfg.ID}); return err })
	early := q.purged != 0 && m.now().Sub(q.purged) < time.Minute
	if early != errors.Is(err, ErrPurgeInProgress) || !early && err != nil {
		m.failf("purge after %v: %v", m.now().Sub(q.purged), err)
	}
	if !early {
		for _, x := range q.messages {
			x.gone = true
		}
		switch {
		case m.rig.kept && len(q.messages) > 0:
			q.kept = &modelKept{
				since: m.now(), messages: q.messages, accepted: maps.Clone(q.accepted),
				attempts: maps.Clone(q.attempts),
			}
		case q.kept != nil: // an undo is one of both purges then
			maps.Copy(q.kept.accepted, q.accepted)
			maps.Copy(q.kept.attempts, q.attempts)
		}
		q.messages, q.purged = nil, m.now()
		clear(q.accepted)
		clear(q.attempts)
	}
	m.follow(nil)
	m.settle()
}

// undo restores the messages that the last purge has removed.
func (m *model) undo(*rapid.T) {
	q := m.pickQueue()
	i := slices.IndexFunc(m.queues, func(q *modelQueue) bool { return q.kept != nil })
	if i >= 0 && pick(m, "that was purged", true, true, false) {
		q = m.queues[i]
	}
	var got Kept
	may := m.rig.transact(func(e *Engine) error { return e.MayUndoPurge(q.cfg.ID) })
	err := m.rig.transact(func(e *Engine) (err error) { got, err = e.UndoPurge(q.cfg.ID); return err })
	held, heldBefore := 0, 0
	for _, x := range q.messages {
		if x.held {
			held++
		}
	}
	if q.kept != nil {
		for _, x := range q.kept.messages {
			if x.held {
				heldBefore++
			}
		}
	}
	var want error
	switch {
	case q.kept == nil:
		want = ErrNothingKept
	case len(q.tasks) > 0 && q.tasks[0].Status == MoveRunning:
		want = ErrTaskRunning
	case heldBefore > 0 && held+heldBefore > q.cfg.MaxInFlight:
		want = ErrOverLimit
	}
	if !errors.Is(err, want) || !errors.Is(may, want) {
		m.failf("the undo gave %v, and %v before it, should give %v", err, may, want)
	}
	if want != nil {
		m.settle()
		return
	}
	k := q.kept
	kept := Kept{
		Since: k.since, Until: k.since.Add(UndoInterval), Messages: uint64(len(k.messages)), Undoing: got.Undoing,
	}
	if got != kept {
		m.failf("the undo is of %+v, should be of %+v", got, kept)
	}
	postpones := !q.cfg.FIFO || !slices.ContainsFunc(q.messages, func(x *modelMessage) bool { return !x.waits })
	for _, x := range k.messages {
		x.gone, x.arrived = false, max(x.arrived, m.now())
		x.waits = x.waits && postpones
	}
	q.messages = append(k.messages, q.messages...)
	for id, a := range k.accepted {
		if _, newer := q.accepted[id]; !newer {
			q.accepted[id] = a
		}
	}
	for name, a := range k.attempts {
		if _, newer := q.attempts[name]; !newer {
			q.attempts[name] = a
		}
	}
	q.kept, q.cleared = nil, true
	for round := 0; m.rig.engine.queues[q.cfg.ID].kept.undoes(); round++ {
		if round == 1000 {
			m.failf("the undo does not get on")
		}
		if pick(m, "reload meanwhile", false, false, false, true) {
			m.rig.load()
			m.told = false
		}
		if err := m.rig.transact((*Engine).Advance); err != nil {
			m.failf("advance: %v", err)
		}
		if m.rig.engine.NextWake() > m.now() && m.rig.engine.queues[q.cfg.ID].kept.undoes() {
			m.rig.now++
		}
	}
	m.settle()
}

// forget drops the messages that purges have kept.
func (m *model) forget(*rapid.T) {
	m.seldom()
	if err := m.rig.transact(func(e *Engine) error { e.ForgetPurged(); return nil }); err != nil {
		m.failf("forget: %v", err)
	}
	for _, q := range m.queues {
		q.kept = nil
	}
	m.settle()
}

// Message move tasks.

func (m *model) move(*rapid.T) {
	q := m.pickQueue()
	running := len(q.tasks) > 0 && q.tasks[0].Status == MoveRunning
	if running && pick(m, "cancel", false, true) {
		err := m.rig.transact(func(e *Engine) error {
			_, err := e.CancelMove(q.cfg.ID, q.tasks[0].ID)
			return err
		})
		if err != nil {
			m.failf("cancel: %v", err)
		}
		q.tasks[0].Status = MoveCancelled
		m.follow(nil)
		m.settle()
		return
	}
	m.tasks++
	task := MoveTask{
		ID:          fmt.Sprintf("t%d", m.tasks),
		Destination: pick(m, "destination", append(m.names, "", "", "absent", "elsewhere")...),
		Rate:        pick(m, "rate", 0, 1, 3, 500),
	}
	for _, other := range m.queues {
		if pick(m, "source", true, true, false) {
			task.Sources = append(task.Sources, other.cfg.ID)
		}
		if other != q && len(other.tasks) > 0 && other.tasks[0].Status == MoveRunning {
			m.t.Skip("one task at a time, so that no message is moved twice at once")
		}
	}
	task.Selection = m.selection(q)
	if task.Destination == q.cfg.ARN {
		m.t.Skip("no task moves a queue's messages to itself")
	}
	err := m.rig.transact(func(e *Engine) error { return e.StartMove(q.cfg.ID, task) })
	if running != errors.Is(err, ErrTaskRunning) || !running && err != nil {
		m.failf("start of a task, running %v: %v", running, err)
	}
	if !running {
		task.Status = MoveRunning
		task.Started = m.now()
		if len(q.tasks) > 0 {
			task.Started = max(m.now(), q.tasks[0].Started+1)
		}
		for _, x := range q.messages {
			if !x.waits && !m.inFlight(x) || task.Selection != nil {
				task.ToMove++
			}
		}
		if q.last = make(map[modelLane]Position); task.Selection != nil {
			q.eligible = make(map[*modelMessage]bool)
			for _, x := range m.visible(q) {
				q.eligible[x] = m.selects(task.Selection, x)
			}
		}
		q.tasks = slices.Insert(q.tasks, 0, &task)
		q.tasks = q.tasks[:min(10, len(q.tasks))]
	}
	m.follow(nil)
	m.settle()
}

// selection draws a task's selection, or nil.
func (m *model) selection(q *modelQueue) *Selection {
	switch pick(m, "selection", "all", "all", "digit", "group", "ids") {
	case "digit":
		return &Selection{Filter: pick(m, "filter", "1", "2", "-3")}
	case "group":
		return &Selection{Filter: "group:a"}
	case "ids":
		s := new(Selection)
		for _, x := range q.messages {
			if pick(m, "selected", false, true) {
				s.IDs = append(s.IDs, x.id)
			}
		}
		if len(s.IDs) > 0 {
			return s
		}
	}
	return nil
}

// selects reports whether a selection includes a message.
func (m *model) selects(s *Selection, x *modelMessage) bool {
	word, not := strings.CutPrefix(s.Filter, "-")
	switch {
	case len(s.IDs) > 0:
		return slices.Contains(s.IDs, x.id)
	case s.Filter == "group:a":
		return x.group == "a"
	}
	id := x.id.String() == word
	return (strings.Contains(x.body, word) || id || strings.Contains(x.group, word)) != not
}

// target returns where a task moves a message, or nil if the task cannot move it.
func (m *model) target(task *MoveTask, x *modelMessage) *modelQueue {
	if task.Destination != "" {
		return m.find(task.Destination)
	}
	to := m.find(x.source)
	if to != nil && len(task.Sources) > 0 && !slices.Contains(task.Sources, to.cfg.ID) {
		return nil
	}
	return to
}

// leave makes a task leave a message in place, because the message's receives have changed since the task's search.
func (q *modelQueue) leave(x *modelMessage) { delete(q.eligible, x) }

// followSelection checks that a task with a selection has missed no message.
func (m *model) followSelection(q *modelQueue, mine, got *MoveTask) {
	mine.Scanned, mine.Skipped, mine.Results, mine.Ended, mine.place = got.Scanned, got.Skipped, got.Results, got.Ended,
		got.place
	if got.Selection.Filter != mine.Selection.Filter ||
		got.Selection.Chosen != max(len(mine.Selection.IDs), mine.Selection.Chosen) ||
		(got.Ended != 0) != (got.Status != MoveRunning) {
		m.failf("task %+v should be %+v", got, *mine)
	}
	visible := m.visible(q)
	for x := range q.eligible {
		if !slices.Contains(visible, x) || x.sent.Add(q.cfg.Retention) <= m.now() {
			delete(q.eligible, x)
		}
	}
	if got.Status == MoveCompleted && len(got.Selection.IDs) == 0 {
		for x, selected := range q.eligible {
			if selected && m.target(mine, x) != nil {
				m.failf("task %+v has left out %s", got, x.body)
			}
		}
	}
	mine.Selection = got.Selection
	if got.Status != MoveRunning {
		q.eligible = nil
	}
}

// Other shards.

// forward checks the messages that wait to be forwarded, and sometimes removes a few.
func (m *model) forward(*rapid.T) {
	id, waiting := m.elsewhere.cfg.ID, m.elsewhere.messages
	most := rapid.IntRange(1, 6).Draw(m.t, "most")
	var got []Transfer
	err := m.rig.transact(func(e *Engine) error {
		from, n, err := e.Outbox(id)
		if err == nil && n != uint64(len(waiting)) {
			m.failf("%d messages wait, should be %d", n, len(waiting))
		}
		if err == nil {
			got, err = ReadOutbox(e.tx, id, from, most, 1<<20)
		}
		return err
	})
	if err != nil || len(got) != min(most, len(waiting)) {
		m.failf("%d messages are ready of %d: %v", len(got), len(waiting), err)
	}
	for i, a := range got {
		if x := waiting[i]; a.Position != x.pos || a.Message.Body != x.body {
			m.failf("%s is forwarded from %v, should be %s from %v", a.Message.Body, a.Position, x.body, x.pos)
		}
	}
	switch {
	case pick(m, "purge", false, false, false, true):
		err = m.rig.transact(func(e *Engine) error { _, err := e.Purge(Purging{Queue: id}); return err })
		m.elsewhere.messages = nil
	case len(got) > 0:
		n := rapid.IntRange(1, len(got)).Draw(m.t, "forwarded")
		upTo := got[n-1].Position
		for range 2 { // repeating it makes no difference
			err = firstError(err, m.rig.transact(func(e *Engine) error { return e.Forwarded(id, upTo) }))
		}
		m.elsewhere.messages = waiting[n:]
	}
	if err != nil {
		m.failf("forwarded: %v", err)
	}
	m.told = m.told && len(m.elsewhere.messages) > 0
	m.settle()
}

// accept accepts messages from another shard that follow earlier ones.
func (m *model) accept(*rapid.T) {
	q := m.pickQueue()
	from := FromShard{pick(m, "shard", 1, 2)}
	came := q.came[from]
	last := Position(0)
	if len(came) > 0 {
		last = came[len(came)-1].Position
	}
	batch := slices.Clone(came[len(came)-min(len(came), rapid.IntRange(0, 3).Draw(m.t, "again")):])
	again := len(batch)
	for range rapid.IntRange(0, 3).Draw(m.t, "messages") {
		m.sent++
		last += Position(rapid.IntRange(1, 3).Draw(m.t, "gap"))
		a := Transfer{Position: last, Message: Message{
			Body: fmt.Sprintf("m%d", m.sent), Dedup: "d", Group: pick(m, "group", "a", "b"),
			Source: pick(m, "source", m.names[0], ""),
			SentAt: m.now().Add(pick(m, "sent", -time.Minute, -time.Second, 0, time.Second)),
		}}
		binary.BigEndian.PutUint64(a.Message.ID[:], uint64(m.sent))
		if a.Message.Source != "" {
			a.Message.PriorReceives, a.Message.PriorFirst = 2, a.Message.SentAt
		}
		if a.Copy = pick(m, "copy", false, true); a.Copy {
			o := m.copyOf(a.Message.Group)
			a.Message = *o.message(a.Message.SentAt)
		} else if !m.fifo {
			a.Message.Group = pick(m, "own group", "", a.Message.Group)
		}
		batch = append(batch, a)
	}
	if err := m.rig.transact(func(e *Engine) error { return e.Accept(q.cfg.ID, from, batch) }); err != nil {
		m.failf("accept: %v", err)
	}
	for _, a := range batch[again:] {
		came = append(came, a)
		if a.Copy {
			m.copied(q.cfg.ID, *a.Message.outgoing())
			continue
		}
		waits := q.cfg.FIFO && slices.ContainsFunc(q.messages, func(z *modelMessage) bool { return z.waits })
		x := &modelMessage{
			id: a.Message.ID, body: a.Message.Body, group: a.Message.Group, dedup: a.Message.Dedup,
			source: a.Message.Source,
			sent:   min(a.Message.SentAt, m.now()), arrived: m.now(), prior: a.Message.PriorReceives, waits: waits,
		}
		if m.fifo || x.source == "" {
			x.sent = m.now()
		}
		if x.source == "" {
			m.countSent(q, x.body)
		}
		q.messages = append(q.messages, x)
	}
	q.came[from] = came
	m.follow(nil)
	m.settle()
}

// follow compares the stored messages with those of the model. A message that is no longer in its place has expired, or
// was moved by a task or, if there is a reason, to the dead-letter queue; redrive then reports what is wrong with such
// a move.
func (m *model) follow(redrive func(x *modelMessage, to *modelQueue) string) {
	m.t.Helper()
	type found struct {
		q   *modelQueue
		pos Position
		*Message
	}
	where := make(map[string]found)
	for _, q := range m.all() {
		if q == nil {
			continue
		}
		for p, msg := range m.rig.stored(q.cfg.ID) {
			if other, twice := where[msg.Body]; twice {
				m.failf("%s is in %s and in %s", msg.Body, q.cfg.ARN, other.q.cfg.ARN)
			}
			where[msg.Body] = found{q, p, msg}
		}
	}
	type arrival struct {
		from *modelQueue
		x    *modelMessage
		found
	}
	var moved []arrival
	for _, q := range m.all() {
		if q == nil {
			continue
		}
		for _, x := range slices.Clone(q.messages) {
			f, ok := where[x.body]
			delete(where, x.body)
			expired := x.sent.Add(q.cfg.Retention)
			switch {
			case ok && f.q == q && f.ID == x.id && (x.pos == 0 || x.pos == f.pos || m.reindexed(q, x.pos, f.pos)):
				if m.now() >= max(expired, x.arrived).Add(time.Second) {
					m.failf("%s should have expired at %v", x.body, expired.Sub(epoch))
				}
				if f.SentAt != x.sent || f.Group != x.group || f.Dedup != x.dedup || f.Source != x.source ||
					f.PriorReceives != x.prior {
					m.failf("%+v is stored as %+v", x, f.Message)
				}
				x.pos = f.pos
			case !ok && m.now() >= expired:
				m.count(q, MetricExpired, 1)
				m.remove(q, x)
			case !ok:
				m.failf("%s of %s is lost", x.body, q.cfg.ARN)
			default:
				moved = append(moved, arrival{q, x, f})
			}
		}
	}
	for body, f := range where {
		m.failf("%s has come back in %s", body, f.q.cfg.ARN)
	}
	slices.SortFunc(moved, func(a, b arrival) int { return int(a.pos&^indexedBit) - int(b.pos&^indexedBit) })
	count := make(map[*modelQueue]uint64)
	for _, a := range moved {
		y := &modelMessage{
			pos: a.pos, id: a.ID, body: a.Body, group: a.x.group, dedup: a.Dedup, sent: a.SentAt, arrived: m.now(),
			source: a.Source, prior: a.PriorReceives,
		}
		if redrive != nil {
			if problem := redrive(a.x, a.q); problem != "" {
				m.failf("%s was moved from %s to %s, but %s", a.x.body, a.from.cfg.ARN, a.q.cfg.ARN, problem)
			}
			sent, dedup := a.x.sent, a.x.dedup
			if a.from.cfg.FIFO {
				sent, dedup = m.now(), a.x.id.String()
			}
			if y.id != a.x.id || y.source != a.from.cfg.ARN || y.prior != a.x.prior+a.x.receives || y.sent != sent ||
				y.dedup != dedup {
				m.failf("%+v was redriven as %+v", a.x, y)
			}
			m.count(a.from, MetricDeadLettered, 1)
		} else {
			count[a.from]++
			m.count(a.from, MetricMoved, 1)
			m.countSent(a.q, y.body)
			m.checkMove(a.from, a.q, a.x, y)
		}
		y.waits = a.q.cfg.FIFO && slices.ContainsFunc(a.q.messages, func(z *modelMessage) bool { return z.waits })
		if a.q == m.elsewhere {
			if y.pos <= m.gone {
				m.failf("%s is forwarded from %v, after %v", y.body, y.pos, m.gone)
			}
			m.gone = y.pos
		}
		m.remove(a.from, a.x)
		a.q.messages = append(a.q.messages, y)
	}
	if redrive == nil {
		m.followTasks(count)
	}
}

// reindexed reports whether a task or a discard may have turned a message of the line into an indexed one.
func (m *model) reindexed(q *modelQueue, was, is Position) bool {
	selected := len(q.tasks) > 0 && q.tasks[0].Selection != nil
	return !was.indexed() && is.indexed() && (selected || q.cleared)
}

// checkMove checks a message that a task has moved.
func (m *model) checkMove(from, to *modelQueue, x, y *modelMessage) {
	if len(from.tasks) == 0 || from.tasks[0].Status != MoveRunning {
		m.failf("%s was moved from %s to %s by no task", x.body, from.cfg.ARN, to.cfg.ARN)
	}
	task := from.tasks[0]
	takes := m.reachable
	if task.Selection != nil {
		takes = m.visible
	}
	want := task.Destination
	if want == "" {
		want = x.source
	}
	if to.cfg.ARN != want ||
		task.Destination == "" && len(task.Sources) > 0 && !slices.Contains(task.Sources, to.cfg.ID) ||
		!slices.Contains(takes(from), x) {
		m.failf("%+v was moved from %s to %s by %+v", x, from.cfg.ARN, to.cfg.ARN, task)
	}
	if s := task.Selection; s != nil {
		if !m.selects(s, x) {
			m.failf("%s was moved by %+v, which does not select it", x.body, task)
		}
		lane := modelLane{x.group, to}
		if from.cfg.FIFO && x.pos < from.last[lane] {
			m.failf("%s was moved after %v", x.body, from.last[lane])
		}
		from.last[lane] = x.pos
	}
	for _, z := range m.reachable(from) {
		if task.Selection == nil && from != to && from.cfg.FIFO && z.group == x.group && z.pos < x.pos {
			m.failf("%s was moved before %s", x.body, z.body)
		}
	}
	if y.id == x.id || y.sent != m.now() || y.source != "" || y.prior != 0 || y.dedup != x.dedup {
		m.failf("%+v was moved as %+v", x, y)
	}
}

// followTasks compares the tasks' counts of moved messages with the moves.
func (m *model) followTasks(moved map[*modelQueue]uint64) {
	for _, q := range m.queues {
		if q == nil {
			continue
		}
		tasks := m.rig.engine.queues[q.cfg.ID].moves.tasks
		if len(tasks) != len(q.tasks) {
			m.failf("%s has %d tasks, should have %d", q.cfg.ARN, len(tasks), len(q.tasks))
		}
		for i, mine := range q.tasks {
			got := *tasks[len(tasks)-1-i]
			if mine.Selection != nil && i == 0 {
				m.followSelection(q, mine, &got)
			}
			if i > 0 || mine.Status != MoveRunning {
				if !reflect.DeepEqual(got, *mine) {
					m.failf("task %+v should be %+v", got, *mine)
				}
				continue
			}
			mine.Moved += moved[q]
			switch got.Status {
			case MoveCompleted, MoveFailed:
				mine.Status, mine.Failure = got.Status, got.Failure
			}
			if !reflect.DeepEqual(got, *mine) || got.Moved > got.ToMove {
				m.failf("task %+v should be %+v", got, *mine)
			}
			due := uint64(max(0, m.now().Sub(got.Started)/time.Millisecond)) * uint64(got.Rate) / 1000
			if got.Rate != 0 && got.Moved > due {
				m.failf("task %+v should have moved %d", got, due)
			}
			if got.Status == MoveCompleted && got.Selection == nil && got.Moved < got.ToMove &&
				len(m.reachable(q)) > 0 {
				m.failf("task %+v is not complete", got)
			}
		}
	}
}

// compare checks what the engine reports of its queues.
func (m *model) compare(*rapid.T) {
	m.told = len(m.rig.engine.OutboxReady()) > 0 || m.told
	if n, err := m.rig.engine.Counts(m.elsewhere.cfg.ID); err != nil ||
		n != (Counts{Visible: uint64(len(m.elsewhere.messages))}) {
		m.failf("%d messages wait to be forwarded, counted %+v, %v", len(m.elsewhere.messages), n, err)
	}
	if len(m.elsewhere.messages) > 0 && !m.told {
		m.failf("OutboxReady has not shown that messages wait")
	}
	m.compareSeries()
	for _, q := range m.queues {
		var want Counts
		for _, x := range q.messages {
			switch {
			case x.waits:
				want.Delayed++
			case m.inFlight(x):
				want.InFlight++
			default:
				want.Visible++
			}
		}
		if got := m.rig.engine.queues[q.cfg.ID].counts(); got != want {
			m.failf("%s counts %+v, should %+v", q.cfg.ARN, got, want)
		}
		available := len(m.reachable(q)) > 0 && m.countInFlight(q) < q.cfg.MaxInFlight
		if got := m.rig.engine.Available(q.cfg.ID); got != available {
			m.failf("%s available %v, should be %v", q.cfg.ARN, got, available)
		}
		for _, t := range q.tasks {
			if t.Status == MoveRunning && t.Rate == 0 && t.Started <= m.now() {
				m.failf("task %+v should have come to its end", t)
			}
		}
	}
}
