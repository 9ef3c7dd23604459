package server

import (
	"context"
	"log/slog"
	"strings"

	"github.com/sluicemq/sluice/internal/api/sqs"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/idle"
	"github.com/sluicemq/sluice/internal/observe/consumers"
	"github.com/sluicemq/sluice/internal/observe/prom"
)

// queues is the wing of queues: their service, their consumers, and the deletion of unused queues.
type queues struct {
	config    *Config
	log       *slog.Logger
	storage   *storage
	consumers *consumers.Log // consumers through this server
	sweeper   *idle.Sweeper
}

// newQueues starts recording consumers. Queues that topics or alarms need count as used.
func newQueues(c *Config, st *storage, t *topics, m *monitoring, a *audit) *queues {
	q := &queues{config: c, log: c.Logger, storage: st, consumers: consumers.New()}
	q.sweeper = q.newSweeper(t, m, a)
	st.catalog.Load().OnChange(q.forgetConsumers)
	return q
}

// newSweeper returns the object that deletes unused queues.
func (q *queues) newSweeper(t *topics, m *monitoring, a *audit) *idle.Sweeper {
	st, now := q.storage, q.config.Now
	if q.config.idleNow != nil {
		now = q.config.idleNow
	}
	return idle.New(idle.Options{
		Catalog: st.catalog.Load(), Trail: a.trail, After: q.config.DeleteIdleAfter, Uses: st.messages.Uses,
		Fed: t.records.NeededQueues, Watched: m.watchedQueues, Measure: m.measureIdle, Owner: st.isOwner,
		Ready:   func() error { return st.node.Reads(formats.Idle) },
		Require: func() error { return st.require(formats.Idle) },
		Now:     now, Log: q.log,
	})
}

// newSQS returns the SQS service.
func (q *queues) newSQS(a *accounts, secrets *secrecy) *protocol.Service {
	c, st := q.config, q.storage
	return sqs.New(sqs.Options{
		Catalog: st.catalog.Load(), Shard: st.messages, Access: a.permissions, IDOf: a.directory.ID, Now: c.Now,
		Room: st.room, PublicURL: strings.TrimRight(c.PublicURL, "/"), MaxMessageSize: c.MaxMessageSize,
		MaxQueues: c.MaxQueues, Consumers: q.consumers, Tenants: a.tenants, Log: q.log,
		Keys:           secrets.access(a),
		EarlierHandles: func() bool { return st.node.Reads(formats.Handles) != nil },
	})
}

// forgetConsumers removes the recorded consumers of a deleted queue.
func (q *queues) forgetConsumers(was, is *catalog.Queue) {
	if is == nil {
		q.consumers.Drop(uint64(was.ID))
	}
}

// measure adds the metrics of unused queues.
func (q *queues) measure(m *prom.Metrics) { m.Idle(q.sweeper.Announced, q.sweeper.Deleted) }

// Run deletes unused queues until ctx ends.
func (q *queues) Run(ctx context.Context) error {
	q.sweeper.Run(ctx)
	return nil
}
