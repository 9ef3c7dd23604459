package cloudwatch

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
)

type describeAlarmHistoryInput struct {
	AlarmName          *string  `max:"255"`
	AlarmContributorId *string  `max:"16"`
	AlarmTypes         []string `max:"10,32" wrap:"member"`
	HistoryItemType    *string  `max:"64"`
	StartDate          *time.Time
	EndDate            *time.Time
	MaxRecords         *int32
	NextToken          *string `max:"8K"`
	ScanBy             *string `max:"32"`
}

type describeAlarmHistoryOutput struct {
	AlarmHistoryItems []AlarmHistoryItem `wrap:"member" json:",always"`
	NextToken         string             `              json:",omitempty"`
}

// AlarmHistoryItem is an event of an alarm.
type AlarmHistoryItem struct {
	AlarmName       string
	AlarmType       string
	Timestamp       time.Time `precise:""`
	HistoryItemType string
	HistorySummary  string
	HistoryData     string
}

func (s alarms) describeAlarmHistory(
	ctx context.Context,
	c *protocol.Call,
	in *describeAlarmHistoryInput,
) (*describeAlarmHistoryOutput, error) {
	types, about := typesOf(in.AlarmTypes), allAlarms(c)
	if in.AlarmName != nil && !types.Composite { // what composite alarms show is about all alarms
		about.Name = *in.AlarmName
	}
	if err := s.allowAlarm(c, "DescribeAlarmHistory", about, nil); err != nil {
		return nil, err
	}
	out := &describeAlarmHistoryOutput{AlarmHistoryItems: []AlarmHistoryItem{}}
	if types == (monitor.AlarmTypes{}) || in.AlarmContributorId != nil {
		return out, nil
	}
	f := monitor.HistoryFilter{
		Scope: about.Scope, Alarm: text(in.AlarmName), Types: types, Kind: monitor.ItemKind(text(in.HistoryItemType)),
		From: s.now().Add(-monitor.HistoryKept),
	}
	if in.StartDate != nil && in.StartDate.After(f.From) {
		f.From = *in.StartDate
	}
	if in.EndDate != nil {
		f.To = *in.EndDate
	}
	keys, err := s.monitor.HistoryKeys(ctx, f)
	if err != nil {
		return nil, failure(err)
	}
	most := mostAlarms
	if in.MaxRecords != nil {
		most = int(*in.MaxRecords)
	}
	page, next, err := pageOfKeys(keys, text(in.NextToken), text(in.ScanBy) != oldestFirst, most)
	if err != nil {
		return nil, err
	}
	for _, key := range page {
		i, err := s.monitor.Item(key)
		if err != nil {
			return nil, failure(err)
		}
		if i != nil {
			out.AlarmHistoryItems = append(out.AlarmHistoryItems, showItem(i))
		}
	}
	out.NextToken = next
	return out, nil
}

func showItem(i *monitor.Item) AlarmHistoryItem {
	of := metricAlarms
	if i.Composite {
		of = composites
	}
	return AlarmHistoryItem{
		AlarmName: i.Alarm, AlarmType: of, Timestamp: i.Time, HistoryItemType: string(i.Kind),
		HistorySummary: i.Summary, HistoryData: i.Data,
	}
}

// pageOfKeys returns a page of keys, which are oldest first, in the requested order.
func pageOfKeys(keys []string, token string, newest bool, most int) (page []string, next string, err error) {
	order := oldestFirst
	if newest {
		order = newestFirst
		slices.Reverse(keys)
	}
	// The pages of a list have to be sorted by a text: that of keys in falling order is turned around.
	text := func(key string) string {
		if !newest {
			return key
		}
		return strings.Map(func(r rune) rune { return top - r }, key) + string(rune(top))
	}
	p, err := paged(service.Paginate(keys, text, token, order, most))
	return p.Items, p.Next, err
}

// top is above every character of a key, which are ASCII.
const top = 0x7f
