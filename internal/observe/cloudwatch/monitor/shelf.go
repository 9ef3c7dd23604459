package monitor

import (
	"iter"
	"strings"
	"sync"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

const (
	// MaxItems is the maximum number of history items of a region of an account. Each region has its own limit, so that
	// one busy account takes nothing from another.
	MaxItems = 50_000
	// MaxAccountItems is the maximum number in all regions of an account together: clients may make up regions.
	MaxAccountItems = 2 * MaxItems
	// maxRemoved is how many items a change removes beyond those that it replaces. A history that is too long, written
	// by an older program, shrinks by that many with each change.
	maxRemoved = 1000
)

// shelves counts the items of history by scope. The items themselves are not in memory.
//
// A change that adds items removes the oldest items above the limit in the same commit: history never becomes longer
// than MaxItems, however fast it is written. The count may be too high by the items that were written while the server
// started. History is then shorter by that until the next start.
type shelves struct {
	mu  sync.Mutex
	all map[series.Scope]*shelf
}

// shelf is the history of a scope.
type shelf struct {
	items int
	first string // no key is lower; a scan that begins here skips removed items
}

func newShelves() *shelves { return &shelves{all: make(map[series.Scope]*shelf)} }

// Load implements control.Reader.
func (s *shelves) Load(records iter.Seq2[string, []byte]) error {
	fresh := newShelves()
	for key := range records {
		fresh.put(key)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = fresh.all
	return nil
}

// Apply implements control.Reader.
func (s *shelves) Apply(changes []control.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ch := range changes {
		if ch.Removed {
			s.remove(ch.Key)
		} else {
			s.put(ch.Key)
		}
	}
	return nil
}

func (s *shelves) put(key string) {
	scope, ok := historyScope(key)
	if !ok {
		return
	}
	of := s.all[scope]
	if of == nil {
		of = &shelf{first: key}
		s.all[scope] = of
	}
	of.items++
	of.first = min(of.first, key)
}

func (s *shelves) remove(key string) {
	scope, _ := historyScope(key)
	of := s.all[scope]
	if of == nil {
		return
	}
	if of.items--; of.items <= 0 {
		delete(s.all, scope)
	}
}

// of returns the current shelf of a scope.
func (s *shelves) of(scope series.Scope) shelf {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.all[scope]; of != nil {
		return *of
	}
	return shelf{first: historyPrefix(scope)}
}

// begin records that a scope has no item before a key.
func (s *shelves) begin(scope series.Scope, first string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.all[scope]; of != nil {
		of.first = first
	}
}

// historyScope returns the scope of a key of history.
func historyScope(key string) (s series.Scope, ok bool) {
	parts := strings.SplitN(strings.TrimPrefix(key, keyHistory), "/", 3)
	if len(parts) != 3 {
		return s, false
	}
	return series.Scope{Account: parts[0], Region: parts[1]}, true
}

// largest returns the scope of an account that has the most items, and how many the account has in all its scopes.
func (s *shelves) largest(account string) (scope series.Scope, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := 0
	for at, of := range s.all {
		if at.Account != account {
			continue
		}
		all += of.items
		if of.items > most || of.items == most && at.Region < scope.Region {
			scope, most = at, of.items
		}
	}
	return scope, all
}

// makeRoom removes the oldest items of a scope that exceed the limit after the change's additions. If its account has
// too many in all regions, those of the region with most items go.
func (m *Monitor) makeRoom(tx *control.Tx, scope series.Scope, added int) error {
	excess := max(0, m.shelves.of(scope).items+added-MaxItems)
	largest, all := m.shelves.largest(scope.Account)
	over := all + added - MaxAccountItems
	if largest != scope && over > excess {
		if err := m.removeOldest(tx, largest, min(over-excess, added+maxRemoved)); err != nil {
			return err
		}
	} else {
		excess = max(excess, over)
	}
	return m.removeOldest(tx, scope, min(excess, added+maxRemoved))
}

// removeOldest removes the oldest items of a scope.
func (m *Monitor) removeOldest(tx *control.Tx, scope series.Scope, excess int) error {
	of := m.shelves.of(scope)
	if excess = min(excess, of.items); excess <= 0 {
		return nil
	}
	left := excess
	return m.control.Store().Scan([]byte(of.first), []byte(historyPrefix(scope)+"\xff"), func(key, _ []byte) bool {
		if left == excess {
			m.shelves.begin(scope, string(key))
		}
		tx.Delete(string(key))
		left--
		return left > 0
	})
}
