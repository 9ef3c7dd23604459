package command

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newAlarm() *cobra.Command {
	server := new(clientFlags)
	cmd := &cobra.Command{
		Use:   "alarm",
		Short: "Show alarms and their history",
		Long: `Show alarms and their history, by the operations of CloudWatch.

Create alarms by aws cloudwatch put-metric-alarm, Terraform or an SDK.`,
	}
	server.add(cmd, "CLOUDWATCH")
	cmd.AddCommand(newAlarmList(server), newAlarmHistory(server))
	return cmd
}

// cloudwatch calls an operation of CloudWatch in the Query protocol.
func (c *client) cloudwatch(ctx context.Context, action string, out any, params ...string) error {
	return c.query(ctx, "monitoring", "2010-08-01", action, out, params...)
}

// cloudwatchPages calls a list operation of CloudWatch for all pages. add takes a page and returns the token of the
// next.
func cloudwatchPages[T any](
	ctx context.Context, c *call, action string, params []string, add func(page *T) (next string),
) error {
	for token := []string(nil); ; {
		page := new(T)
		if err := c.cloudwatch(ctx, action, page, append(token, params...)...); err != nil {
			return err
		}
		next := add(page)
		if next == "" {
			return nil
		}
		token = []string{"NextToken", next}
	}
}

// shownAlarm is an alarm in a list.
type shownAlarm struct {
	AlarmName                  string
	AlarmArn                   string
	StateValue                 string
	StateReason                string
	StateTransitionedTimestamp time.Time
	ActionsEnabled             bool
	AlarmRule                  string `json:",omitempty"` // of a composite alarm
	ActionsSuppressedBy        string `json:",omitempty"`
}

// allTypes requests alarms of all types.
var allTypes = []string{"AlarmTypes.member.1", "MetricAlarm", "AlarmTypes.member.2", "CompositeAlarm"}

// alarmPage is a page of DescribeAlarms.
type alarmPage struct {
	Metric    []shownAlarm `xml:"DescribeAlarmsResult>MetricAlarms>member"`
	Composite []shownAlarm `xml:"DescribeAlarmsResult>CompositeAlarms>member"`
	Next      string       `xml:"DescribeAlarmsResult>NextToken"`
}

// alarmList is the answer of alarm ls.
type alarmList struct{ Alarms []shownAlarm }

func newAlarmList(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "ls [PREFIX]",
		Short:   "List alarms with their states, and when these began",
		Example: "  sluice alarm ls\n  sluice alarm ls orders- --state ALARM",
		Args:    arguments("[PREFIX]"),
	}
	var state string
	cmd.Flags().StringVar(&state, "state", "", "only alarms in this state: OK, ALARM or INSUFFICIENT_DATA")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		params := slices.Clone(allTypes)
		if len(c.args) > 0 {
			params = append(params, "AlarmNamePrefix", c.args[0])
		}
		if state != "" {
			params = append(params, "StateValue", state)
		}
		list := &alarmList{Alarms: []shownAlarm{}}
		err := cloudwatchPages(ctx, c, "DescribeAlarms", params, func(page *alarmPage) string {
			list.Alarms = append(list.Alarms, slices.Concat(page.Metric, page.Composite)...)
			return page.Next
		})
		slices.SortFunc(list.Alarms, func(a, b shownAlarm) int { return strings.Compare(a.AlarmName, b.AlarmName) })
		return answerOr(list, err)
	})
}

func (l *alarmList) text(w io.Writer) error {
	var rows [][]string
	for _, a := range l.Alarms {
		state := a.StateValue
		if !a.ActionsEnabled {
			state += " (actions disabled)"
		} else if a.ActionsSuppressedBy != "" {
			state += " (actions suppressed by " + a.ActionsSuppressedBy + ")"
		}
		rows = append(rows, []string{
			a.AlarmName, state, a.StateTransitionedTimestamp.Format(time.RFC3339), a.StateReason,
		})
	}
	return printTable(w, []string{"ALARM", "STATE", "SINCE", "REASON"}, rows)
}

// alarmItem is an entry of an alarm's history.
type alarmItem struct {
	AlarmName       string
	Timestamp       time.Time
	HistoryItemType string
	HistorySummary  string
}

// historyPage is a page of DescribeAlarmHistory.
type historyPage struct {
	Items []alarmItem `xml:"DescribeAlarmHistoryResult>AlarmHistoryItems>member"`
	Next  string      `xml:"DescribeAlarmHistoryResult>NextToken"`
}

// alarmHistory is the answer of alarm history.
type alarmHistory struct{ Items []alarmItem }

func newAlarmHistory(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "history [ALARM]",
		Short:   "Show the history of an alarm, or of all alarms, for the last 14 days",
		Example: "  sluice alarm history orders-wait",
		Args:    arguments("[ALARM]"),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		params := append([]string{"ScanBy", "TimestampAscending"}, allTypes...)
		if len(c.args) > 0 {
			params = append(params, "AlarmName", c.args[0])
		}
		history := &alarmHistory{Items: []alarmItem{}}
		err := cloudwatchPages(ctx, c, "DescribeAlarmHistory", params, func(page *historyPage) string {
			history.Items = append(history.Items, page.Items...)
			return page.Next
		})
		return answerOr(history, err)
	})
}

func (h *alarmHistory) text(w io.Writer) error {
	var rows [][]string
	for _, i := range h.Items {
		rows = append(rows, []string{i.Timestamp.Format(time.RFC3339), i.AlarmName, i.HistorySummary})
	}
	return printTable(w, []string{"TIME", "ALARM", "WHAT"}, rows)
}
