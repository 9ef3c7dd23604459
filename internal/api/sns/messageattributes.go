package sns

import (
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/queue"
)

const (
	maxAttributeName = 256 // bytes
	maxAttributeType = 256
)

// checkAttributes checks message attributes and returns them in their stored form, sorted by name.
func checkAttributes(in map[string]attributeValue, path string) (out []queue.Attribute, _ error) {
	if len(in) == 0 {
		return nil, nil
	}
	for _, name := range sortedNames(in) {
		v := in[name]
		if err := checkAttributeName(name); err != nil {
			return nil, err
		}
		var missing protocol.Violations
		dataType := missing.Required(path+"messageAttributes."+name+".member.dataType", v.DataType)
		if err := missing.Err(); err != nil {
			return nil, err
		}
		if err := checkAttribute(name, dataType, &v); err != nil {
			return nil, err
		}
		a := queue.Attribute{Name: name, Type: dataType}
		if binaryType(dataType) {
			a.Value = string(v.BinaryValue)
		} else {
			a.Value = *v.StringValue
		}
		out = append(out, a)
	}
	return out, nil
}

// binaryType reports whether values of a type travel as bytes.
func binaryType(dataType string) bool { return baseType(dataType) == "Binary" }

// baseType returns a type without the label behind it.
func baseType(dataType string) string {
	base, _, _ := strings.Cut(dataType, ".")
	return base
}

func checkAttributeName(name string) error {
	switch {
	case name == "" || len(name) > maxAttributeName:
		return errAttribute("Length of message attribute name must be less than %d bytes.", maxAttributeName)
	case isReserved(name):
		return errAttribute("Message attribute names beginning with 'AWS.' or 'Amazon.' are reserved for internal use: '%s'.", name)
	case strings.HasPrefix(name, "."):
		return errAttribute("Invalid message attribute name starting with character '.' was found.")
	case strings.HasSuffix(name, "."):
		return errAttribute("Invalid message attribute name ending with character '.' was found.")
	}
	dot := false
	for _, r := range name {
		switch {
		case r == '.' && dot:
			return errAttribute("Message attribute name can not have successive '.' character.")
		case !isLetter(r) && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.':
			return errAttribute("Invalid non-alphanumeric character '#x%X' was found in the message attribute name. "+
				"Can only include alphanumeric characters, hyphens, underscores, or dots.", r)
		}
		dot = r == '.'
	}
	return nil
}

// isReserved reports whether a name begins with one of AWS's prefixes, in any case, and is not one of those that
// publishers set.
func isReserved(name string) bool {
	lower := strings.ToLower(name)
	return (strings.HasPrefix(lower, "aws.") || strings.HasPrefix(lower, "amazon.")) &&
		!slices.ContainsFunc(settable, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// settable are the prefixes of names that publishers set to control the delivery to phones. Other subscribers see them
// as attributes like any other.
var settable = []string{"AWS.SNS.MOBILE.", "AWS.SNS.SMS.", "AWS.MM.SMS."}

func checkAttribute(name, dataType string, v *attributeValue) error {
	base, label, labelled := strings.Cut(dataType, ".")
	isString, isBinary := v.StringValue != nil, v.BinaryValue != nil
	switch {
	case dataType == "":
		return errAttribute("The message attribute '%s' must contain non-empty message attribute type.", name)
	case len(dataType) > maxAttributeType || !slices.Contains(baseTypes, base) || labelled && label == "" ||
		!service.ValidText(dataType):
		return errAttribute(
			"The message attribute '%s' has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.",
			name,
		)
	case isString && isBinary:
		return errAttribute("The message attribute '%s' has multiple values. A message attribute can have only one value.", name)
	case !isString && !isBinary, isString && *v.StringValue == "", isBinary && len(v.BinaryValue) == 0:
		return errAttribute(
			"The message attribute '%s' must contain non-empty message attribute value for message attribute type '%s'.",
			name,
			dataType,
		)
	case base == "Binary" && !isBinary:
		return errAttribute("The message attribute '%s' with type '%s' must use field 'Binary'.", name, dataType)
	case base != "Binary" && !isString:
		return errAttribute("The message attribute '%s' with type '%s' must use field 'String'.", name, dataType)
	case isString && !service.ValidText(*v.StringValue):
		return errAttribute(
			"The value of message attribute '%s' has invalid characters. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF",
			name,
		)
	case base == "Number" && !service.ValidNumber(*v.StringValue):
		return errAttribute("Could not cast message attribute '%s' value to number.", name)
	}
	return nil
}

// baseTypes are the types, which a label may follow behind a dot.
var baseTypes = []string{"String", "Number", "Binary"}
