package iam_test

import (
	"strings"
	"testing"
)

// The constraints of AWS's model are checked before any lookup, and one answer lists all violations.
func TestModel(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	const (
		null   = " failed to satisfy constraint: Member must not be null"
		tagKey = `[\p{L}\p{Z}\p{N}_.:/=+\-@]+`
		arn    = "arn:aws:iam::000000000000:policy/none"
	)
	for _, c := range []struct {
		op     string
		params with
		says   string
	}{
		{"CreateRole", nil,
			"2 validation errors detected: Value null at 'roleName'" + null +
				"; Value null at 'assumeRolePolicyDocument'" + null},
		{"AddUserToGroup", with{"GroupName", "none"}, "1 validation error detected: Value null at 'userName'" + null},
		{"AddUserToGroup", with{"GroupName", "", "UserName", "x"},
			"1 validation error detected: Value '' at 'groupName' failed to satisfy constraint: " +
				"Member must have length greater than or equal to 1"},
		{"GetUser", with{"UserName", "a b"},
			"The specified value for userName is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-"},
		{"AttachUserPolicy", with{"UserName", "{x}", "PolicyArn", "{aws_iam_policy.ocm-sts-access.arn}"},
			"The specified value for userName is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-"},
		{"AttachUserPolicy", with{"UserName", strings.Repeat("u", 65), "PolicyArn", arn},
			"1 validation error detected: Value '" + strings.Repeat("u", 65) +
				"' at 'userName' failed to satisfy constraint: Member must have length less than or equal to 64"},
		{"AttachUserPolicy", with{"UserName", "x", "PolicyArn", "short"},
			"1 validation error detected: Value 'short' at 'policyArn' failed to satisfy constraint: " +
				"Member must have length greater than or equal to 20"},
		{"PutUserPolicy", with{"UserName", "none", "PolicyName", "a b", "PolicyDocument", "{}"},
			"The specified value for policyName is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-"},
		{"PutUserPolicy", with{"UserName", "none", "PolicyName", "p", "PolicyDocument", "{\u2028}"},
			"The specified value for policyDocument is invalid. It must contain only printable ASCII characters."},
		{"CreateUser", with{"UserName", "x", "Path", "x"},
			"The specified value for path is invalid. It must begin and end with / and contain only alphanumeric " +
				"characters and/or / characters."},
		{"CreateUser", with{"UserName", "x", "PermissionsBoundary", "short"},
			"1 validation error detected: Value 'short' at 'permissionsBoundary' failed to satisfy " +
				"constraint: Member must have length greater than or equal to 20"},
		{"CreateUser", with{"UserName", "x", "Tags.member.1.Key", "#", "Tags.member.1.Value", "%"},
			"2 validation errors detected: Value '#' at 'tags.1.member.key' failed to " +
				"satisfy constraint: Member must satisfy regular expression pattern: " + tagKey +
				"; Value '%' at 'tags.1.member.value' failed to satisfy constraint: " +
				`Member must satisfy regular expression pattern: [\p{L}\p{Z}\p{N}_.:/=+\-@]*`},
		{"UntagUser", with{"UserName", "none", "TagKeys.member.1", "#"},
			"1 validation error detected: Value '[#]' at 'tagKeys' failed to satisfy constraint: Member must satisfy " +
				"constraint: [Member must have length less than or equal to 128, Member must have length greater than or equal to 1, " +
				"Member must satisfy regular expression pattern: " + tagKey + "]"},
		{"ListAccessKeys", with{"MaxItems", "1001"},
			"1 validation error detected: Value '1001' at 'maxItems' failed to satisfy constraint: " +
				"Member must have value less than or equal to 1000"},
		{"GetGroup", with{"GroupName", "none", "MaxItems", "0"},
			"1 validation error detected: Value '0' at 'maxItems' failed to satisfy constraint: " +
				"Member must have value greater than or equal to 1"},
		{"GetAccountAuthorizationDetails", with{"Filter.member.1", "Bot"},
			"1 validation error detected: Value '[Bot]' at 'filter' failed to satisfy constraint: Member must " +
				"satisfy constraint: [Member must satisfy enum value set: [User, Role, Group, LocalManagedPolicy, AWSManagedPolicy]]"},
		{"ChangePassword", with{"OldPassword", "o", "NewPassword", strings.Repeat("n", 129)},
			"1 validation error detected: Value at 'newPassword' failed to satisfy constraint: " +
				"Member must have length less than or equal to 128"},
		{"UpdateRole", with{"RoleName", "none", "Description", "\u2028"},
			"1 validation error detected: Value '\u2028' at 'description' failed to satisfy constraint: Member must satisfy " +
				`regular expression pattern: [\u0009\u000A\u000D\u0020-\u007E\u00A1-\u00FF]*`},
		{"EnableMFADevice",
			with{"UserName", "none", "SerialNumber", "123456789", "AuthenticationCode1", "12345x",
				"AuthenticationCode2", "123456"},
			`1 validation error detected: Value '12345x' at 'authenticationCode1' failed to satisfy constraint: Member must satisfy regular expression pattern: [\d]+`},
		{"GetContextKeysForCustomPolicy", with{"PolicyInputList.member.1", "{}", "PolicyInputList.member.2", "\u2028"},
			"The specified value for policyInputList is invalid. It must contain only printable ASCII characters."},
		{"SimulatePrincipalPolicy", with{"PolicySourceArn", "arn:aws:iam::000000000000:user/none"},
			"1 validation error detected: Value null at 'actionNames'" + null},
	} {
		st.Refuses(c.op, c.params, 400, "ValidationError", c.says)
	}
}
