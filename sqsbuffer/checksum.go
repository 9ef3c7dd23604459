package sqsbuffer

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// A ChecksumError reports that the service received other data than was sent.
type ChecksumError struct {
	MessageID string // the message's, assigned by the service
	Of        string // the body, the attributes or the system attributes
	Sent, Got string // MD5 digests
}

func (e *ChecksumError) Error() string {
	return fmt.Sprintf("sqsbuffer: message %s was not stored as it was sent: the MD5 digest of its %s is %s, the service says %s",
		e.MessageID, e.Of, e.Sent, e.Got)
}

// verify compares the digests in an answer with the sent data.
func verify(input *sqs.SendMessageInput, output *sqs.SendMessageOutput) error {
	if got := output.MD5OfMessageBody; got != nil {
		if sent := digestOfBody(*input.MessageBody); sent != *got {
			return mismatch(output, "body", sent, *got)
		}
	}
	if got := output.MD5OfMessageAttributes; got != nil {
		if sent := digestOfAttributes(input.MessageAttributes); sent != *got {
			return mismatch(output, "attributes", sent, *got)
		}
	}
	if got := output.MD5OfMessageSystemAttributes; got != nil {
		if sent := digestOfAttributes(input.MessageSystemAttributes); sent != *got {
			return mismatch(output, "system attributes", sent, *got)
		}
	}
	return nil
}

func mismatch(output *sqs.SendMessageOutput, of, sent, got string) error {
	return &ChecksumError{MessageID: aws.ToString(output.MessageId), Of: of, Sent: sent, Got: got}
}

// A digester computes digests. It reads a text piece by piece, because a conversion would copy all of it to the heap.
type digester struct {
	hash  hash.Hash
	piece [1024]byte
}

var digesters = sync.Pool{New: func() any { return &digester{hash: md5.New()} }}

func digestOfBody(body string) string {
	d := digesters.Get().(*digester)
	defer digesters.Put(d)
	d.hash.Reset()
	for len(body) > 0 {
		n := copy(d.piece[:], body)
		d.hash.Write(d.piece[:n])
		body = body[n:]
	}
	var sum [md5.Size]byte
	return hex.EncodeToString(d.hash.Sum(sum[:0]))
}

// digestOfAttributes returns the digest of the name, type and value of each attribute, in order of the names. A length
// in four bytes precedes each of these, and the byte 1 for text or 2 for binary precedes a value.
func digestOfAttributes[A attribute](attributes map[string]A) string {
	var text []byte
	add := func(s string) { text = append(binary.BigEndian.AppendUint32(text, uint32(len(s))), s...) }
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := types.MessageAttributeValue(attributes[name])
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
