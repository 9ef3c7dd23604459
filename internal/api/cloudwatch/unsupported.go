package cloudwatch

// unsupported lists the operations of CloudWatch that this server does not have.
var unsupported = []string{
	"AssociateDatasetKmsKey", "CreateResourceMetricsConfiguration", "DeleteAlarmMuteRule", "DeleteAnomalyDetector",
	"DeleteInsightRules",
	"DeleteMetricStream", "DeleteResourceMetricsConfiguration", "DescribeAlarmContributors", "DescribeAnomalyDetectors",
	"DescribeInsightRules", "DisableInsightRules", "DisassociateDatasetKmsKey", "EnableInsightRules",
	"GetAlarmMuteRule", "GetDataset",
	"GetInsightRuleReport", "GetMetricStream", "GetMetricWidgetImage", "GetOTelEnrichment",
	"GetResourceMetricsConfiguration",
	"ListAlarmMuteRules", "ListManagedInsightRules", "ListMetricStreams", "PutAlarmMuteRule", "PutAnomalyDetector",
	"PutInsightRule", "PutLogAlarm", "PutManagedInsightRules", "PutMetricStream", "StartMetricStreams",
	"StartOTelEnrichment",
	"StopMetricStreams", "StopOTelEnrichment", "UpdateOTelEnrichment", "UpdateResourceMetricsConfiguration",
}
