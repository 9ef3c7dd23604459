package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/sluicemq/sluice/internal/api/cloudwatch"
	"github.com/sluicemq/sluice/internal/api/sns"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/idle"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/detector"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/insightrule"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/muterule"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/queueseries"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// monitoring is the wing of per-minute metrics, and of the alarms on them.
type monitoring struct {
	config    *Config
	log       *slog.Logger
	storage   *storage
	monitor   *monitor.Monitor
	detectors *detector.Detectors
	insights  *insightrule.Rules
	mutes     *muterule.Rules
	evaluator *monitor.Evaluator // of alarms; nil until newCloudWatch
}

// openMonitoring reads the users' alarms and other settings, and custom metrics, from the control store.
func openMonitoring(c *Config, st *storage) (_ *monitoring, err error) {
	m := &monitoring{config: c, log: c.Logger, storage: st}
	if m.detectors, err = detector.Open(st.control, st.formats()); err != nil {
		return nil, err
	}
	if m.insights, err = insightrule.Open(st.control, st.formats()); err != nil {
		return nil, err
	}
	if m.mutes, err = muterule.Open(st.control, st.formats()); err != nil {
		return nil, err
	}
	m.monitor, err = monitor.Open(monitor.Options{
		Control: st.control, Formats: st.formats(), Training: m.detectors.Training, Mutes: m.mutes,
	})
	return m, err
}

// newCloudWatch returns the CloudWatch service, and creates the object that evaluates alarms. Alarms notify topics.
func (m *monitoring) newCloudWatch(
	topics *sns.Service, permissions *access.Decider, history *budget.Budget,
) *protocol.Service {
	levels, of := queueseries.Levels(m.config.Keep), m.newSeries()
	m.evaluator = monitor.NewEvaluator(monitor.EvaluatorOptions{
		Monitor: m.monitor, Reader: of, Levels: levels, Budget: history, Topics: alarmTopics{topics},
		Now: m.config.Now, Log: m.log,
	})
	return cloudwatch.New(cloudwatch.Options{
		Monitor: m.monitor, Detectors: m.detectors, InsightRules: m.insights, MuteRules: m.mutes, Series: of,
		Levels: levels, Access: permissions, Budget: history, Now: m.config.Now, Room: m.storage.room,
	})
}

// watchedQueues returns the ARNs of the queues that alarms watch by name.
func (m *monitoring) watchedQueues() map[string]bool {
	out := make(map[string]bool)
	for _, id := range m.monitor.Watched() {
		if id.Namespace != series.SQS && id.Namespace != series.Own {
			continue
		}
		for _, d := range id.Dimensions {
			if d.Name == series.QueueName {
				out[catalog.Name{Account: id.Scope.Account, Region: id.Scope.Region, Queue: d.Value}.ARN()] = true
			}
		}
	}
	return out
}

// measureIdle records how many queues will be deleted as a metric, so that an alarm can watch it.
func (m *monitoring) measureIdle(ctx context.Context, at time.Time, announced map[idle.Scope]int) error {
	var samples []monitor.Sample
	for scope, n := range announced {
		id := series.ID{Scope: series.Scope(scope), Namespace: "Sluice/Queues", Metric: "IdleQueuesAnnounced"}
		samples = append(samples, monitor.Sample{ID: id, Unit: "Count", Point: series.Sample(at, float64(n))})
	}
	return m.monitor.Put(ctx, samples)
}

// Run evaluates alarms until ctx ends.
func (m *monitoring) Run(ctx context.Context) error {
	m.evaluator.Run(ctx)
	return nil
}

// alarmTopics publishes the notifications of alarms.
type alarmTopics struct{ topics *sns.Service }

// Publish implements monitor.Publisher. A message that SNS would refuse from a client is refused permanently.
func (t alarmTopics) Publish(ctx context.Context, a *monitor.Action) error {
	_, err := t.topics.PublishNotice(ctx, sns.Notice{
		Service: "cloudwatch.amazonaws.com", Source: a.Alarm.ARN(), Account: a.Alarm.Account,
		Topic: a.Target, Subject: a.Subject, Message: a.Message, ID: a.ID(),
	})
	if _, denied := errors.AsType[*access.Denial](err); denied { // which CloudWatch says in words of its own
		return &monitor.Refusal{Reason: "Resource: " + a.Alarm.ARN() +
			" is not authorized to perform: SNS:Publish on resource: " + a.Target}
	}
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.Status < http.StatusInternalServerError {
		return &monitor.Refusal{Reason: e.Message}
	}
	return err
}
