package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/store"
)

// Prefix begins the keys of all records of this package.
const Prefix = "session/"

var (
	sessions = control.Table[string, Session]{Prefix: Prefix + "browser/", Key: control.Text, Format: formats.SignIn}
	links    = control.Table[string, Link]{Prefix: Prefix + "link/", Key: control.Text, Format: formats.SignIn}
	proofs   = control.Table[string, proof]{Prefix: Prefix + "proof/", Key: control.Text, Format: formats.SignIn}
)

// records holds the records of the store.
type records struct {
	sessions map[string]*Session // each by its id
	links    map[string]*Link
	proofs   map[string]*proof
}

func newRecords() (*records, control.Kinds) {
	r := new(records)
	return r, control.Kinds{sessions.Into(&r.sessions), links.Into(&r.links), proofs.Into(&r.proofs)}
}

// change makes a change, and also removes expired records.
func (s *Sessions) change(ctx context.Context, now time.Time, f func(*control.Tx) error) error {
	return s.records.Change(ctx, func(tx *control.Tx) error {
		s.sweep(tx, now)
		return f(tx)
	})
}

// sweep removes expired records.
func (s *Sessions) sweep(tx *control.Tx, now time.Time) {
	r := s.records.RLock()
	defer s.records.RUnlock()
	for id, n := range r.sessions {
		if !now.Before(n.Until) || now.Sub(n.Used) >= s.o.Idle {
			sessions.Delete(tx, id)
		}
	}
	for id, l := range r.links {
		if !now.Before(l.Expires) {
			links.Delete(tx, id)
		}
	}
	for id, p := range r.proofs {
		if !now.Before(p.Expires) {
			proofs.Delete(tx, id)
		}
	}
}

func (s *Sessions) session(id string) *Session {
	r := s.records.RLock()
	defer s.records.RUnlock()
	return r.sessions[id]
}

func (s *Sessions) link(id string) *Link {
	r := s.records.RLock()
	defer s.records.RUnlock()
	return r.links[id]
}

func (s *Sessions) proven(id string) bool {
	r := s.records.RLock()
	defer s.records.RUnlock()
	return r.proofs[id] != nil
}

// sessionsLike returns the sessions of the same identity as g, the oldest first.
func (s *Sessions) sessionsLike(g *Grant) []*Session {
	r := s.records.RLock()
	out := control.Where(r.sessions, func(n *Session) bool {
		return n.IssuerID == g.IssuerID && n.Subject() == g.Subject()
	})
	s.records.RUnlock()
	slices.SortFunc(out, oldestFirst)
	return out
}

func oldestFirst(a, b *Session) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
}

// linksOf returns the links of one issuer, the oldest first.
func (s *Sessions) linksOf(issuerID string) []*Link {
	r := s.records.RLock()
	out := control.Where(r.links, func(l *Link) bool { return l.IssuerID == issuerID })
	s.records.RUnlock()
	slices.SortFunc(out, func(a, b *Link) int { return cmp.Or(a.Expires.Compare(b.Expires), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Check reads the records of a store without changing anything. It returns the number of sessions and a list of
// inconsistencies. An error means that the store cannot be read.
func Check(s *store.Store) (sessions int, problems []string, err error) {
	all, err := control.Check(s, Prefix, newRecords, func(_ string, bad error) {
		problems = append(problems, "record "+bad.Error())
	})
	if err != nil {
		return 0, problems, fmt.Errorf("check sessions: %w", err)
	}
	for id, n := range all.sessions {
		if n.ID != id || n.Account == "" || n.Until.IsZero() {
			problems = append(problems, fmt.Sprintf("the session %s does not name its owner", id))
		}
	}
	return len(all.sessions), problems, nil
}
