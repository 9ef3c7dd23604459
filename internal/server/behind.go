package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// What a client has changed through one node, it may use through another a moment
// later, where it is not yet known: a queue, a key, a permission. So nobody is told
// that there is no such thing, or that it is not allowed, by a node that is behind.
// It first catches up with the log of the control store, and looks once more; also the
// owner, who may have been paused and not be it any more.

// catchUpTimeout is how long a client waits to be told that something is not there.
const catchUpTimeout = 5 * time.Second

// behind reports whether a request that was refused with err should be tried once
// more, because of what this node has learnt since the request began. If it cannot
// find out whether it is behind, the error is what the client is to be told.
func (x *exchange) behind(err error) (again bool, _ error) {
	if x.server.node == nil || x.forwarded || x.lookedAgain || !service.SaysAbsent(protocol.AsError(err)) {
		return false, err
	}
	x.lookedAgain = true
	ctx, cancel := context.WithTimeout(x.r.Context(), catchUpTimeout)
	defer cancel()
	if caught := x.server.node.CatchUp(ctx); caught != nil {
		return false, errors.Join(protocol.ServiceUnavailable(), fmt.Errorf("catch up with the control store: %w", caught))
	}
	return x.server.control.Version() != x.version, err
}

// cutOff returns an error if this node may have missed for too long what was changed
// elsewhere: what was allowed when it last heard of the others need not be
// allowed now. How the cluster is, as far as it knows, it tells the root all the same, who needs no policy.
func (x *exchange) cutOff() error {
	if x.server.node == nil || x.forwarded || x.service.Name == admin.ServiceName && x.caller.Root {
		return nil
	}
	if err := x.server.node.Current(); err != nil {
		return errors.Join(protocol.ServiceUnavailable(), err)
	}
	return nil
}
