package service

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/store"
)

// Empty is the input or output of an operation that has none.
type Empty struct{}

// Modelled returns an error of the service's model: shape is its name there, which JSON shows, code its name in the
// Query protocol.
func Modelled(shape, code string, status int, format string, args ...any) *protocol.Error {
	return &protocol.Error{Type: shape, Code: code, Status: status, Message: fmt.Sprintf(format, args...)}
}

// Unavailable is ServiceUnavailable with a reason for the client.
func Unavailable(reason string, cause error) error {
	e := protocol.ServiceUnavailable()
	e.Message = reason
	return errors.Join(e, cause)
}

var errTooEarly = errors.New("not all nodes of the cluster read it yet")

// TooEarly is Unavailable for a feature that waits until all nodes of the cluster can read its data. cause names the
// node that cannot.
func TooEarly(sentence string, cause error) error {
	return Unavailable(fmt.Sprintf("%s: %v.", sentence, cause), errors.Join(errTooEarly, cause))
}

// IsTooEarly reports whether an error comes from TooEarly: the server itself has no problem.
func IsTooEarly(err error) bool { return errors.Is(err, errTooEarly) }

// Sealed returns the answer to a client whose queue is about to be deleted because it was unused, or to be opened
// again.
func Sealed(cause error) error {
	return Unavailable(
		"The queue was not used for long, and is about to be deleted. Try again in a moment, to see whether it is still there.",
		cause,
	)
}

// Failure translates errors of storage that do not concern the request into the client's answer. It returns other
// errors unchanged.
func Failure(err error) error {
	if stuck, ok := errors.AsType[*store.BlockedError](err); ok {
		return Unavailable("The disk of the server cannot be written: "+stuck.Reason+". Please try again later.", err)
	}
	return err
}

var errNoRoom = errors.New("there is no room")

// NoRoom refuses a request that would add data. reason is a sentence for the client.
func NoRoom(reason error) error { return Unavailable(reason.Error(), errNoRoom) }

// OfTheDisk reports whether a request was refused because of the state of the disk, which is logged once and not for
// each request.
func OfTheDisk(err error) bool {
	_, stuck := errors.AsType[*store.BlockedError](err)
	return stuck || errors.Is(err, errNoRoom)
}

// SaysAbsent reports whether an error means that something does not exist, or that the client has no permission for it.
// A node that lags may be wrong about both, so it checks again.
func SaysAbsent(e *protocol.Error) bool {
	return !e.Final && (e.Absent || e.Status == http.StatusForbidden || e.Status == http.StatusNotFound)
}
