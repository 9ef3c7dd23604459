package cloudwatch

import (
	"context"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

type describeAlarmContributorsInput struct {
	AlarmName *string `max:"255"`
	NextToken *string `max:"8K"`
}

type describeAlarmContributorsOutput struct {
	AlarmContributors []alarmContributor `wrap:"member" json:",always"`
}

// alarmContributor is one of the time series of an alarm on several. No alarm here has several.
type alarmContributor struct {
	ContributorId string
	StateReason   string
}

func (s alarms) describeAlarmContributors(
	_ context.Context, c *protocol.Call, in *describeAlarmContributorsInput,
) (*describeAlarmContributorsOutput, error) {
	name, err := alarmName(c, in.AlarmName)
	if err != nil {
		return nil, err
	}
	if err := s.allowAlarm(c, "DescribeAlarmContributors", name, nil); err != nil {
		return nil, err
	}
	if s.monitor.Alarm(name) == nil {
		return nil, errNoResource(name.ARN())
	}
	id := func(a alarmContributor) string { return a.ContributorId }
	if _, err := paged(
		service.Paginate([]alarmContributor{}, id, text(in.NextToken), "", mostAlarms),
	); err != nil {
		return nil, err
	}
	return &describeAlarmContributorsOutput{AlarmContributors: []alarmContributor{}}, nil
}
