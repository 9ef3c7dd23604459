package iam_test

import (
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// newUser creates a user with a policy and a key, and returns a story for it.
func newUser(st *apitest.Story, name, document string) *apitest.Story {
	st.T.Helper()
	st.Does("CreateUser", with{"UserName", name})
	st.Does("PutUserPolicy", with{"UserName", name, "PolicyName", "own", "PolicyDocument", document})
	key := st.Does("CreateAccessKey", with{"UserName", name})
	user := *st
	user.Cred = identity.Credential{Secret: apitest.Element(key, "SecretAccessKey")}
	user.Cred.AccessKeyID = apitest.Element(key, "AccessKeyId")
	return &user
}

func TestCredentialReport(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	bob := newUser(st, "bob", apitest.Allow("*", "*"))
	bob.Does("GetUser", nil)
	st.Does("CreateUser", with{"UserName", "cmd"})
	st.Does("CreateLoginProfile", with{"UserName", "bob", "Password", "Correct-horse-1"})
	st.Does("UpdateAccountPasswordPolicy", with{"MaxPasswordAge", "90"})
	st.Refuses("GetCredentialReport", nil, 410, "ReportNotPresent",
		"No report is present. To generate a new report, use GenerateCredentialReport.")
	st.Does("GenerateCredentialReport", nil, "<State>STARTED</State>",
		"<Description>No report exists. Starting a new report generation task</Description>")
	st.Does("GenerateCredentialReport", nil, "<State>COMPLETE</State>")
	body := st.Does("GetCredentialReport", nil, "<ReportFormat>text/csv</ReportFormat>", "<GeneratedTime>20")
	text, err := base64.StdEncoding.DecodeString(apitest.Element(body, "Content"))
	apitest.Must(t, text, err)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if apitest.Must(t, rows, err); len(rows) != 4 || len(rows[0]) != 22 || rows[0][0] != "user" ||
		rows[0][21] != "cert_2_last_rotated" {
		t.Fatalf("the report is %s", text)
	}
	if got := strings.Join(rows[1][:9],
		" "); got != "<root_account> arn:aws:iam::"+account+
		":root 1970-01-01T00:00:00+00:00 not_supported no_information not_supported not_supported false true" {
		t.Errorf("the root is %s", got)
	}
	user := rows[2]
	if user[0] != "bob" || user[3] != "true" || user[4] != "no_information" || !strings.HasPrefix(user[6], "20") ||
		user[8] != "true" ||
		!strings.HasPrefix(user[10], "20") || user[11] != "us-east-1" || user[12] != "iam" ||
		strings.Join(user[13:], " ") != "false N/A N/A N/A N/A false N/A false N/A" {
		t.Errorf("the user is %q", user)
	}
	if got := strings.Join(rows[3][3:],
		" "); got != "false N/A N/A N/A false false N/A N/A N/A N/A false N/A N/A N/A N/A false N/A false N/A" {
		t.Errorf("an empty user is %s", got)
	}
}

// A report can be fetched for four hours after the request for it.
func TestCredentialReportExpires(t *testing.T) {
	t.Parallel()
	var clock apitest.Clock
	c := servertest.InMemory()
	c.Now = clock.Now
	s, _ := servertest.Start(t, c)
	root := apitest.NewActor(s.Endpoint(), s.Root().AccessKeyID, s.Root().Secret, "", clock.Now)
	_, err := root.IAM.GenerateCredentialReport(t.Context(), nil)
	apitest.Must(t, 0, err)
	clock.Forward(4*60*60*1e9 - 2e9)
	_, err = root.IAM.GetCredentialReport(t.Context(), nil)
	apitest.Must(t, 0, err)
	clock.Forward(2e9)
	if _, err := root.IAM.GetCredentialReport(t.Context(), nil); apitest.Code(err) != "ReportExpired" {
		t.Error(err)
	}
	out, err := root.IAM.GenerateCredentialReport(t.Context(), nil)
	if apitest.Must(t, out, err).State != "STARTED" {
		t.Errorf("an old report is %s", out.State)
	}
}

func TestAccountAuthorizationDetails(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	const readOnly = "arn:aws:iam::aws:policy/AmazonSQSReadOnlyAccess"
	newUser(st, "bob", apitest.Allow("sqs:*", "*"))
	st.Does("CreateGroup", with{"GroupName", "devs"})
	st.Does("AddUserToGroup", with{"GroupName", "devs", "UserName", "bob"})
	st.Does("AttachGroupPolicy", with{"GroupName", "devs", "PolicyArn", readOnly})
	st.Does("CreateRole", with{"RoleName", "r", "AssumeRolePolicyDocument", apitest.Trusting(account)})
	st.Does("CreateInstanceProfile", with{"InstanceProfileName", "p"})
	st.Does("AddRoleToInstanceProfile", with{"InstanceProfileName", "p", "RoleName", "r"})
	own := apitest.Element(st.Does("CreatePolicy",
		with{"PolicyName", "own", "PolicyDocument", apitest.Allow("sns:*", "*")}), "Arn")
	st.Does("CreatePolicyVersion", with{"PolicyArn", own, "PolicyDocument", apitest.Allow("iam:*", "*")})
	all := st.Does("GetAccountAuthorizationDetails", nil,
		"<UserName>bob</UserName>", "<UserPolicyList><member><PolicyName>own</PolicyName><PolicyDocument>%7B",
		"<GroupList><member>devs</member></GroupList>",
		"<GroupName>devs</GroupName>", "<PolicyArn>"+readOnly+"</PolicyArn>",
		"<RoleName>r</RoleName>", "<InstanceProfileName>p</InstanceProfileName>", "<RoleLastUsed/>",
		"<Arn>"+own+"</Arn>", "sns%3A", "iam%3A", "<VersionId>v2</VersionId>", "<Arn>"+readOnly+"</Arn>",
		"<IsTruncated>false</IsTruncated>")
	if strings.Contains(all, "AmazonSQSFullAccess") {
		t.Error("an AWS policy that is not attached is shown")
	}
	for filter, want := range map[string]string{
		"User": "<UserName>", "Group": "<GroupName>", "Role": "<RoleId>", "LocalManagedPolicy": "<PolicyId>",
		"AWSManagedPolicy": "<PolicyName>AmazonSQSReadOnlyAccess</PolicyName><PolicyId>",
	} {
		body := st.Does("GetAccountAuthorizationDetails", with{"Filter.member.1", filter}, want)
		for _, other := range []string{"<UserDetailList>", "<GroupDetailList>", "<RoleDetailList>", "<Policies>"} {
			if kind := strings.TrimSuffix(strings.Trim(other, "<>"), "DetailList"); strings.Contains(body, other) &&
				kind != filter && !strings.Contains(filter, "Policy") {
				t.Errorf("%s: %s", filter, body)
			}
		}
	}
	st.Fails("GetAccountAuthorizationDetails", with{"Filter.member.1", "Key"}, 400, "ValidationError",
		"[User, Role, Group, LocalManagedPolicy, AWSManagedPolicy]")
	seen, marker := "", ""
	for range 5 {
		page := with{"MaxItems", "1"}
		if marker != "" {
			page = append(page, "Marker", marker)
		}
		body := st.Does("GetAccountAuthorizationDetails", page)
		seen, marker = seen+body, apitest.Element(body, "Marker")
	}
	if marker != "" || strings.Count(seen, "<IsTruncated>true") != 4 || !strings.Contains(seen, "<UserName>bob") ||
		!strings.Contains(seen, readOnly) {
		t.Errorf("the pages are %s", seen)
	}
}

// Keys of tags are equal if they differ in case only, and keep the case in which they were last set.
func TestCaseOfTags(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	bob := func(key, value string) with {
		return with{"UserName", "bob", "Tags.member.1.Key", key, "Tags.member.1.Value", value}
	}
	st.Does("CreateUser", bob("Team", "red"))
	st.Does("TagUser", bob("TEAM", "blue"))
	if tags := st.Does("ListUserTags", with{"UserName", "bob"},
		"<Tags><member><Key>TEAM</Key><Value>blue</Value></member></Tags>"); strings.Contains(tags, "red") {
		t.Errorf("the tags are %s", tags)
	}
	st.Fails("TagUser", append(bob("a", "1"), "Tags.member.2.Key", "A", "Tags.member.2.Value", "2"), 400,
		"InvalidInput", "Duplicate tag keys found. Please note that Tag keys are case insensitive.")
	st.Fails("TagUser", bob("a", "<"), 400, "ValidationError",
		"Value '<' at 'tags.1.member.value' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*")
	st.Does("UntagUser", with{"UserName", "bob", "TagKeys.member.1", "team"})
	st.Does("ListUserTags", with{"UserName", "bob"}, "<Tags/>")
}

// Only AWS sets tags whose keys begin with aws:.
func TestTagsOfAWS(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	const reserved = "Caller is an end user and not allowed to mutate system tags"
	bob := func(key string) with {
		return with{"UserName", "bob", "Tags.member.1.Key", key, "Tags.member.1.Value", "1"}
	}
	st.Fails("CreateUser", bob("aws:team"), 400, "InvalidInput", reserved)
	st.Does("CreateUser", bob("aws-team"))
	st.Fails("TagUser", bob("AWS:team"), 400, "InvalidInput", reserved)
	st.Fails("UntagUser", with{"UserName", "bob", "TagKeys.member.1", "aws:team"}, 400, "InvalidInput", reserved)
}

// The counts of an AWS policy cover the calling account only.
func TestCountsOfSharedPolicies(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	other, _ := s.RootOf(otherAccount)
	story := func(cred identity.Credential) *apitest.Story {
		return &apitest.Story{T: t, Endpoint: s.Endpoint(), Cred: cred, Service: "iam", Version: "2010-05-08"}
	}
	policy := with{"PolicyArn", "arn:aws:iam::aws:policy/AmazonSQSFullAccess"}
	story(other).Does("CreateUser", with{"UserName", "bob"})
	story(other).Does("AttachUserPolicy", append(policy, "UserName", "bob"))
	story(other).Does("GetPolicy", policy, "<AttachmentCount>1</AttachmentCount>")
	story(s.Root()).Does("GetPolicy", policy, "<AttachmentCount>0</AttachmentCount>")
}

func TestServiceLastAccessed(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	bob := newUser(st, "bob",
		`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":["iam:GetUser","sqs:*"],"Resource":"*"}}`)
	st.Does("CreateGroup", with{"GroupName", "devs"})
	st.Does("AddUserToGroup", with{"GroupName", "devs", "UserName", "bob"})
	policy := "arn:aws:iam::aws:policy/IAMReadOnlyAccess"
	st.Does("AttachGroupPolicy", with{"GroupName", "devs", "PolicyArn", policy})
	bob.Does("GetUser", nil)
	arn := "arn:aws:iam::" + account + ":user/bob"
	job := func(arn string) with {
		t.Helper()
		return with{"JobId", apitest.Element(st.Does("GenerateServiceLastAccessedDetails", with{"Arn", arn}), "JobId")}
	}
	used := "<LastAuthenticatedEntity>" + arn +
		"</LastAuthenticatedEntity><LastAuthenticatedRegion>us-east-1</LastAuthenticatedRegion><TotalAuthenticatedEntities>1</TotalAuthenticatedEntities>"
	body := st.Does("GetServiceLastAccessedDetails", job(arn), "<JobStatus>COMPLETED</JobStatus>",
		"<JobType>SERVICE_LEVEL</JobType>", "<JobCreationDate>20", used,
		"<ServiceName>Amazon SQS</ServiceName><ServiceNamespace>sqs</ServiceNamespace><TotalAuthenticatedEntities>0</TotalAuthenticatedEntities>")
	if strings.Contains(body, "<ServiceNamespace>sns</ServiceNamespace>") ||
		strings.Count(body, "<LastAuthenticated>") != 1 {
		t.Errorf("the services are %s", body)
	}
	for _, of := range []string{"arn:aws:iam::" + account + ":group/devs", policy} {
		st.Does("GetServiceLastAccessedDetails", job(of), used)
		st.Does("GetServiceLastAccessedDetailsWithEntities", append(job(of), "ServiceNamespace", "iam"),
			"<EntityInfo><Arn>"+arn+"</Arn><Name>bob</Name><Type>USER</Type><Id>AIDA", "<LastAuthenticated>20")
		if body := st.Does("GetServiceLastAccessedDetailsWithEntities",
			append(job(of), "ServiceNamespace", "sqs")); strings.Contains(body, "<LastAuthenticated>") {
			t.Errorf("a service that was not used: %s", body)
		}
	}
	st.Fails("GenerateServiceLastAccessedDetails", with{"Arn", arn + "x"}, 404, "NoSuchEntity", arn+"x")
	st.Fails("GenerateServiceLastAccessedDetails", with{"Arn", arn, "Granularity", "X"}, 400, "ValidationError",
		"[SERVICE_LEVEL, ACTION_LEVEL]")
	st.Fails("GetServiceLastAccessedDetails", with{"JobId", "x"}, 400, "ValidationError", "36")
	for _, id := range []string{"00000000-0000-0000-0000-000000000000", strings.Repeat("x", 36),
		"ffffffff-ffff-ffff-ffff-ffffffffffff"} {
		st.Fails("GetServiceLastAccessedDetails", with{"JobId", id}, 404, "NoSuchEntity",
			fmt.Sprintf("Job %s not found", id))
	}
}
