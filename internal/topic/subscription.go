package topic

import (
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/topic/filter"
)

// Subscription is the record of a subscription.
type Subscription struct {
	ID        string
	Topic     Name
	Protocol  Protocol
	Endpoint  string // the ARN of a queue, a URL or an e-mail address
	Owner     string // account
	Principal string `json:",omitempty"` // ARN of who has subscribed
	Created   time.Time
	Queue     queue.ID `json:",omitempty"` // of a protocol that waits: the internal queue with what is still to be delivered

	// Confirmation is nil if the subscription needed none.
	Confirmation *Confirmation `json:",omitempty"`
	// Authenticated means that the subscription's owner signed the confirmation. KeepsOnLink means that an unsigned
	// Unsubscribe, such as by the link in a message, does not delete the subscription.
	Authenticated bool `json:",omitempty"`
	KeepsOnLink   bool `json:",omitempty"`
	// Ending is nil unless a caller other than the owner ended the subscription. The record and its queue are kept
	// until the confirmation expires, with which the endpoint can restore the subscription.
	Ending *Ending `json:",omitempty"`

	Attributes SubscriptionAttributes

	arn    string         // once it is stored
	filter *filter.Policy // parsed; nil: every message passes
	broken error          // why Attributes.Filter could not be parsed
}

// Confirmation is the agreement of an endpoint to receive messages.
type Confirmation struct {
	Token   string // that has to be shown: its SHA-256, in hexadecimal digits
	Expires time.Time
	Done    bool `json:",omitempty"` // it was shown
}

// Ending describes how a subscription ended that can be restored.
type Ending struct {
	At   time.Time
	Told bool `json:",omitempty"` // the message that tells the endpoint is in its queue
}

// SubscriptionAttributes are the attributes of a subscription. Attributes that are not set are empty.
type SubscriptionAttributes struct {
	Raw      bool   `json:",omitempty"`
	Filter   string `json:",omitempty"` // the FilterPolicy, verbatim
	Scope    string `json:",omitempty"` // MessageBody; empty: MessageAttributes
	Redrive  string `json:",omitempty"` // ARN of the dead-letter queue
	Delivery string `json:",omitempty"` // the DeliveryPolicy, verbatim
	Replay   string `json:",omitempty"` // the ReplayPolicy, verbatim
}

// ARN returns the subscription's Amazon Resource Name.
func (s *Subscription) ARN() string {
	if s.arn != "" {
		return s.arn
	}
	return s.Topic.ARN() + ":" + s.ID
}

// Pending reports whether the subscription is not confirmed yet. Until then it gets no messages.
func (s *Subscription) Pending() bool { return s.Confirmation != nil && !s.Confirmation.Done }

// Forgotten reports whether the subscription was not confirmed in time. It can no longer be confirmed then.
func (s *Subscription) Forgotten(now time.Time) bool {
	return s.Pending() && !now.Before(s.Confirmation.Expires)
}

// clone returns a copy of s that the caller may modify.
func (s *Subscription) clone() *Subscription {
	c := *s
	if s.Confirmation != nil {
		copied := *s.Confirmation
		c.Confirmation = &copied
	}
	if s.Ending != nil {
		copied := *s.Ending
		c.Ending = &copied
	}
	return &c
}
