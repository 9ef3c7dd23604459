package directory

import (
	"maps"
	"slices"
	"sync"

	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
)

// Lookup returns the credential of a user's access key, unless it is inactive.
func (d *Directory) Lookup(keyID string) (identity.Credential, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	k := d.keys[keyID]
	if k == nil || !k.Active {
		return identity.Credential{}, false
	}
	user := d.entities[k.User]
	if user == nil {
		return identity.Credential{}, false
	}
	return identity.Credential{Identity: userIdentity(user, keyID), Secret: k.secret}, true
}

func userIdentity(user *Entity, keyID string) identity.Identity {
	return identity.Identity{
		Kind: identity.User, Account: user.Account, ARN: user.ARN(), UserID: user.ID, UserName: user.Name,
		AccessKeyID: keyID,
	}
}

// Resume completes the identity that a session token stands for by what is to be
// known of its issuer now. It returns false if the issuer is no more.
func (d *Directory) Resume(id identity.Identity, name string) (identity.Identity, bool) {
	s := id.Session
	issuer := d.Entity(s.IssuerID)
	switch {
	case id.Kind == identity.Account:
		root := identity.Root(id.Account, id.AccessKeyID)
		root.Session = s
		return root, true
	case id.Kind == identity.User && issuer != nil && issuer.Kind == User:
		user := userIdentity(issuer, id.AccessKeyID)
		user.Session = s
		return user, true
	case id.Kind == identity.AssumedRole && issuer != nil && issuer.Kind == Role:
		id.ARN = "arn:aws:sts::" + id.Account + ":assumed-role/" + issuer.Name + "/" + name
		id.UserID = issuer.ID + ":" + name
		return id, true
	case id.Kind == identity.FederatedUser && (issuer != nil && issuer.Kind == User || s.IssuerID == id.Account):
		id.ARN = "arn:aws:sts::" + id.Account + ":federated-user/" + name
		id.UserID = id.Account + ":" + name
		return id, true
	}
	return identity.Identity{}, false
}

// Principal returns who is behind an identity as of now, or false if there is no
// such caller any more or one of its policies cannot be read.
func (d *Directory) Principal(id identity.Identity) (access.Principal, bool) {
	p := access.Principal{Caller: policy.Caller{
		Account: id.Account, ARN: id.ARN, UserID: id.UserID, UserName: id.UserName,
	}}
	entity := id.UserID
	if s := id.Session; s != nil {
		p.Caller.Issued, p.Caller.Tags = s.Issued, s.Tags
		p.Caller.Issuer, p.Caller.IssuerID, entity = s.Issuer, s.IssuerID, s.IssuerID
		var ok bool
		if p.Session, ok = d.sessionPolicies(s); !ok {
			return access.Principal{}, false
		}
	}
	switch id.Kind {
	case identity.Anonymous:
		return access.Principal{}, id.ARN == ""
	case identity.Account:
		p.Caller.Kind = policy.Account
		return p, true
	case identity.User:
		p.Caller.Kind = policy.User
	case identity.AssumedRole:
		p.Caller.Kind = policy.AssumedRole
	case identity.FederatedUser:
		p.Caller.Kind = policy.FederatedUser
		if id.Session.IssuerID == id.Account {
			return p, true // of the root, which needs no policies
		}
	}
	own, ok := d.policiesOf(entity)
	if !ok {
		return access.Principal{}, false
	}
	p.Identity, p.Boundary = own.policies, own.boundary
	switch {
	case id.Kind == identity.User && len(p.Caller.Tags) == 0:
		p.Caller.Tags = own.entity.Tags
	case len(own.entity.Tags) > 0 && id.Kind == identity.AssumedRole:
		tags := maps.Clone(own.entity.Tags)
		maps.Copy(tags, p.Caller.Tags)
		p.Caller.Tags = tags
	}
	if id.Session != nil {
		p.Caller.Issuer = own.entity.ARN() // it may have been renamed
	}
	if id.Kind == identity.User {
		p.Caller.Issuer, p.Caller.IssuerID = "", ""
	}
	return p, true
}

// ID returns the unique id of the user or role with that ARN, or false.
func (d *Directory) ID(arn string) (string, bool) {
	if e := d.ByARN(arn); e != nil && e.Kind != Group {
		return e.ID, true
	}
	return "", false
}

// standing is what is said of an entity, parsed.
type standing struct {
	entity   *Entity
	policies []*policy.Policy
	boundary *policy.Policy
	trust    *policy.Policy // of a role
	readable bool
}

// policiesOf returns how an entity stands. That is found out once between two
// changes of the directory.
func (d *Directory) policiesOf(id string) (*standing, bool) {
	d.mu.RLock()
	s := d.standing[id]
	d.mu.RUnlock()
	if s == nil {
		d.mu.Lock()
		if s = d.standing[id]; s == nil {
			if s = d.stand(d.entities[id]); s != nil {
				d.standing[id] = s
			}
		}
		d.mu.Unlock()
	}
	return s, s != nil && s.readable
}

// stand finds out how e stands. Its caller holds mu.
func (d *Directory) stand(e *Entity) *standing {
	if e == nil {
		return nil
	}
	s := &standing{entity: e, readable: true}
	parse := func(use policy.Use, text, name string) *policy.Policy {
		p, err := policy.Parse(use, text)
		if err != nil {
			s.readable = false
			return nil
		}
		return p.Named(name)
	}
	managed := func(arn string) *policy.Policy {
		m := d.managed[arn]
		if m == nil {
			s.readable = false
			return nil
		}
		return parse(policy.ForIdentity, m.Document(), m.Name)
	}
	holders := []*Entity{e}
	for _, id := range e.Groups {
		if g := d.entities[id]; g != nil {
			holders = append(holders, g)
		}
	}
	for _, h := range holders {
		for _, name := range slices.Sorted(maps.Keys(h.Inline)) {
			s.policies = append(s.policies, parse(policy.ForIdentity, h.Inline[name], name))
		}
		for _, arn := range h.Attached {
			s.policies = append(s.policies, managed(arn))
		}
	}
	if e.Boundary != "" {
		s.boundary = managed(e.Boundary)
	}
	if e.Kind == Role {
		if s.trust = parse(policy.ForTrust, e.Trust, e.Name); s.trust != nil {
			s.trust = s.trust.Bind(e.TrustIDs)
		}
	}
	return s
}

// Standing returns what an entity's policies are, or false if one of them cannot
// be read. It has no Caller.
func (d *Directory) Standing(e *Entity) (access.Principal, bool) {
	s, ok := d.policiesOf(e.ID)
	if !ok {
		return access.Principal{}, false
	}
	return access.Principal{Identity: s.policies, Boundary: s.boundary}, true
}

// Trust returns who may assume a role.
func (d *Directory) Trust(role *Entity) (*policy.Policy, bool) {
	s, ok := d.policiesOf(role.ID)
	if !ok {
		return nil, false
	}
	return s.trust, s.trust != nil
}

// sessionPolicies keeps the policies of sessions, parsed, under their text.
type sessionPolicies struct {
	mu     sync.RWMutex
	parsed map[string]*policy.Policy // nil: not a policy
}

const maxSessionPolicies = 1000

func (c *sessionPolicies) parse(text string) *policy.Policy {
	c.mu.RLock()
	p, hit := c.parsed[text]
	c.mu.RUnlock()
	if hit {
		return p
	}
	p, _ = policy.Parse(policy.ForSession, text) // nil on an error
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.parsed) >= maxSessionPolicies || c.parsed == nil {
		c.parsed = make(map[string]*policy.Policy)
	}
	c.parsed[text] = p
	return p
}

// sessionPolicies returns the policies that limit a session. One that is no more
// or cannot be read limits it to nothing.
func (d *Directory) sessionPolicies(s *identity.Session) ([]*policy.Policy, bool) {
	var out []*policy.Policy
	add := func(text string) bool {
		p := d.sessions.parse(text)
		out = append(out, p)
		return p != nil
	}
	for _, text := range s.Policies {
		if !add(text) {
			return nil, false
		}
	}
	for _, arn := range s.PolicyARNs {
		if m := d.Policy(arn); m == nil || !add(m.Document()) {
			return nil, false
		}
	}
	return out, true
}
