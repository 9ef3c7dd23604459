package search

import "slices"

const (
	// MaxLength is the maximum size of a filter in bytes.
	MaxLength = 1024
	maxTerms  = 32
	maxSteps  = 16 // of a path
)

// Item is a message in the form for filters. Its texts are only read.
type Item struct {
	Body       []byte
	Attributes []Attribute
	ID         []byte // as text
	Group      []byte
	Dedup      []byte
	Sender     []byte
	Source     []byte // ARN of the source queue of a dead letter
	Sent       int64  // in milliseconds since 1970, as are all times
	First      int64  // when it was first received; 0: never
	Now        int64
	Count      uint64 // of receives
	Size       int

	// These cache what Match learns about the body, which must not change afterwards.
	document    document
	hasDecoded  bool
	decodedBody []byte
}

// Attribute is a message attribute.
type Attribute struct{ Name, Type, Value []byte }

// Query is a parsed filter. It is safe for concurrent use. A nil Query selects every message.
type Query struct{ terms []term }

type term struct {
	not            bool
	readsBody      bool
	readsAttribute bool // and not the body
	holds          func(*Item) bool
}

// Match reports whether the query selects the message.
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

// ReadsBody reports whether the result depends on the bodies of messages.
func (q *Query) ReadsBody() bool {
	return q != nil && slices.ContainsFunc(q.terms, func(t term) bool { return t.readsBody })
}

// ReadsText reports whether the result depends on the bodies or the attributes of messages.
func (q *Query) ReadsText() bool {
	return q != nil && slices.ContainsFunc(q.terms, func(t term) bool { return t.readsBody || t.readsAttribute })
}
