package cloudtrail

// unsupported lists the operations of CloudTrail that this server does not have.
var unsupported = []string{
	"CancelQuery", "CreateChannel", "CreateDashboard", "CreateEventDataStore", "DeleteChannel", "DeleteDashboard",
	"DeleteEventDataStore", "DeleteResourcePolicy", "DeregisterOrganizationDelegatedAdmin", "DescribeQuery",
	"DisableFederation",
	"EnableFederation", "GenerateQuery", "GetChannel", "GetDashboard", "GetEventConfiguration", "GetEventDataStore",
	"GetImport",
	"GetQueryResults", "GetResourcePolicy", "ListChannels", "ListDashboards", "ListEventDataStores",
	"ListImportFailures", "ListImports", "ListInsightsData", "ListInsightsMetricData", "ListQueries",
	"PutEventConfiguration",
	"PutResourcePolicy", "RegisterOrganizationDelegatedAdmin", "RestoreEventDataStore", "SearchSampleQueries",
	"StartDashboardRefresh", "StartEventDataStoreIngestion", "StartImport", "StartQuery", "StopEventDataStoreIngestion",
	"StopImport", "UpdateChannel", "UpdateDashboard", "UpdateEventDataStore",
}
