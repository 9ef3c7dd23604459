package server

import (
	"context"
	"errors"
	"net"
	"time"
)

// closeMargin is how much longer than its hand-over a node may take to close, before it is given up.
const closeMargin = 15 * time.Second

// errNodeStuck says that the node did not close, and that its parts go on in this process.
var errNodeStuck = errors.New("the node did not close in time; the process ends without it, as after a crash")

// closeNode closes a node within a bounded time. Parts of a node are a library's, which may wait for ever: the log's
// server, when its disk was full, for a lock that it holds itself. A process that does not end keeps the node from
// starting anew. Durable data stays durable, as after a crash.
func closeNode(node interface{ Close(context.Context) error }) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- node.Close(ctx) }()
	select {
	case err := <-closed:
		return err
	case <-time.After(stopTimeout + closeMargin):
		return errNodeStuck
	}
}

// close closes what has been opened, in reverse order.
func (s *Server) close() error {
	return errors.Join(s.exposition.close(), s.storage.close(), s.entrance.close())
}

// closeListener closes a listener that may be closed already.
func closeListener(l net.Listener) error {
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
