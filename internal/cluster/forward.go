package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
)

// Forward sends a request to the owner of the control shard. It returns the answer when this node has learnt of the
// changes the request made. It waits a limited time for an owner.
func (n *Node) Forward(ctx context.Context, request []byte) ([]byte, error) {
	end := time.Now().Add(n.times.forward)
	for {
		changed := n.members.view.watch(controlShard)
		answer, err := n.forwardOnce(ctx, request)
		if err == nil {
			ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
			defer cancel()
			// The change is made, even if this node has not seen it yet.
			_ = n.CatchUp(ctx)
			return answer, nil
		}
		left := time.Until(end)
		if !errors.Is(err, errNoControl) || left <= 0 {
			return nil, err
		}
		select {
		case <-changed:
		case <-time.After(min(left, forwardPause)):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// errNoControl guarantees that nothing was done.
var errNoControl = errors.New("no node owns the control shard at present")

func (n *Node) forwardOnce(ctx context.Context, request []byte) ([]byte, error) {
	h, ok := n.members.view.owner(controlShard)
	if !ok || n.members.view.isSilent(h.Node) {
		return nil, errNoControl
	}
	answer, err := n.messages.Request(ctx, h.Node, kindForward, request)
	f, _ := errors.AsType[*messenger.Failure](err)
	switch {
	case errors.Is(err, messenger.ErrNotTaken), f != nil && f.Code == codeNotOwner:
		return nil, fmt.Errorf("%w: node %s: %w", errNoControl, h.Node, err)
	case err != nil:
		return nil, fmt.Errorf("node %s, which owns the control shard: %w", h.Node, err)
	}
	return answer, nil
}

// codeNotOwner is the error code of a node that does not own the control shard.
const codeNotOwner = "NotOwner"

func (n *Node) serveForwarded(ctx context.Context, request []byte) ([]byte, error) {
	if n.control.store.Elsewhere() {
		return nil, &messenger.Failure{Code: codeNotOwner, Text: "another node owns the control shard"}
	}
	return n.o.Forward(ctx, request)
}
