package trails

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/observe/trail"
	"github.com/sluicemq/sluice/internal/observe/trails/logfile"
	"github.com/sluicemq/sluice/internal/observe/trails/selector"
)

// Name is what a trail is called. Region is its home.
type Name struct{ Account, Region, Name string }

// ARN returns the trail's Amazon Resource Name.
func (n Name) ARN() string {
	return "arn:aws:cloudtrail:" + n.Region + ":" + n.Account + ":trail/" + n.Name
}

// Trail is a trail. The trails that Trails returns must not be changed.
type Trail struct {
	Name
	ID      uuid.UUID // of no other trail that there was
	Created time.Time

	Bucket      string
	Prefix      string `json:",omitempty"` // of keys in the bucket
	Topic       string `json:",omitempty"` // ARN of the topic that is notified of each delivery
	NoGlobal    bool   `json:",omitempty"` // without the events of IAM and STS
	MultiRegion bool   `json:",omitempty"` // with the events of all regions
	Validate    bool   `json:",omitempty"` // with digests
	Selectors   selector.Set
	Tags        map[string]string `json:",omitempty"`

	Logging          bool
	Started, Stopped time.Time
}

// Clone returns a copy that can be changed.
func (t *Trail) Clone() *Trail {
	c := *t
	c.Tags = maps.Clone(t.Tags)
	return &c
}

// gets reports whether the trail gets an event.
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

// regionOf returns the region whose files an event belongs to.
func (t *Trail) regionOf(e *trail.Event) string {
	if t.MultiRegion && identity.IsRegion(e.AWSRegion) {
		return e.AWSRegion
	}
	return t.Region
}

// Status is what became of the deliveries of a trail.
type Status struct {
	Attempted, Delivered  time.Time // files
	Error                 string    `json:",omitempty"` // why the last delivery failed
	NotifyTried, Notified time.Time // messages about files
	NotifyError           string    `json:",omitempty"`
	DigestDelivered       time.Time
	DigestError           string            `json:",omitempty"`
	Chains                map[string]*Chain `json:",omitempty"` // of digests, by region
}

// Chain is where a chain of digests has got to.
type Chain struct {
	End  time.Time     // of the last digest, or of the time before the first
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

// Keys of the store.
const (
	Prefix    = "cloudtrail/" // of all records
	keyTrail  = Prefix + "trail/"
	keyStatus = Prefix + "status/"
	keyKey    = Prefix + "key/"
	keyFile   = "\xfftrails/f"
)

func trailKey(n Name) string { return keyTrail + n.Account + "/" + n.Region + "/" + n.Name }

func statusKey(id uuid.UUID) string { return keyStatus + id.String() }

func fileKey(id uuid.UUID, number uint64) string {
	return string(binary.BigEndian.AppendUint64(append([]byte(keyFile), id[:]...), number))
}

func fileEnd(id uuid.UUID) string { return fileKey(id, ^uint64(0)) + "\x00" }

// encode is for values of this package, all of which have a JSON form.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
