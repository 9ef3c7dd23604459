package cloudwatch_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

const muteARN = "arn:aws:cloudwatch:us-east-1:000000000000:alarm-mute-rule:"

// nightly is a rule as Terraform creates it.
var nightly = object{
	"Name": "nightly", "Description": "while backups run",
	"Rule": object{
		"Schedule": object{"Expression": "cron(0 2 * * *)", "Duration": "PT4H", "Timezone": "America/New_York"},
	},
	"MuteTargets": object{"AlarmNames": list{"b", "a"}},
	"StartDate":   time.Date(2026, 1, 1, 0, 0, 59, 0, time.UTC),
	"ExpireDate":  time.Date(2026, 12, 31, 23, 59, 0, 0, time.UTC),
	"Tags":        list{object{"Key": "key1", "Value": "value1"}},
}

var named = object{"AlarmMuteRuleName": "nightly"}

func TestAlarmMuteRules(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.put("a", "b")
		r.ok("PutAlarmMuteRule", nightly, object{})
		shown := object{
			"Name": "nightly", "AlarmMuteRuleArn": muteARN + "nightly", "Description": "while backups run",
			"Rule":        nightly["Rule"],
			"MuteTargets": nightly["MuteTargets"], "StartDate": "2026-01-01T00:00:00Z",
			"ExpireDate": "2026-12-31T23:59:00Z",
			"Status":     "SCHEDULED", "LastUpdatedTimestamp": "2026-11-21T12:00:30Z", "MuteType": "RECURRING",
		}
		r.ok("GetAlarmMuteRule", named, shown)
		r.ok("ListTagsForResource", object{"ResourceARN": muteARN + "nightly"}, object{"Tags": nightly["Tags"]})

		// An update replaces all but the tags. Without a time zone it is in UTC.
		r.now = r.now.Add(time.Minute)
		once := object{
			"Name": "nightly",
			"Rule": object{"Schedule": object{"Expression": "at(2026-11-21T12:01)", "Duration": "PT1M"}},
			"Tags": list{object{"Key": "x", "Value": "y"}},
		}
		r.ok("PutAlarmMuteRule", once, object{})
		shown = object{
			"Name": "nightly", "AlarmMuteRuleArn": muteARN + "nightly", "Status": "ACTIVE", "MuteType": "ONE_TIME",
			"Rule": object{
				"Schedule": object{"Expression": "at(2026-11-21T12:01)", "Duration": "PT1M", "Timezone": "UTC"},
			},
			"LastUpdatedTimestamp": "2026-11-21T12:01:30Z",
		}
		r.ok("GetAlarmMuteRule", named, shown)
		r.now = r.now.Add(30 * time.Second)
		r.ok("GetAlarmMuteRule", named, with(shown, object{"Status": "EXPIRED"}))
		r.ok("TagResource",
			object{"ResourceARN": muteARN + "nightly", "Tags": list{object{"Key": "key2", "Value": "2"}}}, object{})
		r.ok("UntagResource", object{"ResourceARN": muteARN + "nightly", "TagKeys": list{"key1"}}, object{})
		r.ok("ListTagsForResource", object{"ResourceARN": muteARN + "nightly"}, object{
			"Tags": list{object{"Key": "key2", "Value": "2"}},
		})

		r.ok("DeleteAlarmMuteRule", named, object{})
		r.ok("DeleteAlarmMuteRule", named, object{}) // which does not exist
		r.fails("GetAlarmMuteRule", named, 404, "ResourceNotFoundException",
			"The alarm mute rule nightly does not exist.")
		r.fails("ListTagsForResource", object{"ResourceARN": muteARN + "nightly"}, 404, "ResourceNotFoundException",
			"Unknown resource: "+muteARN+"nightly")
		r.fails("TagResource", object{"ResourceARN": muteARN + "nightly", "Tags": nightly["Tags"]}, 404,
			"ResourceNotFoundException", "Unknown resource: "+muteARN+"nightly")
	})
}

func TestListAlarmMuteRules(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.put("a", "b")
		schedule := func(expression string) object {
			return object{"Schedule": object{"Expression": expression, "Duration": "PT1H"}}
		}
		on := func(alarms ...any) object { return object{"AlarmNames": alarms} }
		r.ok("ListAlarmMuteRules", object{}, object{})
		r.ok("PutAlarmMuteRule",
			object{"Name": "open", "Rule": schedule("cron(0 12 * * *)"), "MuteTargets": on("a", "b")}, object{})
		r.ok("PutAlarmMuteRule",
			object{
				"Name": "later", "Rule": schedule("cron(0 13 * * *)"), "MuteTargets": on("b"),
				"ExpireDate": r.now.Add(48 * time.Hour),
			}, object{})
		r.ok("PutAlarmMuteRule",
			object{"Name": "over", "Rule": schedule("at(2026-01-01T00:00)"), "MuteTargets": on("a")}, object{})
		summary := func(name, status, kind string) object {
			return object{
				"AlarmMuteRuleArn": muteARN + name, "Status": status, "MuteType": kind,
				"LastUpdatedTimestamp": "2026-11-21T12:00:30Z",
			}
		}
		later := with(summary("later", "SCHEDULED", "RECURRING"), object{"ExpireDate": "2026-11-23T12:00:00Z"})
		open, over := summary("open", "ACTIVE", "RECURRING"), summary("over", "EXPIRED", "ONE_TIME")
		for _, c := range []struct {
			in   object
			want list
		}{
			{object{}, list{later, open, over}}, {object{"AlarmName": "a"}, list{open, over}},
			{object{"Statuses": list{"SCHEDULED", "EXPIRED"}}, list{later, over}},
			{object{"AlarmName": "b", "Statuses": list{"ACTIVE"}}, list{open}},
			{object{"MaxRecords": 100}, list{later, open, over}},
		} {
			r.ok("ListAlarmMuteRules", c.in, object{"AlarmMuteRuleSummaries": c.want})
		}
		r.ok("ListAlarmMuteRules", object{"AlarmName": "c"}, object{})
		first := r.call("ListAlarmMuteRules", object{"MaxRecords": 2}).output
		token, _ := first["NextToken"].(string)
		if summaries, _ := first["AlarmMuteRuleSummaries"].(list); len(summaries) != 2 || token == "" {
			r.Fatalf("a page is %v", first)
		}
		r.ok("ListAlarmMuteRules", object{"MaxRecords": 2, "NextToken": token}, object{
			"AlarmMuteRuleSummaries": list{over},
		})
		r.fails("ListAlarmMuteRules", object{"NextToken": "x"}, 400, "InvalidNextToken",
			"The next token is not one of this list.")
	})
}

func TestPutAlarmMuteRuleRefuses(t *testing.T) {
	t.Parallel()
	const one = "1 validation error detected: "
	const null = " failed to satisfy constraint: Member must not be null"
	inEach(t, func(r *rig) {
		r.put("a")
		basic := object{
			"Name": "n", "Rule": object{"Schedule": object{"Expression": "cron(0 2 * * *)", "Duration": "PT4H"}},
		}
		refused := func(change object, message string) {
			r.Helper()
			r.fails("PutAlarmMuteRule", with(basic, change), 400, "ValidationError", message)
		}
		schedule := func(change object) object {
			return object{
				"Rule": object{"Schedule": with(object{"Expression": "cron(0 2 * * *)", "Duration": "PT4H"}, change)},
			}
		}
		refused(object{"Name": nil}, one+"Value null at 'name'"+null)
		refused(object{"Rule": nil}, one+"Value null at 'rule'"+null)
		refused(schedule(object{"Duration": nil}), one+"Value null at 'rule.schedule.duration'"+null)
		refused(schedule(object{"Expression": nil}), one+"Value null at 'rule.schedule.expression'"+null)
		refused(schedule(object{"Duration": strings.Repeat("1", 51)}), one+"Value '"+strings.Repeat("1", 51)+
			"' at 'rule.schedule.duration' failed to satisfy constraint: Member must have length less than or equal to 50")
		refused(schedule(object{"Duration": "2h"}), "The Duration provided is not valid.")
		refused(schedule(object{"Duration": "P16D"}), "The Duration provided is not valid.")
		refused(schedule(object{"Expression": "cron(0 2 ? * SUN *)"}), "The Expression provided is not valid.")
		refused(schedule(object{"Expression": "at(2026-09-05T02:00:00)"}),
			"At expressions must be a valid date in 'yyyy-MM-ddThh:mm' format")
		refused(schedule(object{"Timezone": "Mars/Base"}), "The Timezone provided is not valid.")
		refused(with(schedule(object{"Expression": "at(2027-01-01T00:00)"}), object{"StartDate": r.now}),
			"StartDate and ExpireDate must not be specified with an at expression.")
		refused(object{"StartDate": r.now, "ExpireDate": r.now}, "ExpireDate must be after StartDate.")
		refused(object{"MuteTargets": object{"AlarmNames": list{"a", "gone"}}}, "The alarms [gone] do not exist.")
		var many list
		for i := range 101 {
			many = append(many, fmt.Sprint(i))
		}
		if got := r.call("PutAlarmMuteRule",
			with(basic, object{"MuteTargets": object{"AlarmNames": many}})); got.code != "ValidationError" ||
			!strings.HasSuffix(got.message,
				"at 'muteTargets.alarmNames' failed to satisfy constraint: Member must have length less than or equal to 100") {
			r.Errorf("%+v", got)
		}
		if got := r.call("PutAlarmMuteRule",
			with(basic, object{"Tags": list{object{"Key": "aws:x", "Value": "y"}}})); got.status != 400 {
			r.Errorf("%+v", got)
		}
		r.ok("ListAlarmMuteRules", object{}, object{})
		for i := range 200 {
			r.ok("PutAlarmMuteRule", with(basic, object{"Name": fmt.Sprint(i)}), object{})
		}
		r.fails("PutAlarmMuteRule", basic, 400, "LimitExceeded",
			"A region of an account can have at most 200 alarm mute rules.")
	})
}

// The actions of a muted alarm are carried out when the rule's window ends, or the rule is deleted.
func TestMutedActions(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.put("a", "b")
		published := new(notices)
		e := monitor.NewEvaluator(monitor.EvaluatorOptions{
			Monitor: r.monitor, Reader: r.metrics, Levels: series.Default, Topics: published,
			Now: func() time.Time { return r.now },
			Log: slog.New(slog.DiscardHandler),
		})
		pass := func(want int) {
			r.Helper()
			for _, step := range []func(context.Context, time.Time) error{e.Combine, e.Unmute, e.Deliver} {
				if err := step(r.Context(), r.now); err != nil {
					r.Fatal(err)
				}
			}
			if len(*published) != want {
				r.Errorf("published %q, want %d", *published, want)
			}
		}
		set := func(name, state string) {
			r.ok("SetAlarmState", object{"AlarmName": name, "StateValue": state, "StateReason": "a test"}, object{})
		}
		r.ok("PutAlarmMuteRule", object{
			"Name":        "now",
			"Rule":        object{"Schedule": object{"Expression": "at(2026-11-21T12:00)", "Duration": "PT30M"}},
			"MuteTargets": object{"AlarmNames": list{"a"}},
		}, object{})
		set("a", "ALARM")
		set("b", "ALARM")
		pass(1) // of b
		r.now = r.now.Add(29 * time.Minute)
		pass(1)
		r.now = r.now.Add(time.Minute)
		pass(2)
		if !strings.Contains((*published)[0], `"ActionExecutedAfterMuteWindow":false`) ||
			!strings.Contains((*published)[1], `"ActionExecutedAfterMuteWindow":true`) {
			r.Errorf("published %q", *published)
		}
		r.ok("PutAlarmMuteRule",
			with(nightly, object{
				"Name": "now", "Rule": object{"Schedule": object{"Expression": "cron(* * * * *)", "Duration": "P1D"}},
			}), object{})
		set("a", "OK")
		set("a", "ALARM")
		pass(2)
		r.ok("DeleteAlarmMuteRule", object{"AlarmMuteRuleName": "now"}, object{})
		pass(3)
	})
}

type notices []string

func (n *notices) Publish(_ context.Context, a *monitor.Action) error {
	*n = append(*n, a.Message)
	return nil
}

// A rule needs a permission on itself and on each alarm that it mutes; conditions see their tags.
func TestPermissionsOfMuteRules(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	ctx := t.Context()
	for name, team := range map[string]string{"mine": "a", "theirs": "b"} {
		out, err := root.CW.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{
			AlarmName: aws.String(name), Namespace: aws.String("N"), MetricName: aws.String("m"),
			Statistic: types.StatisticSum, Period: aws.Int32(60),
			EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(1),
			ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold,
			Tags:               []types.Tag{{Key: aws.String("Team"), Value: &team}},
		})
		apitest.Must(t, out, err)
	}
	ann, _ := root.User(t, "ann", `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":["cloudwatch:PutAlarmMuteRule","cloudwatch:GetAlarmMuteRule"],"Resource":"arn:aws:cloudwatch:*:*:alarm-mute-rule:ann-*"},
		{"Effect":"Allow","Action":"cloudwatch:PutAlarmMuteRule","Resource":"arn:aws:cloudwatch:*:*:alarm:*","Condition":{"StringEquals":{"aws:ResourceTag/Team":"a"}}}]}`)
	put := func(name string, alarms ...string) string {
		_, err := ann.CW.PutAlarmMuteRule(ctx, &cloudwatch.PutAlarmMuteRuleInput{
			Name: &name,
			Rule: &types.Rule{
				Schedule: &types.Schedule{Expression: aws.String("cron(0 2 * * *)"), Duration: aws.String("PT4H")},
			},
			MuteTargets: &types.MuteTargets{AlarmNames: alarms},
		})
		return apitest.Code(err)
	}
	for _, c := range []struct{ got, want string }{
		{put("ann-1", "mine"), ""}, {put("ann-2", "theirs"), "AccessDenied"},
		{put("ann-2", "mine", "theirs"), "AccessDenied"},
		{put("ann-2", "none"), "AccessDenied"}, {put("eve-1", "mine"), "AccessDenied"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	out, err := ann.CW.GetAlarmMuteRule(ctx, &cloudwatch.GetAlarmMuteRuleInput{AlarmMuteRuleName: aws.String("ann-1")})
	if got := apitest.Must(t, out,
		err); got.Status != types.AlarmMuteRuleStatusScheduled && got.Status != types.AlarmMuteRuleStatusActive ||
		got.LastUpdatedTimestamp == nil {
		t.Errorf("%+v", got)
	}
	_, err = ann.CW.ListAlarmMuteRules(ctx, &cloudwatch.ListAlarmMuteRulesInput{})
	if apitest.Code(err) != "AccessDenied" {
		t.Errorf("%v", err)
	}
	_, err = ann.CW.DeleteAlarmMuteRule(ctx, &cloudwatch.DeleteAlarmMuteRuleInput{
		AlarmMuteRuleName: aws.String("ann-1"),
	})
	if apitest.Code(err) != "AccessDenied" {
		t.Errorf("%v", err)
	}
	listed, err := root.CW.ListAlarmMuteRules(ctx, &cloudwatch.ListAlarmMuteRulesInput{})
	if got := apitest.Must(t, listed, err).AlarmMuteRuleSummaries; len(got) != 1 ||
		*got[0].AlarmMuteRuleArn != muteARN+"ann-1" {
		t.Errorf("%+v", got)
	}
}
