package front

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// catchUpTimeout is how long a client waits for the answer that something does not exist.
const catchUpTimeout = 5 * time.Second

// retryIfBehind runs do, which serves a part of the request. A node that lags must not answer that something does not
// exist or is not allowed: the queue, the key or the permission may have been made through another node a moment ago.
// Before it does, it catches up with the control log and, if it has learnt something, runs do once more. The owner of
// the control store does so, too: it may have been paused, and not be the owner any more.
func (x *request) retryIfBehind(do func() error) error {
	before := x.front.Store.Version()
	err := do()
	if err == nil || x.relayed || !service.SaysAbsent(protocol.AsError(err)) {
		return err
	}
	if caught := x.catchUp(); caught != nil {
		return errors.Join(protocol.ServiceUnavailable(), fmt.Errorf("catch up with the control store: %w", caught))
	}
	if x.front.Store.Version() == before {
		return err
	}
	return do()
}

func (x *request) catchUp() error {
	ctx, cancel := context.WithTimeout(x.r.Context(), catchUpTimeout)
	defer cancel()
	if x.caller.ARN == "" {
		return x.front.catchUps.do(ctx)
	}
	return x.front.Node.CatchUp(ctx)
}

// isolated returns an error if this node may have missed for too long what was changed elsewhere: what was allowed when
// it last heard of the others need not be allowed now.
func (x *request) isolated() error {
	if x.relayed || x.service.WhenIsolated && x.caller.IsRoot() {
		return nil
	}
	if err := x.front.Node.Current(); err != nil {
		return errors.Join(protocol.ServiceUnavailable(), err)
	}
	return nil
}
