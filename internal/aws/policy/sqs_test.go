package policy_test

import "github.com/sluicemq/sluice/internal/aws/policy"

// sqs are SQS's actions, as the server knows them.
var sqs = &policy.Rules{
	Vendor: "sqs",
	Actions: []string{
		"sqs:AddPermission", "sqs:CancelMessageMoveTask", "sqs:ChangeMessageVisibility", "sqs:CreateQueue",
		"sqs:DeleteMessage",
		"sqs:DeleteQueue", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ListDeadLetterSourceQueues",
		"sqs:ListMessageMoveTasks",
		"sqs:ListQueueTags", "sqs:ListQueues", "sqs:PurgeQueue", "sqs:ReceiveMessage", "sqs:RemovePermission",
		"sqs:SendMessage",
		"sqs:SetQueueAttributes", "sqs:StartMessageMoveTask", "sqs:TagQueue", "sqs:UntagQueue",
	},
	OwnerOnly: []string{
		"sqs:AddPermission", "sqs:CancelMessageMoveTask", "sqs:CreateQueue", "sqs:DeleteQueue",
		"sqs:ListMessageMoveTasks",
		"sqs:ListQueueTags", "sqs:ListQueues", "sqs:RemovePermission", "sqs:SetQueueAttributes",
		"sqs:StartMessageMoveTask",
		"sqs:TagQueue", "sqs:UntagQueue",
	},
	Unscoped:  []string{"sqs:ListQueues"},
	Repair:    []string{"sqs:DeleteQueue", "sqs:GetQueueAttributes", "sqs:RemovePermission", "sqs:SetQueueAttributes"},
	LowerCase: true,
}
