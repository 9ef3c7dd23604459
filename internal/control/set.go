package control

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/sluicemq/sluice/internal/store"
)

// Set keeps in memory the records of the tables below one prefix. It implements Reader.
//
// R has the rows of each table, and what is derived from them. Callers only see a complete R: Load fills a new one
// without the lock and then replaces the old one; Apply changes the current one under the lock. So a caller that holds
// the lock sees all tables as of the same commit.
type Set[R any] struct {
	o    SetOptions[R]
	gate Gate

	mu    sync.RWMutex
	now   *R
	kinds Kinds
}

// SetOptions configure a Set.
type SetOptions[R any] struct {
	Control *Control
	Prefix  string // of all keys of all tables
	Formats Formats
	// New returns an R without records, and the tables that fill it.
	New func() (*R, Kinds)
	// Needs returns the formats that rows need in addition to those of their tables, because of what is in them; see
	// MayNeed. It is called with the lock held, and must not wait. It may be nil.
	Needs func(now *R) []int
	// Changed is called with the lock held when records have been applied, before others see them. If now is a new R,
	// was is the one that it replaces; otherwise both are the same. Changed must not wait. It may be nil.
	Changed func(was, now *R)
}

// NewSet returns a set without records. Register fills it.
func NewSet[R any](o SetOptions[R]) *Set[R] {
	if o.Changed == nil {
		o.Changed = func(_, _ *R) {}
	}
	if o.Needs == nil {
		o.Needs = func(*R) []int { return nil }
	}
	s := &Set[R]{o: o, gate: Gate{Formats: o.Formats}}
	s.now, s.kinds = o.New()
	return s
}

// Register loads the records from the control store. The set then follows their changes.
func (s *Set[R]) Register() error { return s.o.Control.Register(s.o.Prefix, s) }

// RLock returns the rows. The caller may read them until RUnlock.
func (s *Set[R]) RLock() *R {
	s.mu.RLock()
	return s.now
}

// RUnlock ends RLock.
func (s *Set[R]) RUnlock() { s.mu.RUnlock() }

// Lock returns the rows. Until Unlock the caller may read them, and change fields that do not come from records.
func (s *Set[R]) Lock() *R {
	s.mu.Lock()
	return s.now
}

// Unlock ends Lock.
func (s *Set[R]) Unlock() { s.mu.Unlock() }

// Change makes a change; see Control.Change. It first checks, as MayWrite does, that all programs can read the records.
func (s *Set[R]) Change(ctx context.Context, f func(*Tx) error) error {
	return s.o.Control.Change(ctx, func(tx *Tx) error {
		if err := s.MayWrite(); err != nil {
			return err
		}
		return f(tx)
	})
}

// MayWrite returns an error if records must not be written yet: there is none so far and some program cannot read the
// formats of the tables, or the requirement of these formats cannot be recorded.
func (s *Set[R]) MayWrite() error {
	for format, first := range s.formats() {
		if err := s.gate.MayWrite(format, first); err != nil {
			return err
		}
	}
	return nil
}

// MayNeed returns an error if no row must be written that needs a format in addition to that of its table: there is
// none so far and some program cannot read the format, or the requirement of the format cannot be recorded.
func (s *Set[R]) MayNeed(format int) error {
	return s.gate.MayWrite(format, !slices.Contains(s.needs(), format))
}

// needs returns the formats that the rows need in addition to those of their tables.
func (s *Set[R]) needs() []int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.o.Needs(s.now)
}

// formats returns the formats of the tables, and for each whether no record needs it yet.
func (s *Set[R]) formats() map[int]bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make(map[int]bool)
	for _, t := range s.kinds {
		first, known := all[t.format()]
		all[t.format()] = t.len() == 0 && (first || !known)
	}
	return all
}

// Load implements Reader.
func (s *Set[R]) Load(records iter.Seq2[string, []byte]) error {
	fresh, kinds := s.o.New()
	for key, value := range records {
		if err := s.require(kinds, key); err != nil {
			return err
		}
		if err := kinds.Put(key, value); err != nil {
			return err
		}
	}
	s.replace(fresh, kinds)
	return s.requireNeeds()
}

func (s *Set[R]) replace(fresh *R, kinds Kinds) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.now
	s.now, s.kinds = fresh, kinds
	s.o.Changed(was, fresh)
}

// Apply implements Reader.
func (s *Set[R]) Apply(changes []Change) error {
	for _, ch := range changes { // before the lock is taken: it waits for the disk
		if ch.Removed {
			continue
		}
		if err := s.require(s.kinds, ch.Key); err != nil {
			return err
		}
	}
	if err := s.apply(changes); err != nil {
		return err
	}
	return s.requireNeeds()
}

func (s *Set[R]) apply(changes []Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.o.Changed(s.now, s.now)
	for _, ch := range changes {
		if err := s.kinds.Apply(ch); err != nil {
			return err
		}
	}
	return nil
}

// requireNeeds records the formats that the rows need in addition to those of their tables.
func (s *Set[R]) requireNeeds() error {
	for _, format := range s.needs() {
		if err := s.gate.Pass(format); err != nil {
			return err
		}
	}
	return nil
}

// require records the format that the data directory needs for a record that is about to be applied.
func (s *Set[R]) require(kinds Kinds, key string) error {
	if t := kinds.of(key); t != nil {
		return s.gate.Pass(t.format())
	}
	return nil // it will be refused
}

// Check reads the records of a store below a prefix into a new R, as a Set does, without changing the store. It calls
// bad for each record that cannot be read, with an error that begins with the key. It ignores keys that begin with one
// of others, the prefixes of other readers. An error means that the store could not be read.
func Check[R any](
	s *store.Store, prefix string, fresh func() (*R, Kinds), bad func(key string, err error), others ...string,
) (*R, error) {
	now, kinds := fresh()
	err := Records(s, prefix, func(key string, value []byte) bool {
		if slices.ContainsFunc(others, func(other string) bool { return strings.HasPrefix(key, other) }) {
			return true
		}
		if err := kinds.Put(key, value); err != nil {
			bad(key, err)
		}
		return true
	})
	return now, err
}
