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
	st.Refuses("GetSessionToken", with{"SerialNumber", "123456789", "TokenCode", "123456"}, 403, "AccessDenied",
		"MultiFactorAuthentication failed, unable to validate MFA code.  Please verify your MFA serial number is valid and associated with this user.")
	st.Does("GetFederationToken",
		with{"Name", "jean", "Policy", apitest.Allow("sqs:*", "*"), "PolicyArns.member.1.arn",
			"arn:aws:iam::aws:policy/AmazonSQSFullAccess"},
		"<FederatedUserId>"+account+":jean</FederatedUserId>", "<PackedPolicySize>")
	st.Fails("GetFederationToken", nil, 400, "ValidationError", "Value null at 'name'")
	st.Fails("GetFederationToken", with{"Name", "j n"}, 400, "ValidationError", `[\w+=,.@-]*`)
	st.Fails("GetFederationToken", with{"Name", "jean", "Policy", "{"}, 400, "MalformedPolicyDocument", "invalid Json")
	st.Fails("GetFederationToken",
		with{"Name", "jean", "Policy", apitest.Allow("sqs:*", "arn:aws:sqs:*:*:"+strings.Repeat("q", 2048))}, 400,
		"ValidationError", "2048")
	st.Fails("GetFederationToken", with{"Name", "jean", "PolicyArns.member.1.arn", "arn:aws:iam::aws:policy/Nothing"},
		400, "MalformedPolicyDocument", "does not exist")
	large := with{"Name", "jean", "Policy", apitest.Allow("sqs:*", "arn:aws:sqs:*:*:"+strings.Repeat("q", 1900))}
	for i := range 10 {
		large = append(large, fmt.Sprintf("Tags.member.%d.Key", i+1), fmt.Sprint("k", i),
			fmt.Sprintf("Tags.member.%d.Value", i+1), strings.Repeat("v", 256))
	}
	// White space counts towards the length of a parameter, and is then dropped.
	spaced := func(n int) string {
		return strings.Replace(apitest.Allow("sqs:*", "*"), ",", ","+strings.Repeat(" \n", n), 1)
	}
	st.Does("GetFederationToken", with{"Name", "jean", "Policy", spaced(900)}, "<PackedPolicySize>")
	st.Fails("GetFederationToken", with{"Name", "jean", "Policy", spaced(1000)}, 400, "ValidationError",
		"' at 'policy' failed to satisfy constraint: Member must have length less than or equal to 2048")
	st.Fails("GetFederationToken",
		with{"Name", "jean", "Policy", apitest.Allow("sqs:*", "arn:aws:sqs:*:*:"+strings.Repeat("q", 1900)),
			"Tags.member.1.Key", "k", "Tags.member.1.Value", strings.Repeat("\u2028", 256), "Tags.member.2.Key", "l",
			"Tags.member.2.Value", strings.Repeat("\u2028", 256)},
		400, "PackedPolicyTooLarge", "Packed policy consumes")
	st.Fails("GetFederationToken", large, 400, "PackedPolicyTooLarge", "Packed policy consumes")
	arn := "arn:aws:iam::" + account + ":role/r"
	st.Fails("AssumeRole", with{"RoleArn", arn, "RoleSessionName", "s1"}, 403, "AccessDenied",
		"Roles may not be assumed by root accounts.")
	st.Fails("AssumeRole", with{"RoleArn", arn, "RoleSessionName", "s 1", "DurationSeconds", "1"}, 400,
		"ValidationError", "2 validation errors detected: ")
	st.Refuses("AssumeRole", with{"RoleArn", "a-role-that-is-no-arn", "RoleSessionName", "s1"}, 400, "ValidationError",
		"a-role-that-is-no-arn is invalid")
	if body := st.Does("GetFederationToken", with{"Name", "jean"}); strings.Contains(body, "PackedPolicySize") {
		t.Errorf("without policies the answer is %s", body)
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	const characters = `[\u0009\u000A\u000D\u0020-\u007E\u0085\u00A0-\uD7FF\uE000-\uFFFD\u10000-\u10FFFF]+`
	for _, c := range []struct {
		op     string
		params with
		says   string
	}{
		{"AssumeRole", with{"RoleArn", "", "RoleSessionName", "s1"},
			"2 validation errors detected: Value '' at 'roleArn' failed to satisfy constraint: " +
				"Member must satisfy regular expression pattern: " + characters +
				"; Value '' at 'roleArn' failed to satisfy constraint: " +
				"Member must have length greater than or equal to 20"},
		{"AssumeRole",
			with{"RoleArn", "arn:aws:iam::000000000000:role/r", "RoleSessionName", "s1", "PolicyArns.member.1.arn", "x",
				"TokenCode", "12"},
			"2 validation errors detected: Value 'x' at 'policyArns.1.member.arn' failed to satisfy constraint: Member must have length greater than or equal to 20; " +
				"Value '12' at 'tokenCode' failed to satisfy constraint: Member must have length greater than or equal to 6"},
		{"AssumeRole", with{"RoleArn", "arn:aws:iam::000000000000:role/r", "RoleSessionName", strings.Repeat("s", 65)},
			"1 validation error detected: Value '" +
				strings.Repeat("s", 65) +
				"' at 'roleSessionName' failed to satisfy constraint: Member must have length less than or equal to 64"},
		{"AssumeRoleWithWebIdentity",
			with{"RoleArn", "arn:aws:iam::000000000000:role/r", "RoleSessionName", "s1", "WebIdentityToken", "x"},
			"1 validation error detected: Value at 'webIdentityToken' failed to satisfy constraint: Member must have length greater than or equal to 4"},
		{"GetSessionToken", with{"MinimumSessionTokenSize", "4097"},
			"1 validation error detected: Value '4097' at 'minimumSessionTokenSize' failed to satisfy constraint: " +
				"Member must have value less than or equal to 4096"},
	} {
		st.Refuses(c.op, c.params, 400, "ValidationError", c.says)
	}
}

func TestDecodeAuthorizationMessage(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	st.Refuses("DecodeAuthorizationMessage", with{"EncodedMessage", "x"}, 400, "InvalidAuthorizationMessageException",
		"Message is not valid")
	st.Refuses("DecodeAuthorizationMessage", nil, 400, "ValidationError",
		"1 validation error detected: Value null at 'encodedMessage' failed to satisfy constraint: Member must not be null")
}

// The answer has the size of a token, and a request can set one.
func TestTokenSize(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	for _, c := range []struct {
		op     string
		params with
	}{
		{"GetSessionToken", nil}, {"GetFederationToken", with{"Name", "jean"}},
	} {
		own := apitest.Element(st.Does(c.op, c.params), "SessionToken")
		for _, least := range []int{0, 10, 1000, 4001, 4096} {
			body := st.Does(c.op, append(with{"MinimumSessionTokenSize", fmt.Sprint(least)}, c.params...))
			size := len(apitest.Element(body, "SessionToken"))
			if size < least || size > max(len(own)+8, least+4) {
				t.Errorf("%s: a token of at least %d has %d characters", c.op, least, size)
			}
			if apitest.Element(body, "SessionTokenSize") != fmt.Sprint(size) ||
				apitest.Element(body, "SessionTokenUtilization") != fmt.Sprint((size*100+4095)/4096) {
				t.Errorf("%s: %s", c.op, body)
			}
		}
	}
}

// Clients without keys also get the error that an operation does not exist.
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
