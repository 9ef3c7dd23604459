package server

import (
	"context"
	"errors"
	"net"
	"time"
)

// closeMargin is how much longer than its hand-over a node may take to close before it is abandoned.
const closeMargin = 15 * time.Second

// errNodeStuck reports that the node did not close, and that its parts keep running in this process.
var errNodeStuck = errors.New("the node did not close in time; the process ends without it, as after a crash")

// closeNode closes a node within a limited time. Parts of a node belong to a library and may wait forever: with a full
// disk, the log's server waits for a lock that it holds itself. A process that does not end prevents a restart of the
// node. Durable data stays durable, as after a crash.
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

// close closes everything that was opened, in reverse order.
func (s *Server) close() error {
	return errors.Join(s.exposition.close(), s.storage.close(), s.entrance.close())
}

// closeListener closes a listener that may already be closed.
func closeListener(l net.Listener) error {
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
