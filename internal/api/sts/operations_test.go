package sts_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

func TestTokenOperations(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	st.Does("GetCallerIdentity", nil, "<UserId>"+account+"</UserId>", "<Arn>arn:aws:iam::"+account+":root</Arn>")
	st.Does("GetAccessKeyInfo", with{"AccessKeyId", st.Cred.AccessKeyID}, "<Account>"+account+"</Account>")
	st.Fails("GetAccessKeyInfo", with{"AccessKeyId", "AKIAIOSFODNN7EXAMPLE"}, 400, "ValidationError", "is not known")
	st.Does("GetSessionToken", nil, "<AccessKeyId>ASIA", "<SessionToken>", "<Expiration>")
	for _, seconds := range []string{"899", "129601"} {
		st.Fails("GetSessionToken", with{"DurationSeconds", seconds}, 400, "ValidationError", "'durationSeconds'")
	}
	st.Fails("GetSessionToken", with{"SerialNumber", "123456789", "TokenCode", "123456"}, 403, "AccessDenied", "MultiFactorAuthentication failed")
	st.Does("GetFederationToken", with{"Name", "jean", "Policy", apitest.Allow("sqs:*", "*"), "PolicyArns.member.1.arn", "arn:aws:iam::aws:policy/AmazonSQSFullAccess"},
		"<FederatedUserId>"+account+":jean</FederatedUserId>", "<PackedPolicySize>")
	st.Fails("GetFederationToken", nil, 400, "ValidationError", "Value null at 'name'")
	st.Fails("GetFederationToken", with{"Name", "j n"}, 400, "ValidationError", `[\w+=,.@-]*`)
	st.Fails("GetFederationToken", with{"Name", "jean", "Policy", "{"}, 400, "MalformedPolicyDocument", "invalid Json")
	st.Fails("GetFederationToken", with{"Name", "jean", "Policy", apitest.Allow("sqs:*", "arn:aws:sqs:*:*:"+strings.Repeat("q", 2048))}, 400, "ValidationError", "2048")
	st.Fails("GetFederationToken", with{"Name", "jean", "PolicyArns.member.1.arn", "arn:aws:iam::aws:policy/Nothing"}, 400, "MalformedPolicyDocument", "does not exist")
	large := with{"Name", "jean", "Policy", apitest.Allow("sqs:*", "arn:aws:sqs:*:*:"+strings.Repeat("q", 1900))}
	for i := range 10 {
		large = append(large, fmt.Sprintf("Tags.member.%d.Key", i+1), fmt.Sprint("k", i), fmt.Sprintf("Tags.member.%d.Value", i+1), strings.Repeat("v", 256))
	}
	// White space does not count, and is not carried along.
	st.Does("GetFederationToken", with{"Name", "jean", "Policy", strings.Replace(apitest.Allow("sqs:*", "*"), ",", ","+strings.Repeat(" \n", 6000), 1)}, "<PackedPolicySize>")
	st.Fails("GetFederationToken", with{"Name", "jean", "Policy", apitest.Allow("sqs:*", "arn:aws:sqs:*:*:"+strings.Repeat("q", 1900)),
		"Tags.member.1.Key", "k", "Tags.member.1.Value", strings.Repeat("\u2028", 256), "Tags.member.2.Key", "l", "Tags.member.2.Value", strings.Repeat("\u2028", 256)},
		400, "PackedPolicyTooLarge", "Packed policy consumes")
	st.Fails("GetFederationToken", large, 400, "PackedPolicyTooLarge", "Packed policy consumes")
	arn := "arn:aws:iam::" + account + ":role/r"
	st.Fails("AssumeRole", with{"RoleArn", arn, "RoleSessionName", "s1"}, 403, "AccessDenied", "Roles may not be assumed by root accounts.")
	st.Fails("AssumeRole", with{"RoleArn", arn, "RoleSessionName", "s 1", "DurationSeconds", "1"}, 400, "ValidationError", "2 validation errors detected: ")
	st.Refuses("AssumeRole", with{"RoleArn", "a-role-that-is-no-arn", "RoleSessionName", "s1"}, 400, "ValidationError", "a-role-that-is-no-arn is invalid")
	if body := st.Does("GetFederationToken", with{"Name", "jean"}); strings.Contains(body, "PackedPolicySize") {
		t.Errorf("without policies the answer is %s", body)
	}
}

// Clients without keys, too, get the error that there is no such way to get keys.
func TestUnsupportedFederation(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	for _, op := range []string{"AssumeRoleWithSAML"} {
		status, body := apitest.Query(t, st.Endpoint, "sts", "Version=2011-06-15&Action="+op, nil)
		if status != 400 || !strings.Contains(body, "The operation "+op+" is not supported by Sluice.") {
			t.Errorf("%s: %d %s", op, status, body)
		}
		st.Fails(op, nil, 400, "UnsupportedOperation", op)
	}
}
