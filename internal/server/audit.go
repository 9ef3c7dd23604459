package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/api/cloudtrail"
	"github.com/sluicemq/sluice/internal/api/sns"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/spool"
	"github.com/sluicemq/sluice/internal/observe/prom"
)

// audit is the wing of the record of calls and its delivery to buckets.
type audit struct {
	config     *Config
	log        *slog.Logger
	storage    *storage
	peers      *peers
	trail      *trail.Trail
	trails     *trails.Trails
	spool      *spool.Spool // of data events
	buckets    bucket.Store // for trails; nil: none
	owners     bucket.Owners
	deliveries *trails.Deliverer // nil until newCloudTrail
}

// openAudit reads trails from the control store, and opens the store of their buckets.
func openAudit(c *Config, st *storage, vault *identity.Vault, p *peers) (_ *audit, err error) {
	a := &audit{config: c, log: c.Logger, storage: st, peers: p}
	now := func() time.Time { return st.now(c) }
	a.trail = trail.New(trail.Options{Control: st.control, Now: now, Log: a.log})
	dir := ""
	if !c.InMemory {
		dir = filepath.Join(c.Data, datadir.TrailsDir)
	}
	if a.spool, err = spool.Open(dir, a.log); err != nil {
		return nil, err
	}
	a.trails, err = trails.Open(trails.Options{
		Control: st.control, Formats: st.formats(), Vault: vault, Spool: a.spool,
	})
	if err != nil {
		return nil, err
	}
	a.trail.SelectBy(a.trails)
	a.trail.DataTo(a.trails)
	return a, a.openBuckets()
}

// openBuckets opens the store of the buckets, if one is configured.
func (a *audit) openBuckets() (err error) {
	c := a.config
	if a.owners, err = c.bucketOwners(); err != nil {
		return err
	}
	if len(c.Accounts) > 1 && len(a.owners) == 0 && c.TrailDir+c.TrailS3Endpoint != "" {
		a.log.Warn("trails of all accounts may write to all buckets: assign each bucket to an account with --trail-bucket")
	}
	if c.TrailDir != "" {
		if a.buckets, err = bucket.OpenDirectory(c.TrailDir); err != nil {
			return fmt.Errorf("--trail-dir %s: %w", c.TrailDir, err)
		}
	}
	if c.TrailS3Endpoint != "" {
		if a.buckets, err = bucket.OpenS3(context.Background(), c.TrailS3Endpoint); err != nil {
			return fmt.Errorf("--trail-s3-endpoint: %w", err)
		}
	}
	return nil
}

// newCloudTrail returns the CloudTrail service, and creates the objects that deliver the files of trails and publish to
// their topics.
func (a *audit) newCloudTrail(
	topics *sns.Service, permissions *access.Decider, history *budget.Budget,
) *protocol.Service {
	notices := trailTopics{topics}
	a.deliveries = trails.NewDeliverer(trails.DelivererOptions{
		Trails: a.trails, Events: a.trail, Store: a.buckets, Owners: a.owners, Topics: notices, Spool: a.spool,
		Send: a.peers.sendFiles, Now: a.config.Now, Log: a.log,
	})
	o := cloudtrail.Options{
		Trail: a.trail, Trails: a.trails, Access: permissions, Budget: history, Now: a.config.Now, Room: a.storage.room,
		Owners: a.owners, MayPublish: notices.mayPublish,
	}
	if a.buckets != nil {
		o.Buckets = a.buckets
	}
	return cloudtrail.New(o)
}

// measure adds the metrics of dropped events.
func (a *audit) measure(m *prom.Metrics) {
	m.Trail(func() prom.TrailDrops {
		return prom.TrailDrops{
			ManagementRecording: a.trail.Dropped(),
			ManagementDelivery:  a.trail.Undelivered() + a.deliveries.PassedOver(),
			DataRecording:       a.spool.Dropped(), DataDelivery: a.spool.Undelivered(),
		}
	})
}

// Run writes events and delivers the files of trails until ctx ends.
func (a *audit) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	loops.Go(func() { a.trail.Run(ctx, a.peers.sendEvents) })
	loops.Go(func() { a.spool.Run(ctx, a.config.Now) })
	loops.Go(func() { a.deliveries.Run(ctx) })
	loops.Wait()
	return nil
}

// flush writes the events of the last requests, which may have ended after Run.
func (a *audit) flush(ctx context.Context) {
	a.trail.Write(ctx, a.peers.sendEvents)
	if err := a.spool.Flush(a.config.Now()); err != nil {
		a.log.Warn("data events could not be written", "error", err)
	}
}

func noticeOf(arn, message string, from trails.Name) sns.Notice {
	return sns.Notice{
		Service: "cloudtrail.amazonaws.com", Source: from.ARN(), Account: from.Account, Topic: arn, Message: message,
	}
}

// trailTopics publishes to topics that the files of trails were delivered.
type trailTopics struct{ topics *sns.Service }

// mayPublish reports whether CloudTrail may publish to a topic for a trail.
func (t trailTopics) mayPublish(arn string, from trails.Name) bool {
	return t.topics.MayPublish(noticeOf(arn, "", from)) == nil
}

// Publish implements trails.Notifier.
func (t trailTopics) Publish(ctx context.Context, arn, message string, from trails.Name) error {
	_, err := t.topics.PublishNotice(ctx, noticeOf(arn, message, from))
	if err != nil {
		return errors.New(protocol.AsError(err).Message) // for the owner of the trail
	}
	return nil
}
