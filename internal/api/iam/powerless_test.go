package iam_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	awsiam "github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/api/iam"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// No operation succeeds for callers who are unknown, have not signed, or have no permission. The refusal does not
// reveal what exists.
func TestNoOperationWithoutPermission(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	callers := apitest.Powerless(t, root)
	_, key := root.User(t, "bob", "")
	// Parameters with which each operation would succeed.
	params := url.Values{
		"UserName": {"bob"}, "NewUserName": {"rob"}, "GroupName": {"g"}, "RoleName": {"r"}, "PolicyName": {"p"},
		"AccessKeyId": {key},
		"Status":      {"Inactive"}, "PolicyDocument": {apitest.Allow("sqs:*", "*")},
		"AssumeRolePolicyDocument": {apitest.Trusting(account)},
		"PolicyArn":                {"arn:aws:iam::aws:policy/AmazonSQSFullAccess"},
		"PermissionsBoundary":      {"arn:aws:iam::aws:policy/AmazonSQSFullAccess"},
		"VersionId":                {"v1"}, "AccountAlias": {"alias"},
		"PolicySourceArn":      {"arn:aws:iam::" + account + ":user/bob"},
		"ActionNames.member.1": {"sqs:SendMessage"}, "PolicyInputList.member.1": {apitest.Allow("sqs:*", "*")},
		"Tags.member.1.Key": {"k"}, "Tags.member.1.Value": {"v"}, "TagKeys.member.1": {"k"},
		"Password": {"Correct-horse-1"}, "OldPassword": {"Correct-horse-1"}, "NewPassword": {"Correct-horse-2"},
		"VirtualMFADeviceName": {"phone"},
		"SerialNumber":         {"arn:aws:iam::" + account + ":mfa/phone"}, "AuthenticationCode1": {"123456"},
		"AuthenticationCode2":      {"654321"},
		"Url":                      {"https://login.example.com"},
		"OpenIDConnectProviderArn": {"arn:aws:iam::" + account + ":oidc-provider/login.example.com"},
		"ClientID":                 {"c"}, "Description": {"d"}, "ThumbprintList.member.1": {strings.Repeat("0", 40)},
		"InstanceProfileName": {"p"},
		"Arn":                 {"arn:aws:iam::" + account + ":user/bob"}, "JobId": {strings.Repeat("0", 36)},
		"ServiceNamespace": {"sqs"},
		"AWSServiceName":   {"autoscaling.amazonaws.com"},
		"DeletionTaskId":   {"task/aws-service-role/x/AWSServiceRoleForX/" + strings.Repeat("0", 36)},
		"Version":          {"2010-05-08"},
	}
	for _, op := range iam.New(iam.Options{}).Operations() {
		params.Set("Action", op.Name)
		for _, who := range callers {
			status, body := apitest.Query(t, s.Endpoint(), "iam", params.Encode(), who.Cred)
			if status != http.StatusForbidden || !strings.Contains(body, "<Code>"+who.Code+"</Code>") ||
				!strings.Contains(body, "iam.amazonaws.com/doc/") {
				t.Errorf("%s for %s: %d %s", op.Name, who.Who, status, body)
			}
		}
	}
	users, err := root.IAM.ListUsers(t.Context(), &awsiam.ListUsersInput{})
	if n := len(apitest.Must(t, users, err).Users); n != 2 {
		t.Errorf("%d users exist afterwards", n)
	}
}
