package admin

import (
	"context"
	"errors"
	"net/http"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/cluster/status"
)

// Cluster is what can be seen and done of a cluster.
type Cluster interface {
	// Status names no node if the server is alone.
	Status() status.Status
	// Queues returns where the messages of queues are, sorted by ARN: of those on a shard
	// or of that name, if either is given.
	Queues(shard, queue string) []status.Queue
	// Drain and Remove return status.ErrNoNode, status.ErrAlive and status.ErrNotDrained.
	Drain(ctx context.Context, node string, drain bool) error
	Remove(ctx context.Context, node string) error
}

func (s *Service) describeCluster(_ context.Context, c *protocol.Call, _ *service.Empty) (*status.Status, error) {
	if err := s.allowCluster(c); err != nil {
		return nil, err
	}
	status := s.cluster.Status()
	return &status, nil
}

type listShardQueuesInput struct {
	Shard      string `max:"64"`
	QueueName  string `max:"80"`
	MaxResults *int32
	NextToken  string `max:"1024"`
}

type listShardQueuesOutput struct {
	Queues    []status.Queue `json:",always"`
	NextToken string
}

// mostQueues is how many queues are listed at a time.
const mostQueues = 1000

func (s *Service) listShardQueues(
	_ context.Context, c *protocol.Call, in *listShardQueuesInput,
) (*listShardQueuesOutput, error) {
	if err := s.allowCluster(c); err != nil {
		return nil, err
	}
	most := mostQueues
	if in.MaxResults != nil {
		most = int(*in.MaxResults)
	}
	if most < 1 || most > mostQueues {
		return nil, protocol.ValidationError("MaxResults is %d; it must be between 1 and %d.", most, mostQueues)
	}
	about := in.Shard + "/" + in.QueueName
	p, err := service.Paginate(
		s.cluster.Queues(in.Shard, in.QueueName),
		func(q status.Queue) string { return q.QueueArn },
		in.NextToken,
		about,
		most,
	)
	if err != nil {
		return nil, protocol.ValidationError("NextToken: %s.", err)
	}
	return &listShardQueuesOutput{Queues: p.Items, NextToken: p.Next}, nil
}

// allowCluster checks that the caller may call the operation and that there is a cluster.
func (s *Service) allowCluster(c *protocol.Call) error {
	if err := s.allow(c); err != nil {
		return err
	}
	if status := s.cluster.Status(); status.Alone() {
		return refusal("NoCluster", http.StatusConflict,
			"This server is alone: it was started without --node and --cluster.")
	}
	return nil
}

type drainNodeInput struct {
	Node string `max:"256"`
	Undo bool   // let it keep shards again
}

func (s *Service) drainNode(ctx context.Context, c *protocol.Call, in *drainNodeInput) (*service.Empty, error) {
	c.Notes.Set("target", in.Node)
	if err := s.allowCluster(c); err != nil {
		return nil, err
	}
	return nil, clusterFailure(in.Node, s.cluster.Drain(ctx, in.Node, !in.Undo))
}

type removeNodeInput struct {
	Node string `max:"256"`
}

func (s *Service) removeNode(ctx context.Context, c *protocol.Call, in *removeNodeInput) (*service.Empty, error) {
	c.Notes.Set("target", in.Node)
	if err := s.allowCluster(c); err != nil {
		return nil, err
	}
	return nil, clusterFailure(in.Node, s.cluster.Remove(ctx, in.Node))
}

func clusterFailure(node string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, status.ErrNoNode):
		return refusal("NoSuchNode", http.StatusNotFound,
			"The cluster has no node %.100q.", node)
	case errors.Is(err, status.ErrNotDrained):
		return refusal("NodeNotDrained", http.StatusConflict,
			"The node %.100q is not drained: there is nothing to undo.", node)
	case errors.Is(err, status.ErrAlive):
		return refusal("NodeAlive", http.StatusConflict,
			"The node %.100q is alive. Drain it and stop it first.", node)
	}
	return failure(err)
}
