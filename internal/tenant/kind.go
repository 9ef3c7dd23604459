package tenant

import "slices"

// Kind is the kind of a limit.
type Kind int

// The kinds of limits.
const (
	Sends         Kind = iota // messages sent or published per second
	Receives                  // messages received per second
	Requests                  // simultaneous requests, including long polls
	Messages                  // stored in all queues together
	Bytes                     // of these messages: bodies and attributes
	Queues                    // in all regions together, like the following
	Topics                    //
	Subscriptions             //
	Kinds         = iota
)

// rates is how many kinds are rates; they come first.
const rates = int(Receives) + 1

// names are the names of the kinds in operations, files and metrics.
var names = [Kinds]string{
	"SendsPerSecond", "ReceivesPerSecond", "ConcurrentRequests", "StoredMessages", "StoredBytes",
	"Queues", "Topics", "Subscriptions",
}

// String returns the name of the kind, such as SendsPerSecond.
func (k Kind) String() string { return names[k] }

// ParseKind returns the kind of that name.
func ParseKind(name string) (k Kind, ok bool) {
	i := slices.Index(names[:], name)
	return Kind(max(i, 0)), i >= 0
}

// Names returns the names of all kinds, in order.
func Names() []string { return slices.Clone(names[:]) }

// OfUsers reports whether users can have their own limit of the kind.
func (k Kind) OfUsers() bool { return k <= Requests }

// MaxLimit is the maximum of a limit of any kind: 1 PiB for bytes.
const MaxLimit = 1 << 50

// Unit returns what a limit of stored data counts: messages or bytes.
func (k Kind) Unit() string {
	if k == Bytes {
		return "bytes"
	}
	return "messages"
}

// Least is the minimum limit of the kind. A limit of 0 admits nothing. One request is always admitted, so that
// operators who have limited their own account can undo that.
func (k Kind) Least() int64 {
	if k == Requests {
		return 1
	}
	return 0
}
