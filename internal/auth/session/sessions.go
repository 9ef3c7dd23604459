package session

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
)

// Options configures Sessions.
type Options struct {
	Control   *control.Control
	Directory *directory.Directory
	Roots     *identity.Credentials // keys of the accounts
	Vault     *identity.Vault       // issues temporary keys
	Idle      time.Duration         // a session without keys for this long ends
	// PasswordSince returns when a user's password was set, or false if there is none.
	PasswordSince func(userID string) (time.Time, bool)
	// Vouched reports whether members of a group of an identity provider still have a role, by its ARN. Nil means that
	// none has.
	Vouched func(issuer, group, role string) bool
	Formats control.Formats
}

// Sessions is the set of records. Its methods are safe for concurrent use.
type Sessions struct {
	o       Options
	records *control.Set[records]
}

// Open reads the records from the control store and follows their changes.
func Open(o Options) (*Sessions, error) {
	if o.Vouched == nil {
		o.Vouched = func(string, string, string) bool { return false }
	}
	s := &Sessions{o: o}
	s.records = control.NewSet(control.SetOptions[records]{
		Control: o.Control, Prefix: Prefix, Formats: o.Formats, New: newRecords,
	})
	return s, s.records.Register()
}

// NewLink creates a link for a grant, and returns its token.
func (s *Sessions) NewLink(ctx context.Context, g Grant, now time.Time) (token string, expires time.Time, err error) {
	token = newToken()
	expires = now.Add(LinksLast).UTC().Truncate(time.Second)
	grant := &g
	err = s.change(ctx, now, func(tx *control.Tx) error {
		if _, ok := s.introduce(grant); !ok {
			return ErrNoPrincipal
		}
		own := s.linksOf(g.IssuerID)
		for len(own) >= MaxLinks {
			links.Delete(tx, own[0].ID)
			own = own[1:]
		}
		l := Link{hash(token), g, expires}
		links.Put(tx, l.ID, &l)
		return nil
	})
	return token, expires, err
}

// Redeem begins a session with the token of a link, which cannot be used again.
func (s *Sessions) Redeem(
	ctx context.Context, link string, about Arrival, now time.Time,
) (token string, begun *Session, err error) {
	id := hash(link)
	l := s.link(id)
	if l == nil || !now.Before(l.Expires) {
		return "", nil, ErrNoLink
	}
	return s.Begin(ctx, l.Grant, about, now, func(tx *control.Tx) error {
		if s.link(id) == nil {
			return ErrNoLink
		}
		links.Delete(tx, id)
		return nil
	})
}

// Whose returns the identity behind a link, even if the link has expired. It returns false if there is no such link.
func (s *Sessions) Whose(link string) (identity.Identity, bool) {
	l := s.link(hash(link))
	if l == nil {
		return identity.Identity{}, false
	}
	return s.introduce(&l.Grant)
}

// BeginOnce begins a session for a person with a signed request, which is not accepted again. The request is too old
// after fresh.
func (s *Sessions) BeginOnce(
	ctx context.Context,
	g Grant,
	request string,
	fresh time.Time,
	about Arrival,
	now time.Time,
) (token string, begun *Session, err error) {
	id := hash(request)
	return s.Begin(ctx, g, about, now, func(tx *control.Tx) error {
		if s.proven(id) {
			return ErrUsed
		}
		proofs.Put(tx, id, &proof{id, fresh.UTC().Truncate(time.Second).Add(time.Second)})
		return nil
	})
}

// Begin begins a session unless also returns an error. The changes of also are part of the same change.
func (s *Sessions) Begin(
	ctx context.Context,
	g Grant,
	about Arrival,
	now time.Time,
	also func(*control.Tx) error,
) (token string, begun *Session, err error) {
	token = newToken()
	n := &Session{
		ID: hash(token), Grant: g, Method: about.Method, SourceIP: about.SourceIP,
		UserAgent: strings.ToValidUTF8(about.UserAgent, "\uFFFD"),
	}
	n.Created = now.UTC().Truncate(time.Second)
	n.Used = n.Created
	if most := n.Created.Add(Longest); n.Until.IsZero() || n.Until.After(most) {
		n.Until = most
	}
	n.UserAgent = strings.ToValidUTF8(n.UserAgent[:min(len(n.UserAgent), maxAgent)], "")
	grant := &n.Grant
	err = s.change(ctx, now, func(tx *control.Tx) error {
		if err := also(tx); err != nil {
			return err
		}
		if _, ok := s.introduce(grant); !ok {
			return ErrNoPrincipal
		}
		own := s.sessionsLike(grant)
		for len(own) >= MaxSessions {
			sessions.Delete(tx, own[0].ID)
			own = own[1:]
		}
		sessions.Put(tx, n.ID, n)
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	return token, n, nil
}

// Find returns the session with that token and its identity, or false if it has ended or never existed.
func (s *Sessions) Find(token string, now time.Time) (*Session, identity.Identity, bool) {
	return s.find(hash(token), now)
}

func (s *Sessions) find(id string, now time.Time) (*Session, identity.Identity, bool) {
	n := s.session(id)
	if n == nil || !now.Before(n.Until) || now.Sub(n.Used) >= s.o.Idle {
		return nil, identity.Identity{}, false
	}
	if n.Method == ByPassword {
		if since, ok := s.o.PasswordSince(n.IssuerID); !ok || since.After(n.Created) {
			return nil, identity.Identity{}, false
		}
	}
	if n.Federation != nil && !s.vouched(&n.Grant) {
		return nil, identity.Identity{}, false
	}
	who, ok := s.introduce(&n.Grant)
	return n, who, ok
}

// vouched reports whether the provider's people still have the grant's role, under the same policy.
func (s *Sessions) vouched(g *Grant) bool {
	role := s.o.Directory.Entity(g.IssuerID)
	return role != nil && hash(role.Trust) == g.Federation.Trust &&
		s.o.Vouched(g.Federation.Issuer, g.Federation.Group, role.ARN())
}

// Live reports whether a session has not ended. It is called for each request with keys of a session.
func (s *Sessions) Live(id string, now time.Time) bool {
	_, _, ok := s.find(id, now)
	return ok
}

// introduce returns the identity of a grant, or false if it no longer exists.
func (s *Sessions) introduce(g *Grant) (identity.Identity, bool) {
	if _, ok := s.o.Roots.Root(g.Account); !ok {
		return identity.Identity{}, false
	}
	if g.KeyID != "" {
		_, root := s.o.Roots.Lookup(g.KeyID)
		_, user := s.o.Directory.Lookup(g.KeyID)
		if !root && !user {
			return identity.Identity{}, false
		}
	}
	return s.o.Directory.Resume(g.identity(), g.Name)
}

// Keys issues keys for a session, and records its use.
func (s *Sessions) Keys(ctx context.Context, id string, now time.Time) (identity.Temporary, *identity.Session, error) {
	change := func(ctx context.Context, f func(*control.Tx) error) error { return s.change(ctx, now, f) }
	used, err := control.Decide(ctx, change, func(tx *control.Tx) (*Session, error) {
		n, _, ok := s.find(id, now)
		if !ok {
			return nil, ErrNoPrincipal
		}
		c := *n
		c.Used = now.UTC().Truncate(time.Second)
		sessions.Put(tx, c.ID, &c)
		return &c, nil
	})
	if err != nil {
		return identity.Temporary{}, nil, err
	}
	expires := used.Used.Add(KeysLast)
	if used.Until.Before(expires) {
		expires = used.Until
	}
	session := &identity.Session{
		Issuer: used.Issuer, IssuerID: used.IssuerID, Issued: used.issued(), Expires: expires,
		Terms: used.Terms, Console: used.ID, MFA: used.MFA, NoIAM: used.NoIAM,
	}
	keys, err := s.o.Vault.Issue(used.Kind, used.Account, used.Name, session)
	return keys, session, err
}

// List returns the live sessions of an account, the newest first: those of one issuer, or with "" all.
func (s *Sessions) List(account, issuerID string, now time.Time) []*Session {
	r := s.records.RLock()
	all := control.Where(r.sessions, func(n *Session) bool {
		return n.Account == account && (issuerID == "" || n.IssuerID == issuerID)
	})
	s.records.RUnlock()
	all = slices.DeleteFunc(all, func(n *Session) bool { return !s.Live(n.ID, now) })
	slices.SortFunc(all, func(a, b *Session) int { return -oldestFirst(a, b) })
	return all
}

// Who returns the identity behind a session, or false if it no longer exists.
func (s *Sessions) Who(n *Session) (identity.Identity, bool) { return s.introduce(&n.Grant) }

// End ends a session, if it exists.
func (s *Sessions) End(ctx context.Context, id string, now time.Time) error {
	if s.session(id) == nil {
		return nil
	}
	return s.change(ctx, now, func(tx *control.Tx) error {
		sessions.Delete(tx, id)
		return nil
	})
}
