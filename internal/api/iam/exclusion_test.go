package iam_test

import (
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// A simulation omits the policies that the request excludes.
func TestSimulationWithoutPolicies(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	mine, aws := "arn:aws:iam::"+account+":policy/p/mine", "arn:aws:iam::aws:policy/AmazonSQSFullAccess"
	st.Does("CreatePolicy",
		with{"PolicyName", "mine", "Path", "/p/", "PolicyDocument", apitest.Allow("sns:Subscribe", "*")})
	st.Does("CreateUser", with{"UserName", "bob", "PermissionsBoundary", "arn:aws:iam::aws:policy/AdministratorAccess"})
	st.Does("CreateGroup", with{"GroupName", "staff"})
	st.Does("AddUserToGroup", with{"UserName", "bob", "GroupName", "staff"})
	st.Does("PutUserPolicy",
		with{"UserName", "bob", "PolicyName", "own", "PolicyDocument", apitest.Allow("sns:Publish", "*")})
	st.Does("PutGroupPolicy",
		with{"GroupName", "staff", "PolicyName", "own", "PolicyDocument", apitest.Allow("sns:CreateTopic", "*")})
	st.Does("AttachUserPolicy", with{"UserName", "bob", "PolicyArn", mine})
	st.Does("AttachGroupPolicy", with{"GroupName", "staff", "PolicyArn", aws})
	ask := with{"PolicySourceArn", "arn:aws:iam::" + account + ":user/bob"}
	actions := []string{"sns:Publish", "sns:CreateTopic", "sns:Subscribe", "sqs:SendMessage"}
	for i, action := range actions {
		ask = append(ask, "ActionNames.member."+string(rune('1'+i)), action)
	}
	const at = "PolicyExclusionList.member.1."
	inline := func(kind, name string) with {
		of := at + "InlinePolicyIdentifier."
		return with{of + "PolicyName", "own", of + "AttachmentType", kind, of + "AttachmentName", name}
	}
	for _, tc := range []struct {
		without with
		denied  string // the actions that are not allowed
	}{
		{nil, ""}, {with{at + "PolicyType", "scp"}, ""}, {with{at + "PolicyType", "permission-boundary"}, ""},
		{with{at + "PolicyType", "inline"}, "sns:Publish sns:CreateTopic"},
		{with{at + "PolicyType", "user-managed"}, "sns:Subscribe"},
		{with{at + "PolicyType", "aws-managed"}, "sqs:SendMessage"},
		{with{at + "PolicyArn", mine}, "sns:Subscribe"}, {with{at + "PolicyArn", mine + "x"}, ""},
		{with{at + "PolicyArn", "arn:aws:iam::" + account + ":policy/p/m?n*"}, "sns:Subscribe"},
		{with{at + "PolicyArn", "arn:aws:iam::aws:policy/*Access"}, "sqs:SendMessage"},
		{inline("user", "bob"), "sns:Publish"}, {inline("group", "s*"), "sns:CreateTopic"},
		{inline("user", "staff"), ""},
		{append(inline("user", "bob"), "PolicyExclusionList.member.2.PolicyArn", aws), "sns:Publish sqs:SendMessage"},
	} {
		body := st.Does("SimulatePrincipalPolicy", append(ask, tc.without...))
		var denied []string
		for i, part := range strings.Split(body, "<EvalActionName>")[1:] {
			if !strings.Contains(part, "<EvalDecision>allowed<") {
				denied = append(denied, actions[i])
			}
		}
		if got := strings.Join(denied, " "); got != tc.denied {
			t.Errorf("without %q: %s", tc.without, got)
		}
		bounded := strings.Contains(body, "AllowedByPermissionsBoundary")
		if bounded == (len(tc.without) > 0 && tc.without[1] == "permission-boundary") {
			t.Errorf("without %q: bounded %v", tc.without, bounded)
		}
	}
	for _, in := range []with{
		{at + "PolicyType", "inline", at + "PolicyArn", mine}, {at + "PolicyArn", "arn:aws:iam::*:policy/mine"},
		{at + "PolicyArn", "arn:aws:iam::aws:policy/*a*"}, {at + "PolicyArn", mine[:30] + "-no-policy"},
		inline("role", "*x*"),
	} {
		st.Fails("SimulatePrincipalPolicy", append(ask, in...), 400, "InvalidInput", "")
	}
	st.Fails("SimulatePrincipalPolicy", append(ask, at+"PolicyType", "all"), 400, "ValidationError",
		"at 'policyExclusionList.1.member.policyType'")
}
