package directory

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
)

// Lookup returns the credential of a user's access key, unless it is inactive.
func (d *Directory) Lookup(keyID string) (identity.Credential, bool) {
	r := d.records.RLock()
	defer d.records.RUnlock()
	k := r.keys[keyID]
	if k == nil || !k.Active {
		return identity.Credential{}, false
	}
	user := r.entities[k.User]
	if user == nil {
		return identity.Credential{}, false
	}
	return identity.Credential{Identity: userIdentity(user, keyID), Secret: k.secret}, true
}

// UserIdentity returns the identity of a user without an access key.
func UserIdentity(user *Entity) identity.Identity { return userIdentity(user, "") }

func userIdentity(user *Entity, keyID string) identity.Identity {
	return identity.Identity{
		Caller: policy.Caller{
			Kind: policy.User, Account: user.Account, ARN: user.ARN(), UserID: user.ID, UserName: user.Name,
			Tags: user.Tags,
		},
		AccessKeyID: keyID,
	}
}

// Resume completes the identity of a session token with current facts about its issuer. It returns false if the issuer
// no longer exists.
func (d *Directory) Resume(id identity.Identity, name string) (identity.Identity, bool) {
	s := id.Session
	issuer := d.Entity(s.IssuerID)
	switch {
	case id.Kind == policy.Account:
		id.ARN, id.UserID = identity.RootARN(id.Account), id.Account
		return id, true
	case id.Kind == policy.User && issuer != nil && issuer.Kind == User:
		id.ARN, id.UserID, id.UserName = issuer.ARN(), issuer.ID, issuer.Name
		return id, true
	case id.Kind == policy.AssumedRole && issuer != nil && issuer.Kind == Role:
		id.ARN = "arn:aws:sts::" + id.Account + ":assumed-role/" + issuer.Name + "/" + name
		id.UserID = issuer.ID + ":" + name
		return id, true
	case id.Kind == policy.FederatedUser && (issuer != nil && issuer.Kind == User || s.IssuerID == id.Account):
		id.ARN = "arn:aws:sts::" + id.Account + ":federated-user/" + name
		id.UserID = id.Account + ":" + name
		return id, true
	}
	return identity.Identity{}, false
}

// Principal returns the caller with its current policies. It returns false if the caller no longer exists or one of its
// policies is invalid.
func (d *Directory) Principal(id identity.Identity) (access.Principal, bool) {
	p := access.Principal{Caller: id.Caller}
	entity := id.UserID
	if s := id.Session; s != nil {
		entity = s.IssuerID
		var ok bool
		if p.Session, ok = d.sessionPolicies(s); !ok {
			return access.Principal{}, false
		}
	}
	switch {
	case id.Kind == policy.Anonymous:
		return access.Principal{}, id.ARN == ""
	case id.Kind == policy.Account:
		return p, true
	case id.Kind == policy.FederatedUser && id.Session.IssuerID == id.Account:
		return p, true // of the root, which needs no policies
	}
	own, ok := d.policiesOf(entity)
	if !ok {
		return access.Principal{}, false
	}
	p.Identity, p.Boundary = own.identity, own.boundary
	switch {
	case id.Kind == policy.User && len(p.Caller.Tags) == 0:
		p.Caller.Tags = own.entity.Tags
	case id.Kind == policy.AssumedRole && len(own.entity.Tags) > 0:
		tags := maps.Clone(own.entity.Tags)
		maps.Copy(tags, p.Caller.Tags)
		p.Caller.Tags = tags
	}
	if p.Caller.Issuer != "" {
		p.Caller.Issuer = own.entity.ARN() // it may have been renamed
	}
	return p, true
}

// ID returns the unique id of the user or role with that ARN, or false.
func (d *Directory) ID(arn string) (string, bool) {
	if e := d.ByARN(arn); e != nil && (e.Kind == User || e.Kind == Role) {
		return e.ID, true
	}
	return "", false
}

// effectivePolicies are the parsed policies that apply to an entity.
type effectivePolicies struct {
	entity   *Entity
	identity []*policy.Policy // of the entity and, of a user, of its groups
	origins  []Origin         // of each of identity
	boundary *policy.Policy
	trust    *policy.Policy // of a role
	readable bool
}

// policiesOf returns the policies that apply to an entity. They are parsed once between two changes of the directory.
func (d *Directory) policiesOf(id string) (*effectivePolicies, bool) {
	p := d.records.RLock().effective[id]
	d.records.RUnlock()
	if p == nil {
		r := d.records.Lock()
		if p = r.effective[id]; p == nil {
			if p = r.loadPolicies(r.entities[id]); p != nil {
				r.effective[id] = p
			}
		}
		d.records.Unlock()
	}
	return p, p != nil && p.readable
}

// loadPolicies parses the policies that apply to e. Its caller holds the lock.
func (r *records) loadPolicies(e *Entity) *effectivePolicies {
	if e == nil {
		return nil
	}
	p := &effectivePolicies{entity: e, readable: true}
	parse := func(use policy.Use, text, name string) *policy.Policy {
		parsed, err := policy.Parse(use, text)
		if err != nil {
			p.readable = false
			return nil
		}
		return parsed.Named(name)
	}
	managed := func(arn string) *policy.Policy {
		m := r.managed[arn]
		if m == nil {
			p.readable = false
			return nil
		}
		return parse(policy.ForIdentity, m.Document(), m.Name)
	}
	holders := []*Entity{e}
	for _, id := range e.Groups {
		if g := r.entities[id]; g != nil {
			holders = append(holders, g)
		}
	}
	for _, h := range holders {
		for _, name := range slices.Sorted(maps.Keys(h.Inline)) {
			p.identity = append(p.identity, parse(policy.ForIdentity, h.Inline[name], name))
			p.origins = append(p.origins, Origin{Holder: h, Inline: name})
		}
		for _, arn := range h.Attached {
			p.identity = append(p.identity, managed(arn))
			p.origins = append(p.origins, Origin{Holder: h, ARN: arn})
		}
	}
	if e.Boundary != "" {
		p.boundary = managed(e.Boundary)
	}
	if e.Kind == Role {
		if p.trust = parse(policy.ForTrust, e.Trust, e.Name); p.trust != nil {
			p.trust = p.trust.Bind(e.TrustIDs)
		}
	}
	return p
}

// EffectivePolicies returns the policies that apply to an entity, or false if one of them is invalid. The Principal has
// no Caller.
func (d *Directory) EffectivePolicies(e *Entity) (access.Principal, bool) {
	p, ok := d.policiesOf(e.ID)
	if !ok {
		return access.Principal{}, false
	}
	return access.Principal{Identity: p.identity, Boundary: p.boundary}, true
}

// Origin is where a policy that applies to an entity comes from.
type Origin struct {
	Holder   *Entity // the user, group or role that has it
	Inline   string  // the name of an inline policy
	ARN      string  // of a managed policy
	Boundary bool    // it is the boundary
}

// source is the name of a policy in IAM's simulator: for an inline policy it includes the name of its holder.
func (o Origin) source() string {
	if o.Inline != "" {
		return string(o.Holder.Kind) + "_" + o.Holder.Name + "_" + o.Inline
	}
	return o.ARN[strings.LastIndexByte(o.ARN, '/')+1:]
}

// SimulatedPolicies is EffectivePolicies for IAM's simulator, which has its own names for them, and can omit some.
func (d *Directory) SimulatedPolicies(e *Entity, without func(Origin) bool) (access.Principal, bool) {
	p, ok := d.policiesOf(e.ID)
	if !ok {
		return access.Principal{}, false
	}
	var out access.Principal
	for i, one := range p.identity {
		if !without(p.origins[i]) {
			out.Identity = append(out.Identity, one.Named(p.origins[i].source()))
		}
	}
	if !without(Origin{Holder: e, ARN: e.Boundary, Boundary: true}) {
		out.Boundary = p.boundary
	}
	return out, true
}

// Trust returns the policy that decides who may assume a role.
func (d *Directory) Trust(role *Entity) (*policy.Policy, bool) {
	s, ok := d.policiesOf(role.ID)
	if !ok {
		return nil, false
	}
	return s.trust, s.trust != nil
}

// sessionPolicies keeps parsed policies of sessions by their text.
type sessionPolicies struct {
	mu     sync.RWMutex
	parsed map[string]*policy.Policy // nil: invalid
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

// sessionPolicies returns the policies that limit a session. A deleted or invalid one limits it to nothing.
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
