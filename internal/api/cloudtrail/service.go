// Package cloudtrail serves AWS CloudTrail, the record of the calls to the server.
//
// # What is guaranteed
//
//   - Event history is always on: LookupEvents finds the management events of the caller's account
//     of the last 90 days, the newest first, as package trail keeps them.
//   - Trails deliver selected events to buckets; see package trails. They belong to the region in which they were
//     created, and other regions can read them by their ARN.
//   - An event is found in the region for which its call was signed. Events of IAM and STS, which have no regions, are
//     found in all regions.
package cloudtrail

import (
	"context"
	_ "embed" // model.txt
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
)

//go:embed model.txt
var model string

// Trail is the record of calls.
type Trail interface {
	Find(trail.Query) (found []trail.Found, cursor string, err error)
}

// Buckets are where the files of trails go.
type Buckets interface {
	// Find returns nil if there is a bucket of that name, or an error that is or wraps one of package bucket's.
	Find(ctx context.Context, bucket string) error
}

// Options are what New needs.
type Options struct {
	Trail   Trail
	Trails  *trails.Trails
	Buckets Buckets // nil: none
	Owners  bucket.Owners
	// MayPublish reports whether there is a topic of an ARN whose policy lets CloudTrail publish to it for a trail.
	MayPublish func(arn string, from trails.Name) bool
	Access     *access.Decider
	Budget     *budget.Budget   // of history that requests may read; nil: a new one
	Now        func() time.Time // nil means time.Now
	// Room is called before anything is added to the stored data. It returns nil, or an error that explains in a
	// sentence why there is no room. A nil Room means that there is always room.
	Room func() error
}

// Service is the CloudTrail service.
type Service struct {
	trail      Trail
	trails     *trails.Trails
	buckets    Buckets
	owners     bucket.Owners
	mayPublish func(arn string, from trails.Name) bool
	authorizer *service.Authorizer
	budget     *budget.Budget
	room       func() error
}

// New returns the service and its wire form.
func New(o Options) *protocol.Service {
	s := &Service{
		trail: o.Trail, trails: o.Trails, buckets: o.Buckets, owners: o.Owners, mayPublish: o.MayPublish, room: o.Room,
		authorizer: service.NewAuthorizer(o.Access, rules, o.Now), budget: o.Budget,
	}
	if s.budget == nil {
		s.budget = budget.New(budget.Size)
	}
	if s.room == nil {
		s.room = func() error { return nil }
	}
	wire := protocol.NewService(protocol.Service{
		// no Query, as on AWS
		Name: "cloudtrail", Target: "CloudTrail_20131101", ErrorNamespace: "com.amazonaws.cloudtrail",
		Model: model, NeverForbids: true,
	})
	protocol.Register(wire, "AddTags", s.addTags, protocol.Control)
	protocol.Register(wire, "CreateTrail", s.createTrail, protocol.Control)
	protocol.Register(wire, "DeleteTrail", s.deleteTrail, protocol.Control)
	protocol.Register(wire, "DescribeTrails", s.describeTrails)
	protocol.Register(wire, "GetEventSelectors", s.getEventSelectors)
	protocol.Register(wire, "GetInsightSelectors", s.getInsightSelectors)
	protocol.Register(wire, "GetTrail", s.getTrail)
	protocol.Register(wire, "GetTrailStatus", s.getTrailStatus)
	protocol.Register(wire, "ListPublicKeys", s.listPublicKeys)
	protocol.Register(wire, "ListTags", s.listTags)
	protocol.Register(wire, "ListTrails", s.listTrails)
	protocol.Register(wire, "LookupEvents", s.lookupEvents)
	protocol.Register(wire, "PutEventSelectors", s.putEventSelectors, protocol.Control)
	protocol.Register(wire, "PutInsightSelectors", s.putInsightSelectors, protocol.Control)
	protocol.Register(wire, "RemoveTags", s.removeTags, protocol.Control)
	protocol.Register(wire, "StartLogging", s.startLogging, protocol.Control)
	protocol.Register(wire, "StopLogging", s.stopLogging, protocol.Control)
	protocol.Register(wire, "UpdateTrail", s.updateTrail, protocol.Control)
	wire.Unsupported(unsupported...)
	return wire
}

var rules = &policy.Rules{Vendor: "cloudtrail", Terse: true, Unscoped: []string{
	"cloudtrail:DescribeTrails", "cloudtrail:ListPublicKeys", "cloudtrail:ListTrails", "cloudtrail:LookupEvents",
}}

// change makes a change, unless there is no room for it.
func (s *Service) change(ctx context.Context, adds bool, f func(*trails.Tx) error) error {
	if adds {
		if err := s.room(); err != nil {
			return service.NoRoom(err)
		}
	}
	return service.Failure(s.trails.Change(ctx, f))
}

// Rules returns the rules of CloudTrail with all actions that policies can name.
func Rules() *policy.Rules { return service.RulesOf(New(Options{})) }
