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
	Ended        bool   // it gets no more than the message that says so
	Policy       retry.Policy
}

// Account returns the account of the topic.
func (t *Target) Account() string {
	if parts := strings.SplitN(t.Topic, ":", 6); len(parts) == 6 {
		return parts[4]
	}
	return ""
}

// host returns the machine that the endpoint is on, or of a mail address the domain.
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

// Sender delivers messages by one protocol. If its error is Permanent, to try again would
// not help.
type Sender interface {
	// Check returns an error for people if nothing can be delivered to an endpoint.
	Check(protocol, endpoint string) error
	Send(ctx context.Context, t *Target, m *Message) error
	// Timeout is how long Send may take.
	Timeout() time.Duration
}

// permanent is an error of an endpoint that would give it again.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Permanent marks an error: to try again would not help.
func Permanent(err error) error { return permanent{err} }

// IsPermanent reports whether an error was marked so.
func IsPermanent(err error) bool {
	_, is := errors.AsType[permanent](err)
	return is
}

// ErrAddress says that the endpoint of a subscription by mail is no address.
var ErrAddress = errors.New("the endpoint is not an e-mail address such as me@example.com")

// ErrNoDeadLetters says that a subscription has no dead-letter queue.
var ErrNoDeadLetters = errors.New("the subscription has no dead-letter queue")

// DeadLetter puts a message into the dead-letter queue of its subscription. lost says why there is none that takes it,
// which is ErrNoDeadLetters where there is none at all; err says that it is to be asked again later.
type DeadLetter func(ctx context.Context, id queue.ID, m *queue.Message) (lost, err error)
