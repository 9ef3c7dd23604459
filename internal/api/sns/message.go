package sns

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/topic"
)

const (
	maxSubject     = 99   // characters
	maxTraceHeader = 1024 // bytes, as in SQS
)

// message is a published message: the common part of Publish and an entry of PublishBatch.
type message struct {
	Message                *string                   `max:"1M"       hidden:""`
	Subject                *string                   `max:"1024"     hidden:""`
	MessageStructure       *string                   `max:"64"`
	MessageAttributes      map[string]attributeValue `max:"100,1024" hidden:"" wrap:"entry" entry:"Name,Value"`
	MessageDeduplicationId *string                   `max:"512"`
	MessageGroupId         *string                   `max:"512"`
}

// attributeValue is a message attribute on the wire.
type attributeValue struct {
	DataType    *string `max:"1024"`
	StringValue *string `max:"1M"`
	BinaryValue []byte  `max:"1M"`
}

// length returns the number of bytes that count for the size of a message that is not checked yet.
func (m *message) length() (n int) {
	if m.Message != nil {
		n = len(*m.Message)
	}
	for name, v := range m.MessageAttributes {
		n += len(name) + len(v.BinaryValue)
		for _, text := range []*string{v.DataType, v.StringValue} {
			if text != nil {
				n += len(*text)
			}
		}
	}
	return n
}

// outbound is a checked message, on its way to the subscriptions of a topic.
type outbound struct {
	id           queue.MessageID
	topic        *topic.Topic
	subject      string
	text         string
	texts        map[topic.Protocol]string // where they differ from text
	attributes   []queue.Attribute
	group, dedup string
	trace        string
	size         int // of the message and its attributes, in bytes
}

// textFor returns the text for subscriptions of a protocol.
func (o *outbound) textFor(p topic.Protocol) string {
	if text, ok := o.texts[p]; ok {
		return text
	}
	return o.text
}

// check checks a message and converts it for publishing. path is the prefix of its members' names in the request.
func (m *message) check(c *protocol.Call, t *topic.Topic, path string) (*outbound, error) {
	o := &outbound{id: queue.MessageID(uuid.New()), topic: t}
	var v protocol.Violations
	o.text = v.Required(path+"message", m.Message)
	if err := v.Err(); err != nil {
		return nil, err
	}
	o.size = m.length()
	switch {
	case o.text == "":
		return nil, errParameter("Empty message")
	case o.size > t.MaxMessageSize():
		return nil, errTooLongMessage()
	case !service.ValidText(o.text):
		return nil, errText()
	}
	if m.Subject != nil {
		if o.subject = *m.Subject; !validSubject(o.subject) {
			return nil, errSubject()
		}
	}
	var err error
	if o.attributes, err = checkAttributes(m.MessageAttributes, path); err != nil {
		return nil, err
	}
	if err := m.checkIDs(o); err != nil {
		return nil, err
	}
	if err := m.takeStructure(o); err != nil {
		return nil, err
	}
	// The header is not part of the message: one that is no trace header is not the publisher's mistake.
	if len(c.TraceID) <= maxTraceHeader && service.ValidText(c.TraceID) {
		o.trace = c.TraceID
	}
	return o, nil
}

// errTooLongMessage is also the error for a message that does not reach its handler.
func errTooLongMessage() *protocol.Error { return errParameter("Message too long") }

func errText() *protocol.Error {
	return errParameter("Message Reason: Valid unicode characters are " +
		"#x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF")
}

func errSubject() *protocol.Error { return errParameter("Subject") }

// validSubject reports whether s is 1 to 99 characters that begin with something visible and have no line breaks and
// control characters.
func validSubject(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return s != "" && utf8.RuneCountInString(s) <= maxSubject && !unicode.IsSpace(first) && service.ValidText(s) &&
		!strings.ContainsFunc(s, unicode.IsControl)
}

// checkIDs sets the message group and the deduplication id.
func (m *message) checkIDs(o *outbound) error {
	fifo := o.topic.Name.FIFO()
	if m.MessageGroupId != nil {
		if o.group = *m.MessageGroupId; !service.ValidID(o.group) {
			return errID("MessageGroupId")
		}
	}
	switch dedup := m.MessageDeduplicationId; {
	case dedup != nil && !fifo:
		return errParameter(
			"MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that is not valid for this topic type",
		)
	case !fifo:
	case m.MessageGroupId == nil:
		return errParameter("The MessageGroupId parameter is required for FIFO topics")
	case dedup != nil:
		if o.dedup = *dedup; !service.ValidID(o.dedup) {
			return errID("MessageDeduplicationId")
		}
	case !o.topic.Attributes.ContentDedup:
		return errParameter("The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly")
	default:
		sum := sha256.Sum256([]byte(o.text))
		o.dedup = hex.EncodeToString(sum[:])
	}
	return nil
}

func errID(parameter string) *protocol.Error {
	return errParameter("%s Reason: %s can only include alphanumeric and punctuation characters. 1 to 128 in length.", parameter, parameter)
}

// takeStructure splits a message with a separate text for each protocol. It ignores keys that are no protocol, and
// values that are no strings. A value may be empty.
func (m *message) takeStructure(o *outbound) error {
	switch {
	case m.MessageStructure == nil || *m.MessageStructure == "":
		return nil
	case *m.MessageStructure != "json":
		return errParameter(
			"Message Structure - %s is not a structure; there is json", service.Shorten(*m.MessageStructure),
		)
	}
	parts, ok := texts(o.text)
	if !ok {
		return errParameter("Message Structure - JSON message body failed to parse")
	}
	text, ok := parts["default"]
	if !ok {
		return errParameter("Message Structure - No default entry in JSON message body")
	}
	o.text, o.texts = text, make(map[topic.Protocol]string)
	for _, p := range topic.Protocols {
		if own, ok := parts[string(p)]; ok {
			o.texts[p] = own
		}
	}
	for _, one := range append(slices.Collect(maps.Values(o.texts)), text) {
		if !service.ValidText(one) {
			return errText()
		}
	}
	return nil
}

// texts returns the members of a JSON object that are strings. It reports whether the text is an object without
// duplicate names.
func texts(text string) (members map[string]string, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') || !json.Valid([]byte(text)) {
		return nil, false
	}
	members = make(map[string]string)
	for names := make(map[string]bool); d.More(); {
		name, err := d.Token()
		if err != nil || names[name.(string)] {
			return nil, false
		}
		names[name.(string)] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, false
		}
		var member string
		if value[0] == '"' && json.Unmarshal(value, &member) == nil {
			members[name.(string)] = member
		}
	}
	return members, true
}
