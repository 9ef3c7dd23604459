// Package server assembles Sluice from its parts, and starts and stops them in order.
//
// The Server is an assembly of wings. A wing is a small struct with all parts of one concern:
//
//	peers           requests from other nodes of a cluster, and messages to them
//	entrance        the address for clients, and the front behind it
//	exposition      metrics for Prometheus, on a separate address
//	storage         the disk, the node with its stores, the catalog, the messages
//	accounts        keys, users, sessions, limits; IAM and STS
//	topics          the records of topics, their signing keys, delivery to endpoints; SNS
//	monitoring      metrics minute by minute, and alarms; CloudWatch
//	audit           the record of calls, and its delivery to buckets; CloudTrail
//	queues          consumers and unused queues; SQS
//	administration  the status of the server, and backups; Sluice's own operations
//	console         the pages of the console, and sign-in
//
// A wing depends only on the wings that its constructor takes: only the Server knows all wings, and no wing knows the
// Server. A start has three steps, which are methods of the Server:
//
//	open      opens external resources: addresses, the disk, the node
//	read      reads the records of the control store; then messages are served
//	assemble  creates the services, and the front that calls them
//
// A wing may take part in more than one step. The comment on a field names the step that sets it.
//
// A wing may also have:
//
//	newX(…) *protocol.Service   a service, which Server.services lists
//	Run(ctx) error              loops, until ctx ends; Server.runners lists the wing
//	measure(m)                  metrics; Server.measured lists the wing
//	close() error               releases resources; close.go calls it in reverse order
//
// The server stops in this order: the loops end, long polls are answered, no new requests are accepted, requests in
// progress end, the last events are written, and the stores are closed. Steps that may hang have time limits.
//
// The package makes no decisions about queues, and knows no requests.
package server
