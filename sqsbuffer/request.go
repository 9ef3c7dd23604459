package sqsbuffer

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// A sendProtocol writes the body of a SendMessageBatch into one buffer of the right size. The SDK's encoder starts with
// a small buffer and copies it again and again, which was half of a client's allocations for a message. The wrapped
// protocol handles the rest of a request, the other operations and the answers.
type sendProtocol struct{ smithyhttp.ClientProtocol }

// encoded returns the protocol with a sendProtocol around it, if both write the same requests.
func encoded(p smithyhttp.ClientProtocol) smithyhttp.ClientProtocol {
	if p == nil || p.ID() != (smithy.ShapeID{Namespace: "aws.protocols", Name: "awsJson1_0"}) {
		return p
	}
	return sendProtocol{p}
}

// SerializeRequest lets the SDK write a request without messages, and replaces its body.
func (p sendProtocol) SerializeRequest(
	ctx context.Context, schema *smithy.OperationSchema, in smithy.Serializable, req *smithyhttp.Request,
) error {
	batch, ok := in.(*sqs.SendMessageBatchInput)
	if !ok || batch.QueueUrl == nil || hasLists(batch.Entries) {
		return p.ClientProtocol.SerializeRequest(ctx, schema, in, req)
	}
	if err := p.ClientProtocol.SerializeRequest(ctx, schema, &sqs.SendMessageBatchInput{}, req); err != nil {
		return err
	}
	whole, err := req.SetStream(bytes.NewReader(appendBatch(make([]byte, 0, batchSpace(batch)), batch)))
	if err != nil {
		return fmt.Errorf("set the body of a batch: %w", err)
	}
	*req = *whole
	return nil
}

// An attribute is a message attribute or a message system attribute. They have the same fields.
type attribute interface {
	types.MessageAttributeValue | types.MessageSystemAttributeValue
}

// hasLists reports whether a message has list values, which SQS reserves for the future.
func hasLists(entries []types.SendMessageBatchRequestEntry) bool {
	return slices.ContainsFunc(entries, func(e types.SendMessageBatchRequestEntry) bool {
		return anyList(e.MessageAttributes) || anyList(e.MessageSystemAttributes)
	})
}

func anyList[A attribute](attributes map[string]A) bool {
	for _, either := range attributes {
		a := types.MessageAttributeValue(either)
		if a.StringListValues != nil || a.BinaryListValues != nil {
			return true
		}
	}
	return false
}

// memberName is the size of the longest member name of a message, with quotes, colon and comma.
const memberName = 32

// batchSpace estimates the size of a batch as JSON. The buffer grows for a larger batch.
func batchSpace(batch *sqs.SendMessageBatchInput) int {
	n := memberName + memberSpace(batch.QueueUrl)
	for _, e := range batch.Entries {
		n += memberName // the delay
		n += memberSpace(e.Id) + memberSpace(e.MessageBody)
		n += memberSpace(e.MessageGroupId) + memberSpace(e.MessageDeduplicationId)
		n += attributeSpace(e.MessageAttributes) + attributeSpace(e.MessageSystemAttributes)
	}
	return n
}

func attributeSpace[A attribute](attributes map[string]A) int {
	if attributes == nil {
		return 0
	}
	n := memberName
	for name, either := range attributes {
		a := types.MessageAttributeValue(either)
		n += memberSpace(&name) + memberSpace(a.DataType) + memberSpace(a.StringValue)
		n += memberName + base64.StdEncoding.EncodedLen(len(a.BinaryValue))
	}
	return n
}

func memberSpace(s *string) int {
	if s == nil {
		return 0
	}
	return memberName + len(*s) + strings.Count(*s, `"`) + strings.Count(*s, `\`)
}

func appendBatch(b []byte, batch *sqs.SendMessageBatchInput) []byte {
	b = append(b, '{')
	b = appendMember(b, "QueueUrl", batch.QueueUrl)
	b = append(b, `,"Entries":[`...)
	for i := range batch.Entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEntry(b, &batch.Entries[i])
	}
	return append(b, "]}"...)
}

func appendEntry(b []byte, e *types.SendMessageBatchRequestEntry) []byte {
	b = append(b, '{')
	b = appendMember(b, "Id", e.Id)
	b = appendMember(b, "MessageBody", e.MessageBody)
	b = appendMember(b, "MessageGroupId", e.MessageGroupId)
	b = appendMember(b, "MessageDeduplicationId", e.MessageDeduplicationId)
	if e.DelaySeconds != 0 {
		b = strconv.AppendInt(appendMemberName(b, "DelaySeconds"), int64(e.DelaySeconds), 10)
	}
	b = appendAttributes(b, "MessageAttributes", e.MessageAttributes)
	b = appendAttributes(b, "MessageSystemAttributes", e.MessageSystemAttributes)
	return append(b, '}')
}

func appendAttributes[A attribute](b []byte, member string, attributes map[string]A) []byte {
	if attributes == nil {
		return b
	}
	b = append(appendMemberName(b, member), '{')
	for name, either := range attributes {
		a := types.MessageAttributeValue(either)
		b = append(appendMemberName(b, name), '{')
		b = appendMember(b, "DataType", a.DataType)
		b = appendMember(b, "StringValue", a.StringValue)
		if a.BinaryValue != nil {
			b = append(appendMemberName(b, "BinaryValue"), '"')
			b = append(base64.StdEncoding.AppendEncode(b, a.BinaryValue), '"')
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

// appendMember appends a member of an object, unless it has no value.
func appendMember(b []byte, name string, value *string) []byte {
	if value == nil {
		return b
	}
	return appendText(appendMemberName(b, name), *value)
}

// appendMemberName appends the name of a member, after a comma if it is not the first.
func appendMemberName(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(appendText(b, name), ':')
}

// appendText appends a string as JSON. Bytes that are not UTF-8 become U+FFFD.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	for {
		n := plainPrefix(s)
		b, s = append(b, s[:n]...), s[n:]
		if s == "" {
			return append(b, '"')
		}
		n = 1
		switch c := s[0]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', '0'+c>>4, "0123456789abcdef"[c&15])
		default:
			var r rune
			r, n = utf8.DecodeRuneInString(s)
			b = utf8.AppendRune(b, r)
		}
		s = s[n:]
	}
}

// plainPrefix returns the number of leading bytes of a string that are ASCII and unescaped in JSON.
func plainPrefix(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		if (w|(w-ones*' ')|hasZero(w^ones*'"')|hasZero(w^ones*'\\'))&(ones<<7) != 0 {
			break
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] < utf8.RuneSelf && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// ones is a word with 1 in each byte.
const ones = ^uint64(0) / 255

// hasZero sets the highest bit of some byte if a word of ASCII has a byte that is 0.
func hasZero(w uint64) uint64 { return w - ones }
