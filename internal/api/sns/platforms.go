package sns

import (
	"context"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/topic"
)

// platforms serves the operations about applications that get push notifications, and about their endpoints. None
// exist: this server sends no push notifications, so it does not create applications.
type platforms struct{ *core }

// ofPlatforms are their actions.
var ofPlatforms = []string{
	"SNS:CreatePlatformEndpoint", "SNS:DeleteEndpoint", "SNS:DeletePlatformApplication", "SNS:GetEndpointAttributes",
	"SNS:GetPlatformApplicationAttributes", "SNS:ListEndpointsByPlatformApplication", "SNS:SetEndpointAttributes",
	"SNS:SetPlatformApplicationAttributes",
}

func (s platforms) register(wire *protocol.Service) {
	protocol.Register(wire, "CreatePlatformEndpoint", s.none)
	protocol.Register(wire, "DeleteEndpoint", s.delete)
	protocol.Register(wire, "DeletePlatformApplication", s.delete)
	protocol.Register(wire, "GetEndpointAttributes", s.none)
	protocol.Register(wire, "GetPlatformApplicationAttributes", s.none)
	protocol.Register(wire, "ListEndpointsByPlatformApplication", s.none)
	protocol.Register(wire, "SetEndpointAttributes", s.none)
	protocol.Register(wire, "SetPlatformApplicationAttributes", s.none)
}

// platformKind is a kind of what these operations are about.
type platformKind struct {
	member  string // the parameter with its ARN
	begin   string // of the last part of its ARN
	slashes int    // in that part
	name    string // in errors
}

var (
	platformApplication = &platformKind{"PlatformApplicationArn", "app/", 2, "PlatformApplication"}
	platformEndpoint    = &platformKind{"EndpointArn", "endpoint/", 3, "Endpoint"}
)

type platformInput struct {
	PlatformApplicationArn *string           `max:"2048"`
	EndpointArn            *string           `max:"2048"`
	Token                  *string           `max:"4096"          hidden:""`
	CustomUserData         *string           `max:"2048"          hidden:""`
	Attributes             map[string]string `max:"50,256,32K"    hidden:"" wrap:"entry" entry:"key,value"`
	NextToken              *string           `max:"2048"`
}

// about returns what a request of an operation is about.
func (in *platformInput) about(operation string) (kind *platformKind, arn *string) {
	switch operation {
	case "DeleteEndpoint", "GetEndpointAttributes", "SetEndpointAttributes":
		return platformEndpoint, in.EndpointArn
	}
	return platformApplication, in.PlatformApplicationArn
}

// check refuses a request without a parameter that its operation requires.
func (in *platformInput) check(operation string) error {
	var v protocol.Violations
	switch {
	case operation == "CreatePlatformEndpoint":
		v.Required("token", in.Token)
	case strings.HasPrefix(operation, "Set"):
		requireList(&v, "attributes", len(in.Attributes))
	}
	return v.Err()
}

// allow refuses a request that the caller may not make, and an ARN that is not of the kind.
func (s platforms) allow(c *protocol.Call, kind *platformKind, arn *string) error {
	if arn == nil {
		return errParameter("%s Reason: no value for required parameter", kind.member)
	}
	n, err := topic.ParseARN(*arn)
	switch {
	case err != nil:
		return errARN(kind.member, err)
	case strings.Count(n.Topic, "/") != kind.slashes:
		return errParameter("%s Reason: Wrong number of slashes in relative portion of the ARN.", kind.member)
	case !strings.HasPrefix(n.Topic, kind.begin):
		return errParameter("%s", kind.member)
	}
	if err := sameRegion(c, kind.member, n); err != nil {
		return err
	}
	return s.authorize(
		c, service.Subject{Resource: service.ARN(service.Shorten(*arn)), Owner: n.Account}, "SNS:"+c.Operation,
	)
}

// delete deletes nothing, which is no error.
func (s platforms) delete(_ context.Context, c *protocol.Call, in *platformInput) (*service.Empty, error) {
	kind, arn := in.about(c.Operation)
	return nil, s.allow(c, kind, arn)
}

// none reports that there is nothing that a request could be about.
func (s platforms) none(_ context.Context, c *protocol.Call, in *platformInput) (*service.Empty, error) {
	kind, arn := in.about(c.Operation)
	if err := s.allow(c, kind, arn); err != nil {
		return nil, err
	}
	if err := in.check(c.Operation); err != nil {
		return nil, err
	}
	return nil, errNotFound("%s does not exist", kind.name)
}
