package policy

import "fmt"

// Fault is the kind of mistake that an Error is about.
type Fault uint8

const (
	// Syntax: the text is not JSON (RFC 8259).
	Syntax Fault = iota + 1
	// Grammar: it is JSON, and not a policy.
	Grammar
	// ProhibitedElement: this use of policies does not allow the element.
	ProhibitedElement
	// BadPrincipal: it is not the name of a caller.
	BadPrincipal
	// NoPrincipal: a statement of a trust policy without principals.
	NoPrincipal
	// NoAction: a statement without actions.
	NoAction
	// NoResource: a statement without resources.
	NoResource
	// BadResource: neither an ARN nor *, or not what the policy is set on.
	BadResource
	// BadARN: it begins like an ARN and is invalid.
	BadARN
	// LeadingSpace: the document begins with white space.
	LeadingSpace
	// NoVendor: an action or a condition key without its service's prefix.
	NoVendor
	// BadVendor: a prefix of an action that no service can have.
	BadVendor
	// ManyColons: an action with more than one colon.
	ManyColons
	// BadSid: a Sid with other characters than letters and digits.
	BadSid
	// DuplicateSid: two statements of the same Sid.
	DuplicateSid
	// BadVersion: the language has no such version.
	BadVersion
	// UnknownAction: the service has no action with that name.
	UnknownAction
	// BadValue: a condition's operator cannot read it.
	BadValue
	// OldVersion: the version is older than this use of policies allows.
	OldVersion
	// OverLimit: too much of something.
	OverLimit
	// MissingParameter: Reason is the name of what a Permission lacks.
	MissingParameter
	// InvalidParameter: a Permission's parameter is not acceptable.
	InvalidParameter
)

// Error is a mistake in a policy, with its position.
type Error struct {
	Fault  Fault
	Line   int    // from 1; 0 if the mistake is not in one place of the text
	Column int    // in characters, from 1
	Reason string // for people; of OverLimit and InvalidParameter the very sentence that SQS says

	principal string // of BadPrincipal, the kind and the name where there is one, as IAM shows them
	sentence  string // of BadPrincipal, what IAM says in place of the principal
	vendor    string // of BadVendor
	use       Use    // of a Syntax, for what the text was read
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// Stranger reports whether the mistake is the name of a principal that cannot exist.
func (e *Error) Stranger() bool { return e.Fault == BadPrincipal && e.principal != "" }

// IAM returns the sentence with which IAM and STS refuse such a document, for
// clients that compare it. Error says where and why.
func (e *Error) IAM() string {
	switch e.Fault {
	case Syntax:
		if e.use != ForIdentity { // of whose documents IAM says less
			return "This policy contains invalid Json"
		}
	case ProhibitedElement, BadResource, OldVersion, OverLimit:
		return e.Reason
	case BadPrincipal:
		if e.sentence != "" {
			return e.sentence
		}
		if e.principal != "" {
			return "Invalid principal in policy: " + e.principal
		}
		return "Invalid principal in policy."
	case NoPrincipal:
		return "Missing required field Principal"
	case NoAction:
		return "Policy statement must contain actions."
	case UnknownAction:
		return "AssumeRole policy may only specify STS AssumeRole actions."
	case NoResource:
		return "Policy statement must contain resources."
	case LeadingSpace:
		if e.use == ForTrust { // of whose documents IAM says more
			return "JSON strings must not have leading spaces"
		}
		return "The policy failed legacy parsing"
	case BadARN:
		return "The policy failed legacy parsing"
	case NoVendor:
		return "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc."
	case BadVendor:
		return "Vendor " + e.vendor + " is not valid"
	case ManyColons:
		return "Actions/Condition can contain only one colon."
	case BadSid:
		return "Statement IDs (SID) must be alpha-numeric. Check that your input satisfies the regular expression [0-9A-Za-z]*"
	case DuplicateSid:
		return "Statement IDs (SID) in a single policy must be unique."
	case BadVersion:
		return "The policy must contain a valid version string"
	}
	return "Syntax errors in policy."
}

// fault makes an Error about the text as a whole.
func fault(f Fault, format string, args ...any) *Error {
	return &Error{Fault: f, Reason: fmt.Sprintf(format, quoteAll(args)...)}
}
