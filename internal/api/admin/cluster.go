package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/cluster/status"
)

// Cluster is what can be seen and done of a cluster.
type Cluster interface {
	Status() status.Status
	// Drain and Remove return status.ErrNoNode, status.ErrAlive and status.ErrNotDrained.
	Drain(node string, drain bool) error
	Remove(node string) error
}

func (s *Service) describeCluster(_ context.Context, c *protocol.Call, _ *service.Empty) (*status.Status, error) {
	if err := s.allowCluster(c); err != nil {
		return nil, err
	}
	status := s.cluster.Status()
	return &status, nil
}

// allowCluster makes sure that the caller is the operator, of a cluster.
func (s *Service) allowCluster(c *protocol.Call) error {
	if err := s.allow(c); err != nil {
		return err
	}
	if s.cluster == nil {
		return &protocol.Error{
			Code: "NoCluster", Type: "NoClusterException", Status: http.StatusConflict,
			Message: "This server is alone: it was started without --node and --cluster.",
		}
	}
	return nil
}

type drainNodeInput struct {
	Node string `max:"256"`
	Undo bool   // let it keep shards again
}

func (s *Service) drainNode(_ context.Context, c *protocol.Call, in *drainNodeInput) (*service.Empty, error) {
	if err := s.allowCluster(c); err != nil {
		return nil, err
	}
	return nil, clusterFailure(in.Node, s.cluster.Drain(in.Node, !in.Undo))
}

type removeNodeInput struct {
	Node string `max:"256"`
}

func (s *Service) removeNode(_ context.Context, c *protocol.Call, in *removeNodeInput) (*service.Empty, error) {
	if err := s.allowCluster(c); err != nil {
		return nil, err
	}
	return nil, clusterFailure(in.Node, s.cluster.Remove(in.Node))
}

func clusterFailure(node string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, status.ErrNoNode):
		return &protocol.Error{
			Code: "NoSuchNode", Type: "NoSuchNodeException", Status: http.StatusNotFound,
			Message: "The cluster has no node " + fmt.Sprintf("%.100q", node) + ".",
		}
	case errors.Is(err, status.ErrNotDrained):
		return &protocol.Error{
			Code: "NodeNotDrained", Type: "NodeNotDrainedException", Status: http.StatusConflict,
			Message: "The node " + fmt.Sprintf("%.100q", node) + " is not drained: there is nothing to undo.",
		}
	case errors.Is(err, status.ErrAlive):
		return &protocol.Error{
			Code: "NodeAlive", Type: "NodeAliveException", Status: http.StatusConflict,
			Message: "The node " + fmt.Sprintf("%.100q", node) + " is alive. Drain it and stop it first.",
		}
	}
	return errors.Join(protocol.ServiceUnavailable(), err)
}
