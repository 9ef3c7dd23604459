// Package metricsearch finds series of metrics with the queries of SEARCH in CloudWatch's metric math:
//
//	{AWS/SQS,QueueName} MetricName="NumberOfMessagesSent" QueueName=(orders OR invoices) NOT test
//
// Braces hold a namespace and the names of all dimensions that a series must have. They are followed by terms, next to
// each other or with AND, OR, NOT and brackets. A term in double quotes matches a whole name or value, and its case
// counts. Any other term matches a part of one, in any case: names and values are divided into words at characters
// other than letters and digits, where digits begin or end, and where capitals begin. A term matches if its own words
// are among them, next to each other. Namespace=, MetricName= or the name of a dimension before a term restricts it to
// that field.
//
// Parse refuses what is not supported with the character at which it begins. Matching is a pure function.
package metricsearch
