package declared

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/internal/tool/weburl"
)

// Kind is the kind of a resource.
type Kind string

// The kinds of resources, in the order of their creation: each names only earlier ones.
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

// plural returns the name of a kind's section in a file.
func (k Kind) plural() string {
	if k == PolicyKind {
		return "policies"
	}
	return string(k) + "s"
}

// ofAccount reports whether resources of the kind exist in all regions of an account.
func (k Kind) ofAccount() bool { return slices.Index(kinds, k) <= slices.Index(kinds, LimitKind) }

// Scope is where the names of resources are unique.
type Scope struct {
	Partition string // aws
	Account   string
	Region    string
}

// Ref names a resource. A subscription's name consists of its topic, protocol and endpoint, separated by spaces.
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

// key identifies the resource even if passwords are omitted, as in SNS.
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

// inOrder sorts resources in the order of their creation.
func inOrder(a, b Ref) int {
	return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
		strings.Compare(a.Account, b.Account), strings.Compare(a.Region, b.Region), strings.Compare(a.Name, b.Name))
}

// Settings holds settings of a resource by name. A name with a dot is an entry: tags.team, inline.read. The values are
// in the API's form, or JSON.
type Settings map[string]string

// Resource is a resource as a file wants it.
type Resource struct {
	Ref
	Settings Settings
	Complete []string // lists that the file has whole: other entries are removed
	At       Position
	places   map[string]Position // of settings, and of the entries of lists
	needs    []Ref               // resources of the same kind that must exist first
	later    bool                // its dead letters are set at the end, because they form a circle
}

// newResource returns a resource at a place in a file.
func newResource(ref Ref, at *yaml.Node) *Resource {
	return &Resource{
		Ref: ref, Settings: make(Settings), At: Position{at.Line, at.Column}, places: make(map[string]Position),
	}
}

// stands records the place of a setting.
func (r *Resource) stands(setting string, at *yaml.Node) {
	r.places[setting] = Position{at.Line, at.Column}
}

// place returns the place of a setting in the file or, if it is absent, that of the resource.
func (r *Resource) place(setting string) Position {
	if at, ok := r.places[setting]; ok {
		return at
	}
	return r.At
}

// Actual is an existing resource.
type Actual struct {
	Ref
	Settings Settings
	arn      string
	url      string // of a queue
	messages Messages
	pending  bool // an unconfirmed subscription
}

// AppliedBy is the tag of resources that an apply has created. Its value is the name of the file.
const AppliedBy = "sluice-applied-by"

const tagPrefix = "tags."

// appliedBy returns the name of the file that created a resource, or "".
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
