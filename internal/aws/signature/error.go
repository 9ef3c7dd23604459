package signature

import (
	"fmt"
	"strings"
)

// Kind is the kind of a mistake in a request. It determines the error code and the HTTP status.
type Kind uint8

// There is no Kind 0: an Error whose Kind was forgotten must not pass for Unsigned, which callers may let through.
const (
	Unsigned                    Kind = iota + 1 // no signature at all
	IncompleteSignature                         // malformed, or a part is missing
	UnknownKey                                  // there is no such access key id
	SignatureMismatch                           // the signature is not the secret's for this request
	Expired                                     // Version 4: signed too long ago, or too far in the future
	ScopeMismatch                               // Version 4: made for another day, region or service
	RequestExpired                              // Version 2: the same as Expired
	InvalidParameter                            // a parameter has a value that it cannot have
	MissingParameter                            // Version 2: a part is missing
	InvalidParameterCombination                 // Version 2: parameters that exclude each other, or one given twice
	MalformedQueryString                        // the query string or the form cannot be decoded
)

var kindNames = [...]string{
	Unsigned:                    "unsigned",
	IncompleteSignature:         "incomplete signature",
	UnknownKey:                  "unknown key",
	SignatureMismatch:           "signature mismatch",
	Expired:                     "expired",
	ScopeMismatch:               "scope mismatch",
	RequestExpired:              "request expired",
	InvalidParameter:            "invalid parameter",
	MissingParameter:            "missing parameter",
	InvalidParameterCombination: "invalid parameter combination",
	MalformedQueryString:        "malformed query string",
}

func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// Error is the reason why a request is not verified.
type Error struct {
	Kind    Kind
	Message string // in the words of AWS where these are known; valid UTF-8
}

func (e *Error) Error() string { return e.Message }

// ErrUnsigned is the error for requests without any signature.
var ErrUnsigned error = &Error{Unsigned, "Request is missing Authentication Token"}

// ServiceMismatch is the error for a scope that names another service than want.
func ServiceMismatch(want string) error {
	return refuse(ScopeMismatch, "Credential should be scoped to correct service: '%s'.", want)
}

// RegionMismatch is the error for a scope whose region is not one of ours. The space at its end is AWS's.
func RegionMismatch(got string) error {
	return refuse(ScopeMismatch, "Credential should be scoped to a valid region, not '%s'. ", got)
}

func unknownKey(version int) error {
	if version == 2 {
		return refuse(UnknownKey, "The AWS Access Key Id you provided does not exist in our records.")
	}
	return refuse(UnknownKey, "The security token included in the request is invalid.")
}

func mismatch() error {
	return refuse(SignatureMismatch, "The request signature we calculated does not match the signature you provided. "+
		"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
}

func invalidParameter(name, value, reason string) error {
	return refuse(InvalidParameter, "Value (%s) for parameter %s is invalid. Reason: %s", value, name, reason)
}

func tooManyParameters() error {
	return refuse(MalformedQueryString, "The request has more than %d parameters.", maxParameters)
}

func missingParameter(name string) error {
	return refuse(MissingParameter, "The request must contain the parameter %s.", name)
}

// refuse returns an Error. Messages quote the sender's input, which may be long and need not be text.
func refuse(kind Kind, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	message = message[:min(len(message), maxMessage)]
	return &Error{kind, strings.ToValidUTF8(message, "\uFFFD")}
}
