package sqs

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/queue"
)

const (
	maxAttributes    = 10
	maxAttributeName = 256 // bytes
	maxAttributeType = 256 // bytes
	traceHeader      = "AWSTraceHeader"
	maxTraceHeader   = 1024 // bytes; the three fields that X-Ray puts in take less than 100
)

// attributeValue is a message attribute on the wire.
type attributeValue struct {
	StringValue      *string  `max:"8M"`
	BinaryValue      []byte   `max:"8M"`
	StringListValues []string `max:"100,8M" query:"StringListValue"`
	BinaryListValues [][]byte `max:"100,8M" query:"BinaryListValue"`
	DataType         string   `max:"1024"`
}

// binaryType reports whether values of a type travel as bytes.
func binaryType(dataType string) bool {
	base, _, _ := strings.Cut(dataType, ".")
	return base == "Binary"
}

// checkAttributes checks message attributes. It returns them in their stored form, sorted by name, and the bytes that
// count for the size: names, types and values.
func checkAttributes(in map[string]attributeValue) (out []queue.Attribute, size int, _ error) {
	if len(in) > maxAttributes {
		return nil, 0, protocol.InvalidParameterValue(
			"Number of message attributes [%d] exceeds the allowed maximum [%d].",
			len(in),
			maxAttributes,
		)
	}
	names := make([]string, 0, len(in))
	for name := range in {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		v := in[name]
		if err := checkAttributeName(name); err != nil {
			return nil, 0, err
		}
		if err := checkAttribute(name, &v); err != nil {
			return nil, 0, err
		}
		a := queue.Attribute{Name: name, Type: v.DataType}
		if binaryType(v.DataType) {
			a.Value = string(v.BinaryValue)
		} else {
			a.Value = *v.StringValue
		}
		out = append(out, a)
		size += len(a.Name) + len(a.Type) + len(a.Value)
	}
	return out, size, nil
}

// CheckAttributes refuses message attributes that could not have been sent.
func CheckAttributes(list []queue.Attribute) error {
	in := make(map[string]attributeValue, len(list))
	for _, a := range list {
		v := attributeValue{DataType: a.Type, StringValue: &a.Value}
		if binaryType(a.Type) {
			v.StringValue, v.BinaryValue = nil, []byte(a.Value)
		}
		in[a.Name] = v
	}
	_, _, err := checkAttributes(in)
	return err
}

func checkAttributeName(name string) error {
	invalid := protocol.InvalidParameterValue
	lower := strings.ToLower(name)
	switch {
	case name == "":
		return invalid("Message (user) attribute names must not be empty.")
	case len(name) > maxAttributeName:
		return invalid("Message (user) attribute names must be shorter than 256 Bytes")
	case strings.HasPrefix(lower, "aws.") || strings.HasPrefix(lower, "amazon."):
		return invalid(
			"You can't use message attribute names beginning with 'AWS.' or 'Amazon'. These strings are reserved for internal use.",
		)
	case strings.HasPrefix(name, "."):
		return invalid("Message (user) attribute name must not begin with character '.'.")
	case strings.HasSuffix(name, "."):
		return invalid("Message (user) attribute name must not end with character '.'.")
	case strings.Contains(name, ".."):
		return invalid("Message (user) attribute name must not have successive '.' characters.")
	}
	// SQS accepts more letters than its documentation states.
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.' {
			return invalid(
				"Message (user) attribute name '%s' is invalid. It can contain the characters A-Z, a-z, 0-9, underscore (_), hyphen (-), and period (.).",
				name,
			)
		}
	}
	return nil
}

func checkAttribute(name string, v *attributeValue) error {
	invalid := protocol.InvalidParameterValue
	base, _, _ := strings.Cut(v.DataType, ".")
	isString, isBinary := v.StringValue != nil, v.BinaryValue != nil
	switch {
	case v.StringListValues != nil || v.BinaryListValues != nil:
		return errUnsupported("Message attribute list values in SendMessage operation are not supported.")
	case v.DataType == "":
		return invalid("The message (user) attribute '%s' must contain a non-empty message attribute type.", name)
	case len(v.DataType) > maxAttributeType:
		return invalid("The type of message (user) attribute '%s' must be at most 256 bytes long.", name)
	case base != "String" && base != "Number" && base != "Binary" || !service.ValidText(v.DataType):
		return invalid(
			"The type of message (user) attribute '%s' is invalid. You must use only the following supported type prefixes: Binary, Number, String.",
			name,
		)
	case !isString && !isBinary:
		return invalid("The message (user) attribute '%s' must contain a non-empty message attribute value.", name)
	case isString && isBinary:
		return invalid("Message (user) attribute '%s' must have a single value.", name)
	case base == "Binary" && !isBinary:
		return invalid("Message (user) attribute '%s' with type 'Binary' must use field 'Binary'.", name)
	case base != "Binary" && !isString:
		return invalid("Message (user) attribute '%s' with type '%s' must use field 'String'.", name, base)
	case isBinary && len(v.BinaryValue) == 0, isString && *v.StringValue == "":
		return invalid("Message (user) attribute '%s' must contain a non-empty value of type '%s'.", name, base)
	case isString && !service.ValidText(*v.StringValue):
		return invalid(
			"Invalid characters found in the value of message (user) attribute '%s'. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF",
			name,
		)
	case base == "Number" && !service.ValidNumber(*v.StringValue):
		return invalid("Can't cast the value of message (user) attribute '%s' to a number.", name)
	}
	return nil
}

// checkSystemAttributes returns the one system attribute that a sender may set.
func checkSystemAttributes(in map[string]attributeValue) (trace string, _ error) {
	if len(in) == 0 { // most messages: sorting an empty list would cost five allocations
		return "", nil
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		v := in[name]
		switch {
		case name != traceHeader:
			return "", protocol.InvalidParameterValue(
				"Message system attribute name '%s' is invalid.", service.Shorten(name),
			)
		case v.StringListValues != nil || v.BinaryListValues != nil:
			return "", errUnsupported("Message attribute list values in SendMessage operation are not supported.")
		case v.DataType != "String" || v.StringValue == nil || v.BinaryValue != nil:
			return "", protocol.InvalidParameterValue(
				"Message system attribute '%s' must be of type 'String' and have a string value.",
				name,
			)
		case *v.StringValue == "" || !service.ValidText(*v.StringValue):
			return "", protocol.InvalidParameterValue(
				"Message system attribute '%s' must contain a non-empty value of type 'String'.",
				name,
			)
		case len(*v.StringValue) > maxTraceHeader:
			return "", protocol.InvalidParameterValue("Message system attribute '%s' must be at most %d bytes long.", name, maxTraceHeader)
		}
		trace = *v.StringValue
	}
	return trace, nil
}

// attributesMD5 returns the digest of message attributes in hex, or "" if there are none.
// The attributes are sorted by name (guide, "MD5 Message-Digest Calculation").
func attributesMD5(attributes []queue.Attribute) string {
	if len(attributes) == 0 {
		return ""
	}
	var buf []byte
	part := func(s string) {
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(s)))
		buf = append(buf, s...)
	}
	for _, a := range attributes {
		part(a.Name)
		part(a.Type)
		transport := byte(1)
		if binaryType(a.Type) {
			transport = 2
		}
		buf = append(buf, transport)
		part(a.Value)
	}
	sum := md5.Sum(buf)
	return hex.EncodeToString(sum[:])
}
