package command

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/sluicemq/sluice/internal/declared"
)

// connector creates API clients by account and region. The keys for an account other than the command's own come from
// the profile with the account's name, as in the file credentials of a data directory.
type connector struct {
	flags *clientFlags
	aws   bool // AWS itself is called
	home  declared.Scope
}

// services are the services that declared files need, by their names in variables.
var declaredServices = []string{"SQS", "SNS", "CLOUDWATCH", "IAM", "STS", "SLUICE"}

// open finds the owner of the command's keys.
func (c *connector) open(ctx context.Context) error {
	region := cmp.Or(c.flags.region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), "us-east-1")
	api, err := c.dial(c.flags.profile, region)
	if err != nil {
		return err
	}
	c.home, err = declared.HomeOf(ctx, api, region)
	return err
}

func (c *connector) connect(ctx context.Context, s declared.Scope) (declared.API, error) {
	region := cmp.Or(s.Region, c.home.Region)
	if s.Account == c.home.Account {
		return c.dial(c.flags.profile, region)
	}
	api, err := c.dial(s.Account, region)
	if err != nil {
		return nil, fmt.Errorf("account %s: %w", s.Account, err)
	}
	who, err := declared.HomeOf(ctx, api, region)
	if err != nil {
		return nil, fmt.Errorf("account %s: %w", s.Account, err)
	}
	if who.Account != s.Account {
		return nil, fmt.Errorf("the profile %s has the keys of account %s", s.Account, who.Account)
	}
	return api, nil
}

// dial returns a client for each service.
func (c *connector) dial(profile, region string) (*declaredAPI, error) {
	api := &declaredAPI{make(map[string]*client)}
	for _, service := range declaredServices {
		if c.aws && service == "SLUICE" {
			continue
		}
		flags := *c.flags
		flags.service, flags.profile, flags.region = service, profile, region
		if c.aws {
			flags.endpoints = []string{endpointOfAWS(service, region)}
		}
		one, err := flags.client()
		if err != nil {
			return nil, err
		}
		if c.aws && service == "IAM" {
			one.signer.Region = "us-east-1" // where IAM is
		}
		api.clients[service] = one
	}
	return api, nil
}

// endpointOfAWS returns the URL of a service of AWS in a region.
func endpointOfAWS(service, region string) string {
	switch service {
	case "IAM":
		return "https://iam.amazonaws.com"
	case "CLOUDWATCH":
		return "https://monitoring." + region + ".amazonaws.com"
	case "SNS":
		return "https://sns." + region + ".amazonaws.com"
	case "STS":
		return "https://sts." + region + ".amazonaws.com"
	}
	return "https://sqs." + region + ".amazonaws.com"
}

// declaredAPI implements declared.API with a client for each service.
type declaredAPI struct{ clients map[string]*client }

// SQS implements declared.API.
func (a *declaredAPI) SQS(ctx context.Context, action string, in, out any) error {
	return a.clients["SQS"].sqs(ctx, action, in, out)
}

// CloudWatch implements declared.API.
func (a *declaredAPI) CloudWatch(ctx context.Context, action string, in, out any) error {
	return a.clients["CLOUDWATCH"].callJSON(ctx, "monitoring", "GraniteServiceVersion20100801", action, in, out)
}

// SNS implements declared.API.
func (a *declaredAPI) SNS(ctx context.Context, action string, out any, params ...string) error {
	return a.clients["SNS"].sns(ctx, action, out, params...)
}

// IAM implements declared.API.
func (a *declaredAPI) IAM(ctx context.Context, action string, out any, params ...string) error {
	return a.clients["IAM"].iam(ctx, action, out, params...)
}

// STS implements declared.API.
func (a *declaredAPI) STS(ctx context.Context, action string, out any, params ...string) error {
	return a.clients["STS"].sts(ctx, action, out, params...)
}

// Sluice implements declared.API.
func (a *declaredAPI) Sluice(ctx context.Context, action string, in, out any) error {
	c := a.clients["SLUICE"]
	if c == nil {
		return declared.ErrNotSluice
	}
	return c.sluice(ctx, action, in, out)
}
