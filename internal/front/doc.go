// Package front is the HTTP side of the server: it takes a request from a socket to its operation, and the answer back.
//
// A request goes through stages (request.go). Each takes the values of earlier stages and produces one:
//
//	arrive     arrival           the raw request, its id and time, and the client's address
//	read       intake            its body, and the memory that the body has taken
//	recognise  protocol.Request  its protocol and operation
//	identify   identified        the caller, the service and the region
//	decode     the operation's input, from the request's document or form
//	invoke     the operation's output
//	write      outcome           the client's answer, in the protocol that the request came in
//
// The log, the metrics and the span of a request use these values. Only the type request has all of them.
//
// The body is read whole before identify, because a signature covers all of it. In a cluster an operation that changes
// the control store is forwarded to the node that owns it, and a node that lags catches up before it answers that
// something does not exist or is not allowed.
//
// The package limits each client (sizes and times) and all clients together (connections, requests in progress,
// memory). Bytes that were received for a request, or reserved for it, count from its first byte. Clients that have not
// named a known access key get the smaller part.
//
// It is an http.Handler. http1 reads plain requests for services, which are nearly all requests without TLS. net/http
// reads the others: HTTP/2, TLS, the console, and unusual or malformed requests. A handler of plain requests must set
// Content-Length, and must not hijack the connection.
//
// It knows no service: services are values of protocol.Service, and the sign-in of the console is a SignIn that
// the server passes in.
package front
