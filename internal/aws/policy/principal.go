package policy

import (
	"fmt"
	"strings"
)

// A grant is how closely a statement's principal names a caller. It decides
// what else has to allow a request.
type grant uint8

const (
	noGrant      grant = iota
	accountGrant       // its account: the account's own policies have to allow it, too
	issuerGrant        // the role or user behind its session: boundary and session policy have to allow it, too
	publicGrant        // everyone: the boundary and the session policies that the caller has have to allow it, too
	directGrant        // the caller itself
)

// principal is one of those that Principal or NotPrincipal name.
type principal struct {
	kind principalKind
	name string // an account's digits, an ARN, a unique id, a service's name
	id   string // of the user or role that the ARN meant when the policy was set; see Bind

	bare     bool // the whole of a Principal that is "*", not {"AWS": "*"}
	pos, end int  // byte offsets of the name in the document
}

type principalKind uint8

const (
	everyone principalKind = iota // also anonymous callers
	accountPrincipal
	entityPrincipal  // user or role, by ARN
	sessionPrincipal // assumed-role session or federated user, by ARN
	idPrincipal      // user or role, by AIDA… or AROA…
	servicePrincipal
	federatedPrincipal // an identity provider, by ARN
	foreignPrincipal   // CanonicalUser: not a caller of this server
)

// newPrincipal reads a principal of type kind: AWS, Service and so on.
func newPrincipal(kind, s string) (principal, error) {
	switch kind {
	case "Service":
		if s == "" || strings.ContainsAny(s, "*? /:") || !strings.Contains(s, ".") {
			return principal{}, fmt.Errorf("%q is not the name of a service, such as sns.amazonaws.com", s)
		}
		return principal{kind: servicePrincipal, name: s}, nil
	case "Federated", "CanonicalUser":
		if s == "" {
			return principal{}, fmt.Errorf("%s is empty", kind)
		}
		if kind == "Federated" {
			return principal{kind: federatedPrincipal, name: s}, nil
		}
		return principal{kind: foreignPrincipal, name: s}, nil
	}
	switch {
	case s == "*":
		return principal{kind: everyone}, nil
	case isAccount(s):
		return principal{kind: accountPrincipal, name: s}, nil
	case isAccount(strings.ReplaceAll(s, "-", "")):
		return principal{}, fmt.Errorf("write the account without hyphens: %q", strings.ReplaceAll(s, "-", ""))
	case isUniqueID(s):
		return principal{kind: idPrincipal, name: s}, nil
	case !strings.HasPrefix(s, "arn:"):
		return principal{}, fmt.Errorf("%q is not a principal: an account has 12 digits, a user or role an ARN", s)
	case strings.ContainsAny(s, "*?"):
		return principal{}, fmt.Errorf("%q has a wildcard: a principal is \"*\" or written out", s)
	}
	a := cutARN(s)
	sort, name, _ := strings.Cut(a.parts[5], "/")
	role, session, _ := strings.Cut(name, "/")
	switch {
	case a.parts[1] != "aws" || a.parts[3] != "" || !isAccount(a.parts[4]):
		return principal{}, fmt.Errorf("%q does not have the form arn:aws:iam::<12 digits>:user/<name>", s)
	case a.parts[2] == "iam" && a.parts[5] == "root":
		return principal{kind: accountPrincipal, name: a.parts[4]}, nil
	case a.parts[2] == "iam" && sort == "group":
		return principal{}, fmt.Errorf("%q is a group: a group is not a principal, name its users", s)
	case a.parts[2] == "iam" && (sort == "user" || sort == "role") && name != "":
		return principal{kind: entityPrincipal, name: s}, nil
	case a.parts[2] == "sts" && sort == "federated-user" && name != "":
		return principal{kind: sessionPrincipal, name: s}, nil
	case a.parts[2] == "sts" && sort == "assumed-role" && role != "" && session != "" &&
		!strings.Contains(session, "/"):
		return principal{kind: sessionPrincipal, name: s}, nil
	}
	return principal{}, fmt.Errorf("%q is neither a user, a role, a session of one nor an account's root", s)
}

// isUniqueID reports whether s is the id of a user or role.
func isUniqueID(s string) bool {
	return len(s) >= 16 && len(s) <= 128 && (strings.HasPrefix(s, "AIDA") || strings.HasPrefix(s, "AROA")) &&
		alphanumeric(s, "")
}

func isAccount(s string) bool { return len(s) == 12 && strings.Trim(s, "0123456789") == "" }

// covers returns how closely p names the caller.
func (p *principal) covers(c *Caller) grant {
	switch p.kind {
	case everyone:
		return publicGrant
	case accountPrincipal:
		switch {
		case !c.signed() || c.Account != p.name:
			return noGrant
		case c.Kind == Account:
			return directGrant
		}
		return accountGrant
	case servicePrincipal:
		if c.Kind == Service && c.Service == p.name {
			return directGrant
		}
	case federatedPrincipal:
		if c.Kind == WebIdentity && c.Provider == p.name {
			return directGrant
		}
	case sessionPrincipal:
		if (c.Kind == AssumedRole || c.Kind == FederatedUser) && c.ARN == p.name {
			return directGrant
		}
	case entityPrincipal:
		switch {
		case c.Kind == User && p.is(c.ARN, c.UserID):
			return directGrant
		case c.isSession() && p.is(c.Issuer, c.IssuerID):
			return issuerGrant
		}
	case idPrincipal:
		switch {
		case c.Kind == User && c.UserID == p.name:
			return directGrant
		case c.isSession() && c.IssuerID == p.name:
			return issuerGrant
		}
	}
	return noGrant
}

// is reports whether p, a user or role, is the one with that ARN and unique id. Once p is bound, the id alone decides,
// and the ARN does not matter.
func (p *principal) is(arn, id string) bool {
	if p.id != "" {
		return p.id == id
	}
	return p.name == arn
}

func (c *Caller) isSession() bool { return c.Kind == AssumedRole || c.Kind == FederatedUser }

// principals is the Principal or NotPrincipal element of a statement.
type principals struct {
	not  bool
	list []principal
}

// covers returns how closely the element names the caller, for a statement of
// the given effect.
func (p *principals) covers(c *Caller, effect Effect) grant {
	if !p.not {
		return p.closest(c)
	}
	excused := p.closest(c) != noGrant
	if effect == Deny {
		excused = p.listAll(c)
	}
	if excused {
		return noGrant
	}
	return publicGrant
}

// closest returns the closest grant that the list gives the caller.
func (p *principals) closest(c *Caller) grant {
	best := noGrant
	for i := range p.list {
		if best = max(best, p.list[i].covers(c)); best == directGrant {
			break
		}
	}
	return best
}

// listAll reports whether every identity of the caller is listed. A Deny with
// NotPrincipal spares only a caller that is listed whole: for a user both the user
// and the account, for a session of a role also the role.
func (p *principals) listAll(c *Caller) bool {
	var itself, account, role bool
	for i := range p.list {
		switch one := &p.list[i]; one.covers(c) {
		case publicGrant:
			itself, account, role = true, true, true
		case directGrant:
			itself = true
			account = account || one.kind == accountPrincipal
		case issuerGrant:
			role = true
		case accountGrant:
			account = true
		}
	}
	return itself && (account || !c.signed()) && (role || c.Kind != AssumedRole)
}
