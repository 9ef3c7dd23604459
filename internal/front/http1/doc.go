// Package http1 answers plain HTTP/1.1 requests with less work than net/http, and leaves all others to net/http.
//
// # What is guaranteed
//
//   - A request is plain if it has the form that AWS's SDKs send (head.go): POST, HTTP/1.1, a target that begins with a
//     slash, one Host, one Content-Length, printable ASCII, a head of at most 8 KiB and a hundred headers, and none that
//     changes the framing of the message or the fate of its connection. http.ReadRequest gives the same result for it;
//     FuzzHead compares the two.
//   - From the first request that is not plain, net/http serves the connection. It gets every byte that was not part of
//     an answered request, and so decides alone what is malformed. This package refuses nothing itself.
//   - A connection has the limits that its http.Server has: ReadHeaderTimeout, ReadTimeout, WriteTimeout, IdleTimeout.
//     Shutdown, Close and SetKeepAlivesEnabled work as in an http.Server, and cover the connections of both.
//   - A handler sees what it would see from net/http: the same Request, a context that ends when the client leaves and
//     when the handler returns, answers with the same headers, and the same fate of panics.
//
// # A connection
//
//	         ┌──────────────────────── next request ────────────────────────┐
//	         ▼                                                              │
//	accept ─► fresh/idle ──whole head, plain──► active: handler ──► answer ─┘
//	              │                                                  │
//	              └──anything else──► net/http                       └──Connection: close, stopping, failed──► end
//
// One goroutine serves a connection. Except for the watch (below), it alone reads and writes. The state is atomic: to
// close a connection that waits, the server moves it from fresh or idle to closed; to begin a request the connection
// moves itself from there to active. Only one of them succeeds.
//
// # Where the time goes
//
// net/http starts a goroutine for each request that reads from the connection, to learn that the client has left, and
// interrupts it by a deadline in the past when the request is over. It sets eight deadlines a request, and copies the
// answer and its header twice. Here:
//
//   - The watch (watch.go) begins only when a request has lasted for watchAfter. If a request ends sooner, and the
//     handler checks the error of Flush, one non-blocking read detects whether the client is still connected, just
//     before the answer is written. On Linux one goroutine watches for all requests (departures_linux.go), so a long
//     poll has one goroutine and not two. One timer begins all watches of a server (patience.go).
//   - A deadline is set before an operation that may block on it, not for bytes that have already arrived, and not if the
//     last one is nearly as late. So a busy connection sets two deadlines a second, not two a request.
//   - The answer is one write, of one buffer, or of a buffer and a long body.
//   - The buffer for requests is taken when bytes have come and given back when the body was read. A connection that is
//     idle, or whose request waits, has none.
//
// # Tried and left out
//
// Names and values as parts of one text of the head: a value that is kept, such as a key's id, would keep the head.
//
// Letting other goroutines run before a connection looks for its next request, which then often has come: a call reads
// a tenth less often, but takes as much processor time.
package http1
