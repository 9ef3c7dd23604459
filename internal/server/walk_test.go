package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/openid/openidtest"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/tenant"
)

// walk makes calls of all operations and counts what they do to the control store.
type walk struct {
	*pair
	t    *testing.T
	done map[string]bool // by service/operation
}

// service returns the service of a name.
func (w *walk) service(name string) *protocol.Service {
	for _, service := range w.other.entrance.front.Services {
		if service.Name == name {
			return service
		}
	}
	w.t.Fatalf("there is no service %s", name)
	return nil
}

// step makes a call, which must succeed, at the server that does not own the
// control store. It must have been forwarded and have changed that store if the
// operation is marked, and otherwise neither.
func (w *walk) step(service *protocol.Service, name string, call func() (status int, body string)) string {
	w.t.Helper()
	marked := false
	for _, op := range service.Operations() {
		if op.Name == name {
			marked = op.Control()
		}
	}
	changes, forwarded := w.changes.Load(), w.forwarded.Load()
	status, body := call()
	if status != http.StatusOK {
		w.t.Errorf("%s: %d %s", name, status, body)
	}
	if changed := w.changes.Load() > changes; changed != marked {
		w.t.Errorf("%s: marked %t, has changed the control store %t", name, marked, changed)
	}
	if sent := w.forwarded.Load() > forwarded; sent != marked {
		w.t.Errorf("%s: marked %t, was forwarded %t", name, marked, sent)
	}
	w.done[service.Name+"/"+name] = true
	return body
}

// Every operation of every service does what it should at a node that does not own
// the control store: those that change it are marked, no others are, and the next
// request sees the change.
func TestEveryOperationAtAnotherNode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apitest.Must(t, 0, os.Mkdir(filepath.Join(dir, "audit"), 0o755))
	p := newPair(t, func(owner, other *Config) {
		owner.TrailDir, other.TrailDir, other.LogLevel = dir, dir, new(slog.LevelVar)
		other.EgressAllow = []string{"127.0.0.1"}
	})
	w := &walk{pair: p, t: t, done: make(map[string]bool)}
	for _, d := range apitest.Dialects {
		w.queues(w.service("sqs"), clientOf(t, p.other, d))
	}
	w.topics(w.service("sns"), clientOf(t, p.other, inJSON))
	w.alarms(w.service("monitoring"))
	w.people(w.service("iam"), w.service("sts"))
	w.programs(w.service("iam"), w.service("sts"))
	w.accounts(w.service(admin.ServiceName))
	w.looks(w.service(admin.ServiceName), clientOf(t, p.other, inJSON))
	w.trails(w.service("cloudtrail"))
	for _, service := range p.other.entrance.front.Services {
		for _, op := range service.Operations() {
			if !w.done[service.Name+"/"+op.Name] {
				t.Errorf("%s of %s was not tried", op.Name, service.Name)
			}
		}
	}
}

func (w *walk) queues(sqs *protocol.Service, c *client) {
	c.T = w.t
	do := func(op string, in object) object {
		w.t.Helper()
		var a *answer
		w.step(sqs, op, func() (int, string) {
			a = c.Call(op, in)
			return a.Status, string(a.Body)
		})
		return a.Result
	}
	u, entries := c.URL("q"), func(in object) list { in["Id"] = "a"; return list{in} }
	receive := func() string {
		return do("ReceiveMessage", object{"QueueUrl": u})["Messages"].(list)[0].(object)["ReceiptHandle"].(string)
	}
	do("CreateQueue", object{"QueueName": "dlq"})
	made := do("CreateQueue", object{"QueueName": "q", "Attributes": object{"RedrivePolicy": redrive(c.ARN("dlq"), 3)}})
	if made["QueueUrl"] != u {
		w.t.Errorf("the queue is at %v, not at %s", made["QueueUrl"], u)
	}
	do("ListQueues", nil)
	do("GetQueueUrl", object{"QueueName": "q"})
	do("ListDeadLetterSourceQueues", object{"QueueUrl": c.URL("dlq")})
	do("AddPermission", object{
		"QueueUrl": u, "Label": "l", "AWSAccountIds": list{otherAccount}, "Actions": list{"SendMessage"},
	})
	do("RemovePermission", object{"QueueUrl": u, "Label": "l"})
	do("TagQueue", object{"QueueUrl": u, "Tags": object{"a": "b"}})
	if tags := do("ListQueueTags", object{"QueueUrl": u})["Tags"]; fmt.Sprint(tags) != "map[a:b]" {
		w.t.Errorf("tags: %v", tags)
	}
	do("UntagQueue", object{"QueueUrl": u, "TagKeys": list{"a"}})
	do("SetQueueAttributes", object{"QueueUrl": u, "Attributes": object{"VisibilityTimeout": "100"}})
	if v := do("GetQueueAttributes", object{
		"QueueUrl": u, "AttributeNames": list{"All"},
	})["Attributes"].(object)["VisibilityTimeout"]; v != "100" {
		w.t.Errorf("the visibility timeout is %v", v)
	}
	do("SendMessage", object{"QueueUrl": u, "MessageBody": "m"})
	do("SendMessageBatch", object{"QueueUrl": u, "Entries": entries(object{"MessageBody": "m"})})
	handle := receive()
	do("ChangeMessageVisibility", object{"QueueUrl": u, "ReceiptHandle": handle, "VisibilityTimeout": 200})
	do("ChangeMessageVisibilityBatch", object{
		"QueueUrl": u, "Entries": entries(object{"ReceiptHandle": handle, "VisibilityTimeout": 300}),
	})
	do("DeleteMessage", object{"QueueUrl": u, "ReceiptHandle": handle})
	do("DeleteMessageBatch", object{"QueueUrl": u, "Entries": entries(object{"ReceiptHandle": receive()})})
	for range 20 {
		do("SendMessage", object{"QueueUrl": c.URL("dlq"), "MessageBody": "m"})
	}
	task := do("StartMessageMoveTask", object{
		"SourceArn": c.ARN("dlq"), "DestinationArn": c.ARN("q"), "MaxNumberOfMessagesPerSecond": 1,
	})
	do("ListMessageMoveTasks", object{"SourceArn": c.ARN("dlq")})
	do("CancelMessageMoveTask", object{"TaskHandle": task["TaskHandle"]})
	do("PurgeQueue", object{"QueueUrl": u})
	do("DeleteQueue", object{"QueueUrl": u})
	c.Fails("SendMessage", object{"QueueUrl": u, "MessageBody": "m"}, refusal{
		Shape: "com.amazonaws.sqs#QueueDoesNotExist", Code: "AWS.SimpleQueueService.NonExistentQueue", Status: 400,
		Message:      "The specified queue does not exist.",
		QueryMessage: "The specified queue does not exist for this wsdl version.",
	})
}

// call makes a request of the Query protocol as it is written.
func call(t *testing.T, s *Server, service, form string, cred *identity.Credential) (status int, body string) {
	t.Helper()
	return apitest.Query(t, s.Endpoint(), service, form, cred)
}

// query makes a call by the Query protocol.
func (w *walk) query(cred *identity.Credential, service *protocol.Service, op string, params ...string) string {
	w.t.Helper()
	form := url.Values{"Action": {op}, "Version": {service.Versions[0]}}
	for i := 0; i < len(params); i += 2 {
		form.Set(params[i], params[i+1])
	}
	return w.step(service, op, func() (int, string) { return call(w.t, w.other, service.Name, form.Encode(), cred) })
}

func (w *walk) topics(sns *protocol.Service, c *client) {
	root := w.other.Root()
	do := func(op string, params ...string) string {
		w.t.Helper()
		return w.query(&root, sns, op, params...)
	}
	c.Make("CreateQueue", object{"QueueName": "subscribed"})
	topic := apitest.Element(do("CreateTopic", "Name", "t"), "TopicArn")
	do("ListTopics")
	do("SetTopicAttributes", "TopicArn", topic, "AttributeName", "DisplayName", "AttributeValue", "d")
	if text := do("GetTopicAttributes", "TopicArn", topic); !strings.Contains(text, "<value>d</value>") {
		w.t.Errorf("the topic's attributes are %s", text)
	}
	do("AddPermission", "TopicArn", topic, "Label", "l", "AWSAccountId.member.1", otherAccount, "ActionName.member.1",
		"Publish")
	do("RemovePermission", "TopicArn", topic, "Label", "l")
	do("TagResource", "ResourceArn", topic, "Tags.member.1.Key", "k", "Tags.member.1.Value", "v")
	if tags := do("ListTagsForResource", "ResourceArn", topic); apitest.Element(tags, "Value") != "v" {
		w.t.Errorf("the topic's tags are %s", tags)
	}
	do("UntagResource", "ResourceArn", topic, "TagKeys.member.1", "k")
	subscription := apitest.Element(do("Subscribe", "TopicArn", topic, "Protocol", "sqs", "Endpoint",
		c.ARN("subscribed")), "SubscriptionArn")
	do("ListSubscriptions")
	do("ListSubscriptionsByTopic", "TopicArn", topic)
	do("SetSubscriptionAttributes", "SubscriptionArn", subscription, "AttributeName", "RawMessageDelivery",
		"AttributeValue", "true")
	do("GetSubscriptionAttributes", "SubscriptionArn", subscription)
	do("Publish", "TopicArn", topic, "Message", "m")
	do("PublishBatch", "TopicArn", topic, "PublishBatchRequestEntries.member.1.Id", "a",
		"PublishBatchRequestEntries.member.1.Message", "m")
	do("Unsubscribe", "SubscriptionArn", subscription)
	do("PutDataProtectionPolicy", "ResourceArn", topic, "DataProtectionPolicy", "")
	do("GetDataProtectionPolicy", "ResourceArn", topic)
	do("CheckIfPhoneNumberIsOptedOut", "phoneNumber", "+15551234567")
	do("OptInPhoneNumber", "phoneNumber", "+15551234567")
	do("SetSMSAttributes", "attributes.entry.1.key", "DefaultSMSType", "attributes.entry.1.value", "Transactional")
	if text := do("GetSMSAttributes"); !strings.Contains(text, "<value>Transactional</value>") {
		w.t.Errorf("the SMS attributes are %s", text)
	}
	for _, op := range []string{
		"GetSMSSandboxAccountStatus", "ListOriginationNumbers", "ListPhoneNumbersOptedOut", "ListPlatformApplications",
		"ListSMSSandboxPhoneNumbers",
	} {
		do(op)
	}
	w.absentPlatforms(sns, &root)
	// Only the endpoint has the token. A request by a link is not signed, and may come to any node.
	confirm := url.Values{
		"Action": {"ConfirmSubscription"}, "Version": sns.Versions, "TopicArn": {topic},
		"Token": {strings.Repeat("0", 96)},
	}
	for _, by := range []*identity.Credential{&root, nil} {
		if status, body := call(w.t, w.other, sns.Name, confirm.Encode(), by); status != http.StatusBadRequest ||
			!strings.Contains(body, "Token") {
			w.t.Errorf("ConfirmSubscription: %d %s", status, body)
		}
	}
	w.done[sns.Name+"/ConfirmSubscription"] = true
	do("DeleteTopic", "TopicArn", topic)
}

// absentPlatforms calls the operations about applications for phones. None exist.
func (w *walk) absentPlatforms(sns *protocol.Service, root *identity.Credential) {
	w.t.Helper()
	const arns = "arn:aws:sns:us-east-1:000000000000:"
	application, endpoint := arns+"app/GCM/a", arns+"endpoint/GCM/a/1"
	w.query(root, sns, "DeletePlatformApplication", "PlatformApplicationArn", application)
	w.query(root, sns, "DeleteEndpoint", "EndpointArn", endpoint)
	for _, op := range []string{
		"CreatePlatformEndpoint", "GetEndpointAttributes", "GetPlatformApplicationAttributes",
		"ListEndpointsByPlatformApplication", "SetEndpointAttributes", "SetPlatformApplicationAttributes",
	} {
		form := url.Values{
			"Action": {op}, "Version": sns.Versions, "PlatformApplicationArn": {application}, "EndpointArn": {endpoint},
			"Token": {"t"}, "Attributes.entry.1.key": {"Enabled"}, "Attributes.entry.1.value": {"true"},
		}
		if status, body := call(w.t, w.other, sns.Name, form.Encode(), root); status != http.StatusNotFound {
			w.t.Errorf("%s: %d %s", op, status, body)
		}
		w.done[sns.Name+"/"+op] = true
	}
}

func (w *walk) alarms(cloudwatch *protocol.Service) {
	root := w.other.Root()
	do := func(op string, params ...string) string {
		w.t.Helper()
		return w.query(&root, cloudwatch, op, params...)
	}
	now := time.Now().UTC()
	window := []string{"StartTime", now.Add(-time.Hour).Format(time.RFC3339), "EndTime", now.Format(time.RFC3339)}
	metric := []string{"Namespace", "Mine", "MetricName", "m"}
	do("PutMetricData", "Namespace", "Mine", "MetricData.member.1.MetricName", "m", "MetricData.member.1.Value", "1")
	if all := do("ListMetrics"); apitest.Element(all, "MetricName") != "m" {
		w.t.Errorf("the metrics are %s", all)
	}
	do("GetMetricStatistics", slices.Concat(metric, window, []string{"Period", "60", "Statistics.member.1", "Sum"})...)
	do("GetMetricData", slices.Concat(window, []string{
		"MetricDataQueries.member.1.Id", "q", "MetricDataQueries.member.1.Period", "60",
		"MetricDataQueries.member.1.Expression", "SELECT SUM(m) FROM Mine",
	})...)
	do("PutMetricAlarm", slices.Concat(metric, []string{
		"AlarmName", "a", "Statistic", "Sum", "Period", "60", "EvaluationPeriods", "1", "Threshold", "1.5",
		"ComparisonOperator", "GreaterThanThreshold",
	})...)
	alarm := apitest.Element(do("DescribeAlarms"), "AlarmArn")
	do("DescribeAlarmsForMetric", metric...)
	do("DescribeAlarmContributors", "AlarmName", "a")
	do("SetAlarmState", "AlarmName", "a", "StateValue", "ALARM", "StateReason", "a test")
	do("DisableAlarmActions", "AlarmNames.member.1", "a")
	do("EnableAlarmActions", "AlarmNames.member.1", "a")
	do("TagResource", "ResourceARN", alarm, "Tags.member.1.Key", "k", "Tags.member.1.Value", "v")
	if tags := do("ListTagsForResource", "ResourceARN", alarm); apitest.Element(tags, "Value") != "v" {
		w.t.Errorf("the alarm's tags are %s", tags)
	}
	do("UntagResource", "ResourceARN", alarm, "TagKeys.member.1", "k")
	do("PutCompositeAlarm", "AlarmName", "all", "AlarmRule", "ALARM(a)")
	mute := []string{"AlarmMuteRuleName", "m"}
	do("PutAlarmMuteRule", "Name", "m", "Rule.Schedule.Expression", "cron(0 2 * * *)", "Rule.Schedule.Duration", "PT4H",
		"MuteTargets.AlarmNames.member.1", "a")
	do("GetAlarmMuteRule", mute...)
	if rules := do("ListAlarmMuteRules", "AlarmName", "a"); apitest.Element(rules, "MuteType") != "RECURRING" {
		w.t.Errorf("the mute rules are %s", rules)
	}
	do("DeleteAlarmMuteRule", mute...)
	do("DeleteAlarms", "AlarmNames.member.1", "a", "AlarmNames.member.2", "all")
	if history := do("DescribeAlarmHistory"); !strings.Contains(history,
		"Alarm updated from INSUFFICIENT_DATA to ALARM") {
		w.t.Errorf("the history is %s", history)
	}
	do("PutDashboard", "DashboardName", "d", "DashboardBody", "{}")
	do("GetDashboard", "DashboardName", "d")
	do("ListDashboards")
	do("DeleteDashboards", "DashboardNames.member.1", "d")
	w.detectors(do)
}

func (w *walk) detectors(do func(op string, form ...string) string) {
	w.t.Helper()
	detector := []string{"Namespace", "Mine", "MetricName", "m", "Stat", "Sum"}
	do("PutAnomalyDetector", detector...)
	if text := do("DescribeAnomalyDetectors"); apitest.Element(text, "Stat") != "Sum" {
		w.t.Errorf("the detectors are %s", text)
	}
	do("DeleteAnomalyDetector", detector...)
	rule := []string{"RuleNames.member.1", "r"}
	do("PutInsightRule", "RuleName", "r", "RuleDefinition", `{"Schema":{"Name":"CloudWatchLogRule","Version":1}}`)
	do("DisableInsightRules", rule...)
	if text := do("DescribeInsightRules"); apitest.Element(text, "State") != "DISABLED" {
		w.t.Errorf("the rules are %s", text)
	}
	do("EnableInsightRules", rule...)
	do("DeleteInsightRules", rule...)
}

func (w *walk) trails(cloudtrail *protocol.Service) {
	do := func(op, in string) string {
		w.t.Helper()
		return w.step(cloudtrail, op,
			func() (int, string) { return callJSON(w.t, w.other, "cloudtrail", "CloudTrail_20131101."+op, in) })
	}
	const named = `{"Name":"all"}`
	arn := "arn:aws:cloudtrail:us-east-1:" + account + ":trail/all"
	do("CreateTrail", `{"Name":"all","S3BucketName":"audit","TagsList":[{"Key":"k","Value":"v"}]}`)
	do("UpdateTrail", `{"Name":"all","S3KeyPrefix":"logs"}`)
	do("PutEventSelectors", `{"TrailName":"all","EventSelectors":[{"ReadWriteType":"WriteOnly"}]}`)
	if text := do("GetEventSelectors", `{"TrailName":"all"}`); !strings.Contains(text, "WriteOnly") {
		w.t.Errorf("the selectors are %s", text)
	}
	do("PutInsightSelectors", `{"TrailName":"all","InsightSelectors":[{"InsightType":"ApiCallRateInsight"}]}`)
	if text := do("GetInsightSelectors", `{"TrailName":"all"}`); !strings.Contains(text, "ApiCallRateInsight") {
		w.t.Errorf("the insight selectors are %s", text)
	}
	do("StartLogging", named)
	if text := do("GetTrailStatus", named); !strings.Contains(text, `"IsLogging":true`) {
		w.t.Errorf("the status is %s", text)
	}
	do("StopLogging", named)
	do("AddTags", `{"ResourceId":"`+arn+`","TagsList":[{"Key":"a","Value":"b"}]}`)
	do("RemoveTags", `{"ResourceId":"`+arn+`","TagsList":[{"Key":"k"}]}`)
	if text := do("ListTags", `{"ResourceIdList":["`+arn+`"]}`); !strings.Contains(text, `[{"Key":"a","Value":"b"}]`) {
		w.t.Errorf("the tags are %s", text)
	}
	do("DescribeTrails", "{}")
	do("GetTrail", named)
	do("ListTrails", "{}")
	do("ListPublicKeys", "{}")
	do("LookupEvents", "{}")
	do("DeleteTrail", named)
}

func (w *walk) people(iam, sts *protocol.Service) {
	root, as := w.other.Root(), w.query
	do := func(op string, params ...string) string {
		w.t.Helper()
		return as(&root, iam, op, params...)
	}
	everything, bob := apitest.Allow("*", "*"), "arn:aws:iam::"+account+":user/bob"
	do("CreateUser", "UserName", "bob")
	do("GetUser", "UserName", "bob")
	do("UpdateUser", "UserName", "bob", "NewUserName", "rob")
	do("UpdateUser", "UserName", "rob", "NewUserName", "bob")
	do("ListUsers")
	do("CreateGroup", "GroupName", "g")
	do("GetGroup", "GroupName", "g")
	do("UpdateGroup", "GroupName", "g", "NewPath", "/p/")
	do("ListGroups")
	do("AddUserToGroup", "GroupName", "g", "UserName", "bob")
	do("ListGroupsForUser", "UserName", "bob")
	do("RemoveUserFromGroup", "GroupName", "g", "UserName", "bob")
	do("CreateRole", "RoleName", "r", "AssumeRolePolicyDocument", apitest.Trusting(account))
	do("GetRole", "RoleName", "r")
	do("UpdateRole", "RoleName", "r", "Description", "d")
	do("UpdateRoleDescription", "RoleName", "r", "Description", "e")
	do("UpdateAssumeRolePolicy", "RoleName", "r", "PolicyDocument", apitest.Trusting(bob))
	do("ListRoles")
	policy := apitest.Element(do("CreatePolicy", "PolicyName", "p", "PolicyDocument", everything), "Arn")
	do("GetPolicy", "PolicyArn", policy)
	do("ListPolicies")
	do("CreatePolicyVersion", "PolicyArn", policy, "PolicyDocument", apitest.Allow("sqs:*", "*"))
	do("GetPolicyVersion", "PolicyArn", policy, "VersionId", "v2")
	do("ListPolicyVersions", "PolicyArn", policy)
	do("SetDefaultPolicyVersion", "PolicyArn", policy, "VersionId", "v2")
	do("DeletePolicyVersion", "PolicyArn", policy, "VersionId", "v1")
	do("ListEntitiesForPolicy", "PolicyArn", policy)
	for kind, name := range map[string]string{"User": "bob", "Group": "g", "Role": "r"} {
		who := kind + "Name"
		do("Put"+kind+"Policy", who, name, "PolicyName", "own", "PolicyDocument", everything)
		do("Get"+kind+"Policy", who, name, "PolicyName", "own")
		do("List"+kind+"Policies", who, name)
		do("Attach"+kind+"Policy", who, name, "PolicyArn", policy)
		do("ListAttached"+kind+"Policies", who, name)
		if kind != "Group" {
			do("Put"+kind+"PermissionsBoundary", who, name, "PermissionsBoundary", policy)
			do("Delete"+kind+"PermissionsBoundary", who, name)
		}
	}
	made := do("CreateAccessKey", "UserName", "bob")
	key := identity.Credential{
		Identity: identity.Identity{AccessKeyID: apitest.Element(made, "AccessKeyId")},
		Secret:   apitest.Element(made, "SecretAccessKey"),
	}
	do("ListAccessKeys", "UserName", "bob")

	// The new key counts at once, for a user who may do everything.
	if who := apitest.Element(as(&key, sts, "GetCallerIdentity"), "Arn"); who != bob {
		w.t.Errorf("the key is %s's", who)
	}
	as(&key, sts, "AssumeRole", "RoleArn", "arn:aws:iam::"+account+":role/r", "RoleSessionName", "s1")
	as(&key, sts, "GetSessionToken")
	as(&root, sts, "GetFederationToken", "Name", "jean")
	as(&root, sts, "GetAccessKeyInfo", "AccessKeyId", key.AccessKeyID)
	w.done[sts.Name+"/DecodeAuthorizationMessage"] = true // there is no message that it could read

	do("GetAccessKeyLastUsed", "AccessKeyId", key.AccessKeyID)
	do("UpdateAccessKey", "UserName", "bob", "AccessKeyId", key.AccessKeyID, "Status", "Inactive")
	if status, body := call(w.t, w.other, "sts", "Action=GetCallerIdentity&Version=2011-06-15",
		&key); status != http.StatusForbidden {
		w.t.Errorf("an inactive key: %d %s", status, body)
	}
	do("DeleteAccessKey", "UserName", "bob", "AccessKeyId", key.AccessKeyID)
	do("GetAccountSummary")
	do("CreateAccountAlias", "AccountAlias", "acme")
	do("ListAccountAliases")
	do("DeleteAccountAlias", "AccountAlias", "acme")
	do("SimulatePrincipalPolicy", "PolicySourceArn", bob, "ActionNames.member.1", "sqs:SendMessage")
	do("SimulateCustomPolicy", "PolicyInputList.member.1", everything, "ActionNames.member.1", "sqs:SendMessage")
	do("GetContextKeysForPrincipalPolicy", "PolicySourceArn", bob)
	do("GetContextKeysForCustomPolicy", "PolicyInputList.member.1", everything)
	for kind, name := range map[string][2]string{
		"User": {"UserName", "bob"}, "Role": {"RoleName", "r"}, "Policy": {"PolicyArn", policy},
	} {
		do("Tag"+kind, name[0], name[1], "Tags.member.1.Key", "k", "Tags.member.1.Value", "v")
		if tags := do("List"+kind+"Tags", name[0], name[1]); apitest.Element(tags, "Value") != "v" {
			w.t.Errorf("tags of a %s: %s", kind, tags)
		}
		do("Untag"+kind, name[0], name[1], "TagKeys.member.1", "k")
	}
	for _, op := range []string{"ListMFADevices", "ListSSHPublicKeys", "ListServiceSpecificCredentials",
		"ListSigningCertificates"} {
		do(op, "UserName", "bob")
	}
	do("ListVirtualMFADevices")
	do("ListServerCertificates")
	do("ListSAMLProviders")
	do("CreateLoginProfile", "UserName", "bob", "Password", "Correct-horse-1")
	do("GetLoginProfile", "UserName", "bob")
	do("UpdateLoginProfile", "UserName", "bob", "Password", "Another-horse-2")
	do("UpdateAccountPasswordPolicy", "MinimumPasswordLength", "10", "AllowUsersToChangePassword", "true")
	do("GetAccountPasswordPolicy")
	bobs := do("CreateAccessKey", "UserName", "bob")
	bobsKey := identity.Credential{
		Identity: identity.Identity{AccessKeyID: apitest.Element(bobs, "AccessKeyId")},
		Secret:   apitest.Element(bobs, "SecretAccessKey"),
	}
	as(&bobsKey, iam, "ChangePassword", "OldPassword", "Another-horse-2", "NewPassword", "Newest-horse-3")
	do("DeleteAccountPasswordPolicy")
	do("DeleteLoginProfile", "UserName", "bob")
	device := do("CreateVirtualMFADevice", "VirtualMFADeviceName", "phone")
	serial, seed := apitest.Element(device, "SerialNumber"), apitest.Element(device, "Base32StringSeed")
	do("EnableMFADevice", "UserName", "bob", "SerialNumber", serial, "AuthenticationCode1",
		apitest.Code6(w.t, seed, time.Now().Add(-30*time.Second)),
		"AuthenticationCode2", apitest.Code6(w.t, seed, time.Now()))
	w.showsFactor(&bobsKey, serial, apitest.Code6(w.t, seed, time.Now().Add(30*time.Second)))
	do("DeleteAccessKey", "UserName", "bob", "AccessKeyId", bobsKey.AccessKeyID)
	do("GetMFADevice", "UserName", "bob", "SerialNumber", serial)
	do("ResyncMFADevice", "UserName", "bob", "SerialNumber", serial, "AuthenticationCode1",
		apitest.Code6(w.t, seed, time.Now().Add(5*time.Minute)),
		"AuthenticationCode2", apitest.Code6(w.t, seed, time.Now().Add(330*time.Second)))
	do("DeactivateMFADevice", "UserName", "bob", "SerialNumber", serial)
	do("TagMFADevice", "SerialNumber", serial, "Tags.member.1.Key", "k", "Tags.member.1.Value", "v")
	do("ListMFADeviceTags", "SerialNumber", serial)
	do("UntagMFADevice", "SerialNumber", serial, "TagKeys.member.1", "k")
	do("DeleteVirtualMFADevice", "SerialNumber", serial)
	for kind, name := range map[string]string{"User": "bob", "Group": "g", "Role": "r"} {
		do("Delete"+kind+"Policy", kind+"Name", name, "PolicyName", "own")
		do("Detach"+kind+"Policy", kind+"Name", name, "PolicyArn", policy)
		do("Delete"+kind, kind+"Name", name)
	}
	do("DeletePolicy", "PolicyArn", policy)
}

// showsFactor shows a second factor, whose code is marked as used in the control store.
func (w *walk) showsFactor(key *identity.Credential, serial, code string) {
	w.t.Helper()
	form := url.Values{
		"Action": {"GetSessionToken"}, "Version": {"2011-06-15"}, "SerialNumber": {serial}, "TokenCode": {code},
	}
	changes, forwarded := w.changes.Load(), w.forwarded.Load()
	if status, body := call(w.t, w.other, "sts", form.Encode(), key); status != http.StatusOK {
		w.t.Errorf("a second factor: %d %s", status, body)
	}
	if w.changes.Load() == changes || w.forwarded.Load() == forwarded {
		w.t.Error("a second factor was not checked by the owner")
	}
}

// programs is about what programs without keys of their own have: identity providers, profiles and reports.
func (w *walk) programs(iam, sts *protocol.Service) {
	root := w.other.Root()
	do := func(op string, params ...string) string {
		w.t.Helper()
		return w.query(&root, iam, op, params...)
	}
	p := openidtest.NewTLS(w.t, time.Now)
	arn := apitest.Element(do("CreateOpenIDConnectProvider", "Url", p.URL, "ThumbprintList.member.1",
		strings.Repeat("0", 40)), "OpenIDConnectProviderArn")
	named := []string{"OpenIDConnectProviderArn", arn}
	provider := func(op string, more ...string) string { return do(op, append(named, more...)...) }
	provider("AddClientIDToOpenIDConnectProvider", "ClientID", openidtest.Client)
	provider("AddClientIDToOpenIDConnectProvider", "ClientID", "other")
	provider("RemoveClientIDFromOpenIDConnectProvider", "ClientID", "other")
	provider("UpdateOpenIDConnectProviderThumbprint", "ThumbprintList.member.1", p.Thumbprint)
	provider("TagOpenIDConnectProvider", "Tags.member.1.Key", "k", "Tags.member.1.Value", "v")
	provider("ListOpenIDConnectProviderTags")
	provider("UntagOpenIDConnectProvider", "TagKeys.member.1", "k")
	provider("GetOpenIDConnectProvider")
	do("ListOpenIDConnectProviders")
	trust := fmt.Sprintf(`{"Statement":{"Effect":"Allow","Principal":{"Federated":%q},"Action":"sts:AssumeRoleWithWebIdentity"}}`, arn)
	role := apitest.Element(do("CreateRole", "RoleName", "program", "AssumeRolePolicyDocument", trust), "Arn")
	w.query(nil, sts, "AssumeRoleWithWebIdentity", "RoleArn", role, "RoleSessionName", "s1", "WebIdentityToken",
		p.Issue(nil))

	do("CreateInstanceProfile", "InstanceProfileName", "p")
	do("AddRoleToInstanceProfile", "InstanceProfileName", "p", "RoleName", "program")
	do("GetInstanceProfile", "InstanceProfileName", "p")
	do("ListInstanceProfiles")
	do("ListInstanceProfilesForRole", "RoleName", "program")
	do("TagInstanceProfile", "InstanceProfileName", "p", "Tags.member.1.Key", "k", "Tags.member.1.Value", "v")
	do("ListInstanceProfileTags", "InstanceProfileName", "p")
	do("UntagInstanceProfile", "InstanceProfileName", "p", "TagKeys.member.1", "k")
	do("GetAccountAuthorizationDetails")
	do("GenerateCredentialReport")
	do("GetCredentialReport")
	job := apitest.Element(do("GenerateServiceLastAccessedDetails", "Arn", role), "JobId")
	do("GetServiceLastAccessedDetails", "JobId", job)
	do("GetServiceLastAccessedDetailsWithEntities", "JobId", job, "ServiceNamespace", "sqs")
	do("RemoveRoleFromInstanceProfile", "InstanceProfileName", "p", "RoleName", "program")
	do("DeleteInstanceProfile", "InstanceProfileName", "p")
	do("CreateServiceLinkedRole", "AWSServiceName", "ecs.amazonaws.com")
	task := apitest.Element(do("DeleteServiceLinkedRole", "RoleName", "AWSServiceRoleForECS"), "DeletionTaskId")
	do("GetServiceLinkedRoleDeletionStatus", "DeletionTaskId", task)
	do("DeleteRole", "RoleName", "program")
	provider("DeleteOpenIDConnectProvider")
}

// callAdmin calls an operation that only Sluice has.
func callAdmin(t *testing.T, s *Server, op, input string) (status int, body string) {
	t.Helper()
	return callJSON(t, s, admin.ServiceName, "Sluice."+op, input)
}

// callJSON makes a call as the root of an account.
func callJSON(t *testing.T, s *Server, service, target, input string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.Endpoint(), strings.NewReader(input))
	apitest.Must(t, r, err)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", target)
	apitest.SignAt(t, r, s.Root(), service, "us-east-1", time.Now())
	return apitest.Exchange(t, r)
}

func (w *walk) accounts(wire *protocol.Service) {
	do := func(op, input string) string {
		w.t.Helper()
		return w.step(wire, op, func() (int, string) { return callAdmin(w.t, w.other, op, input) })
	}
	made := do("CreateAccount", `{"AccountId":"222222222222"}`)
	for _, s := range []*Server{w.owner, w.other} {
		cred, ok := s.accounts.credentials.Root("222222222222")
		if !ok || !strings.Contains(made, cred.AccessKeyID) || !strings.Contains(made, cred.Secret) {
			w.t.Errorf("the new account has the key %v, answered was %s", cred, made)
		}
	}
	if all := do("ListAccounts", "{}"); !strings.Contains(all, "222222222222") {
		w.t.Errorf("accounts: %s", all)
	}
	for _, op := range []string{"SetLimits", "GetLimits", "ListLimits"} {
		if got := do(op, `{"AccountId":"222222222222","Limits":{"SendsPerSecond":5}}`); !strings.Contains(got,
			`"Limits":{"SendsPerSecond":5}`) {
			w.t.Errorf("%s: %s", op, got)
		}
	}
	for _, s := range []*Server{w.owner, w.other} {
		if got := s.accounts.tenants.Limits(tenant.Subject{Account: "222222222222"}); got[tenant.Sends] != 5 {
			w.t.Errorf("the limits of the new account are %v", got)
		}
	}
	do("DeleteLimits", `{"AccountId":"222222222222"}`)
	do("DeleteAccount", `{"AccountId":"222222222222"}`)
	for _, s := range []*Server{w.owner, w.other} {
		if _, ok := s.accounts.credentials.Root("222222222222"); ok {
			w.t.Errorf("the deleted account is still there")
		}
	}
	do("DescribeCluster", "{}")
	if all := do("DescribeServer", "{}"); !strings.Contains(all, `"Silent":["other"]`) {
		w.t.Errorf("the other node does not answer: %s", all)
	}
	do("ListShardQueues", "{}")
	do("GetLogLevel", "{}")
	do("SetLogLevel", `{"Level":"info"}`)
	do("ProfileServer", `{"Kind":"heap"}`)
	do("DrainNode", `{"Node":"b"}`)
	apitest.Must(w.t, 0, w.owner.secrecy.used.Add(w.t.Context(), []string{"an-old-key"}))
	if retired := do("RetireKey", `{"KeyId":"an-old-key"}`); !strings.Contains(retired, `"Removable":false`) {
		w.t.Errorf("the key is %s", retired)
	}
	if left := w.other.secrecy.used.Encrypting(); len(left) > 0 {
		w.t.Errorf("the keys %v still encrypt", left)
	}
	do("RemoveNode", `{"Node":"b"}`)
	if link := do("CreateSignInLink", "{}"); !strings.Contains(link, "/console/#k=") {
		w.t.Errorf("the link is %s", link)
	}
}

func (w *walk) looks(wire *protocol.Service, c *client) {
	c.Region = "us-east-1" // where callAdmin is
	c.Make("CreateQueue", object{"QueueName": "looked-at.fifo", "Attributes": object{"FifoQueue": "true"}})
	w.step(wire, "ListQueueStates", func() (int, string) {
		status, body := callAdmin(w.t, w.other, "ListQueueStates", `{"Prefix":"looked"}`)
		if !strings.Contains(body, `"Visible":0`) {
			w.t.Errorf("ListQueueStates: %s", body)
		}
		return status, body
	})
	w.step(wire, "PutMark", func() (int, string) { return callAdmin(w.t, w.other, "PutMark", `{"Text":"v42"}`) })
	c.Make("CreateQueue", object{"QueueName": "moved-to.fifo", "Attributes": object{"FifoQueue": "true"}})
	w.step(wire, "RedriveMessages", func() (int, string) {
		return callAdmin(w.t, w.other, "RedriveMessages",
			`{"QueueUrl":"`+c.URL("looked-at.fifo")+`","Filter":"x","DestinationArn":"`+c.ARN("moved-to.fifo")+`"}`)
	})
	w.step(wire, "ListRedriveTasks", func() (int, string) {
		status, body := callAdmin(w.t, w.other, "ListRedriveTasks", `{"QueueUrl":"`+c.URL("looked-at.fifo")+`"}`)
		if !strings.Contains(body, `"Filter":"x"`) {
			w.t.Errorf("ListRedriveTasks: %s", body)
		}
		return status, body
	})
	for op, more := range map[string]string{
		"PauseMessageGroups": `,"MessageGroupIds":["a"]`, "ResumeMessageGroups": `,"MessageGroupIds":["a"]`,
		"DescribeQueueState": "", "ListConsumers": "", "ListMessageGroups": "", "PeekMessages": "",
		"CountMessages":  `,"By":"count"`,
		"DeleteMessages": `,"MessageIds":["00000000-0000-4000-8000-000000000000"]`,
		"CheckAccess":    `,"Actions":["sqs:SendMessage"]`,
		"ExplainAccess":  `,"Principal":"anonymous","Action":"sqs:SendMessage"`,
	} {
		w.step(wire, op, func() (int, string) {
			return callAdmin(w.t, w.other, op, `{"QueueUrl":"`+c.URL("looked-at.fifo")+`"`+more+`}`)
		})
	}
	c.Make("CreateQueue", object{"QueueName": "emptied"})
	c.Make("SendMessage", object{"QueueUrl": c.URL("emptied"), "MessageBody": "x"})
	c.Make("PurgeQueue", object{"QueueUrl": c.URL("emptied")})
	w.step(wire, "UndoPurge", func() (int, string) {
		return callAdmin(w.t, w.other, "UndoPurge", `{"QueueUrl":"`+c.URL("emptied")+`"}`)
	})
	c.Make("DeleteQueue", object{"QueueUrl": c.URL("emptied")})
	w.step(wire, "UndoDelete", func() (int, string) {
		return callAdmin(w.t, w.other, "UndoDelete", `{"QueueName":"emptied"}`)
	})
}
