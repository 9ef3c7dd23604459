package cloudwatch

import (
	"context"
	_ "embed" // model.txt
	"errors"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/detector"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/insightrule"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/muterule"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

//go:embed model.txt
var model string

// Options configures New.
type Options struct {
	Monitor      *monitor.Monitor
	Detectors    *detector.Detectors
	InsightRules *insightrule.Rules
	MuteRules    *muterule.Rules
	Series       series.Reader // of the metrics that are counted here
	Levels       series.Levels // how long those are kept
	Access       *access.Decider
	Budget       *budget.Budget   // for queries of history; nil means its own
	Now          func() time.Time // nil means time.Now
	// Room is called before data is added. It returns nil, or an error with a sentence about why there is no room. A
	// nil Room means that there always is.
	Room func() error
}

// core is the common part of all operations. Each kind of resource has its own type, which embeds it.
type core struct {
	monitor    *monitor.Monitor
	authorizer *service.Authorizer
	budget     *budget.Budget
	now        func() time.Time
	room       func() error
}

// New returns the service and its wire form.
func New(o Options) *protocol.Service {
	s := &core{
		monitor: o.Monitor, authorizer: service.NewAuthorizer(o.Access, rules, o.Now), room: o.Room, budget: o.Budget,
	}
	s.now = s.authorizer.Now
	if s.budget == nil {
		s.budget = budget.New(budget.Size)
	}
	if s.room == nil {
		s.room = func() error { return nil }
	}
	wire := protocol.NewService(protocol.Service{
		Name: "monitoring", Target: "GraniteServiceVersion20100801", Versions: []string{"2010-08-01"},
		Namespace: "http://monitoring.amazonaws.com/doc/%s/", ErrorNamespace: "com.amazonaws.cloudwatch",
		Framework: true, TooLong: errTooLong, Model: model,
	})
	alarms{s}.register(wire)
	dashboards{s}.register(wire)
	metrics{s, o.Series, o.Levels}.register(wire)
	anomalyDetectors{s, o.Detectors, o.Series, o.Levels}.register(wire)
	insightRules{s, o.InsightRules}.register(wire)
	muting{s, o.MuteRules}.register(wire)
	tagging{s, o.InsightRules, o.MuteRules}.register(wire)
	wire.Unsupported(unsupported...)
	return wire
}

// within returns a handler of requests that read history, each within the budget of its account.
func within[In, Out any](
	s *core,
	handle func(context.Context, *protocol.Call, *In) (*Out, error),
) func(context.Context, *protocol.Call, *In) (*Out, error) {
	return func(ctx context.Context, c *protocol.Call, in *In) (*Out, error) {
		ctx, end := s.budget.Begin(ctx, service.Caller(c).Account)
		defer end()
		out, err := handle(ctx, c, in)
		if late, ok := errors.AsType[*budget.Excess](context.Cause(ctx)); ok && err != nil {
			return nil, failure(late) // not err, which is a consequence of ctx's end
		}
		return out, err
	}
}

// vendor is the prefix of actions, which is not the name in signatures.
const vendor = "cloudwatch"

var rules = &policy.Rules{Vendor: vendor, Terse: true, Unscoped: []string{
	"cloudwatch:GetMetricData", "cloudwatch:GetMetricStatistics", "cloudwatch:ListMetrics", "cloudwatch:PutMetricData",
	"cloudwatch:DescribeAlarmsForMetric", "cloudwatch:ListDashboards", "cloudwatch:PutAnomalyDetector",
	"cloudwatch:DescribeAnomalyDetectors", "cloudwatch:DeleteAnomalyDetector", "cloudwatch:DescribeInsightRules",
	"cloudwatch:ListAlarmMuteRules",
}}

// Rules returns the rules of CloudWatch with all actions that policies can name.
func Rules() *policy.Rules {
	all := *rules
	for _, name := range New(Options{}).Names() {
		all.Actions = append(all.Actions, vendor+":"+name)
	}
	return &all
}

// allow checks that the caller may take an action on a resource of its own account. It is called before anything is
// revealed about the resource.
func (s *core) allow(c *protocol.Call, action string, about service.Subject) error {
	if about.Resource == nil {
		about.Resource = service.ARN("*")
	}
	return s.authorizer.Authorize(c, about, vendor+":"+action)
}

// aboutAlarm returns an alarm, which may not exist, as the resource of an action.
func (s *core) aboutAlarm(n monitor.Name) service.Subject {
	about := service.Subject{Resource: service.ARN(n.ARN())}
	if a := s.monitor.Alarm(n); a != nil {
		about.Tags = a.Tags
	}
	return about
}

// scope is the scope in which a request's names are unique.
func scope(c *protocol.Call) series.Scope {
	return series.Scope{Account: service.Caller(c).Account, Region: c.Region}
}

// change makes a change, unless there is no room for it.
func (s *core) change(ctx context.Context, adds bool, f func(*monitor.Tx) error) error {
	if adds {
		if err := s.room(); err != nil {
			return service.NoRoom(err)
		}
	}
	return failure(s.monitor.Change(ctx, f))
}
