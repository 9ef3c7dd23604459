package trails

import (
	"cmp"
	"encoding/binary"
	"iter"
	"maps"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/logfile"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/selector"
	"github.com/sluicemq/sluice/internal/tool/sortedlist"
)

// Name identifies a trail. Region is its home.
type Name struct{ Account, Region, Name string }

// compare orders names by account.
func (n Name) compare(o Name) int {
	return cmp.Or(
		strings.Compare(n.Account, o.Account), strings.Compare(n.Region, o.Region), strings.Compare(n.Name, o.Name),
	)
}

// ARN returns the trail's Amazon Resource Name.
func (n Name) ARN() string {
	return "arn:aws:cloudtrail:" + n.Region + ":" + n.Account + ":trail/" + n.Name
}

// Trail is a trail. Do not change the trails that Trails returns.
type Trail struct {
	Name
	ID      uuid.UUID // unique, even among deleted trails
	Created time.Time

	Bucket      string
	Prefix      string `json:",omitempty"` // of keys in the bucket
	Topic       string `json:",omitempty"` // ARN of the topic that is notified of each delivery
	NoGlobal    bool   `json:",omitempty"` // without the events of IAM and STS
	MultiRegion bool   `json:",omitempty"` // with the events of all regions
	Validate    bool   `json:",omitempty"` // with digests
	Selectors   selector.Set
	Insights    []Insight         `json:",omitempty"` // of unusual events, which are stored without effect
	Tags        map[string]string `json:",omitempty"`

	Logging          bool
	Started, Stopped time.Time
}

// Insight is a kind of unusual activity about which a trail is to have insights.
type Insight struct {
	Type       string
	Categories []string `json:",omitempty"` // of the events
}

// Clone returns a copy that may be changed.
func (t *Trail) Clone() *Trail {
	c := *t
	c.Tags = maps.Clone(t.Tags)
	return &c
}

// gets reports whether the trail selects an event.
func (t *Trail) gets(e *trail.Event) bool {
	if !t.Logging || e.RecipientAccountID != t.Account {
		return false
	}
	switch {
	case t.MultiRegion:
	case e.EventCategory == selector.Management && trail.Global(e.EventSource):
		if t.NoGlobal {
			return false
		}
	case e.AWSRegion != t.Region:
		return false
	}
	return t.Selectors.Take(e)
}

// regionOf returns the region in whose files an event belongs.
func (t *Trail) regionOf(e *trail.Event) string {
	if t.MultiRegion && identity.IsRegion(e.AWSRegion) {
		return e.AWSRegion
	}
	return t.Region
}

// Status is the state of the deliveries of a trail.
type Status struct {
	Attempted, Delivered  time.Time // files
	Error                 string    `json:",omitempty"` // why the last delivery failed
	NotifyTried, Notified time.Time // messages about files
	NotifyError           string    `json:",omitempty"`
	DigestDelivered       time.Time
	DigestError           string            `json:",omitempty"`
	Chains                map[string]*Chain `json:",omitempty"` // of digests, by region
}

// Chain is the state of a chain of digests.
type Chain struct {
	End  time.Time     // of the last digest, or the time before the first
	Last *logfile.Link // nil before the first
}

func (s *Status) clone() *Status {
	c := *s
	c.Chains = maps.Clone(s.Chains)
	if c.Chains == nil {
		c.Chains = make(map[string]*Chain)
	}
	return &c
}

// File is a file that was delivered, and is in no digest yet.
type File struct {
	Trail     uuid.UUID
	Region    string
	Delivered time.Time
	Entry     logfile.Entry
}

// Prefix begins the keys of all records of this package, except those of files, which no reader sees.
const (
	Prefix  = "cloudtrail/"
	keyFile = "\xfftrails/f"
)

var (
	trailTable = control.Table[Name, Trail]{
		Prefix: Prefix + "trail/", Key: control.Key[Name]{Text: Name.text, Parse: parseName}, Format: formats.Trails,
	}
	statusTable = control.Table[uuid.UUID, Status]{
		Prefix: Prefix + "status/", Key: control.Key[uuid.UUID]{Text: uuid.UUID.String, Parse: uuid.Parse},
		Format: formats.Trails,
	}
	keyTable = control.Table[string, Key]{Prefix: Prefix + "key/", Key: control.Text, Format: formats.Trails}
)

func (n Name) text() string { return n.Account + "/" + n.Region + "/" + n.Name }

func parseName(text string) (Name, error) {
	parts := strings.SplitN(text, "/", 3)
	if len(parts) != 3 {
		return Name{}, control.ErrUnknown
	}
	return Name{parts[0], parts[1], parts[2]}, nil
}

// records holds the records of the store.
type records struct {
	trails   map[Name]*Trail
	statuses map[uuid.UUID]*Status
	keys     map[string]*Key // by region and fingerprint
	byID     map[uuid.UUID]*Trail
	order    *sortedlist.List[*Trail] // by account
}

// recordsOf returns a function that creates records whose keys the vault opens. Without a vault they stay encrypted.
func recordsOf(v Vault) func() (*records, control.Kinds) {
	return func() (*records, control.Kinds) {
		r := &records{
			byID: make(map[uuid.UUID]*Trail), order: sortedlist.New(func(a, b *Trail) int { return a.compare(b.Name) }),
		}
		open := func(name string, _, is *Key) error {
			if is == nil {
				return nil
			}
			return is.open(name, v)
		}
		return r, control.Kinds{
			trailTable.Into(&r.trails, r.index, control.InOrder[Name](r.order)), statusTable.Into(&r.statuses),
			keyTable.Into(&r.keys, open),
		}
	}
}

// index maintains the index of trails by id.
func (r *records) index(_ Name, old, is *Trail) error {
	if old != nil {
		delete(r.byID, old.ID)
	}
	if is != nil {
		r.byID[is.ID] = is
	}
	return nil
}

// ofAccount yields the trails of an account.
func (r *records) ofAccount(account string) iter.Seq[*Trail] {
	return r.order.Range(&Trail{Name: Name{Account: account}}, func(one *Trail) bool { return one.Account == account })
}

func fileKey(id uuid.UUID, number uint64) string {
	return string(binary.BigEndian.AppendUint64(append([]byte(keyFile), id[:]...), number))
}

func fileEnd(id uuid.UUID) string { return fileKey(id, ^uint64(0)) + "\x00" }
