package front

import (
	"net/http"
	"time"
)

// Limits limit the resources that clients can use.
type Limits struct {
	Header   time.Duration // to send the header
	Read     time.Duration // to send header and body
	Write    time.Duration // from the end of the header to the end of the answer
	Idle     time.Duration // between two requests
	Memory   int64         // bytes, for the received parts of the requests in progress
	Wait     time.Duration // how long a request waits for such memory
	Requests int           // simultaneous requests of an account that is alone
}

// DefaultLimits returns the limits of a server that accepts this many connections.
//
// The longest answer, to a long poll, takes 20 seconds to begin.
//
// The memory holds a hundred messages of the largest size at a time. On a fast network a body of that size is in memory
// for milliseconds, so more than that come from slow or hostile clients. Live memory counts fourfold, because the heap
// grows to that before it is collected.
//
// A connection of HTTP/1.1 has one request in progress, so the bound on requests concerns only HTTP/2.
func DefaultLimits(connections int) Limits {
	return Limits{
		Header: 10 * time.Second, Read: 60 * time.Second, Write: 120 * time.Second, Idle: 120 * time.Second,
		Memory: 128 << 20, Wait: 5 * time.Second, Requests: max(connections, minRequests),
	}
}

const (
	// MaxHeader is the maximum size of a header in bytes.
	MaxHeader = 64 << 10
	// maxFields is the maximum number of fields in a header. An SDK sends about 15. Each field takes a hundred bytes of
	// memory, however short it is, so a header of thousands would take a megabyte until its request ends.
	maxFields = 200
	// MaxBody is the maximum size of a request in bytes: in JSON, a batch of 1 MiB of text in which every byte is
	// escaped takes six times as much.
	MaxBody = 8 << 20
	// minRequests is the minimum limit of simultaneous requests, so that a server with few connections can be used over
	// HTTP/2.
	minRequests = 256
)

// fieldsOf returns the number of fields in a header. A name counts as often as it has values.
func fieldsOf(h http.Header) (n int) {
	for _, values := range h {
		if n += len(values); n > maxFields {
			return n
		}
	}
	return n
}

// lingerFor is how long a client whose header was refused may continue to send, so that it reads the answer instead of
// a broken connection. The header is in memory until then.
const lingerFor = 500 * time.Millisecond

// refuseFields refuses a header with too many fields, as net/http refuses one with too many bytes.
func refuseFields(w http.ResponseWriter) {
	const status = http.StatusRequestHeaderFieldsTooLarge
	w.Header().Set("Connection", "close")
	http.Error(w, http.StatusText(status), status)
	control := http.NewResponseController(w)
	_ = control.Flush() // a client that has left needs no answer
	_ = control.SetReadDeadline(time.Now().Add(lingerFor))
}

// HTTP/2 carries many requests on one connection. Clients that need more open more connections.
const (
	maxStreams = 16
	// The maximum of unread bytes per connection and per request: a request waits for memory.
	maxUnreadConn   = 128 << 10
	maxUnreadStream = 64 << 10
)
