package envelope

import (
	"time"
)

// Attribute is a message attribute. The value of a Binary attribute is base64.
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
	// FIFO means that the topic is a FIFO topic: its envelopes have a sequence number, and no signature.
	FIFO bool
}

// Envelopes writes the envelopes of one notification, for any number of subscribers. It belongs to one goroutine.
type Envelopes struct {
	n          Notification
	signer     Signer
	beginnings []beginning
}

// beginning is the common part of the envelopes of one text of the notification. There are several if the publisher has
// given different texts for different protocols.
type beginning struct {
	message    string
	text       string
	sequenceAt int
}

// New returns the envelopes of n. The signer is not called before an envelope needs a signature.
func New(n Notification, s Signer) *Envelopes { return &Envelopes{n: n, signer: s} }

// sequenceZeros is the placeholder in a FIFO topic's envelope until the sequence number is known.
const sequenceZeros = "00000000000000000000"

// For returns the envelope of that message for a subscriber, in two parts: the beginning is the same string for all
// subscribers that get the message, the rest is the subscriber's. For a FIFO topic, sequenceAt is the place in the
// beginning of 20 zeros, over which the sequence number is to be written; otherwise it is 0.
func (e *Envelopes) For(message, unsubscribeURL string) (begins, rest string, sequenceAt int, err error) {
	b, err := e.beginning(message)
	if err != nil {
		return "", "", 0, err
	}
	w := &writer{append(make([]byte, 0, 256), ',')}
	w.field("UnsubscribeURL", unsubscribeURL)
	if len(e.n.Attributes) > 0 {
		w.attributes(e.n.Attributes)
	}
	return b.text, w.end(), b.sequenceAt, nil
}

// beginning writes the beginning of the envelopes of a message, once.
func (e *Envelopes) beginning(message string) (b beginning, err error) {
	for _, b := range e.beginnings {
		if b.message == message {
			return b, nil
		}
	}
	b.message = message
	w := newWriter(len(message) + 1024)
	w.field("Type", TypeNotification)
	w.field("MessageId", e.n.ID)
	if e.n.FIFO {
		w.field("SequenceNumber", sequenceZeros)
		b.sequenceAt = len(w.b) - len(sequenceZeros) - len(`"`)
	}
	w.field("TopicArn", e.n.TopicARN)
	if e.n.Subject != "" {
		w.field("Subject", e.n.Subject)
	}
	w.field("Message", message)
	w.field("Timestamp", timestamp(e.n.Time))
	if !e.n.FIFO {
		signature, err := e.signer.Sign(e.text(message))
		if err != nil {
			return b, err
		}
		w.signature(e.signer, signature)
	}
	b.text = string(w.b)
	e.beginnings = append(e.beginnings, b)
	return b, nil
}

// text returns the text that is signed.
func (e *Envelopes) text(message string) []byte {
	pairs := []string{"Message", message, "MessageId", e.n.ID}
	if e.n.Subject != "" {
		pairs = append(pairs, "Subject", e.n.Subject)
	}
	return signedText(
		append(pairs, "Timestamp", timestamp(e.n.Time), "TopicArn", e.n.TopicARN, "Type", TypeNotification),
	)
}
