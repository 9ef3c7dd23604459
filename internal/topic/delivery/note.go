package delivery

import (
	"crypto/md5" //nolint:gosec // SQS's checksum of a body
	"encoding/json"

	"github.com/sluicemq/sluice/internal/queue"
)

// Note holds what is needed to deliver a message, besides its body. In the internal queue of a subscription it takes
// the place of the sender's id: the sender is always SNS.
type Note struct {
	Type    string `json:"t"`           // of envelope's types
	Raw     bool   `json:"r,omitempty"` // the body is the message and no envelope
	Subject string `json:"s,omitempty"` // of a mail
	Link    string `json:"l,omitempty"` // for a mail: where to unsubscribe, or to confirm
}

// Outgoing returns a message for the internal queue of a subscription. The subscriber sees its id.
func (n Note) Outgoing(id queue.MessageID, body string) queue.Outgoing {
	b, err := json.Marshal(n)
	if err != nil {
		panic(err) // a Note has a JSON form
	}
	return queue.Outgoing{ID: id, Sender: string(b), Body: body, BodyMD5: md5.Sum([]byte(body))}
}

// NoteOf returns the note of a message. An unreadable note comes from a newer program: the message is then delivered as
// a notification.
func NoteOf(m *queue.Message) Note {
	var n Note
	if json.Unmarshal([]byte(m.Sender), &n) != nil || n.Type == "" {
		n = Note{Type: "Notification"}
	}
	return n
}
