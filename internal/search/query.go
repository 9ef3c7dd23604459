package search

import "slices"

const (
	// MaxLength is how many bytes a filter may have.
	MaxLength = 1024
	maxTerms  = 32
	maxSteps  = 16 // of a path
)

// Item is a message as a filter sees it. Its texts are only read.
type Item struct {
	Body       []byte
	Attributes []Attribute
	ID         []byte // as text
	Group      []byte
	Dedup      []byte
	Sender     []byte
	Source     []byte // ARN of the queue whose dead letter it is
	Sent       int64  // in milliseconds since 1970, as all times
	First      int64  // when it was first received; 0: never
	Now        int64
	Count      uint64 // of receives
	Size       int

	// These cache what Match learns of the body, which does not change any more.
	document    document
	hasDecoded  bool
	decodedBody []byte
}

// Attribute is a message attribute.
type Attribute struct{ Name, Type, Value []byte }

// Query is a filter that was parsed. It may be used by several goroutines. The nil Query finds every message.
type Query struct{ terms []term }

type term struct {
	not            bool
	readsBody      bool
	readsAttribute bool // and not the body
	holds          func(*Item) bool
}

// Match reports whether the message is one of those looked for.
func (q *Query) Match(m *Item) bool {
	if q == nil {
		return true
	}
	for _, t := range q.terms {
		if t.holds(m) == t.not {
			return false
		}
	}
	return true
}

// ReadsBody reports whether the answer depends on the bodies of messages.
func (q *Query) ReadsBody() bool {
	return q != nil && slices.ContainsFunc(q.terms, func(t term) bool { return t.readsBody })
}

// ReadsText reports whether the answer depends on the bodies or the attributes of messages.
func (q *Query) ReadsText() bool {
	return q != nil && slices.ContainsFunc(q.terms, func(t term) bool { return t.readsBody || t.readsAttribute })
}
