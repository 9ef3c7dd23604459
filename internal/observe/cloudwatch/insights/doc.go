// Package insights reads the part of CloudWatch's Metrics Insights that people use to watch queues:
//
//	SELECT MAX(ApproximateNumberOfMessagesVisible) FROM SCHEMA("AWS/SQS", QueueName)
//	WHERE QueueName != 'test' GROUP BY QueueName ORDER BY MAX() DESC LIMIT 10
//
// A query picks series by namespace, metric and dimensions, and merges those of each group into one. Unsupported syntax
// is refused with the character at which it begins.
package insights
