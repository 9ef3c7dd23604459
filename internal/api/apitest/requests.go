package apitest

import "fmt"

// Redrive is a redrive policy.
func Redrive(arn string, count any) string {
	return fmt.Sprintf(`{"deadLetterTargetArn":"%s","maxReceiveCount":%v}`, arn, count)
}

// Text is a message attribute.
func Text(value string) Object { return Object{"DataType": "String", "StringValue": value} }

// Number is a message attribute.
func Number(value string) Object { return Object{"DataType": "Number", "StringValue": value} }

// ValidInputs has a valid input for each operation, in an account with the
// queue "q", which handle is a receipt handle of, and its dead-letter queue
// "dlq", in which task runs.
func ValidInputs(c *Client, handle, task string) map[string]Object {
	u, entry := c.URL("q"), Object{"Id": "a", "ReceiptHandle": handle}
	return map[string]Object{
		"AddPermission": {
			"QueueUrl": u, "Label": "l", "AWSAccountIds": List{OtherAccount}, "Actions": List{"SendMessage"},
		},
		"CancelMessageMoveTask":   {"TaskHandle": task},
		"ChangeMessageVisibility": {"QueueUrl": u, "ReceiptHandle": handle, "VisibilityTimeout": 0},
		"ChangeMessageVisibilityBatch": {
			"QueueUrl": u,
			"Entries":  List{Object{"Id": "a", "ReceiptHandle": handle, "VisibilityTimeout": 0}},
		},
		"CreateQueue":                {"QueueName": "new"},
		"DeleteMessage":              {"QueueUrl": u, "ReceiptHandle": handle},
		"DeleteMessageBatch":         {"QueueUrl": u, "Entries": List{entry}},
		"DeleteQueue":                {"QueueUrl": u},
		"GetQueueAttributes":         {"QueueUrl": u, "AttributeNames": List{"All"}},
		"GetQueueUrl":                {"QueueName": "q", "QueueOwnerAWSAccountId": Account},
		"ListDeadLetterSourceQueues": {"QueueUrl": c.URL("dlq")},
		"ListMessageMoveTasks":       {"SourceArn": c.ARN("dlq")},
		"ListQueues":                 {},
		"ListQueueTags":              {"QueueUrl": u},
		"PurgeQueue":                 {"QueueUrl": u},
		"ReceiveMessage":             {"QueueUrl": u, "VisibilityTimeout": 0},
		"RemovePermission":           {"QueueUrl": u, "Label": "taken"},
		"SendMessage":                {"QueueUrl": u, "MessageBody": "m"},
		"SendMessageBatch":           {"QueueUrl": u, "Entries": List{Object{"Id": "a", "MessageBody": "m"}}},
		"SetQueueAttributes":         {"QueueUrl": u, "Attributes": Object{"DelaySeconds": "9"}},
		"StartMessageMoveTask":       {"SourceArn": c.ARN("other-dlq")},
		"TagQueue":                   {"QueueUrl": u, "Tags": Object{"a": "b"}},
		"UntagQueue":                 {"QueueUrl": u, "TagKeys": List{"k"}},
	}
}
