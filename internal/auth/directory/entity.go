package directory

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
)

// Kind is what kind of entity a record is of.
type Kind string

// The kinds of entities, as they stand in ARNs.
const (
	User  Kind = "user"
	Group Kind = "group"
	Role  Kind = "role"
)

// prefixes are what the ids of entities begin with.
var prefixes = map[Kind]string{User: "AIDA", Group: "AGPA", Role: "AROA"}

// Entity is a user, a group or a role.
type Entity struct {
	Kind    Kind
	Account string
	Name    string
	Path    string // begins and ends with a slash
	ID      string
	Created time.Time

	Inline   map[string]string `json:",omitempty"` // documents by policy name
	Attached []string          `json:",omitempty"` // ARNs of managed policies
	Boundary string            `json:",omitempty"` // ARN of a managed policy
	Tags     map[string]string `json:",omitempty"`

	Groups []string `json:",omitempty"` // of a user: ids of its groups

	// Of a role:
	Trust       string            `json:",omitempty"` // who may assume it
	TrustIDs    map[string]string `json:",omitempty"` // unique ids of the users and roles that Trust names, by ARN, when it was set
	MaxSession  time.Duration     `json:",omitempty"`
	Description string            `json:",omitempty"`
}

// NewEntity returns an entity with an id of its own.
func NewEntity(kind Kind, account, path, name string, now time.Time) *Entity {
	return &Entity{
		Kind: kind, Account: account, Path: path, Name: name,
		ID: identity.NewID(prefixes[kind]), Created: now.UTC().Truncate(time.Second),
	}
}

// ARN returns the entity's Amazon Resource Name.
func (e *Entity) ARN() string {
	return "arn:aws:iam::" + e.Account + ":" + string(e.Kind) + e.Path + e.Name
}

// Clone returns a copy that can be changed.
func (e *Entity) Clone() *Entity {
	c := *e
	c.Inline, c.Tags, c.TrustIDs = maps.Clone(e.Inline), maps.Clone(e.Tags), maps.Clone(e.TrustIDs)
	c.Attached, c.Groups = slices.Clone(e.Attached), slices.Clone(e.Groups)
	return &c
}

// name is what an entity is found by. Names that differ in case only are the
// same.
type name struct {
	kind    Kind
	account string
	folded  string
}

func nameOf(kind Kind, account, written string) name {
	return name{kind, account, strings.ToLower(written)}
}

// Key is an access key of a user.
type Key struct {
	ID      string
	User    string // the user's id
	Created time.Time
	Active  bool
	Sealed  []byte // the secret, encrypted under the key's id

	secret string
	use    *use // shared by all records of this key
}

// NewKey returns an active key for a user. The secret cannot
// be read later.
func (d *Directory) NewKey(user *Entity, now time.Time) (k *Key, secret string) {
	id, secret := identity.NewKeyID(), identity.NewSecret()
	return &Key{
		ID: id, User: user.ID, Created: now.UTC().Truncate(time.Second), Active: true,
		Sealed: d.vault.Seal(id, secret), secret: secret, use: new(use),
	}, secret
}

// Clone returns a copy that can be changed.
func (k *Key) Clone() *Key {
	c := *k
	return &c
}

// Managed is a managed policy. It is not changed in place.
type Managed struct {
	Account     string // "aws" for those that are built in
	Name        string
	Path        string
	ID          string
	Description string `json:",omitempty"`
	Created     time.Time
	Updated     time.Time
	Versions    []Version         // oldest first
	Default     string            // id of the version that counts
	Last        int               // number of the newest version that there ever was
	Tags        map[string]string `json:",omitempty"`
}

// Version is a version of a managed policy.
type Version struct {
	ID       string // v1, v2 and so on
	Document string
	Created  time.Time
}

// ARN returns the policy's Amazon Resource Name.
func (m *Managed) ARN() string {
	return "arn:aws:iam::" + m.Account + ":policy" + m.Path + m.Name
}

// Document returns the text of the version that counts.
func (m *Managed) Document() string {
	v, _ := m.Version(m.Default)
	return v.Document
}

// Version returns a version by its id.
func (m *Managed) Version(id string) (Version, bool) {
	for _, v := range m.Versions {
		if v.ID == id {
			return v, true
		}
	}
	return Version{}, false
}

// Clone returns a copy that can be changed.
func (m *Managed) Clone() *Managed {
	c := *m
	c.Versions, c.Tags = slices.Clone(m.Versions), maps.Clone(m.Tags)
	return &c
}
