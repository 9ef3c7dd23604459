package iam

// linkedService is a service of AWS that has service-linked roles.
type linkedService struct {
	name     string // of its role, behind linkedPrefix
	suffixed bool   // whether it may have several roles, which differ by a suffix
}

// linkedServices has the services with a service-linked role, by their principals. AWS does not list them in one place, so
// the map may lack some.
var linkedServices = map[string]linkedService{
	"access-analyzer.amazonaws.com":                  {name: "AccessAnalyzer"},
	"appmesh.amazonaws.com":                          {name: "AppMesh"},
	"autoscaling.amazonaws.com":                      {"AutoScaling", true},
	"backup.amazonaws.com":                           {name: "Backup"},
	"batch.amazonaws.com":                            {name: "Batch"},
	"cloudtrail.amazonaws.com":                       {name: "CloudTrail"},
	"config.amazonaws.com":                           {name: "Config"},
	"connect.amazonaws.com":                          {"AmazonConnect", true},
	"dynamodb.application-autoscaling.amazonaws.com": {name: "ApplicationAutoScaling_DynamoDBTable"},
	"ec2.application-autoscaling.amazonaws.com":      {name: "ApplicationAutoScaling_EC2SpotFleetRequest"},
	"ec2fleet.amazonaws.com":                         {name: "EC2Fleet"},
	"ecs.amazonaws.com":                              {name: "ECS"},
	"ecs.application-autoscaling.amazonaws.com":      {name: "ApplicationAutoScaling_ECSService"},
	"eks-fargate.amazonaws.com":                      {name: "AmazonEKSForFargate"},
	"eks-nodegroup.amazonaws.com":                    {name: "AmazonEKSNodegroup"},
	"eks.amazonaws.com":                              {name: "AmazonEKS"},
	"elasticache.amazonaws.com":                      {name: "ElastiCache"},
	"elasticbeanstalk.amazonaws.com":                 {name: "ElasticBeanstalk"},
	"elasticfilesystem.amazonaws.com":                {name: "AmazonElasticFileSystem"},
	"elasticloadbalancing.amazonaws.com":             {name: "ElasticLoadBalancing"},
	"elasticmapreduce.amazonaws.com":                 {name: "EMRCleanup"},
	"es.amazonaws.com":                               {name: "AmazonElasticsearchService"},
	"events.amazonaws.com":                           {name: "CloudWatchEvents"},
	"fsx.amazonaws.com":                              {name: "AmazonFSx"},
	"globalaccelerator.amazonaws.com":                {name: "GlobalAccelerator"},
	"guardduty.amazonaws.com":                        {name: "AmazonGuardDuty"},
	"inspector.amazonaws.com":                        {name: "AmazonInspector"},
	"inspector2.amazonaws.com":                       {name: "AmazonInspector2"},
	"kafka.amazonaws.com":                            {name: "Kafka"},
	"lambda.application-autoscaling.amazonaws.com":   {name: "ApplicationAutoScaling_LambdaConcurrency"},
	"lex.amazonaws.com":                              {name: "LexBots"},
	"lexv2.amazonaws.com":                            {"LexV2Bots", true},
	"macie.amazonaws.com":                            {name: "AmazonMacie"},
	"mq.amazonaws.com":                               {name: "AmazonMQ"},
	"opensearchservice.amazonaws.com":                {name: "AmazonOpenSearchService"},
	"ops.apigateway.amazonaws.com":                   {name: "APIGateway"},
	"organizations.amazonaws.com":                    {name: "Organizations"},
	"rds.amazonaws.com":                              {name: "RDS"},
	"rds.application-autoscaling.amazonaws.com":      {name: "ApplicationAutoScaling_RDSCluster"},
	"redshift.amazonaws.com":                         {name: "Redshift"},
	"replication.dynamodb.amazonaws.com":             {name: "DynamoDBReplication"},
	"replicator.lambda.amazonaws.com":                {name: "LambdaReplicator"},
	"securityhub.amazonaws.com":                      {name: "SecurityHub"},
	"spot.amazonaws.com":                             {name: "EC2Spot"},
	"spotfleet.amazonaws.com":                        {name: "EC2SpotFleet"},
	"ssm.amazonaws.com":                              {name: "AmazonSSM"},
	"sso.amazonaws.com":                              {name: "SSO"},
	"support.amazonaws.com":                          {name: "Support"},
	"transitgateway.amazonaws.com":                   {name: "VPCTransitGateway"},
	"trustedadvisor.amazonaws.com":                   {name: "TrustedAdvisor"},
	"wafv2.amazonaws.com":                            {name: "WAFV2Logging"},
}
