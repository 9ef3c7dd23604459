package iam

import (
	"errors"
	"net/netip"
	"time"

	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

var rules = &policy.Rules{Vendor: "iam"}

// caller returns who makes the call.
func caller(c *protocol.Call) identity.Identity {
	id, _ := c.Identity.(identity.Identity)
	return id
}

// subject is what a request is about, for policies.
type subject struct {
	arn         string
	tags        map[string]string // that it has
	requestTags map[string]string // that it is to have
	policy      string            // ARN of the managed policy to attach
	boundary    string            // ARN of the boundary to set
}

// allow makes sure that the caller may take the action. It is asked before
// anything is said about the subject.
func (s *Service) allow(c *protocol.Call, action string, about subject) error {
	id := caller(c)
	if id.Session != nil && id.Kind != identity.AssumedRole {
		return protocol.UnrecognizedClient()
	}
	q := access.Request{
		Caller: id, Rules: rules, Action: "iam:" + action, Owner: id.Account,
		Details: details{call: c, subject: about, now: s.now},
	}
	if denial := s.access.Decide(&q); denial != nil {
		return errors.Join(protocol.AccessDenied("%s", denial.Error()), denial)
	}
	return nil
}

// details tells what policies ask about a request.
type details struct {
	call *protocol.Call
	subject
	now func() time.Time
}

// ARN returns the name of what the request is about.
func (d details) ARN() string { return d.arn }

// Facts returns what conditions can ask about the request.
func (d details) Facts() policy.Facts {
	f := policy.Facts{
		Time: d.now(), SecureTransport: d.call.TLS, UserAgent: d.call.UserAgent, Region: d.call.Region,
		ResourceTags: d.tags, RequestTags: d.requestTags,
	}
	f.SourceIP, _ = netip.ParseAddr(d.call.SourceIP) // without one, the fact is absent
	f.Lookup = func(name string) (policy.Value, bool) {
		switch {
		case name == "iam:policyarn" && d.policy != "":
			return policy.Text(d.policy), true
		case name == "iam:permissionsboundary" && d.boundary != "":
			return policy.Text(d.boundary), true
		}
		return policy.Value{}, false
	}
	return f
}

// find returns the entity that a request names, if the caller may take the
// action on it.
func (s *Service) find(c *protocol.Call, kind directory.Kind, name *string, action string) (*directory.Entity, error) {
	return s.findFor(c, kind, name, action, subject{})
}

func (s *Service) findFor(c *protocol.Call, kind directory.Kind, name *string, action string, about subject) (*directory.Entity, error) {
	var v protocol.Violations
	written := v.Required(string(kind)+"Name", name)
	if err := v.Err(); err != nil {
		return nil, err
	}
	account := caller(c).Account
	e := s.directory.Find(kind, account, written)
	if e != nil && e.Name != written {
		e = nil // names are kept apart by more than case only when they are made
	}
	about.arn = "arn:aws:iam::" + account + ":" + string(kind) + "/" + shorten(written)
	if e != nil {
		about.arn, about.tags = e.ARN(), e.Tags
	}
	if err := s.allow(c, action, about); err != nil {
		return nil, err
	}
	if e == nil {
		return nil, errNoEntity(kind, shorten(written))
	}
	return e, nil
}

// shorten keeps what a client sent from making the answer longer than it needs
// to be understood.
func shorten(s string) string { return s[:min(len(s), 256)] }
