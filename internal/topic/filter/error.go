package filter

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/topic/jackson"
)

// Error describes a mistake in a policy. SNS puts its text behind "Invalid parameter: ".
type Error struct {
	Reason string // without place
	Place  string // behind what was read when the mistake was seen; empty if it is not in one place of the text
}

func (e *Error) Error() string {
	if e.Place == "" {
		return e.Reason
	}
	return e.Reason + "\n at " + e.Place
}

// overLimit returns an Error about the policy as a whole.
func overLimit(reason string) *Error { return &Error{Reason: "FilterPolicy: " + reason} }

// errorAt returns an Error about the place at byte offset.
func errorAt(source string, offset int, format string, args ...any) *Error {
	return &Error{Reason: "FilterPolicy: " + fmt.Sprintf(format, args...), Place: jackson.Place(source, offset)}
}
