package declared

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/internal/weburl"
)

// Kind is what a resource is.
type Kind string

// The kinds of resources, in the order in which they are made: each names only what is before it.
const (
	PolicyKind       Kind = "policy"
	GroupKind        Kind = "group"
	UserKind         Kind = "user"
	RoleKind         Kind = "role"
	LimitKind        Kind = "limit"
	QueueKind        Kind = "queue"
	TopicKind        Kind = "topic"
	SubscriptionKind Kind = "subscription"
	AlarmKind        Kind = "alarm"
	CompositeKind    Kind = "composite-alarm"
)

var kinds = []Kind{
	PolicyKind, GroupKind, UserKind, RoleKind, LimitKind, QueueKind, TopicKind, SubscriptionKind, AlarmKind,
	CompositeKind,
}

// plural is the name of a kind's section in a file.
func (k Kind) plural() string {
	if k == PolicyKind {
		return "policies"
	}
	return string(k) + "s"
}

// ofAccount reports whether resources of the kind are in all regions of an account.
func (k Kind) ofAccount() bool { return slices.Index(kinds, k) <= slices.Index(kinds, LimitKind) }

// Scope is where the names of resources are unique.
type Scope struct {
	Partition string // aws
	Account   string
	Region    string
}

// Ref names a resource. That of a subscription is its topic, protocol and endpoint, separated by spaces.
type Ref struct {
	Scope
	Kind Kind
	Name string
}

// newRef returns the reference to a resource that is named in a scope.
func newRef(s Scope, k Kind, name string) Ref {
	if k.ofAccount() {
		s.Region = ""
	}
	return Ref{s, k, name}
}

// String names a resource without its scope.
func (r Ref) String() string {
	if r.Kind != SubscriptionKind || r.Name == "" {
		return string(r.Kind) + " " + r.Name
	}
	topic, _, endpoint := r.subscription()
	return "subscription of " + weburl.Masked(shortened(r.Scope, endpoint)) + " to " + topic
}

// key is what names the resource also where passwords are left out, as SNS does.
func (r Ref) key() Ref {
	if r.Kind == SubscriptionKind {
		r.Name = weburl.Masked(r.Name)
	}
	return r
}

// subscription returns the parts of the name of a subscription.
func (r Ref) subscription() (topic, protocol, endpoint string) {
	parts := strings.SplitN(r.Name, " ", 3)
	return parts[0], parts[1], parts[2]
}

// inOrder orders resources as they are made.
func inOrder(a, b Ref) int {
	return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
		strings.Compare(a.Account, b.Account), strings.Compare(a.Region, b.Region), strings.Compare(a.Name, b.Name))
}

// Settings are settings of a resource by their names. A name with a dot names an entry: tags.team, inline.read. The
// values are as the API takes them, or JSON.
type Settings map[string]string

// Resource is a resource as a file wants it.
type Resource struct {
	Ref
	Settings Settings
	Complete []string // the lists that the file has whole: entries that it does not have are taken away
	At       Position
	places   map[string]Position // of settings, and of the entries of lists
	needs    []Ref               // what has to be there first, of the same kind
	later    bool                // its dead letters are set when all is made: they go in a circle
}

// newResource returns a resource that stands at a place in a file.
func newResource(ref Ref, at *yaml.Node) *Resource {
	return &Resource{Ref: ref, Settings: make(Settings), At: Position{at.Line, at.Column}, places: make(map[string]Position)}
}

// stands notes where a setting stands.
func (r *Resource) stands(setting string, at *yaml.Node) {
	r.places[setting] = Position{at.Line, at.Column}
}

// place returns where a setting stands in the file or, if it does not, where the resource does.
func (r *Resource) place(setting string) Position {
	if at, ok := r.places[setting]; ok {
		return at
	}
	return r.At
}

// Actual is a resource as it is.
type Actual struct {
	Ref
	Settings Settings
	arn      string
	url      string // of a queue
	messages Messages
	pending  bool // a subscription that is not confirmed
}

// AppliedBy is the tag of what an apply has made. Its value is the name of the file.
const AppliedBy = "sluice-applied-by"

const tagPrefix = "tags."

// appliedBy returns the name of the file that has made a resource, or "".
func (a *Actual) appliedBy() string { return a.Settings[tagPrefix+AppliedBy] }

// under returns the entries of a list or map.
func (s Settings) under(list string) map[string]string {
	out := make(map[string]string)
	for key, value := range s {
		if entry, ok := strings.CutPrefix(key, list+"."); ok {
			out[entry] = value
		}
	}
	return out
}
