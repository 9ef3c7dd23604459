package sqsbuffer

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// A ChecksumError reports that the service has received different data than was sent.
type ChecksumError struct {
	MessageID string // that the service gave the message
	Of        string // the body, the attributes or the system attributes
	Sent, Got string // MD5 digests
}

func (e *ChecksumError) Error() string {
	return fmt.Sprintf("sqsbuffer: message %s was not stored as it was sent: the MD5 digest of its %s is %s, the service says %s",
		e.MessageID, e.Of, e.Sent, e.Got)
}

// verify compares the digests in an answer with the sent data.
func verify(input *sqs.SendMessageInput, output *sqs.SendMessageOutput) error {
	system := make(map[string]types.MessageAttributeValue, len(input.MessageSystemAttributes))
	for name, a := range input.MessageSystemAttributes {
		system[name] = types.MessageAttributeValue{
			DataType: a.DataType, StringValue: a.StringValue, BinaryValue: a.BinaryValue,
		}
	}
	for _, part := range []struct {
		of   string
		got  *string
		sent func() string
	}{
		{"body", output.MD5OfMessageBody, func() string { return digestOfBody(*input.MessageBody) }},
		{"attributes", output.MD5OfMessageAttributes, func() string { return digestOfAttributes(input.MessageAttributes) }},
		{"system attributes", output.MD5OfMessageSystemAttributes, func() string { return digestOfAttributes(system) }},
	} {
		if part.got == nil {
			continue
		}
		if sent := part.sent(); sent != *part.got {
			id := ""
			if output.MessageId != nil {
				id = *output.MessageId
			}
			return &ChecksumError{MessageID: id, Of: part.of, Sent: sent, Got: *part.got}
		}
	}
	return nil
}

func digestOfBody(body string) string {
	sum := md5.Sum([]byte(body))
	return hex.EncodeToString(sum[:])
}

// digestOfAttributes is the digest of name, type and value of each attribute, in
// the order of the names. A length in four bytes goes before each, and before a
// value the byte 1 if it is text and 2 if it is binary.
func digestOfAttributes(attributes map[string]types.MessageAttributeValue) string {
	var text []byte
	add := func(s string) { text = append(binary.BigEndian.AppendUint32(text, uint32(len(s))), s...) }
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		add(name)
		add(*a.DataType)
		if strings.HasPrefix(*a.DataType, "Binary") {
			text = append(text, 2)
			add(string(a.BinaryValue))
			continue
		}
		text = append(text, 1)
		if a.StringValue != nil {
			add(*a.StringValue)
		} else {
			add("")
		}
	}
	sum := md5.Sum(text)
	return hex.EncodeToString(sum[:])
}
