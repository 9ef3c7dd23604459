// Package messenger is how the nodes of a cluster ask each other for something: a request to a node by its name, of a
// kind that the node handles, and one answer. Senders and handlers agree on what the bytes mean.
//
// A request is executed at most once. When it fails, the one question that
// matters is whether it may have been executed all the same: ErrNotTaken says that
// it was not. Nothing is ever sent a second time here.
package messenger

import (
	"context"
	"errors"
)

// MaxPayload is the longest request or answer, in bytes.
const MaxPayload = 12 << 20

// ErrNotTaken says that it is certain that nothing was executed: the node is not
// there, handles nothing of that kind, or took nothing more because it has too
// many requests in hand. To ask again, or another node, is safe.
var ErrNotTaken = errors.New("no node took the request")

// Messenger sends requests to nodes and handles those that are sent to its own.
// Its methods may be called from any goroutine.
type Messenger interface {
	// Request sends a request to a node, its own node included, and returns the
	// answer of the handler. The error is one of:
	//
	//   - one that is ErrNotTaken: nothing was executed;
	//   - a *Failure: the handler was executed and returned an error;
	//   - any other, that of ctx among them: the handler may have been executed, may
	//     still be running, or may yet run.
	//
	// The payload may be used again when Request has returned.
	Request(ctx context.Context, node, kind string, payload []byte) ([]byte, error)

	// Handle calls f for each request of a kind that comes in from now on, each in
	// its own goroutine. The context has the deadline of the caller's and ends
	// when the caller no longer waits. Handle is called once for a kind; f may keep
	// the payload.
	//
	// An error of f reaches the caller as a *Failure. Errors which the caller has to
	// tell from one another, or which carry more than a text, belong into
	// the answer.
	Handle(kind string, f Handler)
}

// Handler answers one request.
type Handler = func(ctx context.Context, payload []byte) ([]byte, error)

// Failure is the error of a handler as its caller sees it. A handler that
// returns one, wrapped or not, chooses the code.
type Failure struct {
	Code string // for programs; empty if the handler gave none
	Text string
}

func (f *Failure) Error() string { return f.Text }

// FailureOf makes a Failure of a handler's error.
func FailureOf(err error) *Failure {
	out := &Failure{Text: err.Error()}
	if f, ok := errors.AsType[*Failure](err); ok {
		out.Code = f.Code
	}
	return out
}
