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

// retryIfBehind runs do, which serves a part of the request of a caller that is verified or not. A node that lags must
// not answer that something does not exist or is not allowed: the queue, the key or the permission may have been made
// through another node a moment ago. Before it does, it catches up with the control log and, if it has learnt
// something, runs do once more. The owner of the control store does so, too: it may have been paused, and not be the
// owner any more.
func (f *Front) retryIfBehind(a *arrival, verified bool, do func() error) error {
	before := f.Store.Version()
	err := do()
	if err == nil || a.relayed || !service.SaysAbsent(protocol.AsError(err)) {
		return err
	}
	if caught := f.catchUp(a.r.Context(), verified); caught != nil {
		return errors.Join(protocol.ServiceUnavailable(), fmt.Errorf("catch up with the control store: %w", caught))
	}
	if f.Store.Version() == before {
		return err
	}
	return do()
}

// catchUp waits for all changes of the control store. Callers that are not verified share what it costs.
func (f *Front) catchUp(ctx context.Context, verified bool) error {
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	if !verified {
		return f.catchUps.do(ctx)
	}
	return f.Node.CatchUp(ctx)
}

// isolated returns an error if this node may have missed for too long what was changed elsewhere: what was allowed when
// it last heard of the others need not be allowed now.
func (f *Front) isolated(a *arrival, who *identified) error {
	if a.relayed || who.service.WhenIsolated && who.caller.IsRoot() {
		return nil
	}
	if err := f.Node.Current(); err != nil {
		return errors.Join(protocol.ServiceUnavailable(), err)
	}
	return nil
}
