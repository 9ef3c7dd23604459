package server

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

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
	st := q.storage
	now := func() time.Time { return st.now(q.config) }
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
		MaxQueues: c.MaxQueues, Consumers: q.consumers, Tenants: a.tenants, Log: notRepeated(q.log),
		Keys:           secrets.access(a),
		EarlierHandles: func() bool { return st.node.Reads(formats.Handles) != nil },
	})
}

// forgetConsumers removes the recorded consumers of a deleted queue.
func (q *queues) forgetConsumers(was, is *catalog.Queue) {
	if was != nil && (is == nil || !is.Deleted.IsZero()) {
		q.consumers.Drop(uint64(was.ID))
	}
}

// measure adds the metrics of unused queues.
func (q *queues) measure(m *prom.Metrics) { m.Idle(q.sweeper.Announced, q.sweeper.Deleted) }

// Run deletes unused queues, and buries deleted ones, until ctx ends.
func (q *queues) Run(ctx context.Context) error {
	var running sync.WaitGroup
	running.Go(func() { q.bury(ctx) })
	q.sweeper.Run(ctx)
	running.Wait()
	return nil
}

// buryInterval is the time from one search for queues to bury to the next.
const buryInterval = time.Second

// bury ends the undo of deleted queues whose time is over, and of all deleted queues while a disk is nearly full or the
// operator wants no undo. It does so on the node that owns the control store.
func (q *queues) bury(ctx context.Context) {
	tick := time.NewTicker(buryInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := q.buryDue(ctx); err != nil && ctx.Err() == nil {
			q.log.Warn("deleted queues keep their messages for now; the next step tries again", "error", err)
		}
	}
}

func (q *queues) buryDue(ctx context.Context) error {
	c := q.storage.catalog.Load()
	for q.storage.isOwner() {
		due := c.ToBury(q.config.Now(), !q.storage.keeps())
		if len(due) == 0 {
			break
		}
		if err := c.Change(ctx, func(tx *catalog.Tx) error { return tx.Bury(due) }); err != nil {
			return err
		}
	}
	return nil
}
