package server

import (
	"context"
	"errors"
	"time"

	"github.com/sluicemq/sluice/internal/front"
)

// role returns what the front asks of the node.
func (s *Server) role() front.Node {
	if s.node == nil {
		return alone{}
	}
	return s.node
}

// unverifiedCatchUp returns how often the node catches up because of callers that are not verified. In a cluster each time
// goes through the control log, and any client can send an unknown access key. A machine alone has nothing to catch up with.
func (s *Server) unverifiedCatchUp() time.Duration {
	if s.node == nil {
		return 0
	}
	return 100 * time.Millisecond
}

// alone is a machine without a cluster: it owns its control store, and there is no change that it does not know.
type alone struct{}

// Forward implements front.Node.
func (alone) Forward(context.Context, []byte) ([]byte, error) {
	return nil, errors.New("this server belongs to no cluster")
}

// CatchUp implements front.Node.
func (alone) CatchUp(context.Context) error { return nil }

// Current implements front.Node.
func (alone) Current() error { return nil }
