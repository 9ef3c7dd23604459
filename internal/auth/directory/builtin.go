package directory

import (
	"crypto/sha256"
	"encoding/base32"
	"time"
)

// builtin holds AWS's own policies that people attach to users of queues. They belong to no account here and cannot be
// changed.
var builtin = []*Managed{
	aws("AdministratorAccess", "Provides full access to all services and resources.", "*", "*"),
	aws("AWSCloudTrail_FullAccess", "Provides full access to AWS CloudTrail.", "*", "cloudtrail:*", "sns:ListTopics"),
	aws("AWSCloudTrail_ReadOnlyAccess", "Provides read only access to AWS CloudTrail.", "*",
		"cloudtrail:Get*", "cloudtrail:Describe*", "cloudtrail:List*", "cloudtrail:LookupEvents"),
	aws("AmazonSNSFullAccess", "Provides full access to Amazon SNS.", "*", "sns:*"),
	aws("AmazonSNSReadOnlyAccess", "Provides read only access to Amazon SNS.", "*",
		"sns:GetTopicAttributes", "sns:List*", "sns:CheckIfPhoneNumberIsOptedOut", "sns:GetEndpointAttributes",
		"sns:GetDataProtectionPolicy", "sns:GetPlatformApplicationAttributes", "sns:GetSMSAttributes",
		"sns:GetSMSSandboxAccountStatus", "sns:GetSubscriptionAttributes"),
	aws("AmazonSQSFullAccess", "Provides full access to Amazon SQS.", "*", "sqs:*"),
	aws("AmazonSQSReadOnlyAccess", "Provides read only access to Amazon SQS.", "*",
		"sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ListDeadLetterSourceQueues", "sqs:ListQueues",
		"sqs:ListMessageMoveTasks", "sqs:ListQueueTags"),
	aws("CloudWatchFullAccessV2", "Provides full access to CloudWatch.", "*",
		"cloudwatch:*", "iam:GetPolicy", "iam:GetPolicyVersion", "iam:GetRole", "sns:CreateTopic",
		"sns:ListSubscriptions",
		"sns:ListSubscriptionsByTopic", "sns:ListTopics", "sns:Subscribe"),
	aws("CloudWatchReadOnlyAccess", "Provides read only access to CloudWatch.", "*",
		"cloudwatch:Describe*", "cloudwatch:Get*", "cloudwatch:List*", "sns:Get*", "sns:List*"),
	aws("IAMFullAccess", "Provides full access to IAM.", "*", "iam:*"),
	aws("IAMReadOnlyAccess", "Provides read only access to IAM.", "*",
		"iam:GenerateCredentialReport", "iam:GenerateServiceLastAccessedDetails", "iam:Get*", "iam:List*",
		"iam:SimulateCustomPolicy", "iam:SimulatePrincipalPolicy"),
	aws("ReadOnlyAccess", "Provides read-only access to the services of this server.", "*",
		"cloudtrail:Describe*", "cloudtrail:Get*", "cloudtrail:List*", "cloudtrail:LookupEvents",
		"cloudwatch:Describe*", "cloudwatch:Get*", "cloudwatch:List*", "iam:Generate*", "iam:Get*", "iam:List*",
		"iam:Simulate*", "sns:Get*", "sns:List*", "sqs:Get*", "sqs:List*", "sqs:Receive*",
		"sts:GetAccessKeyInfo", "sts:GetCallerIdentity", "sts:GetSessionToken"),
}

// aws returns one of AWS's policies, which allows actions on a resource.
func aws(name, description, resource string, actions ...string) *Managed {
	document := `{
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Action": [`
	for i, a := range actions {
		if i > 0 {
			document += ","
		}
		document += "\n                \"" + a + `"`
	}
	document += `
            ],
            "Resource": "` + resource + `"
        }
    ]
}`
	sum := sha256.Sum256([]byte(name))
	created := time.Date(2015, time.February, 6, 18, 41, 7, 0, time.UTC)
	return &Managed{
		Account: "aws", Name: name, Path: "/", Description: description,
		ID:      "ANPA" + base32.StdEncoding.EncodeToString(sum[:])[:17],
		Created: created, Updated: created, Default: "v1", Last: 1,
		Versions: []Version{{ID: "v1", Document: document, Created: created}},
	}
}
