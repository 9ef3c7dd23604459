package directory

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
)

// Kind is the kind of an entity.
type Kind string

// The kinds of entities, as they stand in ARNs.
const (
	User     Kind = "user"
	Group    Kind = "group"
	Role     Kind = "role"
	Profile  Kind = "instance-profile"
	Provider Kind = "oidc-provider" // its name is its URL without https://
	Report   Kind = "credential-report"
)

// prefixes begin the ids of entities. AWS has no ids of identity providers.
var prefixes = map[Kind]string{User: "AIDA", Group: "AGPA", Role: "AROA", Profile: "AIPA", Provider: "OIDC"}

// Entity is a user, a group, a role, an instance profile or an OpenID Connect provider, or a note about an account.
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
	MaxSignIn   time.Duration     `json:",omitempty"` // of a session of the console; 0: as long as usual
	Description string            `json:",omitempty"`

	Roles []string `json:",omitempty"` // of an instance profile: ids of its roles

	// Of an OpenID Connect provider:
	Clients     []string `json:",omitempty"` // the accepted audiences of tokens
	Thumbprints []string `json:",omitempty"` // of certificates that are trusted besides the usual ones
}

// NewEntity returns an entity with a new id.
func NewEntity(kind Kind, account, path, name string, now time.Time) *Entity {
	return &Entity{
		Kind: kind, Account: account, Path: path, Name: name,
		ID: identity.NewID(prefixes[kind]), Created: now.UTC().Truncate(time.Second),
	}
}

// NewReport returns a note that the credential report of an account was requested.
func NewReport(account string, now time.Time) *Entity {
	return &Entity{
		Kind:    Report,
		Account: account,
		Path:    "/",
		Name:    string(Report),
		ID:      reportID + account,
		Created: now.UTC().Truncate(time.Second),
	}
}

const reportID = "REPORT"

// ARN returns the entity's Amazon Resource Name.
func (e *Entity) ARN() string {
	return "arn:aws:iam::" + e.Account + ":" + string(e.Kind) + e.Path + e.Name
}

// Clone returns a copy that may be changed.
func (e *Entity) Clone() *Entity {
	c := *e
	c.Inline, c.Tags, c.TrustIDs = maps.Clone(e.Inline), maps.Clone(e.Tags), maps.Clone(e.TrustIDs)
	c.Attached, c.Groups, c.Roles = slices.Clone(e.Attached), slices.Clone(e.Groups), slices.Clone(e.Roles)
	c.Clients, c.Thumbprints = slices.Clone(e.Clients), slices.Clone(e.Thumbprints)
	return &c
}

// name identifies an entity. Names that differ only in case are equal.
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

// Clone returns a copy that may be changed.
func (k *Key) Clone() *Key {
	c := *k
	return &c
}

// Managed is a managed policy. It is immutable.
type Managed struct {
	Account     string // "aws" for those that are built in
	Name        string
	Path        string
	ID          string
	Description string `json:",omitempty"`
	Created     time.Time
	Updated     time.Time
	Versions    []Version         // oldest first
	Default     string            // id of the version in force
	Last        int               // number of the newest version so far
	Tags        map[string]string `json:",omitempty"`
}

// Version is a version of a managed policy.
type Version struct {
	ID       string // v1, v2 and so on
	Document string
	Created  time.Time
}

// Number returns the number of the version: 3 of v3.
func (v Version) Number() int {
	n, _ := strconv.Atoi(strings.TrimPrefix(v.ID, "v"))
	return n
}

// ARN returns the policy's Amazon Resource Name.
func (m *Managed) ARN() string {
	return "arn:aws:iam::" + m.Account + ":policy" + m.Path + m.Name
}

// Document returns the text of the version in force.
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

// Clone returns a copy that may be changed.
func (m *Managed) Clone() *Managed {
	c := *m
	c.Versions, c.Tags = slices.Clone(m.Versions), maps.Clone(m.Tags)
	return &c
}
