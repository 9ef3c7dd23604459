package jetstream

import (
	_ "unsafe" // for go:linkname

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// A server in this process has copies of logs, which the code below reads directly. Requests for records by message go
// to a random copy, so most of them cross the network. Requests to a node that has just been cut off are lost, because
// NATS takes a while to notice.
//
// NATS exports no access to a stream's messages. The code links to the functions that answer such requests.
// TestBorrowedNames, in the root of the project, fails if a version of NATS has different functions.

// stream is NATS's type of that name.
type stream struct{}

//go:linkname lookupStream github.com/nats-io/nats-server/v2/server.(*Account).lookupStream
func lookupStream(a *natsserver.Account, name string) (*stream, error)

//go:linkname getMsg github.com/nats-io/nats-server/v2/server.(*stream).getMsg
func getMsg(s *stream, sequence uint64) (*natsserver.StoredMsg, error)

// records returns the records of a stream from a position on that this server has, within the limits of one read, and
// whether it may have more. They are committed: a server stores a message after a majority has it, or copies it from a
// server that has stored it. kept is false if the server keeps no copy of the stream.
func (s *Server) records(name string, from sharedlog.Position) (out []sharedlog.Record, more, kept bool) {
	if s == nil {
		return nil, false, false
	}
	account, err := s.inner.LookupAccount(dataAcct)
	if err != nil {
		return nil, false, false
	}
	copied, err := lookupStream(account, name)
	if err != nil {
		return nil, false, false
	}
	for size := 0; size < readAtOnce && len(out) < recordsAtOnce; from++ {
		m, err := getMsg(copied, uint64(from))
		if err != nil { // the end, or a record that is being copied to this server
			return out, false, true
		}
		out = append(out, sharedlog.Record{Position: from, Data: m.Data})
		size += len(m.Data)
	}
	return out, true, true
}
