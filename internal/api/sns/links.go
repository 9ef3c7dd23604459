package sns

import (
	"errors"
	"strings"

	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/envelope"
)

// links makes the URLs in the messages of topics, and signs the messages.
type links struct {
	endpoint func() string
	signers  func(version, base string) (envelope.Signer, error)
}

var errNoSigner = errors.New("there is nothing to sign messages with")

// signer returns the signer of a topic's messages.
func (s *links) signer(t *topic.Topic) (envelope.Signer, error) {
	return s.signers(t.Attributes.SignatureVersion, s.base())
}

// base returns the beginning of the URLs in a message.
func (s *links) base() string { return strings.TrimRight(s.endpoint(), "/") }

// unsubscribeURL returns the link that ends a subscription. As on AWS, the ARN is not escaped: it has no character that
// would end it.
func (s *links) unsubscribeURL(sub *topic.Subscription) string {
	return s.base() + "/?Action=Unsubscribe&SubscriptionArn=" + sub.ARN()
}

// subscribeURL returns the link that confirms a subscription.
func (s *links) subscribeURL(sub *topic.Subscription, token string) string {
	return s.base() + "/?Action=ConfirmSubscription&TopicArn=" + sub.Topic.ARN() + "&Token=" + token
}
