package sqs_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// The guide's own policies ("Amazon SQS Policy Examples"), as printed, on a server with its accounts. A proxy header
// sets the address of a request.
func TestGuidePolicies(t *testing.T) {
	t.Parallel()
	const one, two, four = "123456789012", "111122223333", "444455556666"
	config := servertest.InMemory()
	config.Accounts = []string{two, four, one}
	config.Region = "cn-north-1"
	config.TrustedProxies = []string{"127.0.0.1"}
	s, _ := servertest.Start(t, config)
	from := func(address string) func(*sqs.Options) {
		return func(o *sqs.Options) { o.HTTPClient = withHeaders{"X-Forwarded-For": address} }
	}
	root := func(account, address string) *sdk {
		cred, _ := s.RootOf(account)
		return sdkOf(t, s, cred, config.Region, from(address))
	}
	anonymous := func(address string) *sdk {
		return asAnonymous(t, func(o *sqs.Options) {
			o.BaseEndpoint, o.Region = aws.String(s.Endpoint()),
				config.Region
		}, from(address))
	}
	receive := func(c *sdk, u *string) string {
		_, err := c.ReceiveMessage(c.Ctx, &sqs.ReceiveMessageInput{QueueUrl: u})
		return c.Why(err)
	}
	const anywhere = "203.0.113.9"
	type try struct {
		who           *sdk
		send, receive bool
	}
	for _, tc := range []struct {
		name, owner, queue, policy string
		tries                      []try
	}{
		{"a developer may send", four, "queue1", `{
"Version": "2012-10-17",
"Id": "Queue1_Policy_UUID",
"Statement":
{
"Sid":"Queue1_SendMessage",
"Effect": "Allow",
"Principal": {
"AWS": "111122223333"
},
"Action": "sqs:SendMessage",
"Resource": "arn:aws:sqs:cn-north-1:444455556666:queue1"
}
}`, []try{{root(two, anywhere), true, false}, {root(one, anywhere), false, false}, {root(four, anywhere), true, true}, {anonymous(anywhere), false, false}}},
		{"a developer may send and receive", four, "queue1", `{
"Version": "2012-10-17",
"Id": "Queue1_Policy_UUID",
"Statement":
{
"Sid":"Queue1_Send_Receive",
"Effect": "Allow",
"Principal": {
"AWS": "111122223333"
},
"Action": ["sqs:SendMessage","sqs:ReceiveMessage"],
"Resource": "arn:aws:sqs:*:444455556666:queue1"
}
}`, []try{{root(two, anywhere), true, true}, {root(one, anywhere), false, false}, {anonymous(anywhere), false, false}}},
		{"two developers, all actions", one, "queue1", `{
"Version": "2012-10-17",
"Id": "Queue1_Policy_UUID",
"Statement":
{
"Sid":"Queue1_AllActions",
"Effect": "Allow",
"Principal": {
"AWS": ["111122223333","444455556666"]
},
"Action": "sqs:*",
"Resource": "arn:aws:sqs:cn-north-1:123456789012:queue1"
}
}`, []try{{root(two, anywhere), true, true}, {root(four, anywhere), true, true}, {anonymous(anywhere), false, false}}},
		{"all users may receive", two, "queue1", `{
"Version": "2012-10-17",
"Id": "Queue1_Policy_UUID",
"Statement":
{
"Sid":"Queue1_AnonymousAccess_ReceiveMessage",
"Effect": "Allow",
"Principal": "*",
"Action": "sqs:ReceiveMessage",
"Resource": "arn:aws:sqs:*:111122223333:queue1"
}
}`, []try{{root(four, anywhere), false, true}, {anonymous(anywhere), false, true}}},
		{"all users, in three hours of 2009", two, "queue1", `{
"Version": "2012-10-17",
"Id": "Queue1_Policy_UUID",
"Statement":
{
"Sid":"Queue1_AnonymousAccess_ReceiveMessage_TimeLimit",
"Effect": "Allow",
"Principal": "*",
"Action": "sqs:ReceiveMessage",
"Resource": "arn:aws:sqs:*:111122223333:queue1",
"Condition" : {
"DateGreaterThan" : {
"aws:CurrentTime":"2009-01-31T12:00Z"
},
"DateLessThan" : {
"aws:CurrentTime":"2009-01-31T15:00Z"
}
}
}
}`, []try{{root(four, anywhere), false, false}, {anonymous(anywhere), false, false}, {root(two, anywhere), true, true}}},
		{"all users of a network", two, "queue1", `{
"Version": "2012-10-17",
"Id": "Queue1_Policy_UUID",
"Statement":
{
"Sid":"Queue1_AnonymousAccess_AllActions_WhitelistIP",
"Effect": "Allow",
"Principal": "*",
"Action": "sqs:*",
"Resource": "arn:aws:sqs:*:111122223333:queue1",
"Condition" : {
"IpAddress" : {
"aws:SourceIp":"192.168.143.0/24"
}
}
}
}`, []try{
			{anonymous("192.168.143.7"), true, true}, {root(four, "192.168.143.7"), true, true},
			{anonymous(anywhere), false, false}, {root(four, anywhere), false, false},
			{root(two, anywhere), true, true},
		}},
		{"a network but for one address, and not another network", two, "queue1", `{
"Version": "2012-10-17",
"Id": "Queue1_Policy_UUID",
"Statement": [
{
"Sid":"Queue1_AnonymousAccess_SendMessage_IPLimit",
"Effect": "Allow",
"Principal": "*",
"Action": "sqs:SendMessage",
"Resource": "arn:aws:sqs:*:111122223333:queue1",
"Condition" : {
"IpAddress" : {
"aws:SourceIp":"192.168.143.0/24"
},
"NotIpAddress" : {
"aws:SourceIp":"192.168.143.188/32"
}
}
},
{
"Sid":"Queue1_AnonymousAccess_AllActions_IPLimit_Deny",
"Effect": "Deny",
"Principal": "*",
"Action": "sqs:*",
"Resource": "arn:aws:sqs:*:111122223333:queue1",
"Condition" : {
"IpAddress" : {
"aws:SourceIp":"10.1.2.0/24"
}
}
}
]
}`, []try{
			{anonymous("192.168.143.7"), true, false}, {anonymous("192.168.143.188"), false, false},
			{anonymous("10.1.2.9"), false, false},
			{root(two, "10.1.2.9"), false, false}, {root(two, "192.168.143.188"), true, true},
		}},
		{"a topic", two, "test-topic-queue", `{
"Version": "2012-10-17",
"Id": "SNStoSQS",
"Statement":
{
"Sid":"rule1",
"Effect": "Allow",
"Principal": "*",
"Action": "sqs:*",
"Resource": "arn:aws:sqs:cn-north-1:111122223333:test-topic-queue",
"Condition" : {
"StringEquals" : {
"aws:SourceArn":"arn:aws:sns:cn-north-1:111122223333:test-topic"
}
}
}
}`, []try{{anonymous(anywhere), false, false}, {root(four, anywhere), false, false}}},
	} {
		owner := root(tc.owner, anywhere)
		u := owner.Create(tc.queue, nil)
		if _, err := owner.SetQueueAttributes(owner.Ctx, &sqs.SetQueueAttributesInput{
			QueueUrl: u, Attributes: map[string]string{"Policy": tc.policy},
		}); err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := owner.Attributes(u)["Policy"]; got != tc.policy {
			t.Errorf("%s: the policy is returned as %s", tc.name, got)
		}
		for i, try := range tc.tries {
			if got := try.who.TrySend(u); (got == "") != try.send {
				t.Errorf("%s: send %d: %q", tc.name, i, got)
			}
			if got := receive(try.who, u); (got == "") != try.receive {
				t.Errorf("%s: receive %d: %q", tc.name, i, got)
			}
		}
		// With the comma of the guide's use cases, they are not JSON.
		bad := strings.TrimSuffix(tc.policy, "}") + ",}"
		_, err := owner.SetQueueAttributes(owner.Ctx, &sqs.SetQueueAttributesInput{
			QueueUrl: u, Attributes: map[string]string{"Policy": bad},
		})
		if err == nil || !strings.Contains(err.Error(), "InvalidAttributeValue") ||
			!strings.Contains(err.Error(), "the comma after") {
			t.Errorf("%s: with an extra comma: %v", tc.name, err)
		}
	}
}
