package crash

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// dataDir is as deep as a server's, so that unsynced directories are lost, too.
const dataDir = "lib/sluice/shards/0001"

// catalog replaces the records of queues, which are durable before the shard learns of a queue, and throughout a run.
type catalog struct {
	mu      sync.Mutex
	configs []queue.Config
	topics  map[string]feed
	lastID  queue.ID
	serial  atomic.Uint64 // of messages and tasks
}

// feed is a topic: its own queue, which only FIFO topics have, and those of its subscriptions.
type feed struct {
	queue         queue.ID
	subscriptions []queue.Config
}

func (c *catalog) all() []queue.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.configs)
}

func (c *catalog) find(name string) (queue.Config, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.configs, func(q queue.Config) bool { return q.ARN == workload.ARN(name) })
	if i < 0 {
		return queue.Config{}, false
	}
	return c.configs[i], true
}

func (c *catalog) add(q history.Queue, now time.Time) queue.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID++
	cfg := queue.Config{
		ID: c.lastID, ARN: workload.ARN(q.Name), Created: queue.At(now), FIFO: history.IsFIFO(q.Name),
		Visibility: workload.Visibility, DedupPerGroup: q.Scoped, Retention: 24 * time.Hour,
	}
	if q.Dead != "" {
		cfg.Redrive = &queue.Redrive{Target: workload.ARN(q.Dead), MaxReceives: q.MaxReceives}
	}
	c.configs = append(c.configs, cfg)
	return cfg
}

func (c *catalog) remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.configs = slices.DeleteFunc(c.configs, func(q queue.Config) bool { return q.ARN == workload.ARN(name) })
}

// isDeleted reports whether a queue existed and was removed.
func (c *catalog) isDeleted(id queue.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return id <= c.lastID && !slices.ContainsFunc(c.configs, func(q queue.Config) bool { return q.ID == id })
}

// errGone means that the service died before it answered.
var errGone = errors.New("the service is gone")

// machine is a shard on its own disk, from power on to power off. It is the service of TestPowerLoss.
type machine struct {
	*catalog
	clock *leapClock
	disk  *vfs.MemFS
	store *store.Store
	shard *shard.Shard

	off   atomic.Bool
	died  func()       // called when the power fails
	rng   *rand.Rand   // of the owner of the shard
	fuse  atomic.Int64 // commits until the power fails, if positive
	after *vfs.MemFS   // the contents of the disk then
}

// powerOn starts a machine with the contents of the disk. Its clock is behind by this much.
func powerOn(disk *vfs.MemFS, c *catalog, clock *leapClock, behind time.Duration, rng *rand.Rand,
	died func()) (*machine, error) {
	m := &machine{catalog: c, clock: clock, disk: disk, rng: rng, died: died}
	var err error
	if m.store, err = store.Open(dataDir, store.Options{FS: disk}); err != nil {
		return nil, err
	}
	now := func() time.Time { return clock.time().Add(-behind) }
	m.shard, err = shard.Open(shard.Options{
		Store: m.store, Configs: c.all, Deleted: c.isDeleted, Now: now, Commit: m.commit, Keep: queue.DefaultKeep,
	})
	if err != nil {
		return nil, errors.Join(err, m.store.Close())
	}
	return m, nil
}

// commit makes a transaction durable, unless the power fails before, during or after it.
func (m *machine) commit(tx *store.Txn) error {
	if m.fuse.Add(-1) != 0 {
		return m.store.Commit(tx)
	}
	time.Sleep(time.Millisecond) // for callers that are answered too early to notice
	switch m.rng.IntN(3) {
	case 0:
		m.powerOff()
		return m.store.Commit(tx)
	case 1:
		done := make(chan error, 1)
		go func() { done <- m.store.Commit(tx) }()
		time.Sleep(time.Duration(m.rng.IntN(50)) * time.Microsecond)
		m.powerOff()
		return <-done
	default:
		err := m.store.Commit(tx)
		m.powerOff()
		return err
	}
}

// powerOff ends the machine: no client gets an answer any more, and the disk holds the synced data and a random part of
// the rest.
func (m *machine) powerOff() {
	m.died()
	m.off.Store(true)
	percent := []int{0, 100, m.rng.IntN(101)}[m.rng.IntN(3)]
	m.after = m.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: m.rng})
}

// close frees the memory of a machine.
func (m *machine) close() error {
	m.shard.Close()
	return m.store.Close()
}

// answered returns the client's view of a call's error.
func (m *machine) answered(err error) error {
	switch {
	case m.off.Load():
		return errGone
	case errors.Is(err, queue.ErrNoQueue):
		return history.NoQueue
	case errors.Is(err, queue.ErrReceiptExpired):
		return history.Expired
	case errors.Is(err, queue.ErrNotReceived):
		return history.Absent
	case errors.Is(err, queue.ErrAttemptStale):
		return history.Stale
	case errors.Is(err, queue.ErrPurgeInProgress):
		return history.Purging
	case errors.Is(err, queue.ErrTaskRunning):
		return history.Moving
	case errors.Is(err, queue.ErrNoTask):
		return history.NoTask
	}
	return err
}

// with makes a call for a queue.
func (m *machine) with(name string, f func(context.Context, queue.ID) error) error {
	if m.off.Load() {
		return errGone
	}
	q, ok := m.find(name)
	if !ok {
		return history.NoQueue
	}
	return m.answered(f(context.Background(), q.ID))
}

func (m *machine) Create(q history.Queue) error {
	if m.off.Load() {
		return errGone
	}
	cfg, ok := m.find(q.Name)
	if !ok {
		cfg = m.add(q, m.clock.time())
	}
	return m.answered(m.shard.Configure(context.Background(), cfg))
}

func (m *machine) Drop(name string) error {
	return m.with(name, func(ctx context.Context, id queue.ID) error {
		m.catalog.remove(name)
		return m.shard.Drop(ctx, id)
	})
}

func (m *machine) Purge(name string) error { return m.with(name, m.shard.Purge) }

func (m *machine) Send(name string, letters []workload.Letter) (answers []workload.Sent, err error) {
	err = m.with(name, func(ctx context.Context, id queue.ID) error {
		var out []queue.Outgoing
		for _, l := range letters {
			out = append(out, queue.Outgoing{
				ID: m.messageID(), Body: workload.Body(l.Name), Group: l.Group, Dedup: l.Name, Delay: &l.Delay,
			})
		}
		accepted, err := m.shard.Send(ctx, id, out)
		for _, s := range accepted {
			answers = append(answers, workload.Sent{ID: s.ID.String(), Sequence: sequence(s.Sequence)})
		}
		return err
	})
	return answers, err
}

// CreateTopic makes a topic. Its queues are there.
func (m *machine) CreateTopic(t history.Topic) error {
	if m.off.Load() {
		return errGone
	}
	made := feed{}
	if history.IsFIFO(t.Name) {
		own, ok := m.find("topic/" + t.Name)
		if !ok {
			own = m.add(history.Queue{Name: "topic/" + t.Name}, m.clock.time())
		}
		if err := m.answered(m.shard.Configure(context.Background(), own)); err != nil {
			return err
		}
		made.queue = own.ID
	}
	for _, name := range t.Queues {
		q, ok := m.find(name)
		if !ok {
			return history.NoQueue
		}
		made.subscriptions = append(made.subscriptions, q)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.topics == nil {
		m.topics = make(map[string]feed)
	}
	m.topics[t.Name] = made
	return nil
}

// Publish is part of workload.Service.
func (m *machine) Publish(name string, letters []workload.Letter) (answers []workload.Sent, err error) {
	if m.off.Load() {
		return nil, errGone
	}
	m.mu.Lock()
	to, ok := m.topics[name]
	m.mu.Unlock()
	if !ok {
		return nil, history.NoQueue
	}
	var all []queue.Publication
	for _, l := range letters {
		p := queue.Publication{Topic: to.queue, Group: l.Group, Dedup: l.Name, ID: m.messageID()}
		p.Count = &queue.TopicCount{Topic: workload.TopicARN(name), Counts: [queue.TopicMetrics]uint64{
			queue.TopicPublished: 1, queue.TopicPublishedBytes: uint64(len(workload.Body(l.Name))),
			queue.TopicDelivered: uint64(len(to.subscriptions)),
		}}
		for _, q := range to.subscriptions {
			p.Copies = append(p.Copies, queue.Copy{Queue: q.ID, Message: queue.Outgoing{
				ID: m.messageID(), Body: workload.Body(l.Name), Group: l.Group, Dedup: l.Name,
			}})
		}
		all = append(all, p)
	}
	published, err := m.shard.Publish(context.Background(), all)
	for _, p := range published {
		answers = append(answers, workload.Sent{ID: p.ID.String(), Sequence: sequence(p.Sequence)})
	}
	return answers, m.answered(err)
}

// messageID returns a new id of a message.
func (c *catalog) messageID() (id queue.MessageID) {
	binary.BigEndian.PutUint64(id[8:], c.serial.Add(1))
	return id
}

func sequence(n uint64) string { return fmt.Sprintf("%020d", n) }

func (m *machine) Receive(name string, r workload.Receive) (messages []workload.Received, err error) {
	err = m.with(name, func(ctx context.Context, id queue.ID) error {
		got, err := m.shard.Receive(ctx, id, queue.Receive{Max: r.Most, Timeout: &r.Timeout, Attempt: r.Attempt},
			r.Wait)
		for _, g := range got {
			messages = append(messages, workload.Received{
				Body: g.Body, ID: g.ID.String(), Group: g.Group, Sequence: sequence(g.Sequence),
				Receives: int(g.ReceiveCount()), Handle: fmt.Sprintf("%d/%d", g.Position, g.Receipt),
			})
		}
		return err
	})
	return messages, err
}

func receipt(handle string) (r queue.Receipt) {
	if _, err := fmt.Sscanf(handle, "%d/%d", &r.Position, &r.Number); err != nil {
		panic(err)
	}
	return r
}

func (m *machine) Remove(name string, handles []string) (results []error, err error) {
	err = m.with(name, func(ctx context.Context, id queue.ID) (err error) {
		var receipts []queue.Receipt
		for _, h := range handles {
			receipts = append(receipts, receipt(h))
		}
		results, err = m.shard.Delete(ctx, id, receipts)
		return err
	})
	return m.each(results), err
}

func (m *machine) Hide(name string, handles []string, timeout time.Duration) (results []error, err error) {
	err = m.with(name, func(ctx context.Context, id queue.ID) (err error) {
		var changes []queue.Visibility
		for _, h := range handles {
			changes = append(changes, queue.Visibility{Receipt: receipt(h), Timeout: timeout})
		}
		results, err = m.shard.ChangeVisibility(ctx, id, changes)
		return err
	})
	return m.each(results), err
}

func (m *machine) each(results []error) []error {
	for i, err := range results {
		results[i] = m.answered(err)
	}
	return results
}

func (m *machine) Move(name string, rate int) (task string, err error) {
	task = fmt.Sprintf("task-%d", m.serial.Add(1))
	err = m.with(name, func(ctx context.Context, id queue.ID) error {
		return m.shard.StartMove(ctx, id, queue.MoveTask{ID: task, Rate: rate})
	})
	return task, err
}

func (m *machine) Cancel(name, task string) error {
	return m.with(name, func(ctx context.Context, id queue.ID) error {
		_, err := m.shard.CancelMove(ctx, id, task)
		return err
	})
}

func (m *machine) Counts(name string) (n workload.Counts, err error) {
	err = m.with(name, func(ctx context.Context, id queue.ID) error {
		c, err := m.shard.Counts(ctx, id)
		if err != nil {
			return err
		}
		n = workload.Counts{Visible: int(c.Visible), InFlight: int(c.InFlight), Delayed: int(c.Delayed)}
		tasks, err := m.shard.Moves(ctx, id)
		for _, t := range tasks {
			n.Moving = n.Moving || t.Status == queue.MoveRunning
		}
		return err
	})
	return n, err
}

// recount compares the counters with the stored data: a key of the table m for each message, and no key of a queue that
// does not exist. The shard removes the remains of a queue while it works.
func (m *machine) recount(j *workload.Journal) error {
	for turns := 1000; ; turns-- {
		counted, err := m.counted()
		if err != nil {
			return err
		}
		stored := make(map[queue.ID]int)
		err = m.store.Scan(nil, nil, func(k, _ []byte) bool {
			// 0 is the clock's, 1<<63 for what all keep
			if id := queue.ID(binary.BigEndian.Uint64(k)); id != 0 && id < 1<<63 {
				stored[id] += 0
				if k[8] == 'm' {
					stored[id]++
				}
			}
			return true
		})
		if err != nil {
			return err
		}
		again, err := m.counted()
		if err != nil {
			return err
		}
		if !maps.Equal(counted, again) {
			continue // a task has moved something meanwhile
		}
		if turns > 0 && slices.ContainsFunc(slices.Collect(maps.Keys(stored)), m.isDeleted) {
			continue
		}
		for id, n := range counted {
			if n != stored[id] {
				j.Note("store", fmt.Sprint(id), "", "%d messages are counted and %d are stored", n, stored[id])
			}
			delete(stored, id)
		}
		for id := range stored {
			j.Note("store", fmt.Sprint(id), "", "the queue does not exist and has keys")
		}
		return nil
	}
}

// counted returns each queue's number of messages, including those that its last purge has kept.
func (m *machine) counted() (map[queue.ID]int, error) {
	out := make(map[queue.ID]int)
	for _, q := range m.all() {
		c, err := m.shard.Counts(context.Background(), q.ID)
		if err != nil {
			return nil, err
		}
		kept, err := m.shard.Kept(context.Background(), q.ID)
		if err != nil {
			return nil, err
		}
		out[q.ID] = int(c.Visible + c.InFlight + c.Delayed + kept.Messages)
	}
	return out, nil
}
