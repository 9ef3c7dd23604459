package iam_test

import (
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// IAM stores no document that begins with white space, and names the reason only for trust policies.
func TestDocumentsBeginWithTheBrace(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	trust, allow := apitest.Trusting(account), apitest.Allow("sqs:*", "*")
	arn := "arn:aws:iam::" + account + ":policy/p"
	st.Does("CreateUser", with{"UserName", "x"})
	st.Does("CreateGroup", with{"GroupName", "x"})
	st.Does("CreateRole", with{"RoleName", "x", "AssumeRolePolicyDocument", trust + "\n"})
	st.Does("CreatePolicy", with{"PolicyName", "p", "PolicyDocument", "{\n" + allow[1:]})
	for _, space := range []string{" ", "\n", "\t", "\r\n  "} {
		for _, c := range []struct {
			action string
			in     with
			says   string
		}{
			{"CreateRole", with{"RoleName", "y", "AssumeRolePolicyDocument", space + trust},
				"JSON strings must not have leading spaces"},
			{"UpdateAssumeRolePolicy", with{"RoleName", "x", "PolicyDocument", space + trust},
				"JSON strings must not have leading spaces"},
			{"CreatePolicy", with{"PolicyName", "q", "PolicyDocument", space + allow},
				"The policy failed legacy parsing"},
			{"CreatePolicyVersion", with{"PolicyArn", arn, "PolicyDocument", space + allow},
				"The policy failed legacy parsing"},
			{"PutUserPolicy", with{"UserName", "x", "PolicyName", "q", "PolicyDocument", space + allow},
				"The policy failed legacy parsing"},
			{"PutGroupPolicy", with{"GroupName", "x", "PolicyName", "q", "PolicyDocument", space + allow},
				"The policy failed legacy parsing"},
			{"PutRolePolicy", with{"RoleName", "x", "PolicyName", "q", "PolicyDocument", space + allow},
				"The policy failed legacy parsing"},
		} {
			st.Refuses(c.action, c.in, 400, "MalformedPolicyDocument", c.says)
		}
	}
}
