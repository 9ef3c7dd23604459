package server

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/sluicemq/sluice/internal/api/cloudtrail"
	"github.com/sluicemq/sluice/internal/api/sns"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/observe/trails"
	"github.com/sluicemq/sluice/internal/observe/trails/bucket"
	"github.com/sluicemq/sluice/internal/observe/trails/spool"
)

// openTrails reads trails from the control store, and opens the place of their buckets.
func (s *Server) openTrails() (err error) {
	dir := ""
	if !s.config.InMemory {
		dir = filepath.Join(s.config.Data, datadir.TrailsDir)
	}
	events, err := spool.Open(dir, s.log)
	if err != nil {
		return err
	}
	s.spool = events
	s.trails, err = trails.Open(trails.Options{Control: s.control, Vault: s.vault, Spool: events, Formats: s.formats()})
	if err != nil {
		return err
	}
	s.trail.SelectBy(s.trails)
	s.trail.DataTo(s.trails)
	if s.bucketOwners, err = s.config.bucketOwners(); err != nil {
		return err
	}
	if len(s.config.Accounts) > 1 && len(s.bucketOwners) == 0 && s.config.TrailDir+s.config.TrailS3Endpoint != "" {
		s.log.Warn("trails of all accounts may write to all buckets: say with --trail-bucket whose each one is")
	}
	if s.config.TrailDir != "" {
		if s.buckets, err = bucket.OpenDirectory(s.config.TrailDir); err != nil {
			return fmt.Errorf("--trail-dir %s: %w", s.config.TrailDir, err)
		}
	}
	if s.config.TrailS3Endpoint != "" {
		if s.buckets, err = bucket.OpenS3(context.Background(), s.config.TrailS3Endpoint); err != nil {
			return fmt.Errorf("--trail-s3-endpoint: %w", err)
		}
	}
	return nil
}

// newCloudTrail returns the CloudTrail service, and makes what delivers the files of trails.
func (s *Server) newCloudTrail(permissions *access.Decider) *protocol.Service {
	s.deliveries = trails.NewDeliverer(trails.DelivererOptions{
		Trails: s.trails, Events: s.trail, Store: s.buckets, Owners: s.bucketOwners, Topics: trailTopics{s.publisher}, Now: s.config.Now, Log: s.log,
		Spool: s.spool, Send: func(ctx context.Context, files []trails.File) error { return s.front.SendFiles(ctx, files) },
	})
	o := cloudtrail.Options{
		Trail: s.trail, Trails: s.trails, Access: permissions, Budget: s.history, Now: s.config.Now, Room: s.room,
		Owners: s.bucketOwners, MayPublish: s.mayNotify,
	}
	if s.buckets != nil {
		o.Buckets = s.buckets
	}
	return cloudtrail.New(o)
}

// mayNotify reports whether CloudTrail may publish to a topic for a trail.
func (s *Server) mayNotify(arn string, from trails.Name) bool {
	return s.publisher.MayPublish(noticeOf(arn, "", from)) == nil
}

func noticeOf(arn, message string, from trails.Name) sns.Notice {
	return sns.Notice{Service: "cloudtrail.amazonaws.com", Source: from.ARN(), Account: from.Account, Topic: arn, Message: message}
}

// trailTopics tells topics of the files of trails.
type trailTopics struct{ topics *sns.Service }

// Publish implements trails.Notifier.
func (t trailTopics) Publish(ctx context.Context, arn, message string, from trails.Name) error {
	_, err := t.topics.PublishNotice(ctx, noticeOf(arn, message, from))
	if err != nil {
		return errors.New(protocol.AsError(err).Message) // the owner of the trail is told so
	}
	return nil
}
