package sns_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/sluicemq/sluice/internal/api/apitest"
	api "github.com/sluicemq/sluice/internal/api/sns"
	"github.com/sluicemq/sluice/internal/auth/identity"
)

// operation is a request of an operation, with the permission that it needs.
type operation struct {
	name     string
	in       with
	actions  []string // without the prefix SNS:
	resource string   // that a policy must name
}

// operations has one request for each operation, in an order in which each would succeed, on the topic t and its
// subscription. Operations that the topic's policy can share with other accounts have the topic as their resource.
func operations(topic, subscription string) []operation {
	everything := "*"
	entry := "PublishBatchRequestEntries.member.1."
	tags := with{"Tags.member.1.Key", "k", "Tags.member.1.Value", "v"}
	return []operation{
		{"CreateTopic", with{"Name", "new"}, []string{"CreateTopic"}, topicARN("new")},
		{"CreateTopic", append(with{"Name", "tagged"}, tags...), []string{"CreateTopic", "TagResource"},
			topicARN("tagged")},
		{"ListTopics", nil, []string{"ListTopics"}, everything},
		{"GetTopicAttributes", with{"TopicArn", topic}, []string{"GetTopicAttributes"}, topic},
		{"SetTopicAttributes", with{"TopicArn", topic, "AttributeName", "DisplayName", "AttributeValue", "x"},
			[]string{"SetTopicAttributes"}, topic},
		{"AddPermission",
			with{"TopicArn", topic, "Label", "l", "AWSAccountId.member.1", otherAccount, "ActionName.member.1",
				"AddPermission"}, []string{"AddPermission"}, topic},
		{"RemovePermission", with{"TopicArn", topic, "Label", "l"}, []string{"RemovePermission"}, topic},
		{"Subscribe", with{"TopicArn", topic, "Protocol", "sqs", "Endpoint", queueARN("z")}, []string{"Subscribe"},
			topic},
		{"ListSubscriptions", nil, []string{"ListSubscriptions"}, everything},
		{"ListSubscriptionsByTopic", with{"TopicArn", topic}, []string{"ListSubscriptionsByTopic"}, topic},
		{"GetSubscriptionAttributes", with{"SubscriptionArn", subscription}, []string{"GetSubscriptionAttributes"},
			everything},
		{"SetSubscriptionAttributes",
			with{"SubscriptionArn", subscription, "AttributeName", "RawMessageDelivery", "AttributeValue", "true"},
			[]string{"SetSubscriptionAttributes"}, everything},
		{"TagResource", append(with{"ResourceArn", topic}, tags...), []string{"TagResource"}, topic},
		{"ListTagsForResource", with{"ResourceArn", topic}, []string{"ListTagsForResource"}, topic},
		{"UntagResource", with{"ResourceArn", topic, "TagKeys.member.1", "k"}, []string{"UntagResource"}, topic},
		{"Publish", with{"TopicArn", topic, "Message", "m"}, []string{"Publish"}, topic},
		{"PublishBatch", with{"TopicArn", topic, entry + "Id", "a", entry + "Message", "m"}, []string{"Publish"},
			topic},
		{"GetDataProtectionPolicy", with{"ResourceArn", topic}, []string{"GetDataProtectionPolicy"}, topic},
		{"PutDataProtectionPolicy", with{"ResourceArn", topic, "DataProtectionPolicy", ""},
			[]string{"PutDataProtectionPolicy"}, topic},
		{"CheckIfPhoneNumberIsOptedOut", with{"phoneNumber", "+15551234567"}, []string{"CheckIfPhoneNumberIsOptedOut"},
			everything},
		{"SetSMSAttributes",
			with{"attributes.entry.1.key", "DefaultSMSType", "attributes.entry.1.value", "Transactional"},
			[]string{"SetSMSAttributes"}, everything},
		{"GetSMSAttributes", nil, []string{"GetSMSAttributes"}, everything},
		{"GetSMSSandboxAccountStatus", nil, []string{"GetSMSSandboxAccountStatus"}, everything},
		{"ListOriginationNumbers", nil, []string{"ListOriginationNumbers"}, everything},
		{"ListPhoneNumbersOptedOut", nil, []string{"ListPhoneNumbersOptedOut"}, everything},
		{"ListPlatformApplications", nil, []string{"ListPlatformApplications"}, everything},
		{"ListSMSSandboxPhoneNumbers", nil, []string{"ListSMSSandboxPhoneNumbers"}, everything},
		{"OptInPhoneNumber", with{"phoneNumber", "+15551234567"}, []string{"OptInPhoneNumber"}, everything},
		{"DeletePlatformApplication", with{"PlatformApplicationArn", topicARN("app/GCM/a")},
			[]string{"DeletePlatformApplication"}, topicARN("app/GCM/a")},
		{"DeleteEndpoint", with{"EndpointArn", topicARN("endpoint/GCM/a/1")}, []string{"DeleteEndpoint"},
			topicARN("endpoint/GCM/a/1")},
		{"Unsubscribe", with{"SubscriptionArn", subscription}, []string{"Unsubscribe"}, everything},
		{"DeleteTopic", with{"TopicArn", topic}, []string{"DeleteTopic"}, topic},
	}
}

// confirming is the only operation that a caller may call because it has a token.
var confirming = operation{"ConfirmSubscription", with{"TopicArn", topicARN("t"), "Token", strings.Repeat("0", 96)},
	[]string{"ConfirmSubscription"}, topicARN("t")}

// ofOwn are the operations on resources of the caller's own account.
var ofOwn = map[string]bool{
	"CreateTopic": true, "ListTopics": true, "ListSubscriptions": true, "ConfirmSubscription": true,
	"CheckIfPhoneNumberIsOptedOut": true, "SetSMSAttributes": true, "GetSMSAttributes": true,
	"GetSMSSandboxAccountStatus": true, "ListOriginationNumbers": true,
	"ListPhoneNumbersOptedOut": true, "ListPlatformApplications": true, "ListSMSSandboxPhoneNumbers": true,
	"OptInPhoneNumber": true,
}

// No caller may do anything that no policy allows: not callers that do not sign, that sign with an unknown key or the
// wrong secret, users without policies, or other accounts. They get the same error whether the topic exists or not.
func TestCallersWhoMayNot(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	topic := r.topic(r.root, "t", nil)
	sub := r.subscribe(r.root, topic, queueARN("q"), nil)
	poor, _ := r.root.User(t, "poor", "")
	stranger, _ := r.server.RootOf(otherAccount)
	unknown := r.server.Root()
	unknown.AccessKeyID = "AKIAUNKNOWNUNKNOWN00"
	forged := r.server.Root()
	forged.Secret += "x"
	own := identity.Credential{
		Identity: identity.Identity{AccessKeyID: poor.Keys.AccessKeyID}, Secret: poor.Keys.SecretAccessKey,
	}
	tried := make(map[string]bool)
	all := append(operations(topic, sub), confirming)
	for _, absent := range absentPlatforms {
		all = append(all, absent.operation)
	}
	for _, op := range all {
		tried[op.name] = true
		form := url.Values{"Action": {op.name}, "Version": {"2010-03-31"}}
		for i := 0; i < len(op.in); i += 2 {
			form.Set(op.in[i], op.in[i+1])
		}
		refused := func(who string, form string, cred *identity.Credential, code, text string) {
			t.Helper()
			status, body := apitest.Query(t, r.server.Endpoint(), "sns", form, cred)
			if status != 403 || !strings.Contains(body, "<Code>"+code+"</Code>") || !strings.Contains(body, text) {
				t.Errorf("%s by %s: %d %s, want %s %s", op.name, who, status, body, code, text)
			}
		}
		refused("an unknown key", form.Encode(), &unknown, "InvalidClientTokenId", "")
		refused("a forged signature", form.Encode(), &forged, "SignatureDoesNotMatch", "")
		denied := "is not authorized to perform: SNS:" + op.actions[0] + " on resource: "
		for _, f := range []string{form.Encode(),
			strings.NewReplacer("%3At&", "%3Anone&", "%3At%3A", "%3Anone%3A").Replace(form.Encode() + "&")} {
			refused("a user without policies", f, &own, "AuthorizationError", "user/poor "+denied)
		}
		if op.name != "Unsubscribe" && op.name != "ConfirmSubscription" { // links in messages are not signed
			refused("a caller that does not sign", form.Encode(), nil, "MissingAuthenticationToken", "")
		}
		if !ofOwn[op.name] {
			refused("another account", form.Encode(), &stranger, "AuthorizationError", ":root "+denied)
		}
	}
	_, wire := api.New(api.Options{})
	for _, op := range wire.Operations() {
		if !tried[op.Name] {
			t.Errorf("%s was not tried", op.Name)
		}
	}
}

// Each operation needs permission for exactly these actions on these resources: a user who has it succeeds, and one who
// has it for another topic does not.
func TestWhatOperationsNeed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	user, _ := r.root.User(t, "bob", "")
	story := &apitest.Story{T: t, Endpoint: r.server.Endpoint(), Service: "sns", Version: "2010-03-31",
		Cred: identity.Credential{
			Identity: identity.Identity{AccessKeyID: user.Keys.AccessKeyID}, Secret: user.Keys.SecretAccessKey,
		}}
	may := func(actions []string, resource string) {
		t.Helper()
		document := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["sns:%s"],"Resource":%q}]}`, strings.Join(actions, `","sns:`), resource)
		_, err := r.root.IAM.PutUserPolicy(t.Context(), &iam.PutUserPolicyInput{
			UserName: aws.String("bob"), PolicyName: aws.String("own"), PolicyDocument: &document,
		})
		apitest.Must(t, 0, err)
	}
	topic := r.topic(r.root, "t", nil)
	sub := r.subscribe(r.root, topic, queueARN("q"), nil)
	for _, op := range operations(topic, sub) {
		elsewhere := strings.Replace(op.resource, account+":", account+":not-", 1)
		if op.resource == "*" {
			elsewhere = topic
		}
		may(op.actions, elsewhere)
		story.Fails(op.name, op.in, 403, "AuthorizationError", "not authorized to perform: SNS:"+op.actions[0])
		for i := range op.actions {
			if rest := append(append([]string{}, op.actions[:i]...), op.actions[i+1:]...); len(rest) > 0 {
				may(rest, op.resource)
				story.Fails(op.name, op.in, 403, "AuthorizationError", "not authorized to perform: SNS:"+op.actions[i])
			}
		}
		may(op.actions, op.resource)
		story.Does(op.name, op.in)
	}
	for _, op := range absentPlatforms {
		may(op.actions, topicARN("u"))
		story.Fails(op.name, op.in, 403, "AuthorizationError", "not authorized to perform: SNS:"+op.actions[0])
		may(op.actions, op.resource)
		story.Fails(op.name, op.in, 404, "NotFound", op.says)
	}
	may(confirming.actions, topicARN("u"))
	story.Fails(confirming.name, confirming.in, 403, "AuthorizationError", "SNS:ConfirmSubscription")
	may(confirming.actions, confirming.resource)
	story.Fails(confirming.name, confirming.in, 400, invalid, "Invalid parameter: Token")
}

// A topic's policy gives other accounts the actions that it names, on its conditions; they also need their own
// permission. No caller can lock the owner's root out.
func TestTopicPolicies(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	topic := r.topic(r.root, "t", nil)
	set := func(statements ...string) {
		t.Helper()
		document := `{"Version":"2012-10-17","Statement":[` + strings.Join(statements, ",") + `]}`
		_, err := r.root.SNS.SetTopicAttributes(t.Context(), &sns.SetTopicAttributesInput{
			TopicArn: &topic, AttributeName: aws.String("Policy"), AttributeValue: &document,
		})
		apitest.Must(t, 0, err)
	}
	publish := func(a *apitest.Actor) string {
		_, err := a.SNS.Publish(t.Context(), &sns.PublishInput{TopicArn: &topic, Message: aws.String("m")})
		return apitest.Code(err)
	}
	subscribe := func(a *apitest.Actor, queue string) string {
		_, err := a.SNS.Subscribe(t.Context(), &sns.SubscribeInput{
			TopicArn: &topic, Protocol: aws.String("sqs"), Endpoint: &queue,
		})
		return apitest.Code(err)
	}
	same := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	const no = "AuthorizationError"
	same("another account, by the default policy", publish(r.other), no)
	eve, _ := r.other.User(t, "eve", "")
	may, _ := r.other.User(t, "may", apitest.Allow("sns:Publish", "*"))
	set(apitest.Allowing(otherAccount, "SNS:Publish", topic, ""))
	same("the account", publish(r.other), "")
	same("its user without policies", publish(eve), no)
	same("its user with one", publish(may), "")
	same("another action", subscribe(r.other, queueARN("q")), no)

	theirs := "arn:aws:sqs:us-east-1:" + otherAccount + ":"
	set(apitest.Allowing("*", "SNS:Subscribe", topic,
		`"StringLike":{"sns:Endpoint":"arn:aws:sqs:*:`+otherAccount+`:*"},"StringEquals":{"sns:Protocol":"sqs"}`))
	same("its own queue", subscribe(r.other, theirs+"q"), "")
	same("a queue of the owner", subscribe(r.other, queueARN("q")), no)

	set(`{"Effect":"Deny","Principal":"*","Action":"SNS:*","Resource":"*"}`)
	same("the root, whom a policy denies", publish(r.root), no)
	set(apitest.Allowing(otherAccount, "SNS:Publish", topic+"s", "")) // which concerns another topic
	same("the root, after it has replaced the policy", publish(r.root), "")
	same("the account, on another topic", publish(r.other), no)
}
