// Package server builds Sluice out of its parts, starts and stops them in order.
//
// The Server is an assembly of wings. A wing is a small struct that has what belongs to one concern:
//
//	peers           what other nodes of a cluster ask of this server, and what it sends them
//	entrance        the address that clients connect to, and the front behind it
//	exposition      metrics for Prometheus, on an address of their own
//	storage         the disk, the node with its stores, the catalog, the messages
//	accounts        keys, users, sessions, limits; IAM and STS
//	topics          the records of topics, the keys that sign, the way to endpoints; SNS
//	monitoring      metrics minute by minute and alarms; CloudWatch
//	audit           the record of calls and its way to buckets; CloudTrail
//	queues          who receives, and which queues are unused; SQS
//	administration  how the server stands, and backups; our own operations
//	console         the pages of the console, and signing in
//
// A wing depends on the wings that its constructor was given, and on no other: only the Server knows all, and no wing
// knows the Server. A start goes three steps, which are methods of the Server:
//
//	open      addresses, the disk, the node: what is outside and may not be there
//	read      the records of the control store; then messages are served
//	assemble  the services, and the front that answers clients by them
//
// A wing may take part in more than one step. Its comment on a field says from when on the field is set.
//
// A wing may also have:
//
//	newX(…) *protocol.Service   a service, which Server.services lists
//	Run(ctx) error              loops, until ctx ends; Server.runners lists the wing
//	measure(m)                  metrics; Server.measured lists the wing
//	close() error               what is given back, called in reverse order in close.go
//
// The server stops in this order: the loops end, long polls are answered, no new requests come in, requests under way
// end, the last events are written, and the stores are closed. The steps that may hang have time limits.
//
// The package decides nothing about queues, and knows no request.
package server
