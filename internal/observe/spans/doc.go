// Package spans sends traces to an OpenTelemetry collector: a span for each request, and spans for the life of a
// message between its send and its delete, as children of the span in which the producer has sent it.
//
//	producer:    SendMessage ──┐
//	this server:               ├─ queued ─────┐
//	                           │              ├─ in flight ──────┐ the visibility timeout ends
//	                           │              │                  ├─ redelivered ─┐
//	                           │              │                  │               ├─ in flight ── deleted
//
// It guarantees that no request waits for the collector: spans go into a queue of a bounded length, from which they are
// sent in batches, and further spans are dropped while it is full. Spans hold no message bodies, attributes of
// messages, receipt handles, tokens or keys.
//
// A producer names its trace in the message's AWSTraceHeader, or in the message attribute traceparent, as the
// instrumentations of OpenTelemetry do; a request names its own in the header traceparent or X-Amzn-Trace-Id. If the
// origin of a trace does not sample it, there are no spans. Where the X-Ray header leaves that open, and for requests
// without a trace, the sampler of the server decides.
//
// The state of messages in flight is in memory, on the node that owns their shard, and for a bounded number of
// messages. When another node becomes the owner, the spans of messages that are in flight then are missing.
package spans
