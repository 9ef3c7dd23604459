package server

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// story is calls of the Query protocol, one after the other, by the root.
type story struct {
	t       *testing.T
	s       *Server
	service string
	version string
}

func newStory(t *testing.T, service, version string) *story {
	t.Helper()
	s, _ := start(t, inMemory())
	return &story{t, s, service, version}
}

// does makes a call, params being names and values in turn, and wants all of the
// texts in the answer, which is a success.
func (st *story) does(action string, params []string, want ...string) string {
	st.t.Helper()
	status, body := st.call(action, params)
	if status != http.StatusOK {
		st.t.Errorf("%s %.300q: %d %s", action, params, status, body)
	}
	for _, w := range want {
		if !strings.Contains(body, w) {
			st.t.Errorf("%s %.300q: there is no %s in %s", action, params, w, body)
		}
	}
	return body
}

// fails makes a call that is refused with a status, a code, and a message that
// contains the text.
func (st *story) fails(action string, params []string, status int, code, text string) {
	st.t.Helper()
	got, body := st.call(action, params)
	if got != status || !strings.Contains(body, "<Code>"+code+"</Code>") || !strings.Contains(body, escaper.Replace(text)) {
		st.t.Errorf("%s %.300q: %d %s\nwant %d %s %s", action, params, got, body, status, code, text)
	}
}

var escaper = strings.NewReplacer(`"`, "&quot;", "<", "&lt;", ">", "&gt;")

func (st *story) call(action string, params []string) (int, string) {
	st.t.Helper()
	form := url.Values{"Action": {action}, "Version": {st.version}}
	for i := 0; i < len(params); i += 2 {
		form.Set(params[i], params[i+1])
	}
	root := st.s.Root()
	return call(st.t, st.s, st.service, form.Encode(), &root)
}

type with = []string

var element = regexp.MustCompile(`<(\w+)>([^<]*)</`)

// in returns the text of the first element of that name.
func in(body, name string) string {
	for _, m := range element.FindAllStringSubmatch(body, -1) {
		if m[1] == name {
			return m[2]
		}
	}
	return ""
}

func TestUsers(t *testing.T) {
	t.Parallel()
	st := newStory(t, "iam", "2010-05-08")
	st.does("CreateUser", with{"UserName", "bob", "Path", "/dev/", "Tags.member.1.Key", "team", "Tags.member.1.Value", "a b"},
		"<Arn>arn:aws:iam::"+account+":user/dev/bob</Arn>", "<UserId>AIDA", "<CreateDate>20", "<Tags><member><Key>team</Key><Value>a b</Value></member></Tags>")
	st.fails("CreateUser", with{"UserName", "BOB"}, 409, "EntityAlreadyExists", "User with name BOB already exists.")
	st.fails("CreateUser", nil, 400, "ValidationError", "1 validation error detected: Value null at 'userName' failed to satisfy constraint: Member must not be null")
	st.fails("CreateUser", with{"UserName", "a b"}, 400, "ValidationError", "The specified value for userName is invalid.")
	st.fails("CreateUser", with{"UserName", strings.Repeat("x", 65)}, 400, "ValidationError", "Member must have length less than or equal to 64")
	st.fails("CreateUser", with{"UserName", "x", "Path", "dev"}, 400, "ValidationError", "The specified value for path is invalid.")
	st.fails("CreateUser", with{"UserName", "x", "PermissionsBoundary", "arn:aws:iam::aws:policy/Nothing"}, 404, "NoSuchEntity", "does not exist or is not attachable")
	st.does("GetUser", with{"UserName", "bob"}, "<UserName>bob</UserName>")
	st.does("GetUser", nil, "<Arn>arn:aws:iam::"+account+":root</Arn>")
	st.fails("GetUser", with{"UserName", "eve"}, 404, "NoSuchEntity", "The user with name eve cannot be found.")
	st.does("UpdateUser", with{"UserName", "bob", "NewUserName", "Bob", "NewPath", "/"}, "<UpdateUserResponse")
	st.does("CreateUser", with{"UserName", "carol"})
	st.fails("UpdateUser", with{"UserName", "carol", "NewUserName", "BOB"}, 409, "EntityAlreadyExists", "already exists")
	st.does("GetUser", with{"UserName", "Bob"}, "<Arn>arn:aws:iam::"+account+":user/Bob</Arn>")
	for i := range 5 {
		st.does("CreateUser", with{"UserName", fmt.Sprint("u", i), "Path", "/many/"})
	}
	page := st.does("ListUsers", with{"MaxItems", "3"}, "<IsTruncated>true</IsTruncated>", "<UserName>u0</UserName>")
	page = st.does("ListUsers", with{"MaxItems", "3", "Marker", in(page, "Marker")}, "<UserName>u1</UserName>", "<UserName>u3</UserName>")
	page = st.does("ListUsers", with{"Marker", in(page, "Marker")}, "<UserName>u4</UserName>", "<IsTruncated>false</IsTruncated>")
	if strings.Contains(page, "u3") || strings.Contains(page, "Marker") {
		t.Errorf("the last page is %s", page)
	}
	if page := st.does("ListUsers", with{"PathPrefix", "/many/"}); strings.Contains(page, "carol") {
		t.Errorf("below a path is %s", page)
	}
	st.fails("ListUsers", with{"MaxItems", "0"}, 400, "ValidationError", "Member must have value greater than or equal to 1")
	st.fails("ListUsers", with{"Marker", "!"}, 400, "ValidationError", "Invalid Marker.")

	st.fails("CreateAccessKey", nil, 400, "ValidationError", "Must specify userName")
	key := in(st.does("CreateAccessKey", with{"UserName", "Bob"}, "<SecretAccessKey>"), "AccessKeyId")
	st.does("CreateAccessKey", with{"UserName", "Bob"})
	st.fails("CreateAccessKey", with{"UserName", "Bob"}, 409, "LimitExceeded", "Cannot exceed quota for AccessKeysPerUser: 2")
	st.does("UpdateAccessKey", with{"UserName", "Bob", "AccessKeyId", key, "Status", "Inactive"})
	st.fails("UpdateAccessKey", with{"UserName", "Bob", "AccessKeyId", key, "Status", "Lost"}, 400, "ValidationError", "Member must satisfy enum value set: [Active, Inactive]")
	st.fails("UpdateAccessKey", with{"UserName", "carol", "AccessKeyId", key, "Status", "Active"}, 404, "NoSuchEntity", "The Access Key with id "+key+" cannot be found.")
	if keys := st.does("ListAccessKeys", with{"UserName", "Bob"}, "<Status>Inactive</Status>", "<Status>Active</Status>"); strings.Contains(keys, "Secret") {
		t.Errorf("a secret is told twice: %s", keys)
	}
	st.does("GetAccessKeyLastUsed", with{"AccessKeyId", key}, "<ServiceName>N/A</ServiceName>", "<UserName>Bob</UserName>")
	st.fails("DeleteUser", with{"UserName", "Bob"}, 409, "DeleteConflict", "Cannot delete entity, must delete access keys first.")
	st.does("DeleteAccessKey", with{"UserName", "Bob", "AccessKeyId", key})
	st.fails("DeleteAccessKey", with{"UserName", "Bob", "AccessKeyId", key}, 404, "NoSuchEntity", key)
	st.does("DeleteUser", with{"UserName", "carol"})
	st.fails("DeleteUser", with{"UserName", "carol"}, 404, "NoSuchEntity", "carol")
}

func TestGroups(t *testing.T) {
	t.Parallel()
	st := newStory(t, "iam", "2010-05-08")
	st.does("CreateGroup", with{"GroupName", "devs"}, "<GroupId>AGPA", ":group/devs</Arn>")
	st.fails("CreateGroup", with{"GroupName", "Devs"}, 409, "EntityAlreadyExists", "Group with name Devs already exists.")
	st.does("CreateUser", with{"UserName", "bob"})
	st.does("AddUserToGroup", with{"GroupName", "devs", "UserName", "bob"})
	st.does("AddUserToGroup", with{"GroupName", "devs", "UserName", "bob"})
	st.fails("AddUserToGroup", with{"GroupName", "devs", "UserName", "eve"}, 404, "NoSuchEntity", "The user with name eve cannot be found.")
	st.fails("AddUserToGroup", with{"GroupName", "ops", "UserName", "bob"}, 404, "NoSuchEntity", "The group with name ops cannot be found.")
	st.does("UpdateGroup", with{"GroupName", "devs", "NewGroupName", "coders", "NewPath", "/it/"})
	st.does("GetGroup", with{"GroupName", "coders"}, ":group/it/coders</Arn>", "<UserName>bob</UserName>")
	st.does("ListGroups", nil, "<GroupName>coders</GroupName>", "<IsTruncated>false</IsTruncated>")
	st.does("ListGroupsForUser", with{"UserName", "bob"}, "<GroupName>coders</GroupName>")
	st.fails("DeleteGroup", with{"GroupName", "coders"}, 409, "DeleteConflict", "must remove users from group first")
	st.fails("DeleteUser", with{"UserName", "bob"}, 409, "DeleteConflict", "must remove users from group first")
	for i := range 9 {
		st.does("CreateGroup", with{"GroupName", fmt.Sprint("g", i)})
		st.does("AddUserToGroup", with{"GroupName", fmt.Sprint("g", i), "UserName", "bob"})
	}
	st.does("CreateGroup", with{"GroupName", "last"})
	st.fails("AddUserToGroup", with{"GroupName", "last", "UserName", "bob"}, 409, "LimitExceeded", "Cannot exceed quota for GroupsPerUser: 10")
	st.does("RemoveUserFromGroup", with{"GroupName", "coders", "UserName", "bob"})
	st.fails("RemoveUserFromGroup", with{"GroupName", "coders", "UserName", "bob"}, 404, "NoSuchEntity", "bob")
	st.does("DeleteGroup", with{"GroupName", "coders"})
}

func TestInlinePolicies(t *testing.T) {
	t.Parallel()
	st := newStory(t, "iam", "2010-05-08")
	for _, kind := range []string{"User", "Group", "Role"} {
		who := kind + "Name"
		st.does("Create"+kind, with{who, "x", "AssumeRolePolicyDocument", trusting(account)})
		st.does("Put"+kind+"Policy", with{who, "x", "PolicyName", "b", "PolicyDocument", allow("sqs:*", "*")})
		st.does("Put"+kind+"Policy", with{who, "x", "PolicyName", "a", "PolicyDocument", allow("sqs:*", "*")})
		st.does("Get"+kind+"Policy", with{who, "x", "PolicyName", "a"}, "<"+who+">x</"+who+">", "<PolicyDocument>%7B%22Version%22%3A%222012-10-17%22%2C")
		st.does("List"+kind+"Policies", with{who, "x"}, "<PolicyNames><member>a</member><member>b</member></PolicyNames>")
		st.fails("Get"+kind+"Policy", with{who, "x", "PolicyName", "c"}, 404, "NoSuchEntity", "The "+strings.ToLower(kind)+" policy with name c cannot be found.")
		st.fails("Delete"+kind, with{who, "x"}, 409, "DeleteConflict", "Cannot delete entity, must delete policies first.")
		for text, says := range map[string]string{
			"{":                       "This policy contains invalid Json",
			`{"Statement":{}}`:        "Syntax errors in policy.",
			allow("SendMessage", "*"): "Actions/Conditions must be prefaced by a vendor",
			allow("sqs:*", "queue"):   "must be in ARN format",
			trusting(account):         "Has prohibited field Principal.",
		} {
			st.fails("Put"+kind+"Policy", with{who, "x", "PolicyName", "c", "PolicyDocument", text}, 400, "MalformedPolicyDocument", says)
		}
		limit := map[string]int{"User": 2048, "Group": 5120, "Role": 10240}[kind]
		st.fails("Put"+kind+"Policy", with{who, "x", "PolicyName", "c", "PolicyDocument", allow("sqs:*", "arn:aws:sqs:*:*:"+strings.Repeat("q", limit-250))},
			409, "LimitExceeded", fmt.Sprintf("Maximum policy size of %d bytes exceeded for %s x", limit, strings.ToLower(kind)))
		for _, name := range []string{"a", "b"} {
			st.does("Delete"+kind+"Policy", with{who, "x", "PolicyName", name})
		}
		st.fails("Delete"+kind+"Policy", with{who, "x", "PolicyName", "a"}, 404, "NoSuchEntity", "policy with name a")
		st.does("Delete"+kind, with{who, "x"})
	}
}

func TestManagedPolicies(t *testing.T) {
	t.Parallel()
	st := newStory(t, "iam", "2010-05-08")
	arn := "arn:aws:iam::" + account + ":policy/p/mine"
	st.does("CreatePolicy", with{"PolicyName", "mine", "Path", "/p/", "PolicyDocument", allow("sqs:*", "*"), "Description", "all"},
		"<Arn>"+arn+"</Arn>", "<PolicyId>ANPA", "<DefaultVersionId>v1</DefaultVersionId>", "<AttachmentCount>0</AttachmentCount>")
	st.fails("CreatePolicy", with{"PolicyName", "Mine", "PolicyDocument", allow("sqs:*", "*")}, 409, "EntityAlreadyExists", "A policy called Mine already exists.")
	st.fails("CreatePolicy", with{"PolicyName", "other", "PolicyDocument", "{"}, 400, "MalformedPolicyDocument", "invalid Json")
	st.fails("CreatePolicy", with{"PolicyName", "other", "PolicyDocument", allow("sqs:*", "arn:aws:sqs:*:*:"+strings.Repeat("q", 6144))}, 409, "LimitExceeded", "Cannot exceed quota for PolicySize: 6144")
	st.does("GetPolicy", with{"PolicyArn", arn}, "<Description>all</Description>")
	st.fails("GetPolicy", with{"PolicyArn", arn + "x"}, 404, "NoSuchEntity", "Policy "+arn+"x was not found.")
	st.fails("GetPolicy", with{"PolicyArn", strings.Replace(arn, account, otherAccount, 1)}, 404, "NoSuchEntity", "was not found")
	for i := 2; i <= 5; i++ {
		st.does("CreatePolicyVersion", with{"PolicyArn", arn, "PolicyDocument", allow("sqs:SendMessage", "*"), "SetAsDefault", fmt.Sprint(i == 5)}, fmt.Sprintf("<VersionId>v%d</VersionId>", i))
	}
	st.fails("CreatePolicyVersion", with{"PolicyArn", arn, "PolicyDocument", allow("sqs:*", "*")}, 409, "LimitExceeded", "up to 5 versions")
	st.does("GetPolicyVersion", with{"PolicyArn", arn, "VersionId", "v5"}, "<IsDefaultVersion>true</IsDefaultVersion>", "sqs%3ASendMessage")
	st.fails("GetPolicyVersion", with{"PolicyArn", arn, "VersionId", "v9"}, 404, "NoSuchEntity", "version v9 does not exist")
	st.fails("DeletePolicyVersion", with{"PolicyArn", arn, "VersionId", "v5"}, 409, "DeleteConflict", "Cannot delete the default version of a policy.")
	st.does("SetDefaultPolicyVersion", with{"PolicyArn", arn, "VersionId", "v1"})
	st.does("DeletePolicyVersion", with{"PolicyArn", arn, "VersionId", "v5"})
	st.does("CreatePolicyVersion", with{"PolicyArn", arn, "PolicyDocument", allow("sqs:*", "*")}, "<VersionId>v6</VersionId>")
	st.does("ListPolicyVersions", with{"PolicyArn", arn, "MaxItems", "2"}, "<VersionId>v1</VersionId>", "<VersionId>v2</VersionId>", "<IsTruncated>true</IsTruncated>")

	aws := "arn:aws:iam::aws:policy/AmazonSQSReadOnlyAccess"
	for _, kind := range []string{"User", "Group", "Role"} {
		who := kind + "Name"
		st.does("Create"+kind, with{who, "x", "AssumeRolePolicyDocument", trusting(account)})
		st.does("Attach"+kind+"Policy", with{who, "x", "PolicyArn", arn})
		st.does("Attach"+kind+"Policy", with{who, "x", "PolicyArn", aws})
		st.fails("Attach"+kind+"Policy", with{who, "x", "PolicyArn", arn + "x"}, 404, "NoSuchEntity", "does not exist or is not attachable")
		st.does("ListAttached"+kind+"Policies", with{who, "x"}, "<PolicyArn>"+arn+"</PolicyArn>", "<PolicyName>AmazonSQSReadOnlyAccess</PolicyName>")
		st.fails("Delete"+kind, with{who, "x"}, 409, "DeleteConflict", "must detach all policies first")
	}
	st.does("ListEntitiesForPolicy", with{"PolicyArn", arn}, "<PolicyUsers><member><UserName>x</UserName>", "<PolicyGroups><member><GroupName>x</GroupName>", "<PolicyRoles><member><RoleName>x</RoleName>")
	if body := st.does("ListEntitiesForPolicy", with{"PolicyArn", arn, "EntityFilter", "Role"}); strings.Contains(body, "UserName") {
		t.Errorf("roles are %s", body)
	}
	st.does("GetPolicy", with{"PolicyArn", arn}, "<AttachmentCount>3</AttachmentCount>")
	st.fails("DeletePolicy", with{"PolicyArn", arn}, 409, "DeleteConflict", "Cannot delete a policy attached to entities.")
	for _, kind := range []string{"User", "Group", "Role"} {
		st.does("Detach"+kind+"Policy", with{kind + "Name", "x", "PolicyArn", arn})
		st.fails("Detach"+kind+"Policy", with{kind + "Name", "x", "PolicyArn", arn}, 404, "NoSuchEntity", "was not found")
	}
	st.fails("DeletePolicy", with{"PolicyArn", arn}, 409, "DeleteConflict", "more than one version")
	for _, v := range []string{"v2", "v3", "v4", "v6"} {
		st.does("DeletePolicyVersion", with{"PolicyArn", arn, "VersionId", v})
	}
	for _, kind := range []string{"User", "Role"} {
		st.does("Put"+kind+"PermissionsBoundary", with{kind + "Name", "x", "PermissionsBoundary", arn})
		st.does("Get"+kind, with{kind + "Name", "x"}, "<PermissionsBoundaryArn>"+arn+"</PermissionsBoundaryArn>")
		st.fails("DeletePolicy", with{"PolicyArn", arn}, 409, "DeleteConflict", "attached")
		st.does("Delete"+kind+"PermissionsBoundary", with{kind + "Name", "x"})
		st.fails("Delete"+kind+"PermissionsBoundary", with{kind + "Name", "x"}, 404, "NoSuchEntity", "does not have a permissions boundary")
	}
	st.does("DeletePolicy", with{"PolicyArn", arn})
	st.fails("DeletePolicy", with{"PolicyArn", aws}, 403, "AccessDenied", "cannot be changed")
	st.does("ListPolicies", with{"Scope", "AWS", "OnlyAttached", "true"}, "<PolicyName>AmazonSQSReadOnlyAccess</PolicyName>", "<AttachmentCount>3</AttachmentCount>")
	if body := st.does("ListPolicies", with{"Scope", "Local"}); strings.Contains(body, "<PolicyName>") {
		t.Errorf("the account's own policies are %s", body)
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	st := newStory(t, "iam", "2010-05-08")
	bob := "arn:aws:iam::" + account + ":user/bob"
	st.fails("CreateRole", with{"RoleName", "r", "AssumeRolePolicyDocument", trusting(bob)}, 400, "MalformedPolicyDocument", `Invalid principal in policy: "AWS":"`+bob+`"`)
	st.fails("CreateRole", with{"RoleName", "r", "AssumeRolePolicyDocument", allow("sts:AssumeRole", "*")}, 400, "MalformedPolicyDocument", "")
	st.fails("CreateRole", with{"RoleName", "r"}, 400, "ValidationError", "assumeRolePolicyDocument")
	st.fails("CreateRole", with{"RoleName", "r", "AssumeRolePolicyDocument", trusting(account), "MaxSessionDuration", "60"}, 400, "ValidationError", "maxSessionDuration")
	st.does("CreateUser", with{"UserName", "bob"})
	st.does("CreateRole", with{"RoleName", "r", "Path", "/jobs/", "AssumeRolePolicyDocument", trusting(bob), "Description", "d"},
		":role/jobs/r</Arn>", "<RoleId>AROA", "<MaxSessionDuration>3600</MaxSessionDuration>", "<AssumeRolePolicyDocument>%7B")
	st.fails("CreateRole", with{"RoleName", "R", "AssumeRolePolicyDocument", trusting(bob)}, 409, "EntityAlreadyExists", "Role with name R already exists.")
	st.does("UpdateRole", with{"RoleName", "r", "MaxSessionDuration", "7200"})
	st.does("UpdateRoleDescription", with{"RoleName", "r", "Description", "other"}, "<Description>other</Description>")
	st.does("GetRole", with{"RoleName", "r"}, "<MaxSessionDuration>7200</MaxSessionDuration>", "<Description>other</Description>")
	st.does("UpdateAssumeRolePolicy", with{"RoleName", "r", "PolicyDocument", trusting(account)})
	st.fails("UpdateAssumeRolePolicy", with{"RoleName", "r", "PolicyDocument", trusting("arn:aws:iam::" + account + ":role/none")}, 400, "MalformedPolicyDocument", "Invalid principal")
	st.does("ListRoles", with{"PathPrefix", "/jobs/"}, "<RoleName>r</RoleName>")
	st.does("DeleteRole", with{"RoleName", "r"})
	st.fails("GetRole", with{"RoleName", "r"}, 404, "NoSuchEntity", "The role with name r cannot be found.")
}

func TestAccountOperations(t *testing.T) {
	t.Parallel()
	st := newStory(t, "iam", "2010-05-08")
	st.does("GetAccountSummary", nil, "<SummaryMap><entry><key>AccessKeysPerUserQuota</key><value>2</value></entry>")
	st.does("ListAccountAliases", nil, "<AccountAliases/>")
	st.does("CreateAccountAlias", with{"AccountAlias", "acme"})
	st.does("ListAccountAliases", nil, "<member>acme</member>")
	st.fails("CreateAccountAlias", with{"AccountAlias", "A"}, 400, "ValidationError", "accountAlias")
	st.fails("DeleteAccountAlias", with{"AccountAlias", "other"}, 404, "NoSuchEntity", "other")
	st.does("DeleteAccountAlias", with{"AccountAlias", "acme"})
	st.does("ListAccountAliases", nil, "<AccountAliases/>")
}

func TestSimulator(t *testing.T) {
	t.Parallel()
	st := newStory(t, "iam", "2010-05-08")
	bob := "arn:aws:iam::" + account + ":user/bob"
	st.does("CreateUser", with{"UserName", "bob"})
	st.does("PutUserPolicy", with{"UserName", "bob", "PolicyName", "own", "PolicyDocument", `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":"sqs:*","Resource":"*","Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}},
		{"Effect":"Deny","Action":"sqs:DeleteQueue","Resource":"*"}]}`})
	ask := with{"PolicySourceArn", bob, "ActionNames.member.1", "sqs:SendMessage", "ActionNames.member.2", "sqs:DeleteQueue"}
	st.does("SimulatePrincipalPolicy", ask, "<EvalDecision>implicitDeny</EvalDecision>", "<EvalDecision>explicitDeny</EvalDecision>",
		"<MissingContextValues><member>aws:sourceip</member></MissingContextValues>", "<SourcePolicyId>own</SourcePolicyId>", "<StartPosition><Line>3</Line><Column>3</Column>")
	st.does("SimulatePrincipalPolicy", append(ask, "ContextEntries.member.1.ContextKeyName", "aws:SourceIp",
		"ContextEntries.member.1.ContextKeyType", "ip", "ContextEntries.member.1.ContextKeyValues.member.1", "10.1.2.3"), "<EvalDecision>allowed</EvalDecision>")
	st.does("SimulateCustomPolicy", with{"PolicyInputList.member.1", allow("sqs:SendMessage", "arn:aws:sqs:*:*:q"), "ActionNames.member.1", "sqs:SendMessage",
		"ResourceArns.member.1", "arn:aws:sqs:eu-west-1:" + account + ":q", "ResourceArns.member.2", "arn:aws:sqs:eu-west-1:" + account + ":other"},
		"<EvalDecision>allowed</EvalDecision>", "<EvalDecision>implicitDeny</EvalDecision>")
	resource := fmt.Sprintf(`{"Statement":{"Effect":"Allow","Principal":{"AWS":%q},"Action":"sqs:*","Resource":"arn:aws:sqs:eu-west-1:%s:q"}}`, bob, account)
	st.does("SimulateCustomPolicy", with{"PolicyInputList.member.1", allow("iam:GetUser", "*"), "ActionNames.member.1", "sqs:SendMessage", "CallerArn", bob,
		"ResourceArns.member.1", "arn:aws:sqs:eu-west-1:" + account + ":q", "ResourcePolicy", resource}, "<EvalDecision>allowed</EvalDecision>", "Resource Policy")
	st.does("SimulateCustomPolicy", with{"PolicyInputList.member.1", allow("sqs:*", "*"), "PermissionsBoundaryPolicyInputList.member.1", allow("iam:*", "*"),
		"ActionNames.member.1", "sqs:SendMessage"}, "<EvalDecision>implicitDeny</EvalDecision>", "<AllowedByPermissionsBoundary>false</AllowedByPermissionsBoundary>")
	st.does("GetContextKeysForPrincipalPolicy", with{"PolicySourceArn", bob}, "<member>aws:sourceip</member>")
	st.does("GetContextKeysForCustomPolicy", with{"PolicyInputList.member.1", allow("sqs:*", "arn:aws:sqs:*:*:${aws:username}")}, "<member>aws:username</member>")
	for _, c := range []struct {
		params with
		says   string
	}{
		{with{"PolicyInputList.member.1", "{", "ActionNames.member.1", "sqs:SendMessage"}, "Invalid policy"},
		{with{"PolicyInputList.member.1", allow("sqs:*", "*")}, "ActionNames"},
		{with{"PolicyInputList.member.1", allow("sqs:*", "*"), "ActionNames.member.1", "sqs:*"}, "Invalid Action Name"},
		{with{"PolicyInputList.member.1", allow("sqs:*", "*"), "ActionNames.member.1", "sqs:SendMessage", "ResourcePolicy", resource}, "CallerArn is required"},
	} {
		st.fails("SimulateCustomPolicy", c.params, 400, "InvalidInput", c.says)
	}
	st.fails("SimulatePrincipalPolicy", with{"PolicySourceArn", bob + "x", "ActionNames.member.1", "sqs:SendMessage"}, 404, "NoSuchEntity", "does not exist")
}

func TestTokenOperations(t *testing.T) {
	t.Parallel()
	st := newStory(t, "sts", "2011-06-15")
	st.does("GetCallerIdentity", nil, "<UserId>"+account+"</UserId>", "<Arn>arn:aws:iam::"+account+":root</Arn>")
	st.does("GetAccessKeyInfo", with{"AccessKeyId", st.s.Root().AccessKeyID}, "<Account>"+account+"</Account>")
	st.fails("GetAccessKeyInfo", with{"AccessKeyId", "AKIAIOSFODNN7EXAMPLE"}, 400, "ValidationError", "is not known")
	st.does("GetSessionToken", nil, "<AccessKeyId>ASIA", "<SessionToken>", "<Expiration>")
	for _, seconds := range []string{"899", "129601"} {
		st.fails("GetSessionToken", with{"DurationSeconds", seconds}, 400, "ValidationError", "'durationSeconds'")
	}
	st.fails("GetSessionToken", with{"SerialNumber", "123456789", "TokenCode", "123456"}, 403, "AccessDenied", "MultiFactorAuthentication failed")
	st.does("GetFederationToken", with{"Name", "jean", "Policy", allow("sqs:*", "*"), "PolicyArns.member.1.arn", "arn:aws:iam::aws:policy/AmazonSQSFullAccess"},
		"<FederatedUserId>"+account+":jean</FederatedUserId>", "<PackedPolicySize>")
	st.fails("GetFederationToken", nil, 400, "ValidationError", "Value null at 'name'")
	st.fails("GetFederationToken", with{"Name", "j n"}, 400, "ValidationError", `[\w+=,.@-]*`)
	st.fails("GetFederationToken", with{"Name", "jean", "Policy", "{"}, 400, "MalformedPolicyDocument", "invalid Json")
	st.fails("GetFederationToken", with{"Name", "jean", "Policy", allow("sqs:*", "arn:aws:sqs:*:*:"+strings.Repeat("q", 2048))}, 400, "ValidationError", "2048")
	st.fails("GetFederationToken", with{"Name", "jean", "PolicyArns.member.1.arn", "arn:aws:iam::aws:policy/Nothing"}, 400, "MalformedPolicyDocument", "does not exist")
	large := with{"Name", "jean", "Policy", allow("sqs:*", "arn:aws:sqs:*:*:"+strings.Repeat("q", 1900))}
	for i := range 10 {
		large = append(large, fmt.Sprintf("Tags.member.%d.Key", i+1), fmt.Sprint("k", i), fmt.Sprintf("Tags.member.%d.Value", i+1), strings.Repeat("v", 256))
	}
	// White space does not count, and is not carried along.
	st.does("GetFederationToken", with{"Name", "jean", "Policy", strings.Replace(allow("sqs:*", "*"), ",", ","+strings.Repeat(" \n", 6000), 1)}, "<PackedPolicySize>")
	st.fails("GetFederationToken", with{"Name", "jean", "Policy", allow("sqs:*", "arn:aws:sqs:*:*:"+strings.Repeat("q", 1900)),
		"Tags.member.1.Key", "k", "Tags.member.1.Value", strings.Repeat("\"", 256), "Tags.member.2.Key", "l", "Tags.member.2.Value", strings.Repeat("\"", 256)},
		400, "PackedPolicyTooLarge", "Packed policy consumes")
	st.fails("GetFederationToken", large, 400, "PackedPolicyTooLarge", "Packed policy consumes")
	arn := "arn:aws:iam::" + account + ":role/r"
	st.fails("AssumeRole", with{"RoleArn", arn, "RoleSessionName", "s1"}, 403, "AccessDenied", "Roles may not be assumed by root accounts.")
	st.fails("AssumeRole", with{"RoleArn", arn, "RoleSessionName", "s 1", "DurationSeconds", "1"}, 400, "ValidationError", "2 validation errors detected: ")
	st.fails("AssumeRole", with{"RoleArn", arn, "RoleSessionName", "s1", "SourceIdentity", "me"}, 400, "ValidationError", "not supported")
}
