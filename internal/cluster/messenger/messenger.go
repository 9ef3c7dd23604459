// Package messenger carries requests between the nodes of a cluster: a request to a node by its name, of a kind that
// the node handles, and one answer. Senders and handlers agree on the meaning of the bytes.
//
// A request is executed at most once. When it fails, the important question is whether it may still have been executed:
// ErrNotTaken states that it was not. A messenger never sends a request twice.
package messenger

import (
	"context"
	"errors"
)

// MaxPayload is the longest request or answer, in bytes.
const MaxPayload = 12 << 20

// ErrNotTaken reports that certainly nothing was executed: the node is absent, does not handle that kind, or has too
// many requests. It is safe to ask again, or to ask another node.
var ErrNotTaken = errors.New("no node took the request")

// Messenger sends requests to nodes and handles those sent to its own. Its methods are safe for concurrent use.
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

// Failure is the error of a handler in the form that its caller sees. A handler that returns one, wrapped or not,
// chooses the code.
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
