package cloudwatch

// unsupported lists the operations of CloudWatch that this server does not have.
var unsupported = []string{
	"AssociateDatasetKmsKey", "CreateResourceMetricsConfiguration", "DeleteAlarmMuteRule",
	"DeleteMetricDataQueryDefinition", "DeleteMetricStream", "DeleteResourceMetricsConfiguration",
	"DisassociateDatasetKmsKey", "GetAlarmMuteRule", "GetDataset", "GetInsightRuleReport",
	"GetMetricDataQueryDefinition", "GetMetricStream", "GetMetricWidgetImage", "GetOTelEnrichment",
	"GetResourceMetricsConfiguration", "ListAlarmMuteRules", "ListManagedInsightRules",
	"ListMetricDataQueryDefinitions", "ListMetricStreams", "PutAlarmMuteRule", "PutLogAlarm",
	"PutManagedInsightRules", "PutMetricDataQueryDefinition", "PutMetricStream", "StartMetricStreams",
	"StartOTelEnrichment", "StopMetricStreams", "StopOTelEnrichment", "UpdateOTelEnrichment",
	"UpdateResourceMetricsConfiguration",
}
