package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/idle"
	"github.com/sluicemq/sluice/internal/observe/monitor"
	"github.com/sluicemq/sluice/internal/observe/series"
)

// newSweeper returns what deletes queues that nobody uses.
func (s *Server) newSweeper(queues *catalog.Catalog) *idle.Sweeper {
	now := s.config.Now
	if s.config.idleNow != nil {
		now = s.config.idleNow
	}
	return idle.New(idle.Options{
		Catalog: queues, Trail: s.trail, After: s.config.DeleteIdleAfter, Uses: s.messages.Uses, Fed: s.topics.NeededQueues, Watched: s.watchedQueues,
		Measure: s.measureIdle, Owner: func() bool { return !s.control.Elsewhere() },
		Ready: func() error { return s.node.Reads(formats.Idle) }, Require: s.requireIdle, Now: now, Log: s.log,
	})
}

// watchedQueues returns the ARNs of the queues that alarms watch by their names.
func (s *Server) watchedQueues() map[string]bool {
	out := make(map[string]bool)
	for _, id := range s.monitor.Watched() {
		if id.Namespace != series.SQS && id.Namespace != series.Own {
			continue
		}
		for _, d := range id.Dimensions {
			if d.Name == series.QueueName {
				out[catalog.Name{Account: id.Scope.Account, Region: id.Scope.Region, Queue: d.Value}.ARN()] = true
			}
		}
	}
	return out
}

// measureIdle keeps how many queues will be deleted as a metric that there can be alarms on.
func (s *Server) measureIdle(ctx context.Context, at time.Time, announced map[idle.Scope]int) error {
	var samples []monitor.Sample
	for scope, n := range announced {
		id := series.ID{Scope: series.Scope(scope), Namespace: "Sluice/Queues", Metric: "IdleQueuesAnnounced"}
		samples = append(samples, monitor.Sample{ID: id, Unit: "Count", Point: series.Sample(at, float64(n))})
	}
	return s.monitor.Put(ctx, samples)
}

// requireIdle writes down that the data directory needs a program that knows of queues that are to be deleted.
func (s *Server) requireIdle() error { return s.require(formats.Idle) }

// validateIdle returns what is wrong with DeleteIdleAfter.
func (c *Config) validateIdle() error {
	switch after := c.DeleteIdleAfter; {
	case after == 0:
		return nil
	case after < idle.Least:
		return fmt.Errorf("--delete-idle-queues-after %s: want %s or more, such as 720h, or 0 to delete no queue", after, hours(idle.Least))
	case c.Keep.Minutes == 0:
		return errors.New("--delete-idle-queues-after needs the metrics of queues, which say when they were used: leave --metrics-keep-minutes above 0")
	}
	return nil
}

// hours prints a duration as a person writes it.
func hours(d time.Duration) string { return fmt.Sprintf("%dh", d/time.Hour) }
