package server

import (
	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/cloudtrail"
	"github.com/sluicemq/sluice/internal/api/cloudwatch"
	"github.com/sluicemq/sluice/internal/api/iam"
	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/api/sns"
	"github.com/sluicemq/sluice/internal/api/sqs"
	"github.com/sluicemq/sluice/internal/api/sts"
)

// rules returns the authorization rules of all services. Policies may name the actions of each.
func rules() service.Services {
	return service.Services{
		sqs.Rules, sns.Rules, cloudtrail.Rules(), cloudwatch.Rules(), admin.Rules, iam.Rules(), sts.Rules(),
		service.KeyRules,
	}
}
