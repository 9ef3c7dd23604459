package control_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

// shelf is a reader that keeps all records unchanged.
type shelf struct {
	mu      sync.Mutex
	records map[string]string
	told    [][]string // the keys of each batch
}

func (s *shelf) Load(records iter.Seq2[string, []byte]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = make(map[string]string)
	for k, v := range records {
		s.records[k] = string(v)
	}
	return nil
}

func (s *shelf) Apply(changes []control.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for _, ch := range changes {
		keys = append(keys, ch.Key)
		if ch.Removed {
			delete(s.records, ch.Key)
		} else {
			s.records[ch.Key] = string(ch.Value)
		}
		if string(ch.Value) == "unreadable" {
			return errors.New("cannot read this")
		}
	}
	s.told = append(s.told, keys)
	return nil
}

func (s *shelf) want(t *testing.T, want map[string]string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !maps.Equal(s.records, want) {
		t.Errorf("has %v, want %v", s.records, want)
	}
}

func register(t *testing.T, c *control.Control, prefixes ...string) (all []*shelf) {
	t.Helper()
	for _, prefix := range prefixes {
		s := new(shelf)
		if err := c.Register(prefix, s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func put(c *control.Control, records ...string) error {
	return c.Change(context.Background(), func(tx *control.Tx) error {
		for i := 0; i < len(records); i += 2 {
			tx.Put(records[i], []byte(records[i+1]))
		}
		return nil
	})
}

// A change is seen by its readers, each of which has its own part, once it is made, and by later readers.
func TestChange(t *testing.T) {
	t.Parallel()
	s := storetest.Memory(t)
	c := control.New(control.Options{Store: s})
	all := register(t, c, "a/b/", "a/", "")
	if err := put(c, "a/1", "x", "a/b/2", "y", "z", "w", "\x00position", "7"); err != nil {
		t.Fatal(err)
	}
	err := c.Change(t.Context(), func(tx *control.Tx) error {
		if v, err := tx.Get("a/1"); string(v) != "x" || err != nil {
			t.Errorf("got %q, %v", v, err)
		}
		tx.Delete("a/1")
		tx.Put("a/3", nil)
		if v, err := tx.Get("a/1"); v != nil || err != nil {
			t.Errorf("after its removal: %q, %v", v, err)
		}
		all[1].want(t, map[string]string{"a/1": "x"}) // which is not committed yet
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	later := register(t, control.New(control.Options{Store: s}), "a/b/", "a/", "")
	for i, want := range []map[string]string{{"a/b/2": "y"}, {"a/3": ""}, {"z": "w"}} {
		all[i].want(t, want)
		later[i].want(t, want)
	}
	if got := fmt.Sprint(all[0].told, all[1].told, all[2].told); got != "[[a/b/2]] [[a/1] [a/1 a/3]] [[z]]" {
		t.Errorf("notified of %s", got)
	}
}

// A reader replaces another, unless it cannot read the records.
func TestReaderIsReplaced(t *testing.T) {
	t.Parallel()
	c := control.New(control.Options{Store: storetest.Memory(t)})
	first := register(t, c, "a/", "")[0]
	if err := put(c, "a/1", "x"); err != nil {
		t.Fatal(err)
	}
	if err := c.Register("a/", blind{}); !errors.Is(err, errBlind) {
		t.Errorf("got %v", err)
	}
	if err := put(c, "a/2", "y"); err != nil {
		t.Fatal(err)
	}
	second := register(t, c, "a/")[0]
	if err := put(c, "a/3", "z"); err != nil {
		t.Fatal(err)
	}
	first.want(t, map[string]string{"a/1": "x", "a/2": "y"})
	second.want(t, map[string]string{"a/1": "x", "a/2": "y", "a/3": "z"})
}

// blind is a reader that cannot read.
type blind struct{}

var errBlind = errors.New("blind")

func (blind) Load(iter.Seq2[string, []byte]) error { return errBlind }
func (blind) Apply([]control.Change) error         { return errBlind }

// A change that is refused, by the function that decides it or because another node owns the store, is not made.
func TestRefusedChange(t *testing.T) {
	t.Parallel()
	c := control.New(control.Options{Store: storetest.Memory(t), Follow: true})
	all := register(t, c, "")
	elsewhere := func(when string) {
		t.Helper()
		err := c.Change(t.Context(), func(*control.Tx) error { t.Errorf("%s: asked", when); return nil })
		if !errors.Is(err, control.ErrElsewhere) || !c.Elsewhere() {
			t.Errorf("%s: %v", when, err)
		}
	}
	elsewhere("at first")
	var lost error
	end := c.Own(func(*store.Txn) error { return lost })
	refused := errors.New("no")
	if err := c.Change(t.Context(),
		func(tx *control.Tx) error { tx.Put("a", nil); return refused }); !errors.Is(err, refused) ||
		err.Error() != refused.Error() {
		t.Errorf("got %v", err)
	}
	for _, lost = range []error{control.ErrElsewhere, control.ErrUnavailable} { // this node learns of it when it tries
		if err := put(c, "a", ""); !errors.Is(err, lost) {
			t.Errorf("got %v, want %v", err, lost)
		}
	}
	end()
	elsewhere("afterwards")
	all[0].want(t, map[string]string{})
}

// A change is committed in the ownership in which it was decided, or not at all: in the next one other nodes may have
// changed its basis. The end of an ownership waits for the last change.
func TestOwnershipEndsUnderAChange(t *testing.T) {
	t.Parallel()
	c := control.New(control.Options{Store: storetest.Memory(t), Follow: true})
	decided, proceed := make(chan struct{}), make(chan struct{})
	end := c.Own(func(*store.Txn) error { return control.ErrElsewhere })
	changed, ended := make(chan error), make(chan struct{})
	go func() {
		changed <- c.Change(t.Context(), func(tx *control.Tx) error {
			close(decided)
			<-proceed
			tx.Put("a", nil)
			return nil
		})
	}()
	<-decided
	go func() {
		end()
		close(ended)
	}()
	for !c.Elsewhere() {
		runtime.Gosched()
	}
	waiting := make(chan error)
	again := c.Own(func(*store.Txn) error { t.Error("committed later"); return nil })
	go func() { waiting <- c.Change(t.Context(), func(*control.Tx) error { return nil }) }()
	select {
	case <-ended:
		t.Error("it has ended before its last change")
	default:
	}
	close(proceed)
	if err := <-changed; !errors.Is(err, control.ErrElsewhere) {
		t.Errorf("got %v", err)
	}
	<-ended
	if err := <-waiting; err != nil {
		t.Errorf("the new owner's: %v", err)
	}
	again()
	end() // which has nothing left to end
}

// Changes are decided one at a time, and each sees the earlier ones.
func TestChangesTakeTurns(t *testing.T) {
	t.Parallel()
	c := control.New(control.Options{Store: storetest.Memory(t)})
	all := register(t, c, "")
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			err := c.Change(t.Context(), func(tx *control.Tx) error {
				all[0].mu.Lock()
				seen := all[0].records["n"]
				all[0].mu.Unlock()
				tx.Put("n", []byte(seen+"."))
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(all[0].records["n"]); n != 50 {
		t.Errorf("counted to %d", n)
	}
}

// A follower sees the same as the owner's readers, even when it gets the store again in the middle.
func TestFollower(t *testing.T) {
	t.Parallel()
	theirs := storetest.Memory(t)
	follower := control.New(control.Options{Store: theirs, Follow: true})
	apply := func(s *store.Store, batch []byte) error {
		tx := s.Begin()
		defer tx.Release()
		if err := store.Changes(batch, func(ch store.Change) error {
			if ch.Kind == store.ChangeSet {
				tx.Set(ch.Key, ch.Value)
			} else {
				tx.Delete(ch.Key)
			}
			return nil
		}); err != nil {
			return err
		}
		return s.Commit(tx)
	}
	ours := storetest.Memory(t)
	owner := control.New(control.Options{Store: ours, Follow: true})
	owner.Own(func(tx *store.Txn) error {
		// As with a log: both replicas apply the batch.
		batch := append([]byte(nil), tx.Bytes()...)
		done := make(chan error)
		go func() {
			done <- errors.Join(apply(ours, batch), owner.Apply(batch), apply(theirs, batch), follower.Apply(batch))
		}()
		return <-done
	})
	mine, copied := register(t, owner, "a/", "")[0], register(t, follower, "a/", "")[0]
	if err := put(owner, "a/1", "x", "b", "y"); err != nil {
		t.Fatal(err)
	}
	copied.want(t, map[string]string{"a/1": "x"})
	checkpoint := storetest.Memory(t)
	tx := checkpoint.Begin()
	tx.Set([]byte("a/2"), []byte("new"))
	if err := checkpoint.Commit(tx); err != nil {
		t.Fatal(err)
	}
	tx.Release()
	if err := follower.Reload(checkpoint); err != nil {
		t.Fatal(err)
	}
	copied.want(t, map[string]string{"a/2": "new"})
	mine.want(t, map[string]string{"a/1": "x"})
}

// A reader that registers while a checkpoint replaces the store reads the checkpoint's records.
func TestRegisterWaitsForACheckpoint(t *testing.T) {
	t.Parallel()
	old, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := control.New(control.Options{Store: old, Follow: true})
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	late := new(shelf)
	registered := make(chan error, 1)
	go func() { registered <- c.Register("", late) }()
	checkpoint := storetest.Memory(t)
	tx := checkpoint.Begin()
	tx.Set([]byte("a"), []byte("new"))
	if err := checkpoint.Commit(tx); err != nil {
		t.Fatal(err)
	}
	tx.Release()
	if err := c.Reload(checkpoint); err != nil {
		t.Fatal(err)
	}
	if err := <-registered; err != nil {
		t.Fatal(err)
	}
	late.want(t, map[string]string{"a": "new"})
}

// A batch that this program does not understand is an error, not a guess.
func TestUnknownBatches(t *testing.T) {
	t.Parallel()
	s := storetest.Memory(t)
	c := control.New(control.Options{Store: s})
	register(t, c, "")
	for name, write := range map[string]func(*store.Txn){
		"a range":      func(tx *store.Txn) { tx.DeleteRange([]byte("a"), []byte("b")) },
		"for a reader": func(tx *store.Txn) { tx.Set([]byte("a"), []byte("unreadable")) },
	} {
		tx := s.Begin()
		write(tx)
		if err := c.Apply(tx.Bytes()); err == nil {
			t.Errorf("%s: no error", name)
		}
		tx.Release()
	}
	if err := c.Apply([]byte("junk")); !errors.Is(err, store.ErrNoBatch) {
		t.Errorf("junk: %v", err)
	}
}

// small opens a store on a disk that can be made full.
func small(t *testing.T) (s *store.Store, full *atomic.Bool) {
	t.Helper()
	full = new(atomic.Bool)
	disk := store.NewDisk(errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind == errorfs.OpFileWrite {
			return syscall.ENOSPC
		}
		return nil
	})), nil)
	s, err := store.Open("control", store.Options{Disk: disk})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, full
}

func isStuck(err error) bool {
	_, ok := errors.AsType[*store.BlockedError](err)
	return ok
}

// No caller waits for a blocked disk. A change that has begun is made when it can be written again; one that has not is
// not.
func TestBlockedDisk(t *testing.T) {
	t.Parallel()
	s, full := small(t)
	c := control.New(control.Options{Store: s})
	all := register(t, c, "")
	full.Store(true)
	if err := put(c, "begun", "x"); !isStuck(err) {
		t.Errorf("the change that finds the fault: %v", err)
	}
	if err := put(c, "refused", "x"); !isStuck(err) {
		t.Errorf("the next: %v", err)
	}
	full.Store(false)
	eventually.Succeeds(t, func() error { return put(c, "after", "x") })
	all[0].want(t, map[string]string{"begun": "x", "after": "x"})
}

// A fault of ours surfaces at the caller that has caused it.
func TestPanic(t *testing.T) {
	t.Parallel()
	c := control.New(control.Options{Store: storetest.Memory(t)})
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
		if err := put(c, "a", ""); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	}()
	_ = c.Change(t.Context(), func(*control.Tx) error { panic("oh") })
}
