// Package metricsearch finds series of metrics by what SEARCH of CloudWatch's metric math asks for:
//
//	{AWS/SQS,QueueName} MetricName="NumberOfMessagesSent" QueueName=(orders OR invoices) NOT test
//
// Braces hold a namespace and the names of all dimensions that a series must have. They are followed by terms, next to
// each other or with AND, OR, NOT and brackets. A term in double quotes is the whole of a name or a value, in the case
// as it is written. Another one is a part of it, in any case: names and values are taken apart into words, where other
// characters than letters and digits stand, where digits begin or end and where capitals begin, and a term matches if
// its own words are among them, next to each other. Namespace=, MetricName= and the name of a dimension before a term
// say of what it is a part.
//
// Parse refuses what is not supported with the character at which it begins. Matching is a pure function.
package metricsearch
