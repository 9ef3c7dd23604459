package tenant

import "slices"

// Kind is what a limit is about.
type Kind int

// The kinds of limits.
const (
	Sends         Kind = iota // messages sent or published in a second
	Receives                  // messages received in a second
	Requests                  // under way at a time, long polls included
	Messages                  // stored in all queues together
	Bytes                     // of these messages: bodies and attributes
	Queues                    // in all regions together, as the following
	Topics                    //
	Subscriptions             //
	Kinds         = iota
)

// rates is how many kinds are rates; they come first.
const rates = int(Receives) + 1

// names are what operations, files and metrics call the kinds.
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

// OfUsers reports whether users can have such a limit of their own.
func (k Kind) OfUsers() bool { return k <= Requests }

// MaxLimit is the highest limit of any kind: 1 PiB, if it is of bytes.
const MaxLimit = 1 << 50

// Least is the lowest limit of the kind. A limit of 0 lets nothing in. One request may always be under way, so that
// an operator who has limited their own account can take that back.
func (k Kind) Least() int64 {
	if k == Requests {
		return 1
	}
	return 0
}
