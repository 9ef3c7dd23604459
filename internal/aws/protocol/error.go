package protocol

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
)

// Error is an error as clients see it. Services define theirs as values of this type.
type Error struct {
	Code string // in the Query protocol and in x-amzn-query-error, "AWS.SimpleQueueService.NonExistentQueue"
	// in JSON, "com.amazonaws.sqs#QueueDoesNotExist"; without "#" the service's ErrorNamespace is put before it
	Type    string
	Status  int
	Message string

	// PlainStatus is the status in JSON and CBOR for clients that do not request the codes of the Query protocol; 0
	// means Status.
	PlainStatus int

	// QueryMessage is the wording of the Query protocol where it differs from Message.
	QueryMessage string

	// Namespace is the namespace of the document in the Query protocol; empty: the service's.
	Namespace string

	// Members is a structure with the error's members in addition to its message, declared like an output; nil: none.
	Members any

	// Detail has more information than AWS returns, such as the position of a mistake in a document. Only the request
	// log has it.
	Detail string

	// Bare errors have no document in the Query protocol, only an empty element named after Type. Front ends return
	// them when they cannot recognise a request.
	Bare bool

	// Absent errors mean that the resource of a request does not exist, although their Status does not show it.
	Absent bool

	// Final errors are of requests that are not served a second time, as others are when they are refused and what that
	// rests on has changed meanwhile: they have counted.
	Final bool
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Fault tells whose fault the error is: "Sender" for statuses below 500, "Receiver" for others.
func (e *Error) Fault() string {
	if e.Status < http.StatusInternalServerError {
		return "Sender"
	}
	return "Receiver"
}

// members returns the structure of further members, and its plan; nil without any.
func (e *Error) members() (*plan, reflect.Value) {
	if e.Members == nil {
		return nil, reflect.Value{}
	}
	v := reflect.ValueOf(e.Members)
	return planOutput(v.Type()), v
}

// AsError returns the *Error in err's chain, or InternalError if there is none: clients get only errors that are meant
// for them.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return InternalError()
}

// coral returns an error of the framework underneath every AWS service, whose JSON types have a namespace of their own.
func coral(shape, code string, status int, format string, args ...any) *Error {
	return &Error{
		Code:    code,
		Type:    coralNamespace + shape,
		Status:  status,
		Message: fmt.Sprintf(format, args...),
	}
}

const (
	coralNamespace   = "com.amazon.coral.service#"
	accessDeniedType = coralNamespace + "AccessDeniedException"
)

// InvalidParameterValue refuses the value of a parameter. The message is the whole text that the client sees.
func InvalidParameterValue(format string, args ...any) *Error {
	return coral("InvalidParameterValueException", "InvalidParameterValue", http.StatusBadRequest, format, args...)
}

// MissingParameter reports that the parameter name, as Query calls it, is required and absent.
func MissingParameter(name string) *Error {
	return coral("MissingRequiredParameterException", "MissingParameter", http.StatusBadRequest,
		"The request must contain the parameter %s.", name)
}

// InvalidParameterCombination refuses parameters that exclude each other.
func InvalidParameterCombination(format string, args ...any) *Error {
	return coral(
		"InvalidParameterCombinationException", "InvalidParameterCombination", http.StatusBadRequest, format, args...,
	)
}

// AccessDenied refuses a caller who may not do this. Its JSON body spells the key of the text "Message".
func AccessDenied(format string, args ...any) *Error {
	return coral("AccessDeniedException", "AccessDenied", http.StatusForbidden, format, args...)
}

// UnrecognizedClient reports an access key that is unknown, deleted or inactive.
func UnrecognizedClient() *Error {
	return coral("UnrecognizedClientException", "InvalidClientTokenId", http.StatusForbidden,
		"The security token included in the request is invalid.")
}

// MissingAuthenticationToken refuses a request that is not signed.
func MissingAuthenticationToken() *Error {
	return coral("MissingAuthenticationTokenException", "MissingAuthenticationToken", http.StatusForbidden,
		"Request is missing Authentication Token")
}

// InvalidSignature reports a signature that does not match, has expired or is scoped wrongly.
func InvalidSignature(format string, args ...any) *Error {
	return coral("InvalidSignatureException", "SignatureDoesNotMatch", http.StatusForbidden, format, args...)
}

// IncompleteSignature reports an Authorization header, or its counterpart among the parameters, that is malformed.
func IncompleteSignature(format string, args ...any) *Error {
	return coral("IncompleteSignatureException", "IncompleteSignature", http.StatusBadRequest, format, args...)
}

// ExpiredToken reports temporary credentials past their time.
func ExpiredToken() *Error {
	return coral("ExpiredTokenException", "ExpiredToken", http.StatusForbidden,
		"The security token included in the request is expired")
}

// RequestExpired reports a request whose Timestamp or Expires parameter is in the past.
func RequestExpired(format string, args ...any) *Error {
	return coral("RequestExpiredException", "RequestExpired", http.StatusBadRequest, format, args...)
}

// UnknownOperation reports an operation that does not exist, or not on this path.
func UnknownOperation(name string) *Error {
	return coral("UnknownOperationException", "InvalidAction", http.StatusBadRequest,
		"The action %.100s is not valid for this endpoint.", name)
}

// noOperation is UnknownOperation in the words of AWS's framework, which belong to no service.
func noOperation(name, version string) *Error {
	e := coral("UnknownOperationException", "InvalidAction", http.StatusBadRequest,
		"Could not find operation %.100s for version %.100s", name, version)
	e.Namespace = "http://webservices.amazon.com/AWSFault/2005-15-09"
	return e
}

// UnsupportedOperation reports an operation that AWS has and this server has not.
func UnsupportedOperation(name string) *Error {
	return coral("UnsupportedOperationException", "UnsupportedOperation", http.StatusBadRequest,
		"The operation %s is not supported by Sluice.", name)
}

// UnknownRequest reports a request in which no protocol names an operation.
func UnknownRequest() *Error {
	e := coral("UnknownOperationException", "UnknownOperationException", http.StatusNotFound,
		"The request does not name an operation.")
	e.Bare = true
	return e
}

// MissingAction reports a Query request without its Action parameter.
func MissingAction() *Error {
	return coral("MissingActionException", "MissingAction", http.StatusBadRequest,
		"The request must contain the parameter Action.")
}

// MalformedVersion reports a Version parameter that is not a date.
func MalformedVersion(version string) *Error {
	return coral("MalformedVersionException", "MalformedVersion", http.StatusBadRequest,
		"The version %.100s is not a date of the form YYYY-MM-DD.", version)
}

// NoSuchVersion reports an API version that does not exist.
func NoSuchVersion(version string) *Error {
	return coral("NoSuchVersionException", "NoSuchVersion", http.StatusBadRequest,
		"The version %.100s does not exist for this web service.", version)
}

// MalformedQueryString reports form parameters that cannot be taken apart.
func MalformedQueryString(format string, args ...any) *Error {
	return coral("MalformedQueryStringException", "MalformedQueryString", http.StatusNotFound, format, args...)
}

// Serialization reports a document that violates the protocol.
func Serialization(format string, args ...any) *Error {
	return coral("SerializationException", "MalformedInput", http.StatusBadRequest, format, args...)
}

// RequestEntityTooLarge reports a body of more than limit bytes.
func RequestEntityTooLarge(limit int64) *Error {
	return coral("RequestEntityTooLargeException", "RequestEntityTooLarge", http.StatusRequestEntityTooLarge,
		"The request must not be longer than %d bytes.", limit)
}

// BodyTooLong reports a body that is longer than the operation allows, in AWS's words.
func BodyTooLong(size, limit int) *Error {
	e := RequestEntityTooLarge(int64(limit))
	e.Message = fmt.Sprintf("Request size %d exceeded %d bytes", size, limit)
	return e
}

// InvalidRequest refuses a request whose form is understood but not supported.
func InvalidRequest(format string, args ...any) *Error {
	return coral("InvalidRequestException", "InvalidRequest", http.StatusBadRequest, format, args...)
}

// MethodNotAllowed reports an HTTP method that no protocol uses.
func MethodNotAllowed(method string) *Error {
	return coral("InvalidHttpRequestException", "InvalidHttpRequest", http.StatusMethodNotAllowed,
		"The HTTP method %s is not supported; use GET or POST.", method)
}

// InternalError reports that the server failed. The reason belongs in the log.
func InternalError() *Error {
	return coral("InternalFailure", "InternalError", http.StatusInternalServerError,
		"We encountered an internal error. Please try again.")
}

// Throttled refuses a request for lack of capacity. AWS's clients retry it.
func Throttled() *Error {
	return &Error{
		Type: "ThrottlingException", Code: "Throttling", Status: http.StatusBadRequest, Message: "Rate exceeded",
	}
}

// ServiceUnavailable reports that the server cannot answer now, and that it is worth trying again.
func ServiceUnavailable() *Error {
	return coral("ServiceUnavailableException", "ServiceUnavailable", http.StatusServiceUnavailable,
		"The service is temporarily unavailable. Please try again.")
}

// shape returns the Type of e without its namespace.
func (e *Error) shape() string {
	return e.Type[strings.IndexByte(e.Type, '#')+1:]
}
