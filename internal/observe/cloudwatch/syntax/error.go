package syntax

import "fmt"

// Error is the reason why a text cannot be parsed, or the parsed text cannot be evaluated.
type Error struct {
	Position int // of the character at fault, from 1; 0 if it is no one character's
	Message  string
	AWS      string // what AWS says, which is less; empty if that is not known
	within   string
}

// NewError returns an error at a position.
func NewError(position int, format string, args ...any) *Error {
	return &Error{Position: position, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string {
	switch {
	case e.Position == 0:
		return e.Message
	case e.within == "":
		return fmt.Sprintf("%s at character %d", e.Message, e.Position)
	}
	return fmt.Sprintf("%s at character %d %s", e.Message, e.Position, e.within)
}
