package policy

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Use is the purpose of a policy. It determines the elements that a policy must have.
type Use uint8

const (
	// ForResource: what a queue's owner sets on it. It names the callers that it is about.
	ForResource Use = iota + 1
	// ForIdentity: what IAM attaches to a user, group or role, also as its
	// permissions boundary.
	ForIdentity
	// ForSession: what AssumeRole and GetFederationToken take along.
	ForSession
	// ForTrust: who may assume the role that it is set on.
	ForTrust
)

func (u Use) String() string {
	return [...]string{"no", "resource", "identity", "session", "trust"}[u]
}

// Effect is the effect of a statement on matching requests.
type Effect uint8

const (
	Allow Effect = iota + 1
	Deny
)

func (e Effect) String() string { return [...]string{"no effect", "Allow", "Deny"}[e] }

// Policy is a document that has been parsed. It never changes, and many
// goroutines may use it at once.
type Policy struct {
	use        Use
	name       string
	source     string
	version    string
	id         string
	statements []statement
	listPos    int // where in source the value of Statement begins and ends
	listEnd    int
}

// Versions of the language. Without one, a document is of the older.
const (
	Version2008 = "2008-10-17" // knows no variables: ${ is text
	Version2012 = "2012-10-17"
)

// statement is compiled for evaluation. Its text is in source between pos and end.
type statement struct {
	pos, end    int
	start, stop Position // of pos and end
	began       Position // see Statement.Began
	sid         string
	effect      Effect
	principals  principals // of resource and trust policies
	notActions  bool
	actions     []actionPattern
	actionPos   []int
	notResource bool
	resources   []arnPattern
	written     []resource
	conditions  []condition
}

// resource is an element of Resource as it stands in the document.
type resource struct {
	text string
	pos  int
}

// Use returns what p was parsed for.
func (p *Policy) Use() Use { return p.use }

// String returns the document as it was written.
func (p *Policy) String() string { return p.source }

// Version returns the version that decides how the document is read.
func (p *Policy) Version() string { return p.version }

// ID returns the element Id, or the empty string.
func (p *Policy) ID() string { return p.id }

// Name returns what Named has called p.
func (p *Policy) Name() string { return p.name }

// Named returns p under a name for explanations, such as its ARN.
func (p *Policy) Named(name string) *Policy {
	named := *p
	named.name = name
	return &named
}

// Size returns how much of IAM's quotas the document takes: its characters
// without the white space between them.
func (p *Policy) Size() int { return utf8.RuneCountInString(p.Compact()) }

// Compact returns the document without the white space between its tokens.
func (p *Policy) Compact() string { return compact(p.source) }

// Len returns how many statements there are.
func (p *Policy) Len() int { return len(p.statements) }

// Statement is a statement of a policy, for people to find.
type Statement struct {
	Index      int // from 0
	Sid        string
	Effect     Effect
	Start, End Position // of its opening brace and behind its closing one
	// Began is where IAM's simulator says that a statement begins: behind the bracket or statement before it, or behind
	// the brace of a statement that is alone.
	Began Position
}

// Position is a place in a document. Both count from 1, columns in characters.
type Position struct{ Line, Column int }

// Statement returns the statement at index i.
func (p *Policy) Statement(i int) Statement {
	s := &p.statements[i]
	return Statement{Index: i, Sid: s.sid, Effect: s.effect, Start: s.start, End: s.stop, Began: s.began}
}

// Keys returns the condition keys that p asks for, in conditions and in
// variables, as written and in their order. Keys that differ only in case are one.
func (p *Policy) Keys() []string {
	var keys []string
	known := make(map[string]bool)
	note := func(k *key) {
		if !known[k.name] {
			known[k.name] = true
			keys = append(keys, k.written)
		}
	}
	add := func(patterns ...pattern) {
		for _, one := range patterns {
			for _, part := range one.parts {
				if part.variable != nil {
					note(&part.variable.key)
				}
			}
		}
	}
	for i := range p.statements {
		s := &p.statements[i]
		for _, r := range s.resources {
			add(r.parts...)
		}
		for _, c := range s.conditions {
			note(&c.key)
			for _, o := range c.values {
				add(o.pattern)
				add(o.arn.parts...)
			}
		}
	}
	return keys
}

// Entities returns the ARNs of the users and roles that p names as principals,
// each once.
func (p *Policy) Entities() []string {
	var arns []string
	for i := range p.statements {
		for _, one := range p.statements[i].principals.list {
			if one.kind == entityPrincipal && !slices.Contains(arns, one.name) {
				arns = append(arns, one.name)
			}
		}
	}
	return arns
}

// IDs returns the unique ids of users and roles that p names as principals.
func (p *Policy) IDs() []string {
	var ids []string
	for i := range p.statements {
		for _, one := range p.statements[i].principals.list {
			if one.kind == idPrincipal {
				ids = append(ids, one.name)
			}
		}
	}
	return ids
}

// Renamed returns the document with other names in place of the ARNs of the users and roles that it names as
// principals.
func (p *Policy) Renamed(name func(arn string) string) string {
	var b strings.Builder
	copied := 0
	for i := range p.statements {
		for _, one := range p.statements[i].principals.list {
			if one.kind != entityPrincipal {
				continue
			}
			if now := name(one.name); now != one.name {
				b.WriteString(p.source[copied:one.pos])
				b.WriteString(`"` + now + `"`) // ARNs and ids need no escapes
				copied = one.end
			}
		}
	}
	b.WriteString(p.source[copied:])
	return b.String()
}

// Bind returns p with its users and roles bound to the unique ids that they
// had when the policy was set, by ARN: one who is deleted and made again under
// the same name is another one. An ARN that ids does not have stays unbound.
func (p *Policy) Bind(ids map[string]string) *Policy {
	bound := *p
	bound.statements = slices.Clone(p.statements)
	for i := range bound.statements {
		s := &bound.statements[i]
		s.principals.list = slices.Clone(s.principals.list)
		for j := range s.principals.list {
			if one := &s.principals.list[j]; one.kind == entityPrincipal {
				one.id = ids[one.name]
			}
		}
	}
	return &bound
}
