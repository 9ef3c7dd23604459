package protocol

import (
	"log/slog"
	"slices"
)

// Notes are a handler's additions to its request's line in the request log: the queue or user of the request, the
// number of received messages. A call whose request is not logged has a nil *Notes, which keeps nothing.
//
// Notes hold no secrets, no message bodies, and only a bounded part of a client's texts.
type Notes struct{ attrs []slog.Attr }

// maxNoteBytes is the maximum length of a note: that of an ARN of IAM with its path.
const maxNoteBytes = 1024

// Wanted reports whether notes are kept. A handler asks when a note is expensive to make.
func (n *Notes) Wanted() bool { return n != nil }

// Set adds a note, or replaces the one that has this key: a handler may run twice for a request.
func (n *Notes) Set(key string, value any) {
	if n == nil {
		return
	}
	if text, ok := value.(string); ok {
		value = Shorten(text, maxNoteBytes)
	}
	attr := slog.Any(key, value)
	if i := slices.IndexFunc(n.attrs, func(a slog.Attr) bool { return a.Key == key }); i >= 0 {
		n.attrs[i] = attr
		return
	}
	n.attrs = append(n.attrs, attr)
}

// Attrs returns the notes in the order in which they were first set.
func (n *Notes) Attrs() []slog.Attr {
	if n == nil {
		return nil
	}
	return n.attrs
}
