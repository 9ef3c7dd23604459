package queue

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/store"
)

// epoch is when the tests begin. It is neither the start of a bucket of deduplication ids nor a whole second.
var epoch = At(time.Date(2026, 3, 1, 12, 1, 7, 250e6, time.UTC))

// cache is shared by all stores of the tests.
var cache *store.Cache

func TestMain(m *testing.M) {
	flag.Parse()
	long := false
	flag.Visit(func(f *flag.Flag) { long = long || f.Name == "rapid.steps" })
	if !long {
		_ = flag.Set("rapid.steps", "100")
	}
	cache = store.NewCache(8 << 20)
	code := m.Run()
	cache.Close()
	os.Exit(code)
}

// failer is the part of testing.TB that *rapid.T also has.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// rig runs an engine on a store in memory as a shard does: operations in transactions, and Advance whenever NextWake is
// due. After each transaction it compares the store with the engine's memory.
type rig struct {
	t       failer
	store   *store.Store
	engine  *Engine
	now     Instant
	configs []Config // of the queues that exist
	deleted []ID     // those that are known as deleted
	keep    Keep
	keys    mirror
	memory  memory
	// copies bounds the copies that the engine makes at once, if it is not zero.
	copies     extent
	undoAtOnce int  // if not zero, the number of messages that an undo restores at once
	kept       bool // purges keep the removed messages
	looks      int  // the number of calls of peekAll
}

// mirror is the expected content of the store: the simplest possible store. It counts how often each key was set since
// it was last absent.
type mirror map[string]mirrored

type mirrored struct {
	value []byte
	sets  int
}

// memory has the last record that an engine has written under each key, in a committed or a lost transaction.
type memory map[string]string

func (m memory) Put(key, record []byte) { m[string(key)] = string(record) }

func newRig(t failer) *rig {
	t.Helper()
	s, err := store.OpenMemory(store.Options{Cache: cache})
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	r := &rig{t: t, store: s, now: epoch, keys: make(mirror), memory: make(memory)}
	r.reload()
	return r
}

func (r *rig) close() {
	if err := r.store.Close(); err != nil {
		r.t.Fatalf("%v", err)
	}
}

// do runs f in its own transaction and then lets the engine do all work that is due. An error of f must be a refusal;
// do returns it.
func (r *rig) do(f func(*Engine) error) error {
	r.t.Helper()
	err := r.transact(f)
	r.drain()
	return err
}

func (r *rig) transact(f func(*Engine) error) error {
	r.t.Helper()
	tx := r.begin()
	defer tx.Release()
	r.engine.Begin(tx, r.now)
	err := f(r.engine)
	if err != nil && !IsRefusal(err) {
		r.t.Fatalf("at %v: %v", r.now.Sub(epoch), err)
	}
	r.engine.End()
	r.commit(tx)
	r.check()
	return err
}

// lose runs f in a transaction that never becomes durable, as when a commit
// fails, and loads the engine again.
func (r *rig) lose(f func(*Engine) error) {
	r.t.Helper()
	tx := r.begin()
	r.engine.Begin(tx, r.now)
	if err := f(r.engine); err != nil && !IsRefusal(err) {
		r.t.Fatalf("at %v: %v", r.now.Sub(epoch), err)
	}
	r.engine.End()
	tx.undo()
	tx.Release()
	r.reload()
}

// reload drops the engine and loads another from the store, which must hold exactly the written data.
func (r *rig) reload() {
	r.t.Helper()
	r.load()
	r.drain()
}

// load is reload without the work that is due afterwards.
func (r *rig) load() {
	r.t.Helper()
	n := 0
	_, end := queueRange(shared)
	err := r.store.Scan(nil, end, func(k, v []byte) bool {
		if m, ok := r.keys[string(k)]; !ok || !bytes.Equal(m.value, v) {
			r.t.Fatalf("key %q is stored as %q and was set to %q, %v", k, v, m.value, ok)
		}
		n++
		return true
	})
	if err != nil || n != len(r.keys) {
		r.t.Fatalf("%d keys are stored, want %d: %v", n, len(r.keys), err)
	}
	tx := r.begin()
	defer tx.Release()
	e, err := Load(tx, r.now, r.configs, r.isDeleted, r.keep)
	if err != nil {
		r.t.Fatalf("at %v: %v", r.now.Sub(epoch), err)
	}
	r.engine = e
	e.Remember(r.memory)
	if r.copies != (extent{}) {
		e.backlog.atOnce = r.copies
	}
	if r.undoAtOnce != 0 {
		e.undoAtOnce = r.undoAtOnce
	}
	e.KeepPurged(r.kept)
	r.commit(tx)
	r.check()
}

// search runs the searches that tasks wait for, and reports whether there were any.
func (r *rig) search() bool {
	r.t.Helper()
	ids := r.engine.Searches()
	for _, id := range ids {
		if s, ok := r.engine.Search(id); ok {
			f := r.runSearch(s)
			_ = r.transact(func(e *Engine) error { e.Supply(id, f); return nil })
		}
	}
	return len(ids) > 0
}

func (r *rig) runSearch(s Search) Found {
	r.t.Helper()
	left := 300 // a search is interrupted now and then
	f, err := s.Run(r.store, func(int) bool { left--; return left > 0 })
	if err != nil {
		r.t.Fatalf("%v", err)
	}
	return f
}

// discard deletes messages by their ids as a shard does, and returns the ids of those that were there.
func (r *rig) discard(id ID, ids []MessageID) (gone []MessageID) {
	r.t.Helper()
	look, err := r.engine.Look(id)
	if err != nil {
		r.t.Fatalf("%v", err)
	}
	var found []Located
	for ask := (Locate{IDs: ids}); ; {
		left := 7 // a look is interrupted now and then
		f, err := look.Locate(r.store, ask, func(int) bool { left--; return left > 0 })
		if err != nil {
			r.t.Fatalf("%v", err)
		}
		if found = append(found, f.Messages...); !f.More {
			break
		}
		next, ok := DecodePeekCursor(f.Next.Encode())
		if ask.After = next; !ok {
			r.t.Fatalf("%+v is no cursor", f.Next)
		}
	}
	for len(found) > 0 {
		var results []bool
		_ = r.transact(func(e *Engine) (err error) {
			results, err = e.Discard(id, found)
			return err
		})
		for i, done := range results {
			if done {
				gone = append(gone, found[i].ID)
			}
		}
		found = found[len(results):]
	}
	return gone
}

// drain lets the engine do all work that is due now.
func (r *rig) drain() {
	r.t.Helper()
	for round := 0; r.search() || r.engine.NextWake() <= r.now; round++ {
		if round == 100 {
			r.t.Fatalf("at %v: Advance makes no progress", r.now.Sub(epoch))
		}
		if err := r.transact((*Engine).Advance); err != nil {
			r.t.Fatalf("at %v: advance: %v", r.now.Sub(epoch), err)
		}
	}
	r.peekAll()
}

// advance lets time pass, and lets the engine work at each wake-up.
func (r *rig) advance(d time.Duration) {
	r.t.Helper()
	until := r.now.Add(d)
	for wakes := 0; r.engine.NextWake() <= until; wakes++ {
		if wakes == 10_000 {
			r.t.Fatalf("at %v: the engine wakes up again and again", r.now.Sub(epoch))
		}
		r.now = r.engine.NextWake()
		r.drain()
	}
	r.now = until
}

// jump lets time pass without wake-ups in between.
func (r *rig) jump(d time.Duration) {
	r.t.Helper()
	r.now = r.now.Add(d)
	r.drain()
}

// configure adds a queue or changes it.
func (r *rig) configure(cfg Config) {
	r.t.Helper()
	i := slices.IndexFunc(r.configs, func(c Config) bool { return c.ID == cfg.ID })
	if i < 0 {
		r.configs = append(r.configs, cfg)
	} else {
		r.configs[i] = cfg
	}
	if err := r.do(func(e *Engine) error { return e.Configure(cfg) }); err != nil {
		r.t.Fatalf("configure: %v", err)
	}
}

// known reports whether the rig has a queue.
func (r *rig) known(id ID) bool {
	return slices.ContainsFunc(r.configs, func(c Config) bool { return c.ID == id })
}

// forget removes a queue from the list that reload uses, and marks it as deleted.
func (r *rig) forget(id ID) {
	r.deleted = append(r.deleted, id)
	r.hide(id)
}

// deletedBefore is the id of a queue that was deleted before the test.
const deletedBefore ID = 1 << 42

func (r *rig) isDeleted(id ID) bool { return id == deletedBefore || slices.Contains(r.deleted, id) }

// hide removes a queue from the list that reload uses, as if the list were older than the queue.
func (r *rig) hide(id ID) {
	r.configs = slices.DeleteFunc(r.configs, func(c Config) bool { return c.ID == id })
}

func (r *rig) drop(id ID) {
	r.t.Helper()
	r.forget(id)
	if err := r.do(func(e *Engine) error { return e.Drop(id) }); err != nil {
		r.t.Fatalf("drop: %v", err)
	}
}

// check fails the test if the store and the engine's memory do not agree.
func (r *rig) check() {
	r.t.Helper()
	for _, problem := range check(r.engine, r.keys) {
		r.t.Fatalf("at %v: %s", r.now.Sub(epoch), problem)
	}
	for k, stored := range r.keys {
		if k[keyOf0-1] == tableMessage && r.memory[k] != string(stored.value) {
			r.t.Fatalf("at %v: key %q is stored as %q and remembered as %q", r.now.Sub(epoch), k, stored.value,
				r.memory[k])
		}
	}
}

// stored returns all messages of a queue by position; if the queue is elsewhere, the messages that wait for it.
func (r *rig) stored(id ID) map[Position]*Message {
	r.t.Helper()
	out := make(map[Position]*Message)
	table := byte(tableMessage)
	if r.engine.queues[id] == nil && r.engine.outboxes.at[id] != nil {
		table = tableOutboxMessage
	}
	prefix := string(tableKey(id, table))
	for k, record := range r.keys {
		if !strings.HasPrefix(k, prefix) {
			continue
		}
		p := Position(tail([]byte(k), 0))
		if q := r.engine.queues[id]; q != nil && q.held.at[p] == nil && q.kept.hides(p) {
			continue
		}
		t, err := decodeTransfer(p, record.value) // which reads all fields that decodeMessage reads
		if err != nil || t.Copy && table == tableMessage {
			r.t.Fatalf("%+v, %v", t, err)
		}
		out[p] = &t.Message
	}
	return out
}

// strictTxn is a transaction that enforces the contract of DeleteOnce and makes every change of the store in the
// mirror, too.
type strictTxn struct {
	*store.Txn
	t    failer
	keys mirror
	old  []oldKey
}

// oldKey is a key before it was changed.
type oldKey struct {
	key string
	mirrored
}

func (r *rig) begin() *strictTxn {
	return &strictTxn{Txn: r.store.Begin(), t: r.t, keys: r.keys}
}

func (r *rig) commit(tx *strictTxn) {
	r.t.Helper()
	if err := r.store.Commit(tx.Txn); err != nil {
		r.t.Fatalf("%v", err)
	}
}

func (tx *strictTxn) put(k string, m mirrored) {
	tx.old = append(tx.old, oldKey{k, tx.keys[k]})
	if m.sets == 0 {
		delete(tx.keys, k)
	} else {
		tx.keys[k] = m
	}
}

// undo reverts all changes of the mirror.
func (tx *strictTxn) undo() {
	old := tx.old
	for _, o := range slices.Backward(old) {
		tx.put(o.key, o.mirrored)
	}
}

func (tx *strictTxn) Set(k, v []byte) {
	tx.put(string(k), mirrored{bytes.Clone(v), tx.keys[string(k)].sets + 1})
	tx.Txn.Set(k, v)
}

func (tx *strictTxn) Delete(k []byte) {
	tx.put(string(k), mirrored{})
	tx.Txn.Delete(k)
}

func (tx *strictTxn) DeleteOnce(k []byte) {
	tx.t.Helper()
	if n := tx.keys[string(k)].sets; n != 1 {
		tx.t.Fatalf("DeleteOnce of %q, which was set %d times", k, n)
	}
	tx.put(string(k), mirrored{})
	tx.Txn.DeleteOnce(k)
}

func (tx *strictTxn) DeleteRange(lo, hi []byte) {
	for k := range tx.keys {
		if string(lo) <= k && k < string(hi) {
			tx.put(k, mirrored{})
		}
	}
	tx.Txn.DeleteRange(lo, hi)
}
