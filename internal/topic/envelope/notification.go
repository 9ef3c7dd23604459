package envelope

import (
	"time"
)

// Attribute is a message attribute: the value of a Binary is base64.
type Attribute struct {
	Name, Type, Value string
}

// Notification is a message of a topic.
type Notification struct {
	ID         string
	TopicARN   string
	Subject    string // empty: none
	Time       time.Time
	Attributes []Attribute
	// FIFO says that the topic is one: then the envelope has a sequence number, and no signature.
	FIFO bool
}

// Envelopes writes the envelopes of one notification, for any number of subscribers. It belongs to one goroutine.
type Envelopes struct {
	n      Notification
	signer Signer
	signed []signedMessage
}

// signedMessage is a text of the notification with its signature. There are several if the publisher has given other texts
// for other protocols.
type signedMessage struct{ message, signature string }

// New returns the envelopes of n. The signer is not asked before an envelope needs a signature.
func New(n Notification, s Signer) *Envelopes { return &Envelopes{n: n, signer: s} }

// sequenceZeros is what stands in a FIFO topic's envelope until the sequence number is known.
const sequenceZeros = "00000000000000000000"

// For returns the envelope for a subscriber who gets that message. Of a FIFO topic, sequenceAt is where in the body 20
// zeros stand, over which the sequence number is to be written; otherwise it is 0.
func (e *Envelopes) For(message, unsubscribeURL string) (body string, sequenceAt int, err error) {
	w := newWriter(len(message) + 1024)
	w.field("Type", TypeNotification)
	w.field("MessageId", e.n.ID)
	if e.n.FIFO {
		w.field("SequenceNumber", sequenceZeros)
		sequenceAt = len(w.b) - len(sequenceZeros) - len(`"`)
	}
	w.field("TopicArn", e.n.TopicARN)
	if e.n.Subject != "" {
		w.field("Subject", e.n.Subject)
	}
	w.field("Message", message)
	w.field("Timestamp", timestamp(e.n.Time))
	if !e.n.FIFO {
		signature, err := e.signature(message)
		if err != nil {
			return "", 0, err
		}
		w.signature(e.signer, signature)
	}
	w.field("UnsubscribeURL", unsubscribeURL)
	if len(e.n.Attributes) > 0 {
		w.attributes(e.n.Attributes)
	}
	return w.end(), sequenceAt, nil
}

func (e *Envelopes) signature(message string) (string, error) {
	for _, s := range e.signed {
		if s.message == message {
			return s.signature, nil
		}
	}
	signature, err := e.signer.Sign(e.text(message))
	if err != nil {
		return "", err
	}
	e.signed = append(e.signed, signedMessage{message, signature})
	return signature, nil
}

// text returns what is signed.
func (e *Envelopes) text(message string) []byte {
	pairs := []string{"Message", message, "MessageId", e.n.ID}
	if e.n.Subject != "" {
		pairs = append(pairs, "Subject", e.n.Subject)
	}
	return signedText(append(pairs, "Timestamp", timestamp(e.n.Time), "TopicArn", e.n.TopicARN, "Type", TypeNotification))
}
