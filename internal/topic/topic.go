package topic

import (
	"maps"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// Topic is the record of a topic.
type Topic struct {
	Name       Name
	ID         string   // of no other topic, also after this one is deleted
	Queue      queue.ID `json:",omitempty"` // of a FIFO topic: the internal queue that counts its messages
	Created    time.Time
	Attributes Attributes
	Tags       map[string]string `json:",omitempty"`
	Deleted    int               `json:",omitempty"` // how many of its subscriptions were deleted
}

// Attributes are the attributes of a topic. Attributes that are not set are empty, and mean AWS's defaults.
type Attributes struct {
	DisplayName      string            `json:",omitempty"`
	Policy           string            `json:",omitempty"` // verbatim; empty: the default policy
	PolicyIDs        string            `json:",omitempty"` // ids of users and roles in Policy when it was set; see service.Bind
	Delivery         string            `json:",omitempty"` // the DeliveryPolicy, verbatim
	SignatureVersion string            `json:",omitempty"` // 1 or 2
	Tracing          string            `json:",omitempty"` // PassThrough or Active
	KMSKey           string            `json:",omitempty"`
	ContentDedup     bool              `json:",omitempty"`
	Throughput       string            `json:",omitempty"` // Topic or MessageGroup
	ArchiveDays      int               `json:",omitempty"` // of the ArchivePolicy; 0: there is none
	ArchivedSince    time.Time         `json:",omitzero"`  // when the ArchivePolicy was set
	DataProtection   string            `json:",omitempty"` // the data protection policy, verbatim
	MaxMessageSize   int               `json:",omitempty"` // bytes; 0: UsualMessageSize
	Feedback         map[string]string `json:",omitempty"` // roles and rates of the delivery status logs, by their names
}

// The limits of the size of a message with its attributes, in bytes.
const (
	UsualMessageSize = 262_144   // at most, unless the topic says otherwise
	LeastMessageSize = 1024      // what a topic can say
	MostMessageSize  = 1_048_576 // likewise
)

// MaxMessageSize returns the largest size of a message with its attributes, and of all messages of a batch together, in
// bytes.
func (t *Topic) MaxMessageSize() int {
	if t.Attributes.MaxMessageSize == 0 {
		return UsualMessageSize
	}
	return t.Attributes.MaxMessageSize
}

// TakesLarge reports whether messages can be larger than the default. Only few queues may subscribe then.
func (t *Topic) TakesLarge() bool { return t.MaxMessageSize() > UsualMessageSize }

// clone returns a copy of t that the caller may modify.
func (t *Topic) clone() *Topic {
	c := *t
	c.Tags, c.Attributes.Feedback = maps.Clone(t.Tags), maps.Clone(t.Attributes.Feedback)
	return &c
}

// Protocol is the way in which the messages of a subscription are delivered.
type Protocol string

// The protocols.
const (
	SQS       Protocol = "sqs"
	HTTP      Protocol = "http"
	HTTPS     Protocol = "https"
	Email     Protocol = "email"
	EmailJSON Protocol = "email-json"
	// SMS has subscriptions and no deliveries: the server sends no text messages. Each message fails.
	SMS Protocol = "sms"
)

// Protocols are all protocols.
var Protocols = []Protocol{SQS, HTTP, HTTPS, Email, EmailJSON, SMS}

// Waits reports whether messages of the protocol wait in an internal queue until they are delivered.
func (p Protocol) Waits() bool { return p != SQS && p != SMS }

// Known reports whether p is one of Protocols.
func (p Protocol) Known() bool { return slices.Contains(Protocols, p) }
