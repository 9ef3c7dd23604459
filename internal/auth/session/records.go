package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// Keys of the store.
const (
	Prefix     = "session/" // of all of them
	keyBrowser = Prefix + "browser/"
	keyLink    = Prefix + "link/"
	keyProof   = Prefix + "proof/"
)

// records are what there is in the store.
type records struct {
	sessions map[string]*Session // each by its id
	links    map[string]*Link
	proofs   map[string]*proof
}

func newRecords() records {
	return records{make(map[string]*Session), make(map[string]*Link), make(map[string]*proof)}
}

// change makes a change, which also removes what is over.
func (s *Sessions) change(ctx context.Context, now time.Time, f func(*control.Tx) error) error {
	return s.o.Control.Change(ctx, func(tx *control.Tx) error {
		if err := s.mayWrite(); err != nil {
			return err
		}
		s.sweep(tx, now)
		return f(tx)
	})
}

// mayWrite returns an error if no record must be written yet.
func (s *Sessions) mayWrite() error {
	s.mu.RLock()
	none := len(s.sessions)+len(s.links)+len(s.proofs) == 0
	s.mu.RUnlock()
	if none {
		if err := s.o.Ready(); err != nil {
			return err
		}
	}
	return s.needFormat()
}

// needFormat calls Options.Require unless that is done.
func (s *Sessions) needFormat() error {
	if s.required.Load() {
		return nil
	}
	if err := s.o.Require(); err != nil {
		return err
	}
	s.required.Store(true)
	return nil
}

// sweep removes what is over.
func (s *Sessions) sweep(tx *control.Tx, now time.Time) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for id, n := range s.sessions {
		if !now.Before(n.Until) || now.Sub(n.Used) >= s.o.Idle {
			tx.Delete(keyBrowser + id)
		}
	}
	for id, l := range s.links {
		if !now.Before(l.Expires) {
			tx.Delete(keyLink + id)
		}
	}
	for id, p := range s.proofs {
		if !now.Before(p.Expires) {
			tx.Delete(keyProof + id)
		}
	}
}

func (s *Sessions) session(id string) *Session {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.sessions[id]
}

func (s *Sessions) link(id string) *Link {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.links[id]
}

func (s *Sessions) proven(id string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.proofs[id] != nil
}

// sessionsLike returns the sessions of the same identity as g, the oldest first.
func (s *Sessions) sessionsLike(g *Grant) (out []*Session) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, n := range s.sessions {
		if n.IssuerID == g.IssuerID && n.Subject() == g.Subject() {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, oldestFirst)
	return out
}

func oldestFirst(a, b *Session) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
}

// linksOf returns the links of one issuer, the oldest first.
func (s *Sessions) linksOf(issuerID string) (out []*Link) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, l := range s.links {
		if l.IssuerID == issuerID {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b *Link) int { return cmp.Or(a.Expires.Compare(b.Expires), cmp.Compare(a.ID, b.ID)) })
	return out
}

// reader reads the control store for Sessions.
type reader struct{ s *Sessions }

// Load implements control.Reader.
func (r reader) Load(all iter.Seq2[string, []byte]) error {
	fresh := newRecords()
	for k, v := range all {
		if err := r.s.needFormat(); err != nil {
			return err
		}
		if err := fresh.put(k, v); err != nil {
			return err
		}
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.records = fresh
	return nil
}

// Apply implements control.Reader.
func (r reader) Apply(changes []control.Change) error {
	if err := r.s.needFormat(); err != nil {
		return err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for _, ch := range changes {
		if ch.Removed {
			r.s.remove(ch.Key)
		} else if err := r.s.put(ch.Key, ch.Value); err != nil {
			return err
		}
	}
	return nil
}

// put adds a record or replaces it.
func (r *records) put(k string, v []byte) error {
	kind, id := split(k)
	var err error
	switch kind {
	case keyBrowser:
		n := new(Session)
		if err = json.Unmarshal(v, n); err == nil {
			r.sessions[id] = n
		}
	case keyLink:
		l := new(Link)
		if err = json.Unmarshal(v, l); err == nil {
			r.links[id] = l
		}
	case keyProof:
		p := new(proof)
		if err = json.Unmarshal(v, p); err == nil {
			r.proofs[id] = p
		}
	default:
		err = errors.New("unknown key, written by a newer program")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", k, err)
	}
	return nil
}

// remove forgets a record.
func (r *records) remove(k string) {
	switch kind, id := split(k); kind {
	case keyBrowser:
		delete(r.sessions, id)
	case keyLink:
		delete(r.links, id)
	case keyProof:
		delete(r.proofs, id)
	}
}

// split returns which kind of record a key is of, and the id in it.
func split(k string) (kind, id string) {
	i := strings.LastIndexByte(k, '/') + 1
	return k[:i], k[i:]
}

// Check reads the records of a store without changing anything, and returns how many sessions there are and what is not as
// it should be. An error says that the store could not be read.
func Check(s *store.Store) (sessions int, problems []string, err error) {
	all := newRecords()
	err = control.Records(s, Prefix, func(k string, v []byte) bool {
		if bad := all.put(k, v); bad != nil {
			problems = append(problems, "record "+bad.Error())
		}
		return true
	})
	if err != nil {
		return 0, problems, fmt.Errorf("check sessions: %w", err)
	}
	for id, n := range all.sessions {
		if n.ID != id || n.Account == "" || n.Until.IsZero() {
			problems = append(problems, fmt.Sprintf("the session %s does not say whose it is", id))
		}
	}
	return len(all.sessions), problems, nil
}

// encode is for values of this package, all of which have a JSON form.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
