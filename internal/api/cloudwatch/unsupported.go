package cloudwatch

// unsupported lists the operations of CloudWatch that this server does not have.
var unsupported = []string{
	"AssociateDatasetKmsKey", "CreateResourceMetricsConfiguration",
	"DeleteMetricDataQueryDefinition", "DeleteMetricStream", "DeleteResourceMetricsConfiguration",
	"DisassociateDatasetKmsKey", "GetDataset", "GetInsightRuleReport",
	"GetMetricDataQueryDefinition", "GetMetricStream", "GetMetricWidgetImage", "GetOTelEnrichment",
	"GetResourceMetricsConfiguration", "ListManagedInsightRules",
	"ListMetricDataQueryDefinitions", "ListMetricStreams", "PutLogAlarm",
	"PutManagedInsightRules", "PutMetricDataQueryDefinition", "PutMetricStream", "StartMetricStreams",
	"StartOTelEnrichment", "StopMetricStreams", "StopOTelEnrichment", "UpdateOTelEnrichment",
	"UpdateResourceMetricsConfiguration",
}
