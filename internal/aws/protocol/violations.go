package protocol

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Violations collects the mistakes in the parameters of a request, in the words of the framework underneath IAM, STS
// and other services. Members have the names of their models, but in lower camel case.
type Violations struct {
	faults []string
}

// ValidationError refuses the value of a parameter, in a sentence of the service's own.
func ValidationError(format string, args ...any) *Error {
	return &Error{
		Code: "ValidationError", Type: "com.amazon.coral.validate#ValidationException", Status: http.StatusBadRequest,
		Message: fmt.Sprintf(format, args...),
	}
}

// Err returns nil without violations, or an error with all of them.
func (v *Violations) Err() error {
	if len(v.faults) == 0 {
		return nil
	}
	return v.refusal()
}

// refusal returns the error with all violations, of which there is at least one.
func (v *Violations) refusal() *Error {
	switch n := len(v.faults); n {
	case 1:
		return ValidationError("1 validation error detected: %s", v.faults[0])
	default:
		return ValidationError("%d validation errors detected: %s", n, strings.Join(v.faults, "; "))
	}
}

// mostFaults is how many violations an error names at most.
const mostFaults = 100

func (v *Violations) add(format string, args ...any) {
	if len(v.faults) < mostFaults {
		v.faults = append(v.faults, fmt.Sprintf(format, args...))
	}
}

// Add records that a value does not satisfy a constraint.
func (v *Violations) Add(value, member, constraint string) {
	const most = 1024
	v.add("Value '%s' at '%s' failed to satisfy constraint: %s", Shorten(value, most), member, constraint)
}

// addHidden is Add for a value that is a secret.
func (v *Violations) addHidden(member, constraint string) {
	v.add("Value at '%s' failed to satisfy constraint: %s", member, constraint)
}

// Required returns a string that must be there.
func (v *Violations) Required(member string, value *string) string {
	if value == nil {
		v.add("Value null at '%s' failed to satisfy constraint: Member must not be null", member)
		return ""
	}
	return *value
}

// Length limits the length of a present string.
func (v *Violations) Length(member string, value *string, least, most int) {
	switch {
	case value == nil:
	case len(*value) < least:
		v.Add(*value, member, boundWords("length", "greater", least))
	case len(*value) > most:
		v.Add(*value, member, boundWords("length", "less", most))
	}
}

// Range limits a present number.
func (v *Violations) Range(member string, value *int32, least, most int32) {
	switch {
	case value == nil:
	case *value < least:
		v.Add(strconv.Itoa(int(*value)), member, boundWords("value", "greater", int(least)))
	case *value > most:
		v.Add(strconv.Itoa(int(*value)), member, boundWords("value", "less", int(most)))
	}
}

// Characters requires a string that is there to consist of characters that allowed admits; pattern is how the model
// writes that.
func (v *Violations) Characters(member string, value *string, allowed func(rune) bool, pattern string) {
	if value != nil && strings.ContainsFunc(*value, func(r rune) bool { return !allowed(r) }) {
		v.Add(*value, member, "Member must satisfy regular expression pattern: "+pattern)
	}
}

// Enum requires a present string to be one of a few.
func (v *Violations) Enum(member string, value *string, values ...string) {
	if value == nil {
		return
	}
	for _, one := range values {
		if *value == one {
			return
		}
	}
	v.Add(*value, member, enumWords(values))
}

func enumWords(values []string) string {
	return "Member must satisfy enum value set: [" + strings.Join(values, ", ") + "]"
}
