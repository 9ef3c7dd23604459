package server

import (
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// watch returns what makes the watcher of a shard, or nil if nobody is told of messages.
func (s *Server) watch() func(now func() queue.Instant) shard.Watcher {
	tracer := s.config.Spans
	if tracer == nil {
		return nil
	}
	return func(now func() queue.Instant) shard.Watcher { return tracer.Follow(s.queueARN, now) }
}

// queueARN returns the ARN of a queue that an account owns, or "".
func (s *Server) queueARN(id queue.ID) string {
	var q *catalog.Queue
	if c := s.catalog.Load(); c != nil {
		q = c.ByID(id)
	}
	if q == nil || q.Name.Internal() {
		return ""
	}
	return q.Name.ARN()
}
