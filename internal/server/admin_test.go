package server

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/aws/signature"
)

// An account is deleted only when it has nothing any more, and whoever asks is told what it has.
func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	s, _ := start(t, inMemory())
	const third = "333333333333"
	want := func(input string, status int, words string) {
		t.Helper()
		if got, body := callAdmin(t, s, "DeleteAccount", input); got != status || !strings.Contains(body, words) {
			t.Errorf("%s: %d %s, want %d and %q", input, got, body, status, words)
		}
	}
	if status, body := callAdmin(t, s, "CreateAccount", `{"AccountId":"`+third+`"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	cred, _ := s.credentials.Root(third)
	root := act(s, cred.AccessKeyID, cred.Secret, "")
	q, err := root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	url := apitest.Must(t, q, err).QueueUrl
	for _, name := range []string{"bob", "eve"} {
		u, err := root.IAM.CreateUser(t.Context(), &iam.CreateUserInput{UserName: &name})
		apitest.Must(t, u, err)
	}
	_, err = root.IAM.CreateAccountAlias(t.Context(), &iam.CreateAccountAliasInput{AccountAlias: aws.String("shop")})
	apitest.Must(t, 0, err)
	want(`{"AccountId":"`+third+`"}`, http.StatusConflict, "still has 1 queue (orders in us-east-1), 2 users (bob, eve).")
	for _, name := range []string{"bob", "eve"} {
		_, err = root.IAM.DeleteUser(t.Context(), &iam.DeleteUserInput{UserName: &name})
		apitest.Must(t, 0, err)
	}
	want(`{"AccountId":"`+third+`"}`, http.StatusConflict, "still has 1 queue (orders in us-east-1).")
	_, err = root.SQS.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: url})
	apitest.Must(t, 0, err)

	want(`{}`, http.StatusBadRequest, "accountId")
	want(`{"AccountId":"shop"}`, http.StatusBadRequest, "12 digits")
	want(`{"AccountId":"`+account+`"}`, http.StatusBadRequest, "cannot be deleted")
	want(`{"AccountId":"444444444444"}`, http.StatusNotFound, "does not exist")
	want(`{"AccountId":"`+third+`"}`, http.StatusOK, "")
	want(`{"AccountId":"`+third+`"}`, http.StatusNotFound, "does not exist")
	if _, err = root.SQS.ListQueues(t.Context(), &sqs.ListQueuesInput{}); apitest.Code(err) != "InvalidClientTokenId" && apitest.Code(err) != "UnrecognizedClientException" {
		t.Errorf("the key of a deleted account: %v", err)
	}
	if alias := s.directory.Alias(third); alias != "" {
		t.Errorf("its alias %s is still taken", alias)
	}
}

// signed is a caller of the server's own API.
type signed struct {
	s      *Server
	signer signature.Signer
}

func signedBy(s *Server, keyID, secret, token string) signed {
	return signed{s, signature.Signer{AccessKeyID: keyID, Secret: secret, Token: token, Region: "us-east-1"}}
}

func signedTemporarily(s *Server, c *ststypes.Credentials) signed {
	return signedBy(s, *c.AccessKeyId, *c.SecretAccessKey, *c.SessionToken)
}

func (c signed) call(t *testing.T, op, input string) (int, string) {
	t.Helper()
	if op == backupOperation {
		return c.send(t, http.MethodGet, BackupPath, "", nil)
	}
	header := http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Target": {"Sluice." + op}}
	return c.send(t, http.MethodPost, "/", input, header)
}

func (c signed) send(t *testing.T, method, path, body string, header http.Header) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, c.s.Endpoint()+path, strings.NewReader(body))
	apitest.Must(t, r, err)
	maps.Copy(r.Header, header)
	c.signer.Sign(r, admin.ServiceName, []byte(body), c.s.config.now())
	return apitest.Exchange(t, r)
}

// Who administers the server is decided by policies, within the first account; its root may without.
func TestWhoMayAdminister(t *testing.T) {
	t.Parallel()
	s, _ := start(t, inMemory())
	root := rootOf(s)
	everything := apitest.Allow("*", "*")
	keyed := func(id string) signed {
		cred, _ := s.front.Keys.Lookup(id)
		return signedBy(s, id, cred.Secret, "")
	}
	_, monitorKey := root.User(t, "monitor", `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":["sluice:Describe*","sluice:ListAccounts"],"Resource":"*"},
		{"Effect":"Deny","Action":"sluice:ListAccounts","Resource":"*","Condition":{"NotIpAddress":{"aws:SourceIp":"127.0.0.0/8"}}}]}`)
	_, backupKey := root.User(t, "backup", apitest.Allow("sluice:Backup", "*"))
	_, scopedKey := root.User(t, "scoped", apitest.Allow("sluice:*", "arn:aws:sqs:*:*:*"))
	_, adminKey := root.User(t, "admin", everything)
	_, nobodyKey := root.User(t, "nobody", apitest.Allow("sqs:*", "*"))
	foreignRoot, _ := s.credentials.Root(otherAccount)
	_, foreignKey := act(s, foreignRoot.AccessKeyID, foreignRoot.Secret, "").User(t, "foreign", everything)
	role, err := root.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: aws.String("ops"), AssumeRolePolicyDocument: aws.String(apitest.Trusting(account))})
	apitest.Must(t, role, err)
	_, err = root.IAM.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
		RoleName: aws.String("ops"), PolicyName: aws.String("p"), PolicyDocument: aws.String(apitest.Allow("sluice:DrainNode", "*"))})
	apitest.Must(t, 0, err)
	assumed, err := act(s, adminKey, keyed(adminKey).signer.Secret, "").STS.AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: role.Role.Arn, RoleSessionName: aws.String("night")})
	apitest.Must(t, assumed, err)
	session, err := root.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
	apitest.Must(t, session, err)

	// Each is called with an input that makes nothing: what is refused otherwise than with 403 was allowed.
	operations := []string{"Backup", "CreateAccount", "DeleteAccount", "DescribeCluster", "DrainNode", "ListAccounts", "ListShardQueues", "RemoveNode"}
	input := map[string]string{"CreateAccount": `{"AccountId":"x"}`, "DeleteAccount": `{"AccountId":"x"}`}
	for _, tc := range []struct {
		who string
		as  signed
		may []string
	}{
		{"the root", signedBy(s, s.Root().AccessKeyID, s.Root().Secret, ""), operations},
		{"the root's session", signedTemporarily(s, session.Credentials), operations},
		{"an administrator", keyed(adminKey), operations},
		{"a monitor", keyed(monitorKey), []string{"DescribeCluster", "ListAccounts"}},
		{"who makes backups", keyed(backupKey), []string{"Backup"}},
		{"a role's session", signedTemporarily(s, assumed.Credentials), []string{"DrainNode"}},
		{"a user for queues", keyed(scopedKey), nil},
		{"a user without", keyed(nobodyKey), nil},
		{"another account's root", signedBy(s, foreignRoot.AccessKeyID, foreignRoot.Secret, ""), nil},
		{"another account's administrator", keyed(foreignKey), nil},
	} {
		for _, op := range operations {
			in := input[op]
			if in == "" {
				in = "{}"
			}
			status, body := tc.as.call(t, op, in)
			if want := slices.Contains(tc.may, op); (status != http.StatusForbidden) != want {
				t.Errorf("%s: %s: %d %s", tc.who, op, status, body)
			}
			if status == http.StatusForbidden && !strings.Contains(body, "is not authorized to perform: sluice:"+op+" on resource: *") {
				t.Errorf("%s: %s: %s", tc.who, op, body)
			}
		}
	}
}
