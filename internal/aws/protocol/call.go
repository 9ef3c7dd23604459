package protocol

import "context"

// Kind is the protocol of a request, and so of its answer.
type Kind uint8

const (
	// Query is form parameters in, XML out. It is the zero Kind because it also answers requests that could not be
	// recognised as anything.
	Query Kind = iota
	// JSON is AWS JSON 1.0 or 1.1.
	JSON
	// CBOR is Smithy's RPC v2 with bodies in CBOR.
	CBOR
)

func (k Kind) String() string {
	switch k {
	case JSON:
		return "json"
	case CBOR:
		return "cbor"
	}
	return "query"
}

// NamesService reports whether requests of that protocol name their service, in Request.Target.
func (k Kind) NamesService() bool { return k != Query }

// Call holds the facts about a request that a handler gets in addition to the input. The HTTP layer fills it; a handler
// must not keep or change it.
type Call struct {
	Service   string // SigV4 name of the service, "sqs"
	Operation string
	RequestID string // sent to the client as x-amzn-RequestId
	Kind      Kind
	Version   string // API version the answer is written in; empty for JSON and CBOR
	Path      string // decoded URL path as sent; handlers find the queue of a Query request here

	Region    string // AWS region of the request, from its credential scope or its host
	Host      string // as the client addressed us, for URLs in answers
	Scheme    string // http or https, likewise
	TLS       bool   // the request came encrypted, to this server or to a proxy that it trusts
	SourceIP  string // of the client, which may be behind such a proxy
	UserAgent string
	TraceID   string // X-Amzn-Trace-Id, empty if not sent

	Identity any // pointer to who is calling, as established by the authentication layer; nil if anonymous

	About *About // the subject of the call, for the record of calls; nil if the call is not recorded
	Notes *Notes // the handler's additions to the request log; nil if the request is not logged

	// Page is what a person gets whose browser has followed a link, in the place of the answer. An operation that links
	// lead to sets it, also before it fails.
	Page *Page

	undelivered func(context.Context)
}

// Page is an answer for a person, in plain text.
type Page struct {
	Title  string
	Text   []string // paragraphs
	Link   string   // where the person may want to go from here; empty: nowhere
	LinkTo string   // text of the link
}

// About is the resource that a call is about: the first that its caller had to have permission for.
type About struct {
	ARN   string // empty if it is about none
	Owner string // account that the resource belongs to
	// By is the caller of a request that is not signed, as an identity provider identifies it; nil for others.
	By *Vouched
}

// Vouched is a caller that an identity provider vouches for.
type Vouched struct {
	Provider string // ARN of the provider
	ClientID string // audience of the token
	Subject  string // subject of the token
}

// IfUndelivered arranges a call of f if the answer cannot be delivered, because the client has left. A handler uses it
// to revert deliveries that are lost with the answer.
func (c *Call) IfUndelivered(f func(context.Context)) { c.undelivered = f }

// NeedsDelivery reports whether the handler takes something back if the client does not get the answer.
func (c *Call) NeedsDelivery() bool { return c.undelivered != nil }

// Undelivered notifies the handler that its answer did not reach the client.
func (c *Call) Undelivered(ctx context.Context) {
	if c.undelivered != nil {
		c.undelivered(ctx)
	}
}
