package server

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/auth/identity"
)

// act returns the clients of a caller with these keys.
func act(s *Server, keyID, secret, token string) *actor {
	return apitest.NewActor(s.Endpoint(), keyID, secret, token, s.config.now)
}

func rootOf(s *Server) *actor { return act(s, s.Root().AccessKeyID, s.Root().Secret, "") }

// clock is one that a test moves.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time              { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) forward(d time.Duration)     { c.ahead.Add(int64(d)) }
func (c *clock) config(config Config) Config { config.now = c.now; return config }

const allQueues = "arn:aws:sqs:*:*:*"

// Everybody who can be behind a key does what the policies say, and no more.
func TestActors(t *testing.T) {
	t.Parallel()
	var passed clock
	s, _ := start(t, passed.config(inMemory()))
	root := rootOf(s)
	q, err := root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
	url := *apitest.Must(t, q, err).QueueUrl
	want := func(who string, a *actor, denied string) {
		t.Helper()
		if got := apitest.Code(a.Send(t, url)); got != denied {
			t.Errorf("%s: %q, want %q", who, got, denied)
		}
	}
	const no, unknown = "AccessDenied", "InvalidClientTokenId"

	bob, bobKey := root.User(t, "bob", apitest.Allow("sqs:SendMessage", allQueues))
	want("a user with a policy", bob, "")
	eve, _ := root.User(t, "eve", "")
	want("a user without a policy", eve, no)

	// A member of a group.
	_, err = root.IAM.CreateGroup(t.Context(), &iam.CreateGroupInput{GroupName: aws.String("senders")})
	apitest.Must(t, 0, err)
	_, err = root.IAM.AttachGroupPolicy(t.Context(), &iam.AttachGroupPolicyInput{
		GroupName: aws.String("senders"), PolicyArn: aws.String("arn:aws:iam::aws:policy/AmazonSQSFullAccess")})
	apitest.Must(t, 0, err)
	_, err = root.IAM.AddUserToGroup(t.Context(), &iam.AddUserToGroupInput{GroupName: aws.String("senders"), UserName: aws.String("eve")})
	apitest.Must(t, 0, err)
	want("a member of a group", eve, "")
	_, err = root.IAM.RemoveUserFromGroup(t.Context(), &iam.RemoveUserFromGroupInput{GroupName: aws.String("senders"), UserName: aws.String("eve")})
	apitest.Must(t, 0, err)
	want("a member no more", eve, no)

	// Who sent a message.
	received, err := root.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url, MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{"SenderId"}})
	if id := apitest.Must(t, received, err).Messages[0].Attributes["SenderId"]; !strings.HasPrefix(id, "AIDA") {
		t.Errorf("the message is from %q", id)
	}

	// A boundary.
	_, err = root.IAM.PutUserPermissionsBoundary(t.Context(), &iam.PutUserPermissionsBoundaryInput{
		UserName: aws.String("bob"), PermissionsBoundary: aws.String("arn:aws:iam::aws:policy/AmazonSQSReadOnlyAccess")})
	apitest.Must(t, 0, err)
	want("a user behind a boundary", bob, no)
	_, err = root.IAM.DeleteUserPermissionsBoundary(t.Context(), &iam.DeleteUserPermissionsBoundaryInput{UserName: aws.String("bob")})
	apitest.Must(t, 0, err)

	// GetSessionToken.
	out, err := bob.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{DurationSeconds: aws.Int32(900)})
	session := root.Temporary(apitest.Must(t, out, err).Credentials)
	want("a user's session", session, "")
	_, err = session.IAM.GetUser(t.Context(), &iam.GetUserInput{})
	if apitest.Code(err) != unknown {
		t.Errorf("a session calls IAM: %v", err)
	}
	_, err = session.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
	if apitest.Code(err) != no {
		t.Errorf("a session of a session: %v", err)
	}
	rootOut, err := root.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
	rootSession := root.Temporary(apitest.Must(t, rootOut, err).Credentials)
	want("the root's session", rootSession, "")

	// GetFederationToken.
	_, err = bob.STS.GetFederationToken(t.Context(), &sts.GetFederationTokenInput{Name: aws.String("jean")})
	if apitest.Code(err) != no {
		t.Errorf("federation without permission: %v", err)
	}
	document := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["sqs:SendMessage","sts:GetFederationToken","sts:AssumeRole"],"Resource":"*"}]}`
	_, err = root.IAM.PutUserPolicy(t.Context(), &iam.PutUserPolicyInput{UserName: aws.String("bob"), PolicyName: aws.String("own"), PolicyDocument: &document})
	apitest.Must(t, 0, err)
	federate := func(policy *string) *actor {
		t.Helper()
		out, err := bob.STS.GetFederationToken(t.Context(), &sts.GetFederationTokenInput{Name: aws.String("jean"), Policy: policy, DurationSeconds: aws.Int32(900)})
		return root.Temporary(apitest.Must(t, out, err).Credentials)
	}
	jean := federate(aws.String(apitest.Allow("sqs:SendMessage", "*")))
	want("a federated user", jean, "")
	want("a federated user without a policy", federate(nil), no)
	want("a federated user with another policy", federate(aws.String(apitest.Allow("sqs:DeleteMessage", "*"))), no)
	who, err := jean.STS.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	if arn := *apitest.Must(t, who, err).Arn; arn != "arn:aws:sts::"+account+":federated-user/jean" {
		t.Errorf("jean is %s", arn)
	}

	// AssumeRole.
	role, err := root.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("worker"), Path: aws.String("/jobs/"), AssumeRolePolicyDocument: aws.String(apitest.Trusting("arn:aws:iam::" + account + ":user/bob"))})
	arn := apitest.Must(t, role, err).Role.Arn
	assume := func(a *actor, policy *string) (*actor, error) {
		out, err := a.STS.AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: arn, RoleSessionName: aws.String("s1"), Policy: policy, DurationSeconds: aws.Int32(900)})
		if err != nil {
			return nil, err
		}
		return root.Temporary(out.Credentials), nil
	}
	for _, a := range []*actor{eve, root} {
		if _, err := assume(a, nil); apitest.Code(err) != no {
			t.Errorf("a role is assumed by others than those it trusts: %v", err)
		}
	}
	worker, err := assume(bob, nil)
	apitest.Must(t, worker, err)
	want("a role without a policy", worker, no)
	_, err = root.IAM.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{RoleName: aws.String("worker"), PolicyName: aws.String("own"), PolicyDocument: aws.String(apitest.Allow("sqs:*", "*"))})
	apitest.Must(t, 0, err)
	want("a role's session", worker, "")
	limited, err := assume(bob, aws.String(apitest.Allow("sqs:ReceiveMessage", "*")))
	want("a role's session with a policy", apitest.Must(t, limited, err), no)
	fromSession, err := assume(session, nil)
	want("a role's session from a user's session", apitest.Must(t, fromSession, err), "")
	who, err = worker.STS.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	if id := apitest.Must(t, who, err); *id.Arn != "arn:aws:sts::"+account+":assumed-role/worker/s1" || *id.UserId != *role.Role.RoleId+":s1" {
		t.Errorf("the worker is %s, %s", *id.Arn, *id.UserId)
	}

	// A changed token, none, and another's.
	keys := apitest.Must(t, out, nil).Credentials
	for what, token := range map[string]string{
		"no token": "", "a changed token": "A" + (*keys.SessionToken)[1:], "the token of another key": *rootOut.Credentials.SessionToken,
	} {
		want(what, act(s, *keys.AccessKeyId, *keys.SecretAccessKey, token), unknown)
	}
	want("a long-term key with a token", act(s, s.Root().AccessKeyID, s.Root().Secret, *keys.SessionToken), unknown)

	// Time passes.
	for _, a := range []*actor{session, jean, worker} {
		want("a session in time", a, "")
	}
	passed.forward(15 * time.Minute)
	want("a user after a while", bob, "")
	for _, a := range []*actor{session, jean, worker} {
		if _, err := a.STS.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}); apitest.Code(err) != "ExpiredToken" {
			t.Errorf("an expired session asks STS who it is: %v", err)
		}
		want("an expired session", a, "ExpiredToken")
	}

	// A role that is no more, and one that was made again under its name.
	worker, err = assume(bob, nil)
	want("a role's new session", apitest.Must(t, worker, err), "")
	_, err = root.IAM.DeleteRolePolicy(t.Context(), &iam.DeleteRolePolicyInput{RoleName: aws.String("worker"), PolicyName: aws.String("own")})
	apitest.Must(t, 0, err)
	_, err = root.IAM.DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("worker")})
	apitest.Must(t, 0, err)
	want("a session of a role that is no more", worker, unknown)

	// A key that is inactive, active again, and deleted.
	for _, status := range []iamtypes.StatusType{"Inactive", "Active"} {
		_, err = root.IAM.UpdateAccessKey(t.Context(), &iam.UpdateAccessKeyInput{UserName: aws.String("bob"), AccessKeyId: &bobKey, Status: status})
		apitest.Must(t, 0, err)
		want("a key that is "+string(status), bob, map[iamtypes.StatusType]string{"Inactive": unknown}[status])
	}
	out, err = bob.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
	session = root.Temporary(apitest.Must(t, out, err).Credentials)
	used, err := root.IAM.GetAccessKeyLastUsed(t.Context(), &iam.GetAccessKeyLastUsedInput{AccessKeyId: &bobKey})
	if u := apitest.Must(t, used, err); *u.UserName != "bob" || *u.AccessKeyLastUsed.ServiceName != "sts" || *u.AccessKeyLastUsed.Region != "us-east-1" {
		t.Errorf("bob's key was used for %+v", u.AccessKeyLastUsed)
	}
	_, err = root.IAM.DeleteAccessKey(t.Context(), &iam.DeleteAccessKeyInput{UserName: aws.String("bob"), AccessKeyId: &bobKey})
	apitest.Must(t, 0, err)
	want("a revoked key", bob, unknown)
	want("the session of a user whose key is revoked", session, "")
	_, err = root.IAM.DeleteUserPolicy(t.Context(), &iam.DeleteUserPolicyInput{UserName: aws.String("bob"), PolicyName: aws.String("own")})
	apitest.Must(t, 0, err)
	want("the session of a user whose policy was taken", session, no)
	_, err = root.IAM.DeleteUser(t.Context(), &iam.DeleteUserInput{UserName: aws.String("bob")})
	apitest.Must(t, 0, err)
	want("the session of a user who is no more", session, unknown)
}

// What was made is there after a restart, and secrets are nowhere in the clear.
func TestUsersAreKept(t *testing.T) {
	t.Parallel()
	config := inMemory()
	config.InMemory, config.Data = false, filepath.Join(t.TempDir(), "data")
	s, stop := start(t, config)
	root := rootOf(s)
	q, err := root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
	queue := apitest.Must(t, q, err)
	_, key := root.User(t, "bob", apitest.Allow("sqs:*", allQueues))
	cred, _ := s.front.Keys.Lookup(key)
	out, err := act(s, key, cred.Secret, "").STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
	session := apitest.Must(t, out, err).Credentials
	url := func(s *Server) string { return s.Endpoint() + "/" + account + "/q" }
	apitest.Must(t, queue, stop())

	found := false
	err = filepath.WalkDir(config.Data, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		found = found || strings.Contains(string(text), "AmazonSQS") || strings.Contains(string(text), key)
		if strings.Contains(string(text), cred.Secret) {
			t.Errorf("%s has the secret in it", path)
		}
		return err
	})
	if err != nil || !found {
		t.Fatalf("nothing was found: %v", err)
	}

	s, stop = start(t, config)
	if err := act(s, key, cred.Secret, "").Send(t, url(s)); err != nil {
		t.Errorf("a user after a restart: %v", err)
	}
	if err := rootOf(s).Temporary(session).Send(t, url(s)); err != nil {
		t.Errorf("a session after a restart: %v", err)
	}
	used, err := rootOf(s).IAM.GetAccessKeyLastUsed(t.Context(), &iam.GetAccessKeyLastUsedInput{AccessKeyId: &key})
	if u := apitest.Must(t, used, err).AccessKeyLastUsed; u.LastUsedDate == nil || *u.ServiceName != "sqs" {
		t.Errorf("the key was used for %+v", u)
	}
	apitest.Must(t, 0, stop())

	master := filepath.Join(config.Data, MasterKeyFile)
	text, err := os.ReadFile(master)
	apitest.Must(t, text, err)
	for what, spoil := range map[string]func() error{
		"missing":             func() error { return os.Remove(master) },
		"read by others":      func() error { return os.Chmod(master, 0o644) },
		"cannot be decrypted": func() error { return os.WriteFile(master, []byte(strings.Repeat("0", 64)), 0o600) },
	} {
		apitest.Must(t, 0, os.WriteFile(master, text, 0o600))
		apitest.Must(t, 0, spoil())
		if s, err := Start(config); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("with a master key that is spoilt (%s) it starts: %v, %v", what, s, err)
		}
		_ = os.Remove(master)
	}
	apitest.Must(t, 0, os.WriteFile(master, text, 0o600))
	start(t, config)
}

// call makes a request of the Query protocol as it is written.
func call(t *testing.T, s *Server, service, form string, cred *identity.Credential) (status int, body string) {
	t.Helper()
	return apitest.Query(t, s.Endpoint(), service, form, cred)
}

// No operation of IAM, STS or the server's own is done for those who are unknown,
// have not signed, or have no permission. It says nothing to them either.
func TestNoOperationWithoutPermission(t *testing.T) {
	t.Parallel()
	s, _ := start(t, inMemory())
	root := rootOf(s)
	_, key := root.User(t, "eve", "")
	eve, _ := s.front.Keys.Lookup(key)
	_, other := root.User(t, "bob", "")
	roleOut, err := root.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: aws.String("r"), AssumeRolePolicyDocument: aws.String(apitest.Trusting("arn:aws:iam::" + account + ":user/bob"))})
	apitest.Must(t, roleOut, err)
	// Parameters with which any of the operations would do something.
	params := url.Values{
		"UserName": {"bob"}, "NewUserName": {"rob"}, "GroupName": {"g"}, "RoleName": {"r"}, "PolicyName": {"p"}, "AccessKeyId": {other},
		"Status": {"Inactive"}, "PolicyDocument": {apitest.Allow("sqs:*", "*")}, "AssumeRolePolicyDocument": {apitest.Trusting(account)},
		"PolicyArn": {"arn:aws:iam::aws:policy/AmazonSQSFullAccess"}, "PermissionsBoundary": {"arn:aws:iam::aws:policy/AmazonSQSFullAccess"},
		"VersionId": {"v1"}, "AccountAlias": {"alias"}, "PolicySourceArn": {"arn:aws:iam::" + account + ":user/bob"},
		"ActionNames.member.1": {"sqs:SendMessage"}, "PolicyInputList.member.1": {apitest.Allow("sqs:*", "*")},
		"Tags.member.1.Key": {"k"}, "Tags.member.1.Value": {"v"}, "TagKeys.member.1": {"k"},
		"Name": {"jean"}, "RoleArn": {"arn:aws:iam::" + account + ":role/r"}, "RoleSessionName": {"s1"},
	}
	stranger := identity.Credential{Identity: identity.Identity{AccessKeyID: "AKIAIOSFODNN7EXAMPLE"}, Secret: eve.Secret}
	free := map[string]bool{"GetCallerIdentity": true, "GetSessionToken": true}
	operations := 0
	for _, service := range s.front.Services[1:3] {
		for _, op := range service.Operations() {
			operations++
			params.Set("Action", op.Name)
			params.Set("Version", service.Versions[0])
			form := params.Encode()
			for who, c := range map[string]struct {
				cred *identity.Credential
				code string
			}{
				"nobody": {nil, "MissingAuthenticationToken"}, "an unknown key": {&stranger, "InvalidClientTokenId"}, "a user": {&eve, "AccessDenied"},
			} {
				status, body := call(t, s, service.Name, form, c.cred)
				if free[op.Name] && who == "a user" {
					if status != http.StatusOK {
						t.Errorf("%s for %s: %d %s", op.Name, who, status, body)
					}
					continue
				}
				if status != http.StatusForbidden || !strings.Contains(body, "<Code>"+c.code+"</Code>") || !strings.Contains(body, service.Name+".amazonaws.com/doc/") {
					t.Errorf("%s for %s: %d %s", op.Name, who, status, body)
				}
			}
		}
	}
	if operations < 73 {
		t.Errorf("only %d operations were tried", operations)
	}
	for _, op := range []string{"CreateAccount", "DeleteAccount", "ListAccounts"} {
		for who, c := range map[string]struct {
			cred *identity.Credential
			code string
		}{
			"nobody": {nil, "MissingAuthenticationToken"}, "an unknown key": {&stranger, "UnrecognizedClient"}, "a user": {&eve, "AccessDenied"},
			"another account's root": {pointer(s.credentials.Root(otherAccount)), "AccessDenied"},
		} {
			r, err := http.NewRequest(http.MethodPost, s.Endpoint(), strings.NewReader("{}"))
			apitest.Must(t, r, err)
			r.Header.Set("Content-Type", "application/x-amz-json-1.0")
			r.Header.Set("X-Amz-Target", "Sluice."+op)
			if c.cred != nil {
				apitest.SignAt(t, r, *c.cred, "sluice", "us-east-1", time.Now())
			}
			if status, body := apitest.Exchange(t, r); status != http.StatusForbidden || !strings.Contains(body, c.code) {
				t.Errorf("%s for %s: %d %s", op, who, status, body)
			}
		}
	}
	users, err := root.IAM.ListUsers(t.Context(), &iam.ListUsersInput{})
	if n := len(apitest.Must(t, users, err).Users); n != 2 {
		t.Errorf("there are %d users now", n)
	}
}

func pointer(c identity.Credential, _ bool) *identity.Credential { return &c }

// A request goes to the service that its signature is for, or else to the one
// that its version, its operation or its host names.
func TestServices(t *testing.T) {
	t.Parallel()
	root := shared.Root()
	for _, c := range []struct {
		form, host string
		scope      string // empty: not signed
		want       string
	}{
		{"Action=ListUsers&Version=2010-05-08", "", "iam", "<ListUsersResponse"},
		{"Action=ListUsers", "", "iam", "<ListUsersResponse"},
		{"Action=GetCallerIdentity&Version=2011-06-15", "", "sts", "<GetCallerIdentityResponse"},
		{"Action=ListQueues&Version=2012-11-05", "", "sqs", "<ListQueuesResponse"},
		{"Action=ListUsers&Version=2010-05-08", "", "sqs", "InvalidAction"},
		{"Action=ListUsers", "", "sqs", "InvalidAction"},
		{"Action=GetUser&Version=2010-05-08", "", "s3", "correct service: 'iam'"},
		{"Action=ListUsers&Version=2010-05-08", "", "", "https://iam.amazonaws.com/doc/2010-05-08/"},
		{"Action=GetCallerIdentity", "", "", "https://sts.amazonaws.com/doc/2011-06-15/"},
		{"Action=Nonsense", "iam.example.com", "", "https://iam.amazonaws.com/doc/2010-05-08/"},
		{"Action=Nonsense", "", "", "queue.amazonaws.com"},
		{"Action=ListQueues", "", "", "queue.amazonaws.com"},
	} {
		r, err := http.NewRequest(http.MethodPost, shared.Endpoint(), strings.NewReader(c.form))
		apitest.Must(t, r, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Host = c.host
		if c.scope != "" {
			apitest.SignAt(t, r, root, c.scope, "eu-north-7", time.Now())
		}
		if _, body := apitest.Exchange(t, r); !strings.Contains(body, c.want) {
			t.Errorf("%s for %q to %q: %s", c.form, c.scope, c.host, body)
		}
	}
}

// A queue's policy means the users and roles that had the names in it when it was
// set, whatever they are called later, and not others who get one of the names.
func TestPoliciesNamePeople(t *testing.T) {
	t.Parallel()
	config := inMemory()
	config.InMemory, config.Data = false, filepath.Join(t.TempDir(), "data")
	s, stop := start(t, config)
	root := rootOf(s)
	bob, key := root.User(t, "bob", "")
	villain, _ := root.User(t, "villain", apitest.Allow("*", "*"))
	q, err := root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
	apitest.Must(t, q, err)
	document := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[
		{"Sid":"bob","Effect":"Allow","Principal":{"AWS":["arn:aws:iam::%[1]s:user/bob"]},"Action":"sqs:SendMessage","Resource":"arn:aws:sqs:us-east-1:%[1]s:q"},
		{"Sid":"villain","Effect":"Deny","Principal":{"AWS":["arn:aws:iam::%[1]s:user/villain"]},"Action":"sqs:SendMessage","Resource":"arn:aws:sqs:us-east-1:%[1]s:q"}]}`, account)
	try := func(document string) error {
		_, err := root.SQS.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{QueueUrl: aws.String(s.Endpoint() + "/" + account + "/q"), Attributes: map[string]string{"Policy": document}})
		return err
	}
	set := func() {
		t.Helper()
		apitest.Must(t, 0, try(document))
	}
	rename := func(from, to string) {
		t.Helper()
		_, err := root.IAM.UpdateUser(t.Context(), &iam.UpdateUserInput{UserName: &from, NewUserName: &to, NewPath: aws.String("/elsewhere/")})
		apitest.Must(t, 0, err)
	}
	want := func(what string, a *actor, denied string) {
		t.Helper()
		if got := apitest.Code(a.Send(t, s.Endpoint()+"/"+account+"/q")); got != denied {
			t.Errorf("%s: %q, want %q", what, got, denied)
		}
	}
	set()
	want("bob", bob, "")
	want("villain", villain, "AccessDenied")
	rename("villain", "innocent")
	want("villain under another name", villain, "AccessDenied")
	rename("bob", "robert")
	want("bob under another name", bob, "")
	set()
	want("villain under another name, after the policy was set again as it was", villain, "AccessDenied")
	want("bob under another name, likewise", bob, "")
	if got := apitest.Code(try(strings.Replace(document, "user/bob", "user/nobody", 1))); got != "InvalidAttributeValue" {
		t.Errorf("a policy that names nobody: %q", got)
	}

	_, err = root.IAM.DeleteAccessKey(t.Context(), &iam.DeleteAccessKeyInput{UserName: aws.String("robert"), AccessKeyId: &key})
	apitest.Must(t, 0, err)
	_, err = root.IAM.DeleteUser(t.Context(), &iam.DeleteUserInput{UserName: aws.String("robert")})
	apitest.Must(t, 0, err)
	_, key = root.User(t, "bob", "")
	cred, _ := s.front.Keys.Lookup(key)
	apitest.Must(t, 0, stop())
	s, _ = start(t, config)
	root, bob = rootOf(s), act(s, key, cred.Secret, "")
	want("another bob", bob, "AccessDenied")
	set()
	want("the other bob, meant", bob, "")
}
