package trail

import "testing"

func TestResourceType(t *testing.T) {
	t.Parallel()
	for arn, want := range map[string]string{
		"arn:aws:sqs:us-east-1:000000000000:jobs":            "AWS::SQS::Queue",
		"arn:aws:sns:us-east-1:000000000000:jobs":            "AWS::SNS::Topic",
		"arn:aws:cloudwatch:us-east-1:000000000000:alarm:a":  "AWS::CloudWatch::Alarm",
		"arn:aws:cloudwatch::000000000000:dashboard/main":    "AWS::CloudWatch::Dashboard",
		"arn:aws:cloudwatch:us-east-1:0:insight-rule/r":      "AWS::CloudWatch::InsightRule",
		"arn:aws:cloudwatch:us-east-1:0:alarm-mute-rule:r":   "AWS::CloudWatch::AlarmMuteRule",
		"arn:aws:iam::000000000000:mfa/phone":                "AWS::IAM::VirtualMFADevice",
		"arn:aws:cloudtrail:us-east-1:000000000000:trail/t1": "AWS::CloudTrail::Trail",
		"arn:aws:iam::000000000000:user/team/bob":            "AWS::IAM::User",
		"arn:aws:iam::000000000000:root":                     "",
		"arn:aws:ec2:us-east-1:000000000000:instance/i-1":    "",
		"jobs": "",
	} {
		if got := resourceType(arn); got != want {
			t.Errorf("%s is of the type %q, want %q", arn, got, want)
		}
	}
}
