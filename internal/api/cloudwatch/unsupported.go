package cloudwatch

// unsupported lists the operations of CloudWatch that this server does not have.
var unsupported = []string{
	"AssociateDatasetKmsKey", "CreateResourceMetricsConfiguration", "DeleteAlarmMuteRule", "DeleteMetricStream",
	"DeleteResourceMetricsConfiguration", "DescribeAlarmContributors", "DisassociateDatasetKmsKey",
	"GetAlarmMuteRule", "GetDataset", "GetInsightRuleReport", "GetMetricStream", "GetMetricWidgetImage",
	"GetOTelEnrichment", "GetResourceMetricsConfiguration", "ListAlarmMuteRules", "ListManagedInsightRules",
	"ListMetricStreams", "PutAlarmMuteRule", "PutLogAlarm", "PutManagedInsightRules", "PutMetricStream",
	"StartMetricStreams", "StartOTelEnrichment", "StopMetricStreams", "StopOTelEnrichment",
	"UpdateOTelEnrichment", "UpdateResourceMetricsConfiguration",
}
