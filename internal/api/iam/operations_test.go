package iam_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

func TestUsers(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	st.Does("CreateUser",
		with{"UserName", "bob", "Path", "/dev/", "Tags.member.1.Key", "team", "Tags.member.1.Value", "a b"},
		"<Arn>arn:aws:iam::"+account+":user/dev/bob</Arn>", "<UserId>AIDA", "<CreateDate>20",
		"<Tags><member><Key>team</Key><Value>a b</Value></member></Tags>")
	st.Fails("CreateUser", with{"UserName", "BOB"}, 409, "EntityAlreadyExists", "User with name BOB already exists.")
	st.Fails("CreateUser", nil, 400, "ValidationError",
		"1 validation error detected: Value null at 'userName' failed to satisfy constraint: Member must not be null")
	st.Fails("CreateUser", with{"UserName", "a b"}, 400, "ValidationError",
		"The specified value for userName is invalid.")
	st.Fails("CreateUser", with{"UserName", strings.Repeat("x", 65)}, 400, "ValidationError",
		"Member must have length less than or equal to 64")
	st.Fails("CreateUser", with{"UserName", "x", "Path", "dev"}, 400, "ValidationError",
		"The specified value for path is invalid.")
	st.Fails("CreateUser", with{"UserName", "x", "PermissionsBoundary", "arn:aws:iam::aws:policy/Nothing"}, 404,
		"NoSuchEntity", "Scope ARN: arn:aws:iam::aws:policy/Nothing does not exist or is not attachable.")
	st.Does("GetUser", with{"UserName", "bob"}, "<UserName>bob</UserName>")
	st.Does("GetUser", nil, "<User><UserId>"+account+"</UserId><Arn>arn:aws:iam::"+account+":root</Arn>")
	st.Fails("GetUser", with{"UserName", "eve"}, 404, "NoSuchEntity", "The user with name eve cannot be found.")
	st.Does("UpdateUser", with{"UserName", "bob", "NewUserName", "Bob", "NewPath", "/"}, "<UpdateUserResponse")
	st.Does("CreateUser", with{"UserName", "carol"})
	st.Fails("UpdateUser", with{"UserName", "carol", "NewUserName", "BOB"}, 409, "EntityAlreadyExists",
		"already exists")
	st.Does("GetUser", with{"UserName", "Bob"}, "<Arn>arn:aws:iam::"+account+":user/Bob</Arn>")
	for i := range 5 {
		st.Does("CreateUser", with{"UserName", fmt.Sprint("u", i), "Path", "/many/"})
	}
	page := st.Does("ListUsers", with{"MaxItems", "3"}, "<IsTruncated>true</IsTruncated>", "<UserName>u0</UserName>")
	page = st.Does("ListUsers", with{"MaxItems", "3", "Marker", apitest.Element(page, "Marker")},
		"<UserName>u1</UserName>", "<UserName>u3</UserName>")
	page = st.Does("ListUsers", with{"Marker", apitest.Element(page, "Marker")}, "<UserName>u4</UserName>",
		"<IsTruncated>false</IsTruncated>")
	if strings.Contains(page, "u3") || strings.Contains(page, "Marker") {
		t.Errorf("the last page is %s", page)
	}
	if page := st.Does("ListUsers", with{"PathPrefix", "/many/"}); strings.Contains(page, "carol") {
		t.Errorf("below a path is %s", page)
	}
	st.Fails("ListUsers", with{"PathPrefix", "many"}, 400, "ValidationError",
		"The specified value for pathPrefix is invalid.")
	st.Fails("ListUsers", with{"MaxItems", "0"}, 400, "ValidationError",
		"Member must have value greater than or equal to 1")
	st.Fails("ListUsers", with{"Marker", "!"}, 400, "ValidationError", "Invalid Marker.")

	st.Fails("CreateAccessKey", nil, 400, "ValidationError", "Must specify userName")
	key := apitest.Element(st.Does("CreateAccessKey", with{"UserName", "Bob"}, "<SecretAccessKey>"), "AccessKeyId")
	st.Does("CreateAccessKey", with{"UserName", "Bob"})
	st.Fails("CreateAccessKey", with{"UserName", "Bob"}, 409, "LimitExceeded",
		"Cannot exceed quota for AccessKeysPerUser: 2")
	st.Does("UpdateAccessKey", with{"UserName", "Bob", "AccessKeyId", key, "Status", "Inactive"})
	st.Fails("UpdateAccessKey", with{"UserName", "Bob", "AccessKeyId", key, "Status", "Lost"}, 400, "ValidationError",
		"Member must satisfy enum value set: [Active, Inactive]")
	st.Fails("DeleteAccessKey", with{"UserName", "Bob", "AccessKeyId", "short"}, 400, "ValidationError",
		"Value 'short' at 'accessKeyId' failed to satisfy constraint: Member must have length greater than or equal to 16")
	st.Fails("UpdateAccessKey", with{"UserName", "carol", "AccessKeyId", key, "Status", "Active"}, 404, "NoSuchEntity",
		"The Access Key with id "+key+" cannot be found.")
	if keys := st.Does("ListAccessKeys", with{"UserName", "Bob"}, "<Status>Inactive</Status>",
		"<Status>Active</Status>"); strings.Contains(keys, "Secret") {
		t.Errorf("a secret is returned twice: %s", keys)
	}
	st.Does("GetAccessKeyLastUsed", with{"AccessKeyId", key}, "<ServiceName>N/A</ServiceName>",
		"<UserName>Bob</UserName>")
	st.Fails("DeleteUser", with{"UserName", "Bob"}, 409, "DeleteConflict",
		"Cannot delete entity, must delete access keys first.")
	st.Does("DeleteAccessKey", with{"UserName", "Bob", "AccessKeyId", key})
	st.Fails("DeleteAccessKey", with{"UserName", "Bob", "AccessKeyId", key}, 404, "NoSuchEntity", key)
	st.Does("DeleteUser", with{"UserName", "carol"})
	st.Fails("DeleteUser", with{"UserName", "carol"}, 404, "NoSuchEntity", "carol")
}

func TestGroups(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	st.Does("CreateGroup", with{"GroupName", "devs"}, "<GroupId>AGPA", ":group/devs</Arn>")
	st.Fails("CreateGroup", with{"GroupName", "Devs"}, 409, "EntityAlreadyExists",
		"Group with name Devs already exists.")
	st.Does("CreateUser", with{"UserName", "bob"})
	st.Does("AddUserToGroup", with{"GroupName", "devs", "UserName", "bob"})
	st.Does("AddUserToGroup", with{"GroupName", "devs", "UserName", "bob"})
	st.Fails("AddUserToGroup", with{"GroupName", "devs", "UserName", "eve"}, 404, "NoSuchEntity",
		"The user with name eve cannot be found.")
	st.Fails("AddUserToGroup", with{"GroupName", "ops", "UserName", "bob"}, 404, "NoSuchEntity",
		"The group with name ops cannot be found.")
	st.Does("UpdateGroup", with{"GroupName", "devs", "NewGroupName", "coders", "NewPath", "/it/"})
	st.Does("GetGroup", with{"GroupName", "coders"}, ":group/it/coders</Arn>", "<UserName>bob</UserName>")
	st.Does("ListGroups", nil, "<GroupName>coders</GroupName>", "<IsTruncated>false</IsTruncated>")
	st.Does("ListGroupsForUser", with{"UserName", "bob"}, "<GroupName>coders</GroupName>")
	st.Fails("DeleteGroup", with{"GroupName", "coders"}, 409, "DeleteConflict", "must remove users from group first")
	st.Fails("DeleteUser", with{"UserName", "bob"}, 409, "DeleteConflict", "must remove users from group first")
	for i := range 9 {
		st.Does("CreateGroup", with{"GroupName", fmt.Sprint("g", i)})
		st.Does("AddUserToGroup", with{"GroupName", fmt.Sprint("g", i), "UserName", "bob"})
	}
	st.Does("CreateGroup", with{"GroupName", "last"})
	st.Fails("AddUserToGroup", with{"GroupName", "last", "UserName", "bob"}, 409, "LimitExceeded",
		"Cannot exceed quota for GroupsPerUser: 10")
	st.Does("RemoveUserFromGroup", with{"GroupName", "coders", "UserName", "bob"})
	st.Fails("RemoveUserFromGroup", with{"GroupName", "coders", "UserName", "bob"}, 404, "NoSuchEntity", "bob")
	st.Does("DeleteGroup", with{"GroupName", "coders"})
}

func TestInlinePolicies(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	for _, kind := range []string{"User", "Group", "Role"} {
		who := kind + "Name"
		st.Does("Create"+kind, with{who, "x", "AssumeRolePolicyDocument", apitest.Trusting(account)})
		st.Does("Put"+kind+"Policy", with{who, "x", "PolicyName", "b", "PolicyDocument", apitest.Allow("sqs:*", "*")})
		st.Does("Put"+kind+"Policy", with{who, "x", "PolicyName", "a", "PolicyDocument", apitest.Allow("sqs:*", "*")})
		st.Does("Get"+kind+"Policy", with{who, "x", "PolicyName", "a"}, "<"+who+">x</"+who+">",
			"<PolicyDocument>%7B%22Version%22%3A%222012-10-17%22%2C")
		st.Does("List"+kind+"Policies", with{who, "x"},
			"<PolicyNames><member>a</member><member>b</member></PolicyNames>")
		st.Fails("Get"+kind+"Policy", with{who, "x", "PolicyName", "c"}, 404, "NoSuchEntity",
			"The "+strings.ToLower(kind)+" policy with name c cannot be found.")
		st.Fails("Delete"+kind, with{who, "x"}, 409, "DeleteConflict",
			"Cannot delete entity, must delete policies first.")
		for text, says := range map[string]string{
			"{":                               "Syntax errors in policy.",
			`{"Statement":{}}`:                "Syntax errors in policy.",
			apitest.Allow("SendMessage", "*"): "Actions/Conditions must be prefaced by a vendor",
			apitest.Allow("sqs:*", "queue"):   "must be in ARN format",
			apitest.Trusting(account):         "Policy document should not specify a principal.",
		} {
			st.Fails("Put"+kind+"Policy", with{who, "x", "PolicyName", "c", "PolicyDocument", text}, 400,
				"MalformedPolicyDocument", says)
		}
		limit := map[string]int{"User": 2048, "Group": 5120, "Role": 10240}[kind]
		st.Fails("Put"+kind+"Policy",
			with{who, "x", "PolicyName", "c", "PolicyDocument",
				apitest.Allow("sqs:*", "arn:aws:sqs:*:*:"+strings.Repeat("q", limit-250))},
			409, "LimitExceeded",
			fmt.Sprintf("Maximum policy size of %d bytes exceeded for %s x", limit, strings.ToLower(kind)))
		for _, name := range []string{"a", "b"} {
			st.Does("Delete"+kind+"Policy", with{who, "x", "PolicyName", name})
		}
		st.Fails("Delete"+kind+"Policy", with{who, "x", "PolicyName", "a"}, 404, "NoSuchEntity", "policy with name a")
		st.Does("Delete"+kind, with{who, "x"})
	}
}

func TestManagedPolicies(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	arn := "arn:aws:iam::" + account + ":policy/p/mine"
	st.Does("CreatePolicy",
		with{"PolicyName", "mine", "Path", "/p/", "PolicyDocument", apitest.Allow("sqs:*", "*"), "Description", "all"},
		"<Arn>"+arn+"</Arn>", "<PolicyId>ANPA", "<DefaultVersionId>v1</DefaultVersionId>",
		"<AttachmentCount>0</AttachmentCount>")
	st.Fails("CreatePolicy", with{"PolicyName", "Mine", "PolicyDocument", apitest.Allow("sqs:*", "*")}, 409,
		"EntityAlreadyExists", "A policy called Mine already exists.")
	st.Fails("CreatePolicy", with{"PolicyName", "other", "PolicyDocument", "{"}, 400, "MalformedPolicyDocument",
		"Syntax errors in policy.")
	old := strings.Replace(apitest.Allow("sqs:*", "*"), "2012", "2008", 1)
	st.Refuses("CreatePolicy", with{"PolicyName", "other", "PolicyDocument", old}, 400, "MalformedPolicyDocument",
		"Policy document must be version 2012-10-17 or greater.")
	st.Fails("CreatePolicy",
		with{"PolicyName", "other", "PolicyDocument",
			apitest.Allow("sqs:*", "arn:aws:sqs:*:*:"+strings.Repeat("q", 6144))}, 409, "LimitExceeded",
		"Cannot exceed quota for PolicySize: 6144")
	if body := st.Does("CreatePolicy",
		with{"PolicyName", "described", "PolicyDocument", apitest.Allow("sqs:*", "*"), "Description",
			"all"}); strings.Contains(body, "Description") || strings.Contains(body, "Tags") {
		t.Errorf("a new policy is %s", body)
	}
	st.Does("DeletePolicy", with{"PolicyArn", "arn:aws:iam::" + account + ":policy/described"})
	st.Does("GetPolicy", with{"PolicyArn", arn}, "<Description>all</Description>", "<Tags/>")
	st.Fails("GetPolicy", with{"PolicyArn", arn + "x"}, 404, "NoSuchEntity", "Policy "+arn+"x was not found.")
	st.Fails("GetPolicy", with{"PolicyArn", strings.Replace(arn, account, otherAccount, 1)}, 404, "NoSuchEntity",
		"was not found")
	for i := 2; i <= 5; i++ {
		st.Does("CreatePolicyVersion",
			with{"PolicyArn", arn, "PolicyDocument", apitest.Allow("sqs:SendMessage", "*"), "SetAsDefault",
				fmt.Sprint(i == 5)}, fmt.Sprintf("<VersionId>v%d</VersionId>", i))
	}
	st.Fails("CreatePolicyVersion", with{"PolicyArn", arn, "PolicyDocument", apitest.Allow("sqs:*", "*")}, 409,
		"LimitExceeded", "up to 5 versions")
	st.Does("GetPolicyVersion", with{"PolicyArn", arn, "VersionId", "v5"}, "<IsDefaultVersion>true</IsDefaultVersion>",
		"sqs%3ASendMessage")
	st.Fails("GetPolicyVersion", with{"PolicyArn", arn, "VersionId", "v9"}, 404, "NoSuchEntity",
		"version v9 does not exist")
	st.Fails("DeletePolicyVersion", with{"PolicyArn", arn, "VersionId", "v5"}, 409, "DeleteConflict",
		"Cannot delete the default version of a policy.")
	st.Does("SetDefaultPolicyVersion", with{"PolicyArn", arn, "VersionId", "v1"})
	st.Does("DeletePolicyVersion", with{"PolicyArn", arn, "VersionId", "v5"})
	st.Does("CreatePolicyVersion", with{"PolicyArn", arn, "PolicyDocument", apitest.Allow("sqs:*", "*")},
		"<VersionId>v6</VersionId>")
	st.Does("ListPolicyVersions", with{"PolicyArn", arn, "MaxItems", "2"}, "<VersionId>v6</VersionId>",
		"<VersionId>v4</VersionId>", "<IsTruncated>true</IsTruncated>")
	st.Fails("GetPolicyVersion", with{"PolicyArn", arn, "VersionId", "6"}, 400, "ValidationError",
		"Value '6' at 'versionId' failed to satisfy constraint: Member must satisfy regular expression pattern: v[1-9][0-9]*")
	st.Fails("CreatePolicyVersion", with{"PolicyArn", arn, "PolicyDocument", ""}, 400, "ValidationError",
		"Value '' at 'policyDocument' failed to satisfy constraint: Member must have length greater than or equal to 1")

	aws := "arn:aws:iam::aws:policy/AmazonSQSReadOnlyAccess"
	for _, kind := range []string{"User", "Group", "Role"} {
		who := kind + "Name"
		st.Does("Create"+kind, with{who, "x", "AssumeRolePolicyDocument", apitest.Trusting(account)})
		st.Does("Attach"+kind+"Policy", with{who, "x", "PolicyArn", arn})
		st.Does("Attach"+kind+"Policy", with{who, "x", "PolicyArn", aws})
		st.Fails("Attach"+kind+"Policy", with{who, "x", "PolicyArn", arn + "x"}, 404, "NoSuchEntity",
			"does not exist or is not attachable")
		st.Refuses("Attach"+kind+"Policy", with{who, "x", "PolicyArn", "a-policy-that-is-no-arn"}, 400,
			"ValidationError", "Invalid ARN:  Could not be parsed!")
		st.Does("ListAttached"+kind+"Policies", with{who, "x"}, "<PolicyArn>"+arn+"</PolicyArn>",
			"<PolicyName>AmazonSQSReadOnlyAccess</PolicyName>")
		st.Fails("Delete"+kind, with{who, "x"}, 409, "DeleteConflict", "must detach all policies first")
	}
	st.Does("ListEntitiesForPolicy", with{"PolicyArn", arn}, "<PolicyUsers><member><UserName>x</UserName>",
		"<PolicyGroups><member><GroupName>x</GroupName>", "<PolicyRoles><member><RoleName>x</RoleName>")
	if body := st.Does("ListEntitiesForPolicy", with{"PolicyArn", arn, "EntityFilter", "Role"}); strings.Contains(body,
		"UserName") {
		t.Errorf("roles are %s", body)
	}
	st.Does("GetPolicy", with{"PolicyArn", arn}, "<AttachmentCount>3</AttachmentCount>")
	st.Fails("DeletePolicy", with{"PolicyArn", arn}, 409, "DeleteConflict",
		"Cannot delete a policy attached to entities.")
	for _, kind := range []string{"User", "Group", "Role"} {
		st.Does("Detach"+kind+"Policy", with{kind + "Name", "x", "PolicyArn", arn})
		st.Fails("Detach"+kind+"Policy", with{kind + "Name", "x", "PolicyArn", arn}, 404, "NoSuchEntity",
			"was not found")
	}
	st.Fails("DeletePolicy", with{"PolicyArn", arn}, 409, "DeleteConflict", "more than one version")
	for _, v := range []string{"v2", "v3", "v4", "v6"} {
		st.Does("DeletePolicyVersion", with{"PolicyArn", arn, "VersionId", v})
	}
	for _, kind := range []string{"User", "Role"} {
		st.Does("Put"+kind+"PermissionsBoundary", with{kind + "Name", "x", "PermissionsBoundary", arn})
		st.Does("Get"+kind, with{kind + "Name", "x"}, "<PermissionsBoundaryArn>"+arn+"</PermissionsBoundaryArn>")
		st.Fails("DeletePolicy", with{"PolicyArn", arn}, 409, "DeleteConflict", "attached")
		st.Refuses("Put"+kind+"PermissionsBoundary", with{kind + "Name", "x", "PermissionsBoundary", arn + "x"}, 404,
			"NoSuchEntity", "Scope ARN: "+arn+"x does not exist or is not attachable.")
		st.Does("Delete"+kind+"PermissionsBoundary", with{kind + "Name", "x"})
		st.Fails("Delete"+kind+"PermissionsBoundary", with{kind + "Name", "x"}, 404, "NoSuchEntity",
			"does not have a permissions boundary")
	}
	st.Does("DeletePolicy", with{"PolicyArn", arn})
	st.Fails("DeletePolicy", with{"PolicyArn", aws}, 403, "AccessDenied", "cannot be changed")
	st.Does("ListPolicies", with{"Scope", "AWS", "OnlyAttached", "true"},
		"<PolicyName>AmazonSQSReadOnlyAccess</PolicyName>", "<AttachmentCount>3</AttachmentCount>")
	if body := st.Does("ListPolicies", with{"Scope", "Local"}); strings.Contains(body, "<PolicyName>") {
		t.Errorf("the account's policies are %s", body)
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	bob := "arn:aws:iam::" + account + ":user/bob"
	st.Fails("CreateRole", with{"RoleName", "r", "AssumeRolePolicyDocument", apitest.Trusting(bob)}, 400,
		"MalformedPolicyDocument", `Invalid principal in policy: "AWS":"`+bob+`"`)
	st.Fails("CreateRole", with{"RoleName", "r", "AssumeRolePolicyDocument", apitest.Trusting("nobody")}, 400,
		"MalformedPolicyDocument", `Invalid principal in policy: "AWS":"nobody"`)
	st.Fails("CreateRole", with{"RoleName", "r", "AssumeRolePolicyDocument", apitest.Allow("sts:AssumeRole", "*")}, 400,
		"MalformedPolicyDocument", "")
	star := `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":"*","Action":"sts:AssumeRole"}}`
	st.Fails("CreateRole", with{"RoleName", "r", "AssumeRolePolicyDocument", star}, 400, "MalformedPolicyDocument",
		`AssumeRolepolicy contained an invalid principal: "STAR":"*".`)
	st.Fails("CreateRole", with{"RoleName", "r"}, 400, "ValidationError", "assumeRolePolicyDocument")
	st.Fails("CreateRole",
		with{"RoleName", "r", "AssumeRolePolicyDocument", apitest.Trusting(account), "MaxSessionDuration", "60"}, 400,
		"ValidationError", "maxSessionDuration")
	st.Does("CreateUser", with{"UserName", "bob"})
	st.Does("CreateRole",
		with{"RoleName", "r", "Path", "/jobs/", "AssumeRolePolicyDocument", apitest.Trusting(bob), "Description", "d"},
		":role/jobs/r</Arn>", "<RoleId>AROA", "<AssumeRolePolicyDocument>%7B")
	if body := st.Does("CreateRole",
		with{"RoleName", "usual", "AssumeRolePolicyDocument", apitest.Trusting(bob)}); strings.Contains(body,
		"MaxSessionDuration") || strings.Contains(body, "RoleLastUsed") {
		t.Errorf("a new role is %s", body)
	}
	st.Does("GetRole", with{"RoleName", "usual"}, "<MaxSessionDuration>3600</MaxSessionDuration>", "<RoleLastUsed/>")
	st.Does("CreateRole",
		with{"RoleName", "long", "AssumeRolePolicyDocument", apitest.Trusting(bob), "MaxSessionDuration", "7200"},
		"<MaxSessionDuration>7200</MaxSessionDuration>")
	st.Fails("CreateRole", with{"RoleName", "R", "AssumeRolePolicyDocument", apitest.Trusting(bob)}, 409,
		"EntityAlreadyExists", "Role with name R already exists.")
	st.Does("UpdateRole", with{"RoleName", "r", "MaxSessionDuration", "7200"})
	st.Does("UpdateRoleDescription", with{"RoleName", "r", "Description", "other"}, "<Description>other</Description>")
	st.Does("GetRole", with{"RoleName", "r"}, "<MaxSessionDuration>7200</MaxSessionDuration>",
		"<Description>other</Description>")
	st.Does("UpdateAssumeRolePolicy", with{"RoleName", "r", "PolicyDocument", apitest.Trusting("*")})
	st.Does("UpdateAssumeRolePolicy", with{"RoleName", "r", "PolicyDocument", apitest.Trusting(account)})
	st.Fails("UpdateAssumeRolePolicy",
		with{"RoleName", "r", "PolicyDocument", apitest.Trusting("arn:aws:iam::" + account + ":role/none")}, 400,
		"MalformedPolicyDocument", "Invalid principal")
	st.Does("ListRoles", with{"PathPrefix", "/jobs/"}, "<RoleName>r</RoleName>")
	st.Does("DeleteRole", with{"RoleName", "r"})
	st.Fails("GetRole", with{"RoleName", "r"}, 404, "NoSuchEntity", "The role with name r cannot be found.")
}

func TestAccountOperations(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	st.Does("GetAccountSummary", nil, "<key>Providers</key><value>0</value>",
		"<key>PolicyVersionsInUseQuota</key><value>7500</value>",
		"<SummaryMap><entry><key>AccessKeysPerUserQuota</key><value>2</value></entry>")
	st.Does("ListAccountAliases", nil, "<AccountAliases/>")
	st.Does("CreateAccountAlias", with{"AccountAlias", "acme"})
	st.Does("ListAccountAliases", nil, "<member>acme</member>")
	st.Refuses("CreateAccountAlias", with{"AccountAlias", "acme"}, 409, "EntityAlreadyExists",
		"The account alias acme already exists.")
	st.Fails("CreateAccountAlias", with{"AccountAlias", "A"}, 400, "ValidationError", "accountAlias")
	st.Fails("DeleteAccountAlias", with{"AccountAlias", "other"}, 404, "NoSuchEntity", "other")
	st.Does("DeleteAccountAlias", with{"AccountAlias", "acme"})
	st.Does("ListAccountAliases", nil, "<AccountAliases/>")
}

func TestSimulator(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	bob := "arn:aws:iam::" + account + ":user/bob"
	st.Does("CreateUser", with{"UserName", "bob"})
	st.Does("PutUserPolicy", with{"UserName", "bob", "PolicyName", "own",
		"PolicyDocument", `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":"sqs:*","Resource":"*","Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}},
		{"Effect":"Deny","Action":"sqs:DeleteQueue","Resource":"*"}]}`})
	ask := with{"PolicySourceArn", bob, "ActionNames.member.1", "sqs:SendMessage", "ActionNames.member.2",
		"sqs:DeleteQueue"}
	st.Does("SimulatePrincipalPolicy", ask, "<EvalDecision>implicitDeny</EvalDecision>",
		"<EvalDecision>explicitDeny</EvalDecision>",
		"<MissingContextValues><member>aws:SourceIp</member></MissingContextValues>",
		"<SourcePolicyId>user_bob_own</SourcePolicyId>",
		"<StartPosition><Line>2</Line><Column>109</Column>")
	st.Does("SimulatePrincipalPolicy", append(ask, "ContextEntries.member.1.ContextKeyName", "aws:SourceIp",
		"ContextEntries.member.1.ContextKeyType", "ip", "ContextEntries.member.1.ContextKeyValues.member.1",
		"10.1.2.3"), "<EvalDecision>allowed</EvalDecision>")
	st.Does("SimulateCustomPolicy",
		with{"PolicyInputList.member.1", apitest.Allow("sqs:SendMessage", "arn:aws:sqs:*:*:q"), "ActionNames.member.1",
			"sqs:SendMessage",
			"ResourceArns.member.1", "arn:aws:sqs:eu-west-1:" + account + ":q", "ResourceArns.member.2",
			"arn:aws:sqs:eu-west-1:" + account + ":other"},
		"<EvalDecision>allowed</EvalDecision>", "<EvalDecision>implicitDeny</EvalDecision>")
	resource := fmt.Sprintf(`{"Statement":{"Effect":"Allow","Principal":{"AWS":%q},"Action":"sqs:*","Resource":"arn:aws:sqs:eu-west-1:%s:q"}}`, bob, account)
	st.Does("SimulateCustomPolicy",
		with{"PolicyInputList.member.1", apitest.Allow("iam:GetUser", "*"), "ActionNames.member.1", "sqs:SendMessage",
			"CallerArn", bob,
			"ResourceArns.member.1", "arn:aws:sqs:eu-west-1:" + account + ":q", "ResourcePolicy", resource},
		"<EvalDecision>allowed</EvalDecision>", "Resource Policy")
	st.Does("SimulateCustomPolicy",
		with{"PolicyInputList.member.1", apitest.Allow("sqs:*", "*"), "PermissionsBoundaryPolicyInputList.member.1",
			apitest.Allow("iam:*", "*"),
			"ActionNames.member.1", "sqs:SendMessage"}, "<EvalDecision>implicitDeny</EvalDecision>",
		"<AllowedByPermissionsBoundary>false</AllowedByPermissionsBoundary>")
	st.Does("GetContextKeysForPrincipalPolicy", with{"PolicySourceArn", bob}, "<member>aws:SourceIp</member>")
	st.Does("GetContextKeysForCustomPolicy",
		with{"PolicyInputList.member.1", apitest.Allow("sqs:*", "arn:aws:sqs:*:*:${aws:username}")},
		"<member>aws:username</member>")
	st.Does("GetContextKeysForCustomPolicy", with{"PolicyInputList.member.1", datedPolicy,
		"PolicyInputList.member.2", apitest.Allow("sqs:*", "arn:aws:sqs:*:*:${AWS:UserName}")},
		"<ContextKeyNames><member>aws:username</member><member>aws:CurrentTime</member></ContextKeyNames>")
	for _, c := range []struct {
		params with
		says   string
	}{
		{with{"PolicyInputList.member.1", "{", "ActionNames.member.1", "sqs:SendMessage"}, "Invalid policy"},
		{with{"PolicyInputList.member.1", apitest.Allow("sqs:*", "*"), "ActionNames.member.1", "sqs:*"},
			"Invalid Action Name"},
		{with{"PolicyInputList.member.1", apitest.Allow("sqs:*", "*"), "ActionNames.member.1", "sqs:SendMessage",
			"ResourcePolicy", resource}, "CallerArn is required"},
	} {
		st.Fails("SimulateCustomPolicy", c.params, 400, "InvalidInput", c.says)
	}
	st.Fails("SimulateCustomPolicy", with{"PolicyInputList.member.1", apitest.Allow("sqs:*", "*")}, 400,
		"ValidationError",
		"1 validation error detected: Value null at 'actionNames' failed to satisfy constraint: Member must not be null")
	for _, bad := range []string{
		"arn:aws:sts::" + account + ":assumed-role/r/s", "arn:aws:iam::" + account + ":policy/p",
		strings.Repeat("x", 20),
	} {
		for _, action := range []string{"SimulatePrincipalPolicy", "GetContextKeysForPrincipalPolicy"} {
			st.Fails(action, with{"PolicySourceArn", bad, "ActionNames.member.1", "sqs:SendMessage"}, 400,
				"InvalidInput",
				"Invalid Entity Arn: "+bad+" does not clearly define entity type and name.")
		}
	}
	st.Fails("SimulatePrincipalPolicy", with{"PolicySourceArn", bob + "x", "ActionNames.member.1", "sqs:SendMessage"},
		404, "NoSuchEntity", "does not exist")
}

// datedPolicy is the policy of AWS's examples of GetContextKeysForCustomPolicy.
const datedPolicy = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"dynamodb:*",` +
	`"Resource":"arn:aws:dynamodb:us-west-2:123456789012:table/${aws:username}",` +
	`"Condition":{"DateGreaterThan":{"aws:CurrentTime":"2015-08-16T12:00:00Z"}}}}`

// The simulator gives the positions of statements as in AWS's examples for its command line: they begin behind the
// previous bracket or statement, or behind the brace of a single statement.
func TestSimulatedStatements(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	const (
		alone = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"dynamodb:*","Resource":"*",` +
			`"Condition":{"DateGreaterThan":{"aws:CurrentTime":"2018-08-16T12:00:00Z"}}}}`
		listed = "{\n    \"Version\": \"2012-10-17\",\n    \"Statement\": [\n        {\n            \"Sid\": \"List\",\n            \"Effect\": \"Allow\",\n" +
			"            \"Action\": \"dynamodb:CreateBackup\",\n            \"Resource\": \"*\"\n        }\n    ]\n}"
		administrator = "arn:aws:iam::aws:policy/AdministratorAccess"
	)
	from := func(source string, line, column, endLine, endColumn int) string {
		return fmt.Sprintf("<MatchedStatements><member><SourcePolicyId>%s</SourcePolicyId><SourcePolicyType>IAM Policy</SourcePolicyType>"+
			"<StartPosition><Line>%d</Line><Column>%d</Column></StartPosition><EndPosition><Line>%d</Line><Column>%d</Column></EndPosition></member></MatchedStatements>",
			source, line, column, endLine, endColumn)
	}
	ask := with{"ActionNames.member.1", "dynamodb:CreateBackup"}
	st.Does("SimulateCustomPolicy", append(with{"PolicyInputList.member.1", alone,
		"ContextEntries.member.1.ContextKeyName", "aws:CurrentTime", "ContextEntries.member.1.ContextKeyType", "date",
		"ContextEntries.member.1.ContextKeyValues.member.1", "2019-04-25T11:00:00Z"}, ask...),
		from("PolicyInputList.1", 1, 38, 1, 167))
	st.Does("SimulateCustomPolicy", append(with{"PolicyInputList.member.1", listed}, ask...),
		from("PolicyInputList.1", 3, 19, 9, 10))
	st.Does("CreateGroup", with{"GroupName", "g"})
	st.Does("CreateUser", with{"UserName", "u"})
	st.Does("AddUserToGroup", with{"GroupName", "g", "UserName", "u"})
	st.Does("PutGroupPolicy", with{"GroupName", "g", "PolicyName", "p", "PolicyDocument", listed})
	st.Does("SimulatePrincipalPolicy", append(with{"PolicySourceArn", "arn:aws:iam::" + account + ":user/u"}, ask...),
		from("group_g_p", 3, 19, 9, 10))
	st.Does("CreateRole", with{"RoleName", "r", "AssumeRolePolicyDocument", apitest.Trusting(account)})
	st.Does("AttachRolePolicy", with{"RoleName", "r", "PolicyArn", administrator})
	body := st.Does("SimulatePrincipalPolicy",
		append(with{"PolicySourceArn", "arn:aws:iam::" + account + ":role/r"}, ask...),
		"<SourcePolicyId>AdministratorAccess</SourcePolicyId>")
	if strings.Contains(body, "EvalDecisionDetails") || strings.Contains(body, "ResourceSpecificResults") {
		t.Errorf("for all resources the answer is %s", body)
	}
	const table = "arn:aws:dynamodb:us-west-2:" + account + ":table/t"
	near := strings.Replace(alone, `{"DateGreaterThan":{"aws:CurrentTime":"2018-08-16T12:00:00Z"}}`,
		`{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}`, 1)
	st.Does("SimulateCustomPolicy",
		append(with{"PolicyInputList.member.1", near, "ResourceArns.member.1", table}, ask...),
		"<MissingContextValues/>", "<EvalDecisionDetails/>",
		"<ResourceSpecificResults><member><EvalResourceName>"+table+
			"</EvalResourceName><EvalResourceDecision>implicitDeny</EvalResourceDecision><MatchedStatements/>"+
			"<MissingContextValues><member>aws:SourceIp</member></MissingContextValues></member></ResourceSpecificResults>")
}

// A trust policy shows the users and roles that it names by their current names, or by their ids after a deletion.
func TestNamesInTrustPolicies(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	arn := func(name string) string { return "arn:aws:iam::" + account + ":user/" + name }
	id := apitest.Element(st.Does("CreateUser", with{"UserName", "bob"}), "UserId")
	shown := func(principal string) string { return url.QueryEscape(apitest.Trusting(principal)) }
	st.Does("CreateRole", with{"RoleName", "r", "AssumeRolePolicyDocument", apitest.Trusting(arn("bob"))},
		shown(arn("bob")))
	st.Does("UpdateUser", with{"UserName", "bob", "NewUserName", "rob"})
	st.Does("GetRole", with{"RoleName", "r"}, shown(arn("rob")))
	st.Does("DeleteUser", with{"UserName", "rob"})
	st.Does("CreateUser", with{"UserName", "bob"})
	st.Does("GetRole", with{"RoleName", "r"}, shown(id))
	st.Does("ListRoles", nil, shown(id))
	st.Does("GetAccountAuthorizationDetails", with{"Filter.member.1", "Role"}, shown(id))
	st.Refuses("UpdateAssumeRolePolicy", with{"RoleName", "r", "PolicyDocument", apitest.Trusting(id)}, 400,
		"MalformedPolicyDocument", `Invalid principal in policy: "AWS":"`+id+`"`)
	for _, name := range []string{"tagging", "amazonaws.com", "ec2.example.com"} {
		service := strings.Replace(apitest.Trusting(name), `"AWS"`, `"Service"`, 1)
		st.Refuses("UpdateAssumeRolePolicy", with{"RoleName", "r", "PolicyDocument", service}, 400,
			"MalformedPolicyDocument", `Invalid principal in policy: "SERVICE":"`+name+`"`)
	}
}
