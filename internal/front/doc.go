// Package front is the HTTP side of the server: it takes a request from a socket to its operation, and the answer back.
//
// A request goes through stages (request.go). Each takes the values of the stages before it and leaves one:
//
//	arrive     arrival           the request as it has come, its id, its time, and where its client is
//	read       intake            its body, and the memory that the body has taken
//	recognise  protocol.Request  its protocol and operation
//	identify   identified        who has signed it, and which service and region are meant
//	decode     the operation's input, from the request's document or form
//	invoke     the operation's output
//	write      outcome           the client's answer, in the protocol that the request came in
//
// The log, the metrics and the span of a request are made of these values. A type request holds them together; it is
// the only one that sees them all.
//
// Before that the body is read whole, because a signature covers all of it. In a cluster an operation that changes the
// control store is relayed to the node that owns it, and a node that lags catches up before it says that something does
// not exist or is not allowed.
//
// The package bounds what one client can take (sizes and times) and what all clients can take together (connections,
// requests under way, memory). Everything that has come of a request, or was reserved for it, counts from its first
// byte, and clients that have not named a known access key get the smaller part.
//
// It is an http.Handler. http1 reads the plain requests for services, which are nearly all without TLS. net/http reads
// the others: HTTP/2, TLS, the console, and all that is unusual or malformed. A handler of plain requests must set
// Content-Length, and must not take the connection over.
//
// It knows no service: services are values of protocol.Service, and the sign-in of the console is a SignIn that is
// handed in.
package front
