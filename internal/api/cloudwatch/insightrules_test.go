package cloudwatch_test

import (
	"fmt"
	"testing"
)

const insightDefinition = `{"Schema":{"Name":"CloudWatchLogRule","Version":1},"LogGroupNames":["g"],"LogFormat":"JSON","Contribution":{"Keys":["$.k"],"Filters":[]},"AggregateOn":"Count"}`

// A rule is created, disabled, enabled, replaced, tagged and deleted.
func TestInsightRules(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		put := object{
			"RuleName": "a", "RuleDefinition": insightDefinition, "RuleState": "ENABLED",
			"Tags": list{object{"Key": "team", "Value": "red"}},
		}
		shown := object{
			"Name": "a", "State": "ENABLED", "Schema": "CloudWatchLogRule/1", "Definition": insightDefinition,
			"ManagedRule": "false", "ApplyOnTransformedLogs": "false",
		}
		disabled := with(shown, object{"State": "DISABLED"})
		one := object{"RuleNames": list{"a"}}
		is := func(rules ...any) {
			r.Helper()
			if len(rules) == 0 {
				r.ok("DescribeInsightRules", object{}, object{})
				return
			}
			r.ok("DescribeInsightRules", object{}, object{"InsightRules": rules})
		}
		is()
		r.ok("PutInsightRule", put, object{})
		is(shown)
		r.ok("DisableInsightRules", one, object{})
		is(disabled)
		r.ok("EnableInsightRules", object{"RuleNames": list{"a", "a"}}, object{})
		is(shown)
		r.ok("PutInsightRule", with(put, object{
			"RuleState": "DISABLED", "Tags": list{object{"Key": "ignored", "Value": "x"}},
			"ApplyOnTransformedLogs": true,
		}), object{})
		is(with(disabled, object{"ApplyOnTransformedLogs": "true"}))
		r.ok("PutInsightRule", with(put, object{"RuleName": "b", "RuleState": nil}), object{})

		arn := "arn:aws:cloudwatch:us-east-1:000000000000:insight-rule/a"
		r.ok("TagResource", object{"ResourceARN": arn, "Tags": list{object{"Key": "env", "Value": "prod"}}}, object{})
		r.ok("UntagResource", object{"ResourceARN": arn, "TagKeys": list{"team"}}, object{})
		r.ok("ListTagsForResource", object{"ResourceARN": arn}, object{
			"Tags": list{object{"Key": "env", "Value": "prod"}},
		})
		r.ok("DeleteInsightRules", one, object{})
		is(with(shown, object{"Name": "b"}))
		r.fails("ListTagsForResource", object{"ResourceARN": arn}, 404, "ResourceNotFoundException",
			"Unknown resource: "+arn)
		for _, op := range []string{"DeleteInsightRules", "EnableInsightRules", "DisableInsightRules"} {
			r.ok(op, one, object{"Failures": list{object{
				"FailureResource": "a", "ExceptionType": "ResourceNotFoundException",
				"FailureCode": "ResourceNotFound", "FailureDescription": "Unknown rule: a",
			}}})
		}
	})
}

func TestInsightRulesRefuse(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		put := object{"RuleName": "a", "RuleDefinition": insightDefinition}
		refused := func(change object, code, message string) {
			r.Helper()
			r.fails("PutInsightRule", with(put, change), 400, code, message)
		}
		const value, missing = "InvalidParameterValue", "MissingParameter"
		r.fails("PutInsightRule", object{}, 400, missing,
			"The parameter RuleName is required.\nThe parameter RuleDefinition is required.")
		refused(object{"RuleName": "a\tb"}, value,
			"The value a\tb for parameter RuleName is not matching the expected pattern [\\x20-\\x7E]+.")
		refused(object{"RuleState": "ON"}, value,
			"The parameter RuleState must be a value in the set [ENABLED, DISABLED].")
		for _, definition := range []string{"{", "[]", "{}", `{"Schema":{"Name":"ServiceLogRule","Version":1}}`} {
			refused(object{"RuleDefinition": definition}, value,
				"The value for parameter RuleDefinition is invalid: it must be a JSON object with the schema CloudWatchLogRule of version 1.")
		}
		r.fails("EnableInsightRules", object{}, 400, missing, "The parameter RuleNames is required.")
		r.fails("DescribeInsightRules", object{"MaxResults": 501}, 400, "ValidationError",
			"1 validation error detected: Value '501' at 'maxResults' failed to satisfy constraint: Member must have value less than or equal to 500")
		for i := range 100 {
			r.ok("PutInsightRule", with(put, object{"RuleName": fmt.Sprint("r", i)}), object{})
		}
		refused(object{}, "LimitExceededException", "A region of an account can have at most 100 rules.")
		r.ok("PutInsightRule", with(put, object{"RuleName": "r7"}), object{})
	})
}
