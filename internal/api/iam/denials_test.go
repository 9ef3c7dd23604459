package iam_test

import (
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// A refusal names existing resources as AWS does, by kind and name. It uses ARNs only for resources to be created or
// tagged.
func TestDenialsNameTheResource(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	ann := newUser(st, "ann", apitest.Allow("sqs:*", "*"))
	const (
		arns  = "arn:aws:iam::" + account + ":"
		trust = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":"*","Action":"sts:AssumeRole"}}`
	)
	for _, refused := range []struct {
		action string
		params with
		names  string
	}{
		{"GetUser", nil, "user ann"},
		{"ListGroupsForUser", with{"UserName", "missing"}, "user missing"},
		{"CreateUser", with{"UserName", "bob"}, arns + "user/bob"},
		{"ListUsers", nil, arns + "user/"},
		{"GetGroup", with{"GroupName", "ops"}, "group ops"},
		{"CreateGroup", with{"GroupName", "ops"}, arns + "group/ops"},
		{"GetRole", with{"RoleName", "worker"}, "role worker"},
		{"AttachRolePolicy", with{"RoleName", "worker", "PolicyArn", arns + "policy/p"}, "role worker"},
		{"CreateRole", with{"RoleName", "worker", "AssumeRolePolicyDocument", trust}, arns + "role/worker"},
		{
			"TagRole", with{"RoleName", "worker", "Tags.member.1.Key", "k", "Tags.member.1.Value", "v"},
			arns + "role/worker",
		},
		{"GetInstanceProfile", with{"InstanceProfileName", "web"}, "instance profile web"},
		{"CreateInstanceProfile", with{"InstanceProfileName", "web"}, arns + "instance-profile/web"},
		{"GetPolicy", with{"PolicyArn", arns + "policy/p"}, "policy " + arns + "policy/p"},
		{"CreatePolicy", with{"PolicyName", "p", "PolicyDocument", apitest.Allow("sqs:*", "*")}, "policy p"},
		{"ListPolicies", nil, "policy path /"},
		{"GetAccountSummary", nil, "*"},
	} {
		ann.Refuses(refused.action, refused.params, 403, "AccessDenied", "User: "+arns+
			"user/ann is not authorized to perform: iam:"+refused.action+" on resource: "+refused.names+
			" because no identity-based policy allows the iam:"+refused.action+" action")
	}
}

// A caller that creates something with tags also needs the permission to tag it.
func TestCreatingWithTagsIsTagging(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	ann := newUser(st, "ann", apitest.Allow("iam:Create*", "*"))
	const arns = "arn:aws:iam::" + account + ":"
	document := apitest.Allow("sqs:*", "*")
	for _, created := range []struct {
		kind   string
		params with
		tag    string
		names  string
	}{
		{"User", with{"UserName", "bob"}, "TagUser", arns + "user/bob"},
		{
			"Role", with{"RoleName", "worker", "AssumeRolePolicyDocument", apitest.Trusting(account)},
			"TagRole", arns + "role/worker",
		},
		{"InstanceProfile", with{"InstanceProfileName", "web"}, "TagInstanceProfile", arns + "instance-profile/web"},
		{"Policy", with{"PolicyName", "p", "PolicyDocument", document}, "TagPolicy", "policy p"},
		{
			"OpenIDConnectProvider", with{"Url", "https://login.example.com"},
			"TagOpenIDConnectProvider", arns + "oidc-provider/login.example.com",
		},
		{"VirtualMFADevice", with{"VirtualMFADeviceName", "key"}, "TagMFADevice", arns + "mfa/key"},
	} {
		tagged := append(with{"Tags.member.1.Key", "k", "Tags.member.1.Value", "v"}, created.params...)
		ann.Refuses("Create"+created.kind, tagged, 403, "AccessDenied", "User: "+arns+
			"user/ann is not authorized to perform: iam:"+created.tag+" on resource: "+created.names+
			" because no identity-based policy allows the iam:"+created.tag+" action")
		ann.Does("Create"+created.kind, created.params)
	}
	eve := newUser(st, "eve", apitest.Allow("iam:*", "*"))
	eve.Does("CreateUser", with{"UserName", "carl", "Tags.member.1.Key", "k", "Tags.member.1.Value", "v"})
}
