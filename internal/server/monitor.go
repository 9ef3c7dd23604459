package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/sluicemq/sluice/internal/api/cloudwatch"
	"github.com/sluicemq/sluice/internal/api/sns"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/monitor"
	"github.com/sluicemq/sluice/internal/observe/queueseries"
)

// openMonitor reads alarms, dashboards and custom metrics from the control store.
func (s *Server) openMonitor() (err error) {
	s.monitor, err = monitor.Open(monitor.Options{Control: s.control, Formats: s.formats()})
	return err
}

// newCloudWatch returns the CloudWatch service, and makes what evaluates alarms.
func (s *Server) newCloudWatch(topics *sns.Service, permissions *access.Decider) *protocol.Service {
	levels := queueseries.Levels(s.config.Keep)
	s.evaluator = monitor.NewEvaluator(monitor.EvaluatorOptions{
		Monitor: s.monitor, Reader: s.series, Levels: levels, Budget: s.history, Topics: alarmTopics{topics}, Now: s.config.Now, Log: s.log,
	})
	return cloudwatch.New(cloudwatch.Options{
		Monitor: s.monitor, Series: s.series, Levels: levels, Access: permissions, Budget: s.history, Now: s.config.Now, Room: s.room,
	})
}

// alarmTopics publishes the notifications of alarms.
type alarmTopics struct{ topics *sns.Service }

// Publish implements monitor.Publisher. What SNS would refuse a client is refused for good.
func (t alarmTopics) Publish(ctx context.Context, a *monitor.Action) error {
	_, err := t.topics.PublishNotice(ctx, sns.Notice{
		Service: "cloudwatch.amazonaws.com", Source: a.Alarm.ARN(), Account: a.Alarm.Account,
		Topic: a.Target, Subject: a.Subject, Message: a.Message, ID: a.ID(),
	})
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.Status < http.StatusInternalServerError {
		return &monitor.Refusal{Reason: e.Message}
	}
	return err
}
