package command_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// Alarms are listed with their states, through all pages, and so is their history.
func TestAlarmsByCommand(t *testing.T) {
	s := serve(t, "--in-memory")
	as(t, s.exports, "")
	client := apitest.NewActor(s.exports["AWS_ENDPOINT_URL_CLOUDWATCH"], s.exports["AWS_ACCESS_KEY_ID"],
		s.exports["AWS_SECRET_ACCESS_KEY"], "", nil).CW
	for i := range 60 {
		_, err := client.PutMetricAlarm(t.Context(), &cloudwatch.PutMetricAlarmInput{
			AlarmName: aws.String(fmt.Sprintf("wait-%02d", i)), Namespace: aws.String("AWS/SQS"),
			MetricName: aws.String("ApproximateAgeOfOldestMessage"), Statistic: types.StatisticMaximum,
			Period: aws.Int32(60), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(300),
			ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold,
			ActionsEnabled:     aws.Bool(i > 0), TreatMissingData: aws.String("ignore"), // keeps a state that was set
		})
		apitest.Must(t, 0, err)
	}
	_, err := client.SetAlarmState(t.Context(), &cloudwatch.SetAlarmStateInput{
		AlarmName: aws.String("wait-59"), StateValue: types.StateValueAlarm, StateReason: aws.String("a test"),
	})
	apitest.Must(t, 0, err)
	prints := func(want []string, args ...string) string {
		t.Helper()
		out, _, err := run(t, args...)
		for _, w := range want {
			if err != nil || !strings.Contains(out, w) {
				t.Errorf("%v: %q is missing in %q, %v", args, w, out, err)
			}
		}
		return out
	}
	if all := prints([]string{"wait-00", "INSUFFICIENT_DATA (actions disabled)", "wait-59", "ALARM"}, "alarm",
		"ls"); strings.Count(all, "\n") != 61 {
		t.Errorf("the list is %s", all)
	}
	if some := prints([]string{"wait-59", "a test"}, "alarm", "ls", "wait-", "--state",
		"ALARM"); strings.Count(some, "\n") != 2 {
		t.Errorf("the list is %s", some)
	}
	_, err = client.PutCompositeAlarm(t.Context(), &cloudwatch.PutCompositeAlarmInput{
		AlarmName: aws.String("wait-4 all"), AlarmRule: aws.String(`ALARM("wait-58")`),
		ActionsSuppressor:           aws.String("wait-59"),
		ActionsSuppressorWaitPeriod: aws.Int32(60), ActionsSuppressorExtensionPeriod: aws.Int32(60),
	})
	apitest.Must(t, 0, err)
	eventually.Succeeds(t, func() error {
		out, _, err := run(t, "alarm", "ls")
		if want := "OK (actions suppressed by Alarm)"; err != nil || !strings.Contains(out, want) {
			return fmt.Errorf("%q is missing in %q, %w", want, out, err)
		}
		return nil
	})
	prints([]string{`"AlarmRule": "ALARM(\"wait-58\")"`}, "alarm", "ls", "wait-4 ", "--json")
	prints([]string{`Alarm "wait-4 all" created`}, "alarm", "history", "wait-4 all")
	_, err = client.DeleteAlarms(t.Context(), &cloudwatch.DeleteAlarmsInput{AlarmNames: []string{"wait-4 all"}})
	apitest.Must(t, 0, err)
	prints([]string{`"AlarmName": "wait-59"`, `"StateValue": "ALARM"`}, "alarm", "ls", "--state", "ALARM", "--json")
	prints([]string{`Alarm "wait-59" created`, "Alarm updated from INSUFFICIENT_DATA to ALARM"}, "alarm", "history",
		"wait-59")
	if all := prints(nil, "alarm", "history"); strings.Count(all, "\n") < 65 {
		t.Errorf("the history is %s", all)
	}
	if _, _, err := run(t, "alarm", "ls", "--state", "FINE"); err == nil ||
		!strings.Contains(err.Error(), "ValidationError") {
		t.Errorf("an unknown state: %v", err)
	}
}
