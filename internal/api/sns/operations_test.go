package sns_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// stories runs a test in every form of the Query protocol, the only protocol that SDKs use with SNS.
func stories(t *testing.T, run func(*testing.T, *apitest.Story)) {
	t.Parallel()
	for name, inURL := range map[string]bool{"post": false, "get": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := servertest.NewStory(t, "sns", "2010-03-31")
			st.InURL = inURL
			run(t, st)
		})
	}
}

const invalid = "InvalidParameter"

func TestTopics(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		st.Does("CreateTopic", with{"Name", "a", "Tags.member.1.Key", "team", "Tags.member.1.Value", "x"},
			"<CreateTopicResult><TopicArn>"+topicARN("a")+"</TopicArn></CreateTopicResult>")
		st.Does("CreateTopic", with{"Name", "a"}, topicARN("a"))
		st.Does("CreateTopic", attributes("Name", "b", "DisplayName", "B"), topicARN("b"))
		st.Does("CreateTopic", attributes("Name", "b", "DisplayName", "B"), topicARN("b"))
		st.Fails("CreateTopic", attributes("Name", "b", "DisplayName", "C"), 400, invalid,
			"Invalid parameter: Attributes Reason: Topic already exists with different attributes")
		st.Fails("CreateTopic", with{"Name", "a", "Tags.member.1.Key", "team", "Tags.member.1.Value", "y"}, 400,
			invalid, "Invalid parameter: Tags Reason: Topic already exists with different tags")
		st.Does("CreateTopic", attributes("Name", "c.fifo", "FifoTopic", "true"), topicARN("c.fifo"))
		const fifo = "Invalid parameter: Fifo Topic names must end with .fifo and must be made up of only uppercase and lowercase ASCII letters, numbers, underscores, and hyphens, and must be between 1 and 256 characters long."
		for _, tc := range []struct {
			in   with
			want string
		}{
			{with{"Name", ""}, "Invalid parameter: Topic Name"},
			{with{"Name", "a b"}, "Invalid parameter: Topic Name"},
			{with{"Name", "c.fifo"}, "Invalid parameter: Topic Name"},
			{with{"Name", strings.Repeat("x", 257)}, "Invalid parameter: Topic Name"},
			{with{"Name", strings.Repeat("x", 2000)},
				"Invalid parameter: Name Reason: Must be at most 1024 characters long."},
			{attributes("Name", "x", "FifoTopic", "true"), "Invalid parameter: Topic Name"},
			{attributes("Name", "x y.fifo", "FifoTopic", "true"), fifo},
			{attributes("Name", strings.Repeat("x", 252)+".fifo", "FifoTopic", "true"), fifo},
			{attributes("Name", "x", "FifoTopic", "yes"),
				"Invalid parameter: Attributes Reason: FifoTopic: Must be true or false."},
			{attributes("Name", "x", "Nonsense", "1"),
				"Invalid parameter: Attributes Reason: Unknown attribute Nonsense"},
			{attributes("Name", "x", "DisplayName", strings.Repeat("x", 101)),
				"Invalid parameter: Attributes Reason: DisplayName"},
			{attributes("Name", "x", "ContentBasedDeduplication", "true"),
				"Invalid parameter: Content-based deduplication can only be set for FIFO topics"},
			{attributes("Name", "x", "FifoThroughputScope", "Topic"),
				"Invalid parameter: Attributes Reason: FifoThroughputScope: You can specify it only when FifoTopic is set to true."},
			{with{"Name", "x", "Tags.member.1.Key", "aws:x", "Tags.member.1.Value", "y"},
				"Invalid parameter: Tags Reason: Tag keys beginning with aws: are reserved for system use."},
			{with{"Name", "x", "Tags.member.1.Key", "k", "Tags.member.1.Value", "1", "Tags.member.2.Key", "k",
				"Tags.member.2.Value", "2"}, "Invalid parameter: Duplicated keys are not allowed."},
			{attributes("Name", "x", "Policy", ""), "Invalid parameter: Attributes Reason: Policy is empty"},
			{attributes("Name", "x", "Policy", "x"), "Invalid parameter: Attributes Reason: Policy Error: null"},
			{attributes("Name", "x", "Policy",
				`{"Statement":{"Effect":"Allow","Principal":"*","Action":"SNS:Publishx","Resource":""}}`),
				"Invalid parameter: Attributes Reason: Policy statement action out of service scope!"},
			{attributes("Name", "x", "SQSSuccessFeedbackSampleRate", "500"),
				"Invalid parameter: Attributes Reason: SQSSuccessFeedbackSampleRate: 500 value provided is not an integer between 0-100"},
			{with{"Name", "x", "DataProtectionPolicy", "{}"},
				"Invalid parameter: DataProtectionPolicy Reason: Version must be 2021-06-01"},
		} {
			st.Fails("CreateTopic", tc.in, 400, invalid, tc.want)
		}
		tooLong := with{"Name", "x", "Tags.member.1.Key", strings.Repeat("k", 129), "Tags.member.1.Value", "y"}
		st.Refuses("CreateTopic", tooLong, 400, "ValidationError",
			"1 validation error detected: Value '"+tooLong[3]+
				"' at 'tags.1.member.key' failed to satisfy constraint: Member must have length less than or equal to 128")
		st.Fails("CreateTopic", nil, 400, "ValidationError",
			"1 validation error detected: Value null at 'name' failed to satisfy constraint: Member must not be null")
		st.Does("ListTopics", nil,
			"<ListTopicsResult><Topics><member><TopicArn>"+topicARN("a")+"</TopicArn></member><member><TopicArn>"+
				topicARN("b")+"</TopicArn></member>")
		st.Does("DeleteTopic", with{"TopicArn", topicARN("a")}, "<DeleteTopicResponse")
		st.Does("DeleteTopic", with{"TopicArn", topicARN("a")})
		st.Fails("GetTopicAttributes", with{"TopicArn", topicARN("a")}, 404, "NotFound", "Topic does not exist")
		st.Does("CreateTopic", with{"Name", "a"}) // at once
		badARNs(st, "TopicArn", "DeleteTopic", "GetTopicAttributes", "ListSubscriptionsByTopic")
	})
}

// badARNs checks that operations refuse text that is not the ARN of a topic.
func badARNs(st *apitest.Story, member string, actions ...string) {
	for _, action := range actions {
		for arn, want := range map[string]string{
			"x": "Invalid parameter: " + member +
				" Reason: An ARN must have at least 6 elements, not 1",
			"arn:aws:sqs:us-east-1:": "Invalid parameter: " + member +
				" Reason: An ARN must have at least 6 elements, not 5",
			queueARN("q"):        "Invalid parameter: " + member,
			topicARN("a") + ":b": "Invalid parameter: " + member,
			"arn:aws:sns:eu-west-1:" + account + ":a": "Invalid parameter: " + member,
		} {
			st.Fails(action, with{member, arn}, 400, invalid, want)
		}
		st.Refuses(action, nil, 400, invalid, "Invalid parameter: "+member+" Reason: no value for required parameter")
	}
}

// attributes returns the first two parameters and a map of attributes.
func attributes(name, value string, pairs ...string) with {
	out := with{name, value}
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, fmt.Sprintf("Attributes.entry.%d.key", i/2+1), pairs[i],
			fmt.Sprintf("Attributes.entry.%d.value", i/2+1), pairs[i+1])
	}
	return out
}

func TestTopicAttributes(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		arn, fifo := topicARN("a"), topicARN("a.fifo")
		st.Does("CreateTopic", with{"Name", "a"})
		st.Does("CreateTopic", with{"Name", "b"})
		st.Does("CreateTopic", attributes("Name", "a.fifo", "FifoTopic", "true"))
		entry := func(k, v string) string {
			return "<entry><key>" + k + "</key><value>" + strings.ReplaceAll(v, `"`, "&quot;") + "</value></entry>"
		}
		got := st.Does("GetTopicAttributes", with{"TopicArn", arn},
			entry("TopicArn", arn), entry("Owner", account), "<key>DisplayName</key><value/>",
			entry("SubscriptionsConfirmed", "0"),
			entry("SubscriptionsPending", "0"), entry("SubscriptionsDeleted", "0"),
			"<key>Policy</key><value>{&quot;Version&quot;:&quot;2008-10-17&quot;,&quot;Id&quot;:&quot;__default_policy_ID&quot;",
			entry("EffectiveDeliveryPolicy",
				`{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":20,"maxDelayTarget":20,"numRetries":3,"numMaxDelayRetries":0,"numNoDelayRetries":0,"numMinDelayRetries":0,"backoffFunction":"linear"},"disableSubscriptionOverrides":false,"defaultRequestPolicy":{"headerContentType":"text/plain; charset=UTF-8"}}}`))
		for _, not := range []string{"MaximumMessageSize", "FifoTopic", "SignatureVersion", "TracingConfig",
			"KmsMasterKeyId"} {
			if strings.Contains(got, not) {
				t.Errorf("%s is in %s", not, got)
			}
		}
		st.Does("GetTopicAttributes", with{"TopicArn", fifo}, entry("FifoTopic", "true"),
			entry("ContentBasedDeduplication", "false"), "<key>EffectiveDeliveryPolicy</key>")
		if got := st.Does("GetTopicAttributes", with{"TopicArn", fifo}); strings.Contains(got, "FifoThroughputScope") {
			t.Errorf("a scope that was not set: %s", got)
		}
		set := func(arn, name, value string) with {
			return with{"TopicArn", arn, "AttributeName", name, "AttributeValue", value}
		}
		for _, tc := range []struct{ arn, name, value string }{
			{arn, "DisplayName", "News & more"}, {arn, "SignatureVersion", "2"}, {arn, "TracingConfig", "PassThrough"},
			{arn, "TracingConfig", "Active"}, {arn, "KmsMasterKeyId", "alias/x"},
			{arn, "SQSSuccessFeedbackSampleRate", "0"}, {arn, "HTTPSuccessFeedbackSampleRate", "100"},
			{arn, "LambdaSuccessFeedbackSampleRate", "7"},
			{arn, "SQSSuccessFeedbackRoleArn", "arn:aws:iam::" + account + ":role/logs"},
			{arn, "HTTPFailureFeedbackRoleArn", "arn:aws:iam::" + account + ":role/a/logs"},
			{arn, "ApplicationSuccessFeedbackSampleRate", "0"}, {arn, "FirehoseSuccessFeedbackSampleRate", "0"},
			{arn, "DeliveryPolicy",
				`{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":2,"numRetries":5,"numMaxDelayRetries":0,"numNoDelayRetries":0,"numMinDelayRetries":0,"backoffFunction":"linear"},"disableSubscriptionOverrides":true,"defaultThrottlePolicy":{"maxReceivesPerSecond":3},"defaultRequestPolicy":{"headerContentType":"text/csv"}}}`},
			{arn, "Policy", strings.NewReplacer("\n", "", "TOPIC", arn, "ACCOUNT", account).Replace(oldDefaultPolicy)},
			{arn, "Policy", `{"Statement":{"Effect":"Allow","Principal":"*","Action":"SNS:Publish","Resource":"*"}}`},
			{arn, "Policy", `{"Statement":{"Effect":"Allow","Principal":"*","Action":"SNS:Publish","Resource":""}}`},
			{arn, "Policy",
				`{"Statement":{"Effect":"Allow","Principal":"*","Action":["SNS:ListTagsForResource","sns:GetDataProtectionPolicy"],"Resource":"*"}}`},
			{arn, "MaximumMessageSize", "1024"}, {arn, "MaximumMessageSize", "1048576"},
			{fifo, "MaximumMessageSize", "262144"},
			{fifo, "ContentBasedDeduplication", "true"}, {fifo, "FifoThroughputScope", "MessageGroup"},
		} {
			st.Does("SetTopicAttributes", set(tc.arn, tc.name, tc.value), "<SetTopicAttributesResponse")
			st.Does("GetTopicAttributes", with{"TopicArn", tc.arn},
				entry(tc.name, strings.ReplaceAll(tc.value, "&", "&amp;")))
		}
		st.Does("GetTopicAttributes", with{"TopicArn", topicARN("b")}, "__default_statement_ID")
		st.Does("SetTopicAttributes", set(arn, "Policy", defaultPolicyOf(st, "b", "a")))
		st.Does("GetTopicAttributes", with{"TopicArn", arn}, "__default_statement_ID")
		for _, tc := range []struct{ arn, name, value, want string }{
			{arn, "Nonsense", "1", "Invalid parameter: AttributeName"},
			{arn, "FifoTopic", "true", "Invalid parameter: AttributeName"},
			{arn, "TopicArn", "x", "Invalid parameter: AttributeName"},
			{arn, "DisplayName", "a\nb", "Invalid parameter: DisplayName"},
			{arn, "SignatureVersion", "3", "Invalid parameter: SignatureVersion: Must be one of 1, 2."},
			{arn, "TracingConfig", "active", "Invalid parameter: TracingConfig: Must be one of PassThrough, Active."},
			{arn, "KmsMasterKeyId", "é",
				"Invalid parameter: KmsMasterKeyId: Must be at most 2048 printable characters of ASCII."},
			{arn, "ContentBasedDeduplication", "true",
				"Invalid parameter: Content-based deduplication can only be set for FIFO topics"},
			{fifo, "ContentBasedDeduplication", "yes",
				"Invalid parameter: ContentBasedDeduplication: Must be true or false."},
			{fifo, "FifoThroughputScope", "All",
				"Invalid parameter: FifoThroughputScope: Must be one of Topic, MessageGroup."},
			{arn, "ArchivePolicy", `{"MessageRetentionPeriod":"30"}`,
				"Invalid parameter: ArchivePolicy: You can specify it only when FifoTopic is set to true."},
			{fifo, "ArchivePolicy", `{"MessageRetentionPeriod":"0"}`,
				"Invalid parameter: ArchivePolicy: MessageRetentionPeriod must be a whole number from 1 to 365."},
			{fifo, "ArchivePolicy", `{"MessageRetentionPeriod":366}`,
				"Invalid parameter: ArchivePolicy: MessageRetentionPeriod must be a whole number from 1 to 365."},
			{fifo, "ArchivePolicy", `{"Days":1}`, "Invalid parameter: ArchivePolicy: failed to parse JSON."},
			{arn, "SQSSuccessFeedbackSampleRate", "101",
				"Invalid parameter: SQSSuccessFeedbackSampleRate: 101 value provided is not an integer between 0-100"},
			{arn, "SQSSuccessFeedbackSampleRate", "x",
				"Invalid parameter: SQSSuccessFeedbackSampleRate: x value provided is not an integer between 0-100"},
			{arn, "SMSSuccessFeedbackSampleRate", "0", "Invalid parameter: AttributeName"},
			{arn, "SQSSuccessFeedbackRoleArn", "arn:aws:iam::1:role/r",
				"Invalid parameter: SQSSuccessFeedbackRoleArn: Must be the ARN of a role."},
			{arn, "DeliveryPolicy", "x", "Invalid parameter: DeliveryPolicy: "},
			{arn, "DeliveryPolicy", `{"http":{"defaultHealthyRetryPolicy":{"numRetries":101}}}`,
				"Invalid parameter: DeliveryPolicy: "},
			{arn, "MaximumMessageSize", "1023",
				"Invalid parameter: MaximumMessageSize: Must be a whole number from 1024 to 1048576."},
			{arn, "MaximumMessageSize", "1048577",
				"Invalid parameter: MaximumMessageSize: Must be a whole number from 1024 to 1048576."},
			{arn, "MaximumMessageSize", "",
				"Invalid parameter: MaximumMessageSize: Must be a whole number from 1024 to 1048576."},
			{arn, "Policy", "x", "Invalid parameter: Policy Error: null"},
			{arn, "Policy", "", "Invalid parameter: Policy is empty"},
			{arn, "Policy",
				`{"Statement":{"Effect":"Allow","Principal":"*","Action":"SNS:TagResource","Resource":"*"}}`,
				"Invalid parameter: Policy statement action out of service scope!"},
			{arn, "Policy",
				`{"Statement":{"Effect":"Allow","Principal":"*","Action":"sqs:SendMessage","Resource":"*"}}`,
				"Invalid parameter: Policy statement action out of service scope!"},
			{arn, "Policy",
				`{"Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + account +
					`:user/eve"},"Action":"SNS:Publish","Resource":"*"}}`,
				"Invalid parameter: Policy Error: PrincipalNotFound"},
			{arn, "Policy",
				`{"Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123:root"},"Action":"SNS:Publish","Resource":"*"}}`,
				"Invalid parameter: Policy Error: PrincipalNotFound"},
			{arn, "Policy",
				`{"Statement":{"Effect":"Allow","Principal":{"AWS":"_"},"Action":"SNS:Publish","Resource":"*"}}`,
				"Invalid parameter: Policy Error: PrincipalNotFound"},
			{arn, "Policy",
				`{"Statement":{"Effect":"Allow","Principal":{"Person":"x"},"Action":"SNS:Publish","Resource":"*"}}`,
				"Invalid parameter: Policy Error: null"},
		} {
			st.Fails("SetTopicAttributes", set(tc.arn, tc.name, tc.value), 400, invalid, tc.want)
		}
		if !st.InURL {
			long := `{"Statement":{"Effect":"Allow","Principal":"*","Action":"SNS:Publish","Resource":"*"}}` +
				strings.Repeat(" ", 30<<10)
			st.Fails("SetTopicAttributes", set(arn, "Policy", long), 400, invalid,
				"Invalid parameter: Policy Error: Submitted policy is over max allowed size.")
		}
		st.Fails("SetTopicAttributes", with{"TopicArn", arn}, 400, "ValidationError", "Value null at 'attributeName'")
		st.Fails("SetTopicAttributes", set(topicARN("none"), "DisplayName", "x"), 404, "NotFound",
			"Topic does not exist")
	})
}

// defaultPolicyOf returns the policy of a topic as if it belonged to another.
func defaultPolicyOf(st *apitest.Story, topic, other string) string {
	st.T.Helper()
	_, rest, _ := strings.Cut(st.Does("GetTopicAttributes", with{"TopicArn", topicARN(topic)}),
		"<key>Policy</key><value>")
	policy, _, _ := strings.Cut(rest, "</value>")
	return strings.NewReplacer("&quot;", `"`, topicARN(topic), topicARN(other)).Replace(policy)
}

// oldDefaultPolicy is the policy with which AWS used to create topics, and which Terraform sets to remove a policy.
const oldDefaultPolicy = `{"Version":"2008-10-17","Id":"__default_policy_ID","Statement":[{"Sid":"__default_statement_ID","Effect":"Allow",
"Principal":{"AWS":"*"},"Action":["SNS:GetTopicAttributes","SNS:SetTopicAttributes","SNS:AddPermission","SNS:RemovePermission",
"SNS:DeleteTopic","SNS:Subscribe","SNS:ListSubscriptionsByTopic","SNS:Publish","SNS:Receive"],"Resource":"TOPIC",
"Condition":{"StringEquals":{"AWS:SourceOwner":"ACCOUNT"}}}]}`

func TestPermissions(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		arn := topicARN("a")
		st.Does("CreateTopic", with{"Name", "a"})
		add := func(label, account, action string) with {
			return with{"TopicArn", arn, "Label", label, "AWSAccountId.member.1", account, "ActionName.member.1",
				action}
		}
		st.Does("AddPermission", add("l", otherAccount, "Publish"), "<AddPermissionResponse")
		st.Does("GetTopicAttributes", with{"TopicArn", arn}, "__default_statement_ID",
			strings.ReplaceAll(`{"Sid":"l","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::`+otherAccount+
				`:root"},"Action":"SNS:Publish","Resource":"`+arn+`"}`, `"`, "&quot;"))
		st.Does("AddPermission", add("r", otherAccount, "Receive"))
		st.Does("RemovePermission", with{"TopicArn", arn, "Label", "r"})
		st.Fails("AddPermission", add("l", otherAccount, "Publish"), 400, invalid,
			"Invalid parameter: Statement already exists")
		st.Fails("AddPermission", add("m", otherAccount, "CreateTopic"), 400, invalid,
			"Invalid parameter: Policy statement action out of service scope!")
		st.Fails("AddPermission", add("m", "12", "Publish"), 400, invalid,
			"Invalid parameter: A provided account ID is not valid")
		st.Fails("AddPermission", add("m n", otherAccount, "Publish"), 400, invalid,
			"Invalid parameter: Label Reason: ")
		const isNull = " failed to satisfy constraint: Member must not be null"
		st.Refuses("AddPermission", with{"TopicArn", arn, "Label", "m", "AWSAccountId.member.1", otherAccount}, 400,
			"ValidationError", "1 validation error detected: Value null at 'actionName'"+isNull)
		st.Refuses("AddPermission", with{"TopicArn", arn}, 400, "ValidationError",
			"3 validation errors detected: Value null at 'aWSAccountId'"+isNull+"; Value null at 'label'"+isNull+
				"; Value null at 'actionName'"+isNull)
		st.Does("RemovePermission", with{"TopicArn", arn, "Label", "m"}, "<RemovePermissionResponse")
		st.Does("AddPermission", append(add("p", otherAccount, "PutDataProtectionPolicy"),
			"AWSAccountId.member.2", otherAccount, "ActionName.member.2", "PutDataProtectionPolicy"))
		st.Does("RemovePermission", with{"TopicArn", arn, "Label", "p"})
		st.Does("RemovePermission", with{"TopicArn", arn, "Label", "l"}, "<RemovePermissionResponse")
		st.Fails("RemovePermission", with{"TopicArn", arn, "Label", "__default_statement_ID"}, 400, invalid,
			"It is the only statement of the policy.")
		if got := st.Does("GetTopicAttributes", with{"TopicArn", arn}); strings.Contains(got, "&quot;l&quot;") {
			t.Errorf("the permission remains: %s", got)
		}
		badARNs(st, "TopicArn", "AddPermission", "RemovePermission")
	})
}

func TestTags(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		arn := topicARN("a")
		st.Does("CreateTopic", with{"Name", "a"})
		st.Does("ListTagsForResource", with{"ResourceArn", arn},
			"<ListTagsForResourceResult><Tags/></ListTagsForResourceResult>")
		st.Does("TagResource",
			with{"ResourceArn", arn, "Tags.member.1.Key", "b", "Tags.member.1.Value", "2", "Tags.member.2.Key", "a",
				"Tags.member.2.Value", "1"}, "<TagResourceResult/>")
		st.Does("ListTagsForResource", with{"ResourceArn", arn},
			"<Tags><member><Key>a</Key><Value>1</Value></member><member><Key>b</Key><Value>2</Value></member></Tags>")
		st.Does("UntagResource", with{"ResourceArn", arn, "TagKeys.member.1", "a"}, "<UntagResourceResult/>")
		st.Does("ListTagsForResource", with{"ResourceArn", arn},
			"<Tags><member><Key>b</Key><Value>2</Value></member></Tags>")
		var many with
		for i := range 50 {
			many = append(many, fmt.Sprintf("Tags.member.%d.Key", i+1), fmt.Sprint("k", i),
				fmt.Sprintf("Tags.member.%d.Value", i+1), "v")
		}
		st.Fails("TagResource", append(with{"ResourceArn", arn}, many...), 400, "TagLimitExceeded",
			"Could not complete request: tag quota of per resource exceeded")
		st.Fails("TagResource",
			append(with{"ResourceArn", arn, "Tags.member.51.Key", "x", "Tags.member.51.Value", ""}, many...),
			400, "TagLimitExceeded", "tag quota of per resource exceeded")
		st.Fails("TagResource", with{"ResourceArn", arn}, 400, "ValidationError", "1 validation error detected: "+
			"Value null at 'tags' failed to satisfy constraint: Member must not be null")
		st.Fails("TagResource", with{"ResourceArn", arn, "Tags.member.1.Key", "", "Tags.member.1.Value", ""}, 400,
			"ValidationError",
			"1 validation error detected: Value '' at 'tags.1.member.key' failed to satisfy constraint: Member must have length greater than or equal to 1")
		st.Fails("TagResource", with{"ResourceArn", arn, "Tags.member.1.Key", "k", "Tags.member.1.Value", "<"}, 400,
			invalid, "Tag values may only contain unicode letters")
		st.Fails("UntagResource", with{"ResourceArn", arn}, 400, "ValidationError", "1 validation error detected: "+
			"Value null at 'tagKeys' failed to satisfy constraint: Member must not be null")
		for _, action := range []string{"TagResource", "UntagResource", "ListTagsForResource"} {
			in := with{"ResourceArn", topicARN("none"), "Tags.member.1.Key", "k", "Tags.member.1.Value", "v",
				"TagKeys.member.1", "k"}
			st.Fails(action, in, 404, "ResourceNotFound", "Resource does not exist")
		}
		badARNs(st, "ResourceArn", "ListTagsForResource")
	})
}

// A subscription that was not confirmed ends with its token or its topic, and cannot be ended by a request.
func TestUnsubscribePending(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		arn, queue := topicARN("a"), "arn:aws:sqs:us-east-1:"+otherAccount+":q"
		st.Does("CreateTopic", with{"Name", "a"})
		for _, in := range []with{
			{"TopicArn", arn, "Protocol", "email", "Endpoint", "a@example.com", "ReturnSubscriptionArn", "true"},
			{"TopicArn", arn, "Protocol", "sqs", "Endpoint", queue, "ReturnSubscriptionArn", "true"},
		} {
			sub := apitest.Element(st.Does("Subscribe", in), "SubscriptionArn")
			st.Fails("Unsubscribe", with{"SubscriptionArn", sub}, 400, invalid,
				"Invalid parameter: SubscriptionArn Reason: Cannot unsubscribe a subscription that is pending confirmation")
			st.Does("GetSubscriptionAttributes", with{"SubscriptionArn", sub},
				"<key>PendingConfirmation</key><value>true</value>")
		}
		st.Does("DeleteTopic", with{"TopicArn", arn})
		if got := st.Does("ListSubscriptions", nil); strings.Contains(got, "<member>") {
			t.Errorf("subscriptions have outlived their topic: %s", got)
		}
	})
}

func TestSubscriptions(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		arn, fifo := topicARN("a"), topicARN("a.fifo")
		st.Does("CreateTopic", with{"Name", "a"})
		st.Does("CreateTopic", attributes("Name", "a.fifo", "FifoTopic", "true"))
		subscribe := func(topic, protocol, endpoint string, pairs ...string) with {
			return append(with{"Protocol", protocol, "Endpoint", endpoint}, attributes("TopicArn", topic, pairs...)...)
		}
		sub := apitest.Element(st.Does("Subscribe", subscribe(arn, "sqs", queueARN("q"), "RawMessageDelivery", "true")),
			"SubscriptionArn")
		if !strings.HasPrefix(sub, arn+":") {
			t.Fatalf("the subscription is %s", sub)
		}
		for _, in := range []with{
			subscribe(arn, "sqs", queueARN("q")), subscribe(arn, "sqs", queueARN("q"), "RawMessageDelivery", "true"),
			subscribe(arn, "sqs", strings.Replace(queueARN("q"), "arn:aws:", "arn:aws-cn:", 1)),
		} {
			st.Does("Subscribe", in, "<SubscribeResult><SubscriptionArn>"+sub+"</SubscriptionArn></SubscribeResult>")
		}
		st.Fails("Subscribe", subscribe(arn, "sqs", queueARN("q"), "RawMessageDelivery", "false"), 400, invalid,
			"Invalid parameter: Attributes Reason: Subscription already exists with different attributes")
		st.Does("Subscribe", subscribe(fifo, "sqs", queueARN("q.fifo")))
		st.Does("Subscribe", subscribe(fifo, "sqs", queueARN("q")))
		many := `{"k":[` + strings.TrimSuffix(strings.Repeat(`"v",`, 151), ",") + `]}`
		for _, tc := range []struct {
			in         with
			code, want string
		}{
			{subscribe(arn, "lambda", "arn:aws:lambda:us-east-1:"+account+":function:f"), invalid,
				"Invalid parameter: Protocol Reason: This server does not deliver by lambda."},
			{subscribe(arn, "application", "x"), invalid,
				"Invalid parameter: Application endpoint arn invalid:x"},
			{subscribe(arn, "application", topicARN("endpoint/GCM/app/1")), invalid,
				"Invalid parameter: Endpoint Reason: Endpoint does not exist for endpoint " +
					topicARN("endpoint/GCM/app/1")},
			{subscribe(arn, "pigeon", "x"), invalid,
				"Invalid parameter: Amazon SNS does not support this protocol string: pigeon"},
			{subscribe(arn, "sqs", "https://sqs.us-east-1.amazonaws.com/1/q"), invalid,
				"Invalid parameter: SQS endpoint ARN"},
			{subscribe(arn, "sqs", queueARN("q.fifo")), invalid,
				"Invalid parameter: Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics"},
			{subscribe(fifo, "email", "a@example.com"), invalid, "Invalid parameter: Invalid protocol type: email"},
			{subscribe(fifo, "lambda", "x"), invalid, "Invalid parameter: Invalid protocol type: lambda"},
			{subscribe(fifo, "pigeon", "x"), invalid,
				"Invalid parameter: Amazon SNS does not support this protocol string: pigeon"},
			{with{"TopicArn", arn, "Protocol", "sqs"}, invalid, "Invalid parameter: SQS endpoint ARN"},
			{subscribe(arn, "sqs", queueARN("r"), "Nonsense", "1"), invalid,
				"Invalid parameter: Attributes Reason: Unknown attribute Nonsense"},
			{subscribe(arn, "sqs", queueARN("r"), "RawMessageDelivery", "x"), invalid,
				"Invalid parameter: Attributes Reason: RawMessageDelivery: Invalid value [x]. Must be true or false."},
			{subscribe(arn, "sqs", queueARN("r"), "FilterPolicy", "{"), invalid,
				"Invalid parameter: Attributes Reason: FilterPolicy: "},
			{subscribe(arn, "sqs", queueARN("r"), "FilterPolicy", many), invalid,
				"Invalid parameter: Attributes Reason: FilterPolicy: "},
			{subscribe(arn, "sqs", queueARN("r"), "FilterPolicy", `{"a":{"b":["c"]}}`), invalid,
				"Invalid parameter: Attributes Reason: FilterPolicy: "},
			{subscribe(arn, "sqs", queueARN("r"), "FilterPolicyScope", "All"), invalid,
				"FilterPolicyScope: Invalid value [All]. Please use either MessageBody or MessageAttributes"},
			{subscribe(arn, "sqs", queueARN("r"), "RedrivePolicy", "x"), invalid,
				"Invalid parameter: Attributes Reason: RedrivePolicy: failed to parse JSON."},
			{subscribe(arn, "sqs", queueARN("r"), "RedrivePolicy", `{"deadLetterTargetArn":"x"}`), invalid,
				"Invalid parameter: Attributes Reason: RedrivePolicy: deadLetterTargetArn is an invalid arn"},
			{subscribe(arn, "sqs", queueARN("r"), "RedrivePolicy",
				`{"deadLetterTargetArn":"`+queueARN("d")+`","maxReceiveCount":5}`), invalid,
				"Invalid parameter: Attributes Reason: RedrivePolicy: invalid JSON. Attribute maxReceiveCount is unknown."},
			{subscribe(arn, "sqs", queueARN("r"), "RedrivePolicy", `{"deadLetterTargetArn":null}`), invalid,
				"RedrivePolicy: deadLetterTargetArn is an invalid arn"},
			{subscribe(arn, "sqs", queueARN("r"), "RedrivePolicy", `{"deadLetterTargetArn":"`+queueARN("d.fifo")+`"}`),
				invalid, "RedrivePolicy: must use a standard queue as DLQ for a standard Subscription."},
			{subscribe(fifo, "sqs", queueARN("r.fifo"), "RedrivePolicy", `{"deadLetterTargetArn":"`+queueARN("d")+`"}`),
				invalid, "RedrivePolicy: must use a FIFO queue as DLQ for a FIFO Subscription to a FIFO Topic."},
			{subscribe(arn, "sqs", queueARN("r"), "RedrivePolicy",
				`{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:`+otherAccount+`:d"}`), invalid,
				"RedrivePolicy: deadLetterTargetArn must be a queue of the subscription's account and region"},
			{subscribe(arn, "sqs", queueARN("r"), "ReplayPolicy",
				`{"PointType":"Timestamp","StartingPoint":"2026-01-31T12:00:00.000Z"}`), invalid,
				"ReplayPolicy: You can specify it only for a FIFO topic."},
			{subscribe(fifo, "sqs", queueARN("r.fifo"), "ReplayPolicy", `{"a":"b"}`), invalid,
				"ReplayPolicy: failed to parse JSON."},
			{subscribe(fifo, "sqs", queueARN("r.fifo"), "ReplayPolicy", `{"PointType":"Offset"}`), invalid,
				"ReplayPolicy: PointType must be Timestamp."},
			{subscribe(fifo, "sqs", queueARN("r.fifo"), "ReplayPolicy",
				`{"PointType":"Timestamp","StartingPoint":"x"}`), invalid,
				"ReplayPolicy: StartingPoint must be a time"},
			{subscribe(arn, "sqs", queueARN("r"), "SubscriptionRoleArn", "x"), invalid,
				"SubscriptionRoleArn: It is for the protocol firehose"},
		} {
			st.Fails("Subscribe", tc.in, 400, tc.code, tc.want)
		}
		st.Fails("Subscribe", with{"TopicArn", arn}, 400, "ValidationError", "Value null at 'protocol'")
		st.Fails("Subscribe", subscribe(topicARN("none"), "sqs", queueARN("q")), 404, "NotFound",
			"Topic does not exist")
		listed := "<member><SubscriptionArn>" + sub + "</SubscriptionArn><Owner>" + account +
			"</Owner><Protocol>sqs</Protocol><Endpoint>" + queueARN("q") + "</Endpoint><TopicArn>" + arn +
			"</TopicArn></member>"
		st.Does("ListSubscriptionsByTopic", with{"TopicArn", arn}, "<Subscriptions>"+listed+"</Subscriptions>")
		if got := st.Does("ListSubscriptions", nil, listed); strings.Count(got, "<member>") != 3 {
			t.Errorf("all subscriptions: %s", got)
		}
		st.Fails("ListSubscriptions", with{"NextToken", "x"}, 400, invalid, "Invalid parameter: NextToken")
		testSubscriptionAttributes(st, sub)
		st.Does("Unsubscribe", with{"SubscriptionArn", sub}, "<UnsubscribeResponse")
		st.Does("Unsubscribe", with{"SubscriptionArn", sub})
		st.Does("GetTopicAttributes", with{"TopicArn", arn}, "<key>SubscriptionsDeleted</key><value>1</value>")
		st.Fails("GetSubscriptionAttributes", with{"SubscriptionArn", sub}, 404, "NotFound",
			"Subscription does not exist")
		st.Fails("Unsubscribe", with{"SubscriptionArn", arn}, 400, invalid, "Invalid parameter: SubscriptionId")
		st.Fails("Unsubscribe", with{"SubscriptionArn", "arn:aws:sns:us-east-1:111111111111:random"}, 400, invalid,
			"Invalid parameter: SubscriptionId")
		st.Fails("Unsubscribe", nil, 400, invalid,
			"Invalid parameter: SubscriptionArn Reason: no value for required parameter")
		st.Fails("Unsubscribe", with{"SubscriptionArn", "x"}, 400, invalid,
			"Invalid parameter: SubscriptionArn Reason: An ARN must have at least 6 elements, not 1")
		st.Does("DeleteTopic", with{"TopicArn", fifo})
		if got := st.Does("ListSubscriptions", nil); strings.Contains(got, "<member>") {
			t.Errorf("subscriptions have outlived their topic: %s", got)
		}
		for token, want := range map[string]string{
			"x":                       "<Message>Invalid token</Message>",
			strings.Repeat("0", 96):   "<Message>Invalid parameter: Token</Message>",
			strings.Repeat("a1", 144): "<Message>Invalid parameter: Token</Message>",
		} {
			if status, body := st.Call("ConfirmSubscription", with{"TopicArn", arn, "Token", token}); status != 400 ||
				!strings.Contains(body, want) {
				t.Errorf("%s: %d %s", token, status, body)
			}
		}
		for _, wrong := range []string{"x", arn + ":1", strings.Replace(arn, "us-east-1", "eu-west-1", 1)} {
			st.Refuses("ConfirmSubscription", with{"TopicArn", wrong, "Token", "x"}, 400, invalid,
				"Invalid parameter: Topic")
		}
		badARNs(st, "TopicArn", "Subscribe")
	})
}

func testSubscriptionAttributes(st *apitest.Story, sub string) {
	st.T.Helper()
	entry := func(k, v string) string {
		return "<entry><key>" + k + "</key><value>" + strings.ReplaceAll(v, `"`, "&quot;") + "</value></entry>"
	}
	got := st.Does("GetSubscriptionAttributes", with{"SubscriptionArn", sub}, entry("SubscriptionArn", sub),
		entry("Owner", account), entry("Protocol", "sqs"),
		entry("Endpoint", queueARN("q")), entry("TopicArn", topicARN("a")), entry("PendingConfirmation", "false"),
		entry("ConfirmationWasAuthenticated", "true"),
		entry("RawMessageDelivery", "true"), entry("SubscriptionPrincipal", "arn:aws:iam::"+account+":root"))
	if strings.Contains(got, "Filter") || strings.Contains(got, "Redrive") {
		st.T.Errorf("attributes that are not set: %s", got)
	}
	set := func(name, value string) with {
		return with{"SubscriptionArn", sub, "AttributeName", name, "AttributeValue", value}
	}
	for _, tc := range []struct{ name, value string }{
		{"RawMessageDelivery", "false"}, {"FilterPolicy", `{"color":["red"]}`}, {"FilterPolicyScope", "MessageBody"},
		{"FilterPolicy", `{"a":{"b":["c"]}}`},
		{"RedrivePolicy", `{"deadLetterTargetArn":"` + queueARN("dlq") + `"}`},
	} {
		st.Does("SetSubscriptionAttributes", set(tc.name, tc.value), "<SetSubscriptionAttributesResponse")
		st.Does("GetSubscriptionAttributes", with{"SubscriptionArn", sub}, entry(tc.name, tc.value))
	}
	st.Fails("SetSubscriptionAttributes", set("FilterPolicyScope", "MessageAttributes"), 400, invalid,
		"Invalid parameter: Filter policy scope MessageAttributes does not support nested filter policy")
	for name, value := range map[string]string{"FilterPolicy": "{}", "RedrivePolicy": ""} {
		st.Does("SetSubscriptionAttributes", set(name, value))
		if got := st.Does("GetSubscriptionAttributes", with{"SubscriptionArn", sub}); strings.Contains(got,
			"<key>"+name+"</key>") {
			st.T.Errorf("%s is still there: %s", name, got)
		}
	}
	for name, want := range map[string]string{
		"Nonsense": "Invalid parameter: AttributeName", "Endpoint": "Invalid parameter: AttributeName",
		"RawMessageDelivery": "Invalid parameter: RawMessageDelivery: Invalid value [x]. Must be true or false.",
		"FilterPolicy":       "Invalid parameter: FilterPolicy: ",
		"DeliveryPolicy":     "Invalid parameter: DeliveryPolicy: failed to parse JSON",
	} {
		st.Fails("SetSubscriptionAttributes", set(name, "x"), 400, invalid, want)
	}
	st.Fails("SetSubscriptionAttributes", with{"SubscriptionArn", sub}, 400, "ValidationError",
		"Value null at 'attributeName'")
}

func TestPages(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		for i := range 101 {
			st.Does("CreateTopic", with{"Name", fmt.Sprintf("t%03d", i)})
			st.Does("Subscribe",
				with{"TopicArn", topicARN("t000"), "Protocol", "sqs", "Endpoint", queueARN(fmt.Sprint("q", i))})
		}
		for action, in := range map[string]with{
			"ListTopics": nil, "ListSubscriptions": nil, "ListSubscriptionsByTopic": {"TopicArn", topicARN("t000")},
		} {
			first := st.Does(action, in)
			second := st.Does(action, append(in, "NextToken", apitest.Element(first, "NextToken")))
			if strings.Count(first, "<member>") != 100 || strings.Count(second, "<member>") != 1 ||
				strings.Contains(second, "NextToken") {
				t.Errorf("%s: %d and %d", action, strings.Count(first, "<member>"), strings.Count(second, "<member>"))
			}
		}
	})
}

func TestPublishRefusals(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		arn, fifo := topicARN("a"), topicARN("a.fifo")
		st.Does("CreateTopic", with{"Name", "a"})
		st.Does("CreateTopic", attributes("Name", "a.fifo", "FifoTopic", "true"))
		publish := func(message string, more ...string) with {
			return append(with{"TopicArn", arn, "Message", message}, more...)
		}
		ordered := func(more ...string) with { return append(with{"TopicArn", fifo, "Message", "m"}, more...) }
		attribute := func(name string, value ...string) with {
			out := publish("m", "MessageAttributes.entry.1.Name", name)
			for i := 0; i < len(value); i += 2 {
				out = append(out, "MessageAttributes.entry.1.Value."+value[i], value[i+1])
			}
			return out
		}
		text := func(dataType, value string) with { return attribute("n", "DataType", dataType, "StringValue", value) }
		for _, in := range []with{
			publish("m"), publish("m", "Subject", strings.Repeat("x", 99)), publish("m", "MessageGroupId", "g"),
			{"TargetArn", arn, "Message", "m"},
			publish(`{"default":"d","sqs":"s","email":1,"x":{"default":1}}`, "MessageStructure", "json"),
			publish(`{"default":"","sqs":""}`, "MessageStructure", "json"),
			attribute("AWS.SNS.MOBILE.APNS.TTL", "DataType", "String", "StringValue", "60"),
			attribute("AWS.SNS.SMS.SMSType", "DataType", "String", "StringValue", "Transactional"),
			attribute("AWS.MM.SMS.EntityId", "DataType", "String", "StringValue", "1"),
			text("String.Array", `["a",1,true,null]`), text("String.Array", "x"), text("String.Array", "[{}]"),
			text("Number", "1.5"),
			text("String.custom", "x"), attribute("n", "DataType", "Binary", "BinaryValue", "AQI="),
		} {
			if id := apitest.Element(st.Does("Publish", in), "MessageId"); !apitest.UUID.MatchString(id) {
				t.Errorf("the message id is %q", id)
			}
		}
		st.Does("Publish", ordered("MessageGroupId", "g", "MessageDeduplicationId", "1"), "<SequenceNumber>")
		const value = "ParameterValueInvalid"
		for _, tc := range []struct {
			in         with
			code, want string
		}{
			{publish(""), invalid, "Invalid parameter: Empty message"},
			{publish("\x01"), invalid, "Invalid parameter: Message Reason: Valid unicode characters are"},
			{publish("m", "Subject", ""), invalid, "Invalid parameter: Subject"},
			{publish("m", "Subject", " x"), invalid, "Invalid parameter: Subject"},
			{publish("m", "Subject", "a\nb"), invalid, "Invalid parameter: Subject"},
			{publish("m", "Subject", strings.Repeat("x", 100)), invalid, "Invalid parameter: Subject"},
			{publish("m", "Subject", strings.Repeat("x", 2000)), invalid, "Invalid parameter: Subject"},
			{publish("m", "MessageStructure", "xml"), invalid,
				"Invalid parameter: Message Structure - xml is not a structure; there is json"},
			{publish("m", "MessageStructure", "json"), invalid,
				"Invalid parameter: Message Structure - JSON message body failed to parse"},
			{publish(`{"sqs":"x"}`, "MessageStructure", "json"), invalid,
				"Invalid parameter: Message Structure - No default entry in JSON message body"},
			{publish(`{"default":1}`, "MessageStructure", "json"), invalid,
				"Invalid parameter: Message Structure - No default entry in JSON message body"},
			{publish(`{"default":"a","sqs":"\u0001"}`, "MessageStructure", "json"), invalid,
				"Invalid parameter: Message Reason: Valid unicode characters are"},
			{publish(`["default"]`, "MessageStructure", "json"), invalid,
				"Invalid parameter: Message Structure - JSON message body failed to parse"},
			{publish(`{"default":"a"} x`, "MessageStructure", "json"), invalid,
				"Invalid parameter: Message Structure - JSON message body failed to parse"},
			{publish(`{"default":"a","x":1,"x":2}`, "MessageStructure", "json"), invalid,
				"Invalid parameter: Message Structure - JSON message body failed to parse"},
			{publish("m", "MessageDeduplicationId", "d"), invalid,
				"The request includes MessageDeduplicationId parameter that is not valid for this topic type"},
			{publish("m", "MessageGroupId", "a b"), invalid,
				"MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length."},
			{ordered(), invalid, "Invalid parameter: The MessageGroupId parameter is required for FIFO topics"},
			{ordered("MessageGroupId", ""), invalid, "MessageGroupId can only include"},
			{ordered("MessageGroupId", "g"), invalid,
				"Invalid parameter: The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly"},
			{ordered("MessageGroupId", "g", "MessageDeduplicationId", strings.Repeat("x", 129)), invalid,
				"MessageDeduplicationId can only include"},
			{with{"Message", "m"}, invalid,
				"Invalid parameter: TopicArn or TargetArn Reason: no value for required parameter"},
			{with{"Message", "m", "PhoneNumber", "+1"}, invalid,
				"Invalid parameter: PhoneNumber Reason: +1 is not valid to publish to"},
			{with{"Message", "m", "PhoneNumber", "+14155550100"}, invalid,
				"Invalid parameter: PhoneNumber Reason: This server does not send text messages to phones."},
			{with{"Message", "m", "TargetArn", "x"}, invalid,
				"Invalid parameter: TargetArn Reason: An ARN must have at least 6 elements, not 1"},
			{with{"Message", "m", "TargetArn", topicARN("endpoint/APNS/app/1")}, invalid,
				"Invalid parameter: TargetArn Reason: No endpoint found for the target arn specified"},
			{with{"Message", "m", "TopicArn", "x"}, invalid,
				"Invalid parameter: TopicArn Reason: An ARN must have at least 6 elements, not 1"},
			{attribute("n", "StringValue", "x"), "ValidationError",
				"1 validation error detected: Value null at 'messageAttributes.n.member.dataType' failed to satisfy constraint: Member must not be null"},
			{text("String.", "x"), value,
				"The message attribute 'n' has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String."},
			{text("", "x"), value, "The message attribute 'n' must contain non-empty message attribute type."},
			{text("Text", "x"), value,
				"The message attribute 'n' has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String."},
			{attribute("n", "DataType", "String"), value,
				"The message attribute 'n' must contain non-empty message attribute value for message attribute type 'String'."},
			{text("String", ""), value, "must contain non-empty message attribute value"},
			{text("Number", "x"), value, "Could not cast message attribute 'n' value to number."},
			{text("Binary", "x"), value, "The message attribute 'n' with type 'Binary' must use field 'Binary'."},
			{attribute("n", "DataType", "String", "BinaryValue", "AQI="), value,
				"The message attribute 'n' with type 'String' must use field 'String'."},
			{attribute("n", "DataType", "String", "StringValue", "x", "BinaryValue", "AQI="), value,
				"The message attribute 'n' has multiple values."},
			{text("String", "\x01"), value, "The value of message attribute 'n' has invalid characters."},
			{attribute("a..b", "DataType", "String", "StringValue", "x"), value,
				"Message attribute name can not have successive '.' character."},
			{attribute(".a", "DataType", "String", "StringValue", "x"), value,
				"Invalid message attribute name starting with character '.' was found."},
			{attribute("a.", "DataType", "String", "StringValue", "x"), value,
				"Invalid message attribute name ending with character '.' was found."},
			{attribute("a^b", "DataType", "String", "StringValue", "x"), value,
				"Invalid non-alphanumeric character '#x5E' was found in the message attribute name. Can only include alphanumeric characters, hyphens, underscores, or dots."},
			{attribute("é", "DataType", "String", "StringValue", "x"), value,
				"Invalid non-alphanumeric character '#xE9' was found in the message attribute name."},
			{attribute("AWS.x", "DataType", "String", "StringValue", "x"), value, "are reserved for internal use"},
			{attribute("aws.sns.mobile.x", "DataType", "String", "StringValue", "x"), value,
				"are reserved for internal use"},
			{attribute("Amazon.x", "DataType", "String", "StringValue", "x"), value, "are reserved for internal use"},
			{attribute("a b", "DataType", "String", "StringValue", "x"), value,
				"Invalid non-alphanumeric character '#x20' was found"},
			{attribute(strings.Repeat("x", 257), "DataType", "String", "StringValue", "x"), value,
				"Length of message attribute name must be less than 256 bytes."},
		} {
			st.Fails("Publish", tc.in, 400, tc.code, tc.want)
		}
		st.Fails("Publish", with{"TopicArn", arn}, 400, "ValidationError",
			"Value null at 'message' failed to satisfy constraint: Member must not be null")
		st.Fails("Publish", with{"TopicArn", topicARN("none"), "Message", "m"}, 404, "NotFound", "Topic does not exist")
		if !st.InURL {
			st.Does("Publish", publish(strings.Repeat("x", 262144)))
			for _, size := range []int{262145, 1<<20 + 1} {
				st.Fails("Publish", publish(strings.Repeat("x", size)), 400, invalid,
					"Invalid parameter: Message too long")
			}
			st.Fails("Publish", append(publish(strings.Repeat("x", 262140)), text("String", "x")[4:]...), 400, invalid,
				"Invalid parameter: Message too long")
		}
	})
}

func TestPublishBatch(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		arn := topicARN("a")
		st.Does("CreateTopic", with{"Name", "a"})
		batch := func(entries ...string) with {
			out := with{"TopicArn", arn}
			for i := 0; i < len(entries); i += 2 {
				at := fmt.Sprintf("PublishBatchRequestEntries.member.%d.", i/2+1)
				out = append(out, at+"Id", entries[i], at+"Message", entries[i+1])
			}
			return out
		}
		got := st.Does("PublishBatch", batch("a", "1", "b", "2", "c", "3"), "<Successful><member><Id>a</Id><MessageId>",
			"<Failed/>")
		if strings.Count(got, "<MessageId>") != 3 {
			t.Errorf("%s", got)
		}
		fifo := topicARN("a.fifo")
		st.Does("CreateTopic", attributes("Name", "a.fifo", "FifoTopic", "true"))
		// ordered returns a batch for a FIFO topic whose first entry is complete.
		ordered := func(more ...string) with {
			out := append(batch("a", "1", "b", "2"), "PublishBatchRequestEntries.member.1.MessageGroupId", "g",
				"PublishBatchRequestEntries.member.1.MessageDeduplicationId", "1")
			out[1] = fifo
			return append(out, more...)
		}
		attribute := func(name, dataType string) with {
			at := "PublishBatchRequestEntries.member.2.MessageAttributes.entry.1."
			out := append(batch("a", "1", "b", "2"), at+"Name", name, at+"Value.StringValue", "x")
			if dataType != "" {
				out = append(out, at+"Value.DataType", dataType)
			}
			return out
		}
		var eleven []string
		for i := range 11 {
			eleven = append(eleven, fmt.Sprint(i), "m")
		}
		for _, tc := range []struct {
			in         with
			code, want string
		}{
			{batch(), "EmptyBatchRequest", "The batch request doesn't contain any entries."},
			{batch(eleven...), "TooManyEntriesInBatchRequest",
				"The batch request contains more entries than permissible."},
			{batch("a", "1", "a", "2"), "BatchEntryIdsNotDistinct",
				"Two or more batch entries in the request have the same Id."},
			{batch("a b", "1"), "InvalidBatchEntryId",
				"The Id of a batch entry in the batch request contains an impermissible character: a b"},
			{batch("", "1"), "InvalidBatchEntryId",
				"The Id of a batch entry in the batch request contains an impermissible character: "},
			{batch(strings.Repeat("x", 81), "1"), "InvalidBatchEntryId",
				"The Id of a batch entry in the batch request is too long: " + strings.Repeat("x", 81) + ""},
			{append(batch("a", "1"), "PublishBatchRequestEntries.member.2.Message", "m"), "ValidationError",
				"1 validation error detected: Value null at 'publishBatchRequestEntries.2.member.id' failed to satisfy constraint: Member must not be null"},
			{batch("a", "1", "b", ""), invalid, "Invalid parameter: Empty message"},
			{attribute("a..b", "String"), "ParameterValueInvalid",
				"Message attribute name can not have successive '.' character."},
			{attribute("a", ""), "ValidationError",
				"1 validation error detected: Value null at 'publishBatchRequestEntries.2.member.messageAttributes.a.member.dataType' failed to satisfy constraint: Member must not be null"},
			{append(batch("a", "1", "b", `{"sqs":"x"}`), "PublishBatchRequestEntries.member.2.MessageStructure",
				"json"), invalid, "Invalid parameter: Message Structure - No default entry in JSON message body"},
			{ordered(), invalid, "Invalid parameter: The MessageGroupId parameter is required for FIFO topics"},
			{ordered("PublishBatchRequestEntries.member.2.MessageGroupId", "g"), invalid,
				"Invalid parameter: The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly"},
		} {
			st.Refuses("PublishBatch", tc.in, 400, tc.code, tc.want)
		}
		if !st.InURL {
			half := strings.Repeat("x", 131073)
			st.Refuses("PublishBatch", batch("a", half, "b", half), 400, "BatchRequestTooLong",
				"The length of all the messages put together is more than the limit.")
		}
		badARNs(st, "TopicArn", "PublishBatch")
	})
}
