package envelope

import "time"

// The values of Type, which are also those of the header x-amz-sns-message-type.
const (
	TypeNotification = "Notification"
	TypeSubscribe    = "SubscriptionConfirmation"
	TypeUnsubscribe  = "UnsubscribeConfirmation"
)

// Confirmation asks an endpoint to agree to a subscription, or informs it that the subscription has ended and how to
// restore it.
type Confirmation struct {
	Type            string // TypeSubscribe or TypeUnsubscribe
	ID              string
	Token           string
	TopicARN        string
	SubscriptionARN string // of TypeUnsubscribe
	SubscribeURL    string
	Time            time.Time
}

// Message is the sentence for people.
func (c *Confirmation) Message() string {
	if c.Type == TypeUnsubscribe {
		return "You have chosen to deactivate subscription " + c.SubscriptionARN +
			".\nTo cancel this operation and restore the subscription, visit the SubscribeURL included in this message."
	}
	return "You have chosen to subscribe to the topic " + c.TopicARN +
		".\nTo confirm the subscription, visit the SubscribeURL included in this message."
}

// JSON returns the body that an endpoint gets.
func (c *Confirmation) JSON(s Signer) (string, error) {
	at := timestamp(c.Time)
	signature, err := s.Sign(signedText([]string{
		"Message", c.Message(), "MessageId", c.ID, "SubscribeURL", c.SubscribeURL, "Timestamp", at,
		"Token", c.Token, "TopicArn", c.TopicARN, "Type", c.Type,
	}))
	if err != nil {
		return "", err
	}
	w := newWriter(2048)
	w.field("Type", c.Type)
	w.field("MessageId", c.ID)
	w.field("Token", c.Token)
	w.field("TopicArn", c.TopicARN)
	w.field("Message", c.Message())
	w.field("SubscribeURL", c.SubscribeURL)
	w.field("Timestamp", at)
	w.signature(s, signature)
	return w.end(), nil
}
