package delivery

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/topic/retry"
)

// Target is a subscription to deliver to.
type Target struct {
	Subscription string // ARN
	Topic        string // ARN
	Protocol     string // one of Options.Senders
	Endpoint     string
	DisplayName  string // of the topic, which mails show as their sender
	Ended        bool   // it receives only the message about its end
	Policy       retry.Policy
}

// Account returns the account of the topic.
func (t *Target) Account() string {
	if parts := strings.SplitN(t.Topic, ":", 6); len(parts) == 6 {
		return parts[4]
	}
	return ""
}

// host returns the endpoint's machine, or the domain of a mail address.
func (t *Target) host() string {
	if u, err := url.Parse(t.Endpoint); err == nil && u.Host != "" {
		return u.Hostname()
	}
	return t.Endpoint[strings.LastIndexByte(t.Endpoint, '@')+1:]
}

// Message is a message on its way to a subscriber.
type Message struct {
	Note
	ID    string
	Body  string
	Trace string
}

// Sender delivers messages by one protocol. If its error is Permanent, a retry would not help.
type Sender interface {
	// Check returns an error for people if an endpoint cannot receive messages.
	Check(protocol, endpoint string) error
	Send(ctx context.Context, t *Target, m *Message) error
	// Timeout is how long Send may take.
	Timeout() time.Duration
}

// permanent is an error that the endpoint would repeat.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Permanent marks an error: a retry would not help.
func Permanent(err error) error { return permanent{err} }

// IsPermanent reports whether an error is marked by Permanent.
func IsPermanent(err error) bool {
	_, is := errors.AsType[permanent](err)
	return is
}

// ErrAddress reports that the endpoint of a subscription by mail is not an address.
var ErrAddress = errors.New("the endpoint is not an e-mail address such as me@example.com")

// ErrNoDeadLetters reports that a subscription has no dead-letter queue.
var ErrNoDeadLetters = errors.New("the subscription has no dead-letter queue")

// DeadLetter moves a message to the dead-letter queue of its subscription. lost is the reason why no queue accepts it:
// ErrNoDeadLetters if there is none. err means that a later attempt may succeed.
type DeadLetter func(ctx context.Context, id queue.ID, m *queue.Message) (lost, err error)
