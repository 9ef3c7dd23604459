package migrate

// received is a message as the source gives it.
type received struct {
	MessageId         string
	ReceiptHandle     string
	Body              string
	Attributes        map[string]string
	MessageAttributes map[string]attribute
}

// attribute is the value of a message attribute.
type attribute struct {
	DataType    string
	StringValue *string `json:",omitempty"`
	BinaryValue []byte  `json:",omitempty"`
}

// outgoing is a message in the form of the target, in a batch.
type outgoing struct {
	Id                      string
	MessageBody             string
	DelaySeconds            *int32               `json:",omitempty"`
	MessageAttributes       map[string]attribute `json:",omitempty"`
	MessageSystemAttributes map[string]attribute `json:",omitempty"`
	MessageGroupId          string               `json:",omitempty"`
	MessageDeduplicationId  string               `json:",omitempty"`
}

// traceHeader is the only system attribute that a sender can set.
const traceHeader = "AWSTraceHeader"

// group is the message group of a message, or "".
func (m *received) group() string { return m.Attributes["MessageGroupId"] }

// outgoing returns the message to send. A standard queue's delay has passed at the source, so the target adds none;
// the delay of a FIFO queue cannot be set for one message.
func (m *received) outgoing(fifo bool) *outgoing {
	out := &outgoing{MessageBody: m.Body, MessageAttributes: m.MessageAttributes, MessageGroupId: m.group()}
	if trace := m.Attributes[traceHeader]; trace != "" {
		out.MessageSystemAttributes = map[string]attribute{traceHeader: {DataType: "String", StringValue: &trace}}
	}
	if fifo {
		out.MessageDeduplicationId = m.MessageId
	} else {
		out.DelaySeconds = new(int32)
	}
	return out
}

// size is the number of bytes that SQS counts for a message.
func (m *received) size() int {
	n := len(m.Body)
	for name, a := range m.MessageAttributes {
		n += len(name) + len(a.DataType) + len(a.BinaryValue)
		if a.StringValue != nil {
			n += len(*a.StringValue)
		}
	}
	return n
}

// Limits of a batch.
const (
	mostMessages = 10
	mostBytes    = 256 << 10 // the total that every version of SQS takes
)

// batches divides messages into batches to send one after the other. With fifo each batch has at most one message of a
// group: one that fails is not overtaken by the next of its group.
func batches(messages []*received, fifo bool) (all [][]*received) {
	for len(messages) > 0 {
		var batch, rest []*received
		bytes, groups := 0, make(map[string]bool)
		for _, m := range messages {
			group := m.group()
			full := len(batch) == mostMessages || len(batch) > 0 && bytes+m.size() > mostBytes
			if full || fifo && groups[group] {
				rest = append(rest, m)
				groups[group] = true
				continue
			}
			batch, bytes = append(batch, m), bytes+m.size()
			groups[group] = true
		}
		all, messages = append(all, batch), rest
	}
	return all
}
