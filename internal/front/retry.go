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

// retryIfBehind runs do, which serves a part of a request. A node that lags must not answer that something does not
// exist or is not allowed: the queue, the key or the permission may have been created through another node a moment
// ago. Before such an answer, the node catches up with the control log and, if it learns of a change, runs do again.
// The owner of the control store does so, too: it may have been paused, and no longer be the owner. verified tells
// whether the caller is verified.
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

// catchUp waits for all changes of the control store. Unverified callers share its cost.
func (f *Front) catchUp(ctx context.Context, verified bool) error {
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	if !verified {
		return f.catchUps.do(ctx)
	}
	return f.Node.CatchUp(ctx)
}

// isolated returns an error if this node may have missed changes for too long: permissions may have been revoked since
// it last heard from the others.
func (f *Front) isolated(a *arrival, who *identified) error {
	if a.relayed || who.service.WhenIsolated && who.caller.IsRoot() {
		return nil
	}
	if err := f.Node.Current(); err != nil {
		return errors.Join(protocol.ServiceUnavailable(), err)
	}
	return nil
}
