package catalog

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// Name identifies a queue: an account, a region and a name. Each region is a namespace. Internal queues have neither
// account nor region.
type Name struct {
	Account string
	Region  string
	Queue   string
}

// ARN returns the queue's Amazon Resource Name.
func (n Name) ARN() string {
	return "arn:aws:sqs:" + n.Region + ":" + n.Account + ":" + n.Queue
}

// namespace is the scope in which the name of a queue is unique: a region of an account.
type namespace struct{ account, region string }

func (n Name) namespace() namespace { return namespace{n.Account, n.Region} }

// Queue is the record of a queue.
type Queue struct {
	Name       Name
	ID         queue.ID
	Created    time.Time
	Modified   time.Time
	Attributes Attributes
	Tags       map[string]string `json:",omitempty"`
	// PausedGroups are the names of the paused message groups, sorted. Receives return no messages of these groups.
	PausedGroups []string `json:",omitempty"`
	// Shards are the numbers of the shards that hold the queue's messages. They are assigned when the queue is created.
	// None is ever removed, and a standard queue can get more. Nil means the first shard, number 1.
	Shards []int `json:",omitempty"`
	// Sends is how many of Shards, from the first on, take new messages. 0 means all.
	Sends int `json:",omitempty"`
	// Idle is set when the deletion of the queue has been announced.
	Idle *Idle `json:",omitempty"`

	// Deleted is when the queue was deleted. It is set only if the deletion can be undone.
	Deleted time.Time `json:",omitzero"`
	// Undone is when the queue had been deleted before it was brought back. A repetition of that undo succeeds, too. An
	// older program that drops this refuses it.
	Undone time.Time `json:",omitzero"`

	purgeAnytime bool // from the catalog's options; not stored
}

// Attributes are a queue's attributes with defaults filled in. Optional attributes that are not set are nil or empty.
type Attributes struct {
	DelaySeconds       int
	MaximumMessageSize int // bytes
	RetentionSeconds   int
	WaitSeconds        int
	VisibilitySeconds  int

	Policy       string        `json:",omitempty"` // verbatim
	PolicyIDs    string        `json:",omitempty"` // ids of users and roles in Policy when it was set, by ARN, as JSON
	Redrive      *Redrive      `json:",omitempty"`
	RedriveAllow *RedriveAllow `json:",omitempty"`
	KMSKey       string        `json:",omitempty"`
	KMSReuse     int           `json:",omitempty"` // seconds
	ManagedSSE   bool
	FIFO         bool   `json:",omitempty"`
	ContentDedup bool   `json:",omitempty"`
	DedupScope   string `json:",omitempty"` // queue or messageGroup
	Throughput   string `json:",omitempty"` // perQueue or perMessageGroupId
}

// Redrive is a RedrivePolicy.
type Redrive struct {
	Target          string // ARN
	MaxReceiveCount int
}

// RedriveAllow is a RedriveAllowPolicy.
type RedriveAllow struct {
	Permission string   // allowAll, denyAll or byQueue
	Sources    []string `json:",omitempty"` // ARNs, with byQueue
}

// Config returns the queue's configuration for the engine.
func (q *Queue) Config() queue.Config {
	a := &q.Attributes
	c := queue.Config{
		ID: q.ID, ARN: q.Name.ARN(), Created: queue.At(q.Created), FIFO: a.FIFO,
		Delay:         time.Duration(a.DelaySeconds) * time.Second,
		Visibility:    time.Duration(a.VisibilitySeconds) * time.Second,
		Retention:     time.Duration(a.RetentionSeconds) * time.Second,
		DedupPerGroup: a.DedupScope == "messageGroup", PurgeAnytime: q.purgeAnytime, Internal: q.Name.Internal(),
		PausedGroups: q.PausedGroups, Limits: q.limits(), Sealed: q.Idle != nil && q.Idle.Sealed,
		Shelved: !q.Deleted.IsZero(),
	}
	if a.Redrive != nil {
		c.Redrive = &queue.Redrive{Target: a.Redrive.Target, MaxReceives: a.Redrive.MaxReceiveCount}
	}
	return c
}

// ConfigOn returns the queue's configuration for the engine of the shard with this number. The shard serves the whole
// queue, some of its message groups, or nothing of it.
func (q *Queue) ConfigOn(shard int) queue.Config {
	shards := q.Shards
	if shards == nil {
		shards = []int{1}
	}
	c := q.Config()
	i := slices.Index(shards, shard)
	c.Elsewhere = i < 0
	c.Limits = c.Limits.Share(max(0, i), len(shards))
	if c.FIFO && !c.Elsewhere && len(shards) > 1 {
		c.Part, c.Parts = i, len(shards)
	}
	return c
}

// defaultKMSReuse is KmsDataKeyReusePeriodSeconds of a queue that does not set it.
const defaultKMSReuse = 300 * time.Second

// managedReuse is how long a queue with SqsManagedSseEnabled uses a data key.
const managedReuse = 24 * time.Hour

// Encryption returns the name of the key that encrypts the queue's messages, how long a data key is used, and whether
// the messages are encrypted at all. An empty name means the server's key.
func (q *Queue) Encryption() (key string, period time.Duration, on bool) {
	a := &q.Attributes
	switch {
	case q.Name.Internal():
		return "", 0, false
	case a.KMSKey == "":
		return "", managedReuse, a.ManagedSSE
	case a.KMSReuse == 0:
		return a.KMSKey, defaultKMSReuse, true
	}
	return a.KMSKey, time.Duration(a.KMSReuse) * time.Second, true
}

// clone returns a copy of q that the caller may modify.
func (q *Queue) clone() *Queue {
	c := *q
	c.Tags, c.Shards, c.PausedGroups = maps.Clone(q.Tags), slices.Clone(q.Shards), slices.Clone(q.PausedGroups)
	if q.Idle != nil {
		idle := *q.Idle
		c.Idle = &idle
	}
	return &c
}

// Configs returns the configurations of all queues for the engine of a shard, including internal queues and deleted
// ones whose deletion can be undone.
func (c *Catalog) Configs(shard int) []queue.Config {
	var configs []queue.Config
	all := c.collect(func(Name) bool { return true })
	for _, q := range append(all, c.shelved(func(*Queue) bool { return true })...) {
		configs = append(configs, q.ConfigOn(shard))
	}
	return configs
}

// Shard receives changes of queues.
type Shard interface {
	Configure(ctx context.Context, c queue.Config) error
	Drop(ctx context.Context, id queue.ID) error
}

// Tell applies a change of a queue to the shard with this number, if the change affects that shard.
func Tell(ctx context.Context, s Shard, number int, was, is *Queue) error {
	switch {
	case is == nil:
		return s.Drop(ctx, was.ID)
	case was != nil && reflect.DeepEqual(was.ConfigOn(number), is.ConfigOn(number)):
		return nil
	}
	return s.Configure(ctx, is.ConfigOn(number))
}
