// Package cloudtrail serves AWS CloudTrail: it tells who has asked the server for what.
//
// # What is guaranteed
//
//   - Event history is always on: LookupEvents finds the management events of the caller's account
//     of the last 90 days, the newest first, as package trail keeps them.
//   - An event is found in the region for which its call was signed. Events of IAM and STS, which
//     have no regions, are found in all.
package cloudtrail

import (
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/trail"
)

// Trail is the record of calls.
type Trail interface {
	Find(trail.Query) (found []trail.Found, cursor string, err error)
}

// Options are what New needs.
type Options struct {
	Trail  Trail
	Access *access.Decider
	Now    func() time.Time // nil means time.Now
}

// Service is the CloudTrail service.
type Service struct {
	trail      Trail
	authorizer *service.Authorizer
}

// New returns the service and its wire form.
func New(o Options) *protocol.Service {
	s := &Service{trail: o.Trail, authorizer: service.NewAuthorizer(o.Access, rules, o.Now)}
	wire := protocol.NewService(protocol.Service{
		Name: "cloudtrail", Target: "CloudTrail_20131101", Versions: []string{"2013-11-01"},
		Namespace: "http://cloudtrail.amazonaws.com/doc/%s/", ErrorNamespace: "com.amazonaws.cloudtrail",
	})
	protocol.Register(wire, "LookupEvents", s.lookupEvents)
	wire.Unsupported("CancelQuery", "CreateChannel", "CreateEventDataStore", "CreateTrail", "DeleteChannel", "DeleteEventDataStore",
		"DeleteTrail", "DescribeTrails", "GetEventSelectors", "GetInsightSelectors", "GetTrail", "GetTrailStatus", "ListPublicKeys",
		"ListTags", "ListTrails", "AddTags", "RemoveTags", "PutEventSelectors", "PutInsightSelectors", "StartLogging", "StartQuery",
		"StopLogging", "UpdateTrail")
	return wire
}

var rules = &policy.Rules{Vendor: "cloudtrail"}

// Rules returns the rules of CloudTrail with all actions that policies can name.
func Rules() *policy.Rules { return service.RulesOf(New(Options{})) }
