package admin_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/aws/signature"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// Only an empty account can be deleted. The refusal names what it still has.
func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	const third = "333333333333"
	operator := apitest.RootActor(s.Endpoint(), s.Root())
	want := func(input string, status int, words string) {
		t.Helper()
		if got, body := call(t, s, operator, "DeleteAccount", input); got != status || !strings.Contains(body, words) {
			t.Errorf("%s: %d %s, want %d and %q", input, got, body, status, words)
		}
	}
	if status, body := call(t, s, operator, "CreateAccount", `{"AccountId":"`+third+`"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	cred, _ := s.RootOf(third)
	root := apitest.RootActor(s.Endpoint(), cred)
	q, err := root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	url := apitest.Must(t, q, err).QueueUrl
	for _, name := range []string{"bob", "eve"} {
		u, err := root.IAM.CreateUser(t.Context(), &iam.CreateUserInput{UserName: &name})
		apitest.Must(t, u, err)
	}
	_, err = root.IAM.CreateAccountAlias(t.Context(), &iam.CreateAccountAliasInput{AccountAlias: aws.String("shop")})
	apitest.Must(t, 0, err)
	want(`{"AccountId":"`+third+`"}`, http.StatusConflict,
		"still has 1 queue (orders in us-east-1), 2 users (bob, eve).")
	for _, name := range []string{"bob", "eve"} {
		_, err = root.IAM.DeleteUser(t.Context(), &iam.DeleteUserInput{UserName: &name})
		apitest.Must(t, 0, err)
	}
	want(`{"AccountId":"`+third+`"}`, http.StatusConflict, "still has 1 queue (orders in us-east-1).")
	_, err = root.SQS.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: url})
	apitest.Must(t, 0, err)

	want(`{}`, http.StatusBadRequest, "accountId")
	want(`{"AccountId":"shop"}`, http.StatusBadRequest, "12 digits")
	want(`{"AccountId":"`+apitest.Account+`"}`, http.StatusBadRequest, "cannot be deleted")
	want(`{"AccountId":"`+apitest.OtherAccount+`"}`, http.StatusBadRequest, "is named by --account")
	want(`{"AccountId":"444444444444"}`, http.StatusNotFound, "does not exist")
	want(`{"AccountId":"`+third+`"}`, http.StatusOK, "")
	want(`{"AccountId":"`+third+`"}`, http.StatusNotFound, "does not exist")
	if _, err = root.SQS.ListQueues(t.Context(), &sqs.ListQueuesInput{}); apitest.Code(err) != "InvalidClientTokenId" &&
		apitest.Code(err) != "UnrecognizedClientException" {
		t.Errorf("the key of a deleted account: %v", err)
	}
	_, err = operator.IAM.CreateAccountAlias(t.Context(), &iam.CreateAccountAliasInput{
		AccountAlias: aws.String("shop"),
	})
	apitest.Must(t, 0, err) // the alias is free again
}

// The next owner of an account number cannot restore queues that the previous one has deleted.
func TestDeletedQueuesOfADeletedAccount(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	const third = `{"AccountId":"333333333333"}`
	operator := apitest.RootActor(s.Endpoint(), s.Root())
	made := func() *apitest.Actor {
		t.Helper()
		if status, body := call(t, s, operator, "CreateAccount", third); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		cred, _ := s.RootOf("333333333333")
		return apitest.RootActor(s.Endpoint(), cred)
	}
	root := made()
	q, err := root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	_, err = root.SQS.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: apitest.Must(t, q, err).QueueUrl})
	apitest.Must(t, 0, err)
	if status, body := call(t, s, operator, "DeleteAccount", third); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := call(t, s, made(), "UndoDelete", `{"QueueName":"orders"}`); status != http.StatusBadRequest {
		t.Errorf("%d %s", status, body)
	}
}

// A later owner of an account's number gets nothing of it: no alarms and subscriptions, no events and metrics, and its
// sessions end.
func TestNothingOfADeletedAccountIsLeft(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	const third = "333333333333"
	operator := apitest.RootActor(s.Endpoint(), s.Root())
	made := func() *apitest.Actor {
		t.Helper()
		if status, body := call(t, s, operator, "CreateAccount", `{"AccountId":"`+third+`"}`); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		cred, _ := s.RootOf(third)
		return apitest.RootActor(s.Endpoint(), cred)
	}
	root := made()
	do := func(a *apitest.Actor, service, action string, params ...string) (status int, body string) {
		t.Helper()
		form := url.Values{"Action": {action}}
		for i := 0; i < len(params); i += 2 {
			form.Set(params[i], params[i+1])
		}
		version := map[string]string{"monitoring": "2010-08-01", "sts": "2011-06-15", "sns": "2010-03-31"}[service]
		form.Set("Version", version)
		r, err := http.NewRequest(http.MethodPost, s.Endpoint()+"/", strings.NewReader(form.Encode()))
		apitest.Must(t, r, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		signer := signature.Signer{
			AccessKeyID: a.Keys.AccessKeyID, Secret: a.Keys.SecretAccessKey, Token: a.Keys.SessionToken,
			Region: "us-east-1",
		}
		signer.Sign(r, service, []byte(form.Encode()), time.Now())
		return apitest.Exchange(t, r)
	}
	ok := func(status int, body string) string {
		t.Helper()
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		return body
	}
	ok(do(root, "monitoring", "PutMetricData", "Namespace", "shop", "MetricData.member.1.MetricName", "sold",
		"MetricData.member.1.Value", "1"))
	ok(do(root, "monitoring", "PutMetricAlarm", "AlarmName", "idle", "Namespace", "shop", "MetricName", "sold",
		"Statistic", "Sum", "Period", "60", "EvaluationPeriods", "1", "Threshold", "1",
		"ComparisonOperator", "LessThanThreshold"))
	session, err := root.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
	keys := apitest.Must(t, session, err).Credentials
	temporary := *root
	temporary.Keys = aws.Credentials{
		AccessKeyID: *keys.AccessKeyId, SecretAccessKey: *keys.SecretAccessKey, SessionToken: *keys.SessionToken,
	}
	ok(do(&temporary, "sts", "GetCallerIdentity"))

	status, body := call(t, s, operator, "DeleteAccount", `{"AccountId":"`+third+`"}`)
	if status != http.StatusConflict || !strings.Contains(body, "1 alarm (idle in us-east-1)") {
		t.Fatalf("%d %s", status, body)
	}
	ok(do(root, "monitoring", "DeleteAlarms", "AlarmNames.member.1", "idle"))
	time.Sleep(1500 * time.Millisecond) // events are written each second
	ok(call(t, s, operator, "DeleteAccount", `{"AccountId":"`+third+`"}`))

	again := made()
	if body := ok(do(again, "monitoring", "ListMetrics")); strings.Contains(body, "sold") {
		t.Errorf("metrics: %s", body)
	}
	if body := ok(do(again, "monitoring", "DescribeAlarmHistory")); strings.Contains(body, "idle") {
		t.Errorf("history: %s", body)
	}
	if status, body := do(&temporary, "sts", "GetCallerIdentity"); status == http.StatusOK {
		t.Errorf("the session of the former root: %s", body)
	}
}

// call calls an operation of the server's own API.
func call(t *testing.T, s *server.Server, caller *apitest.Actor, op, input string) (status int, body string) {
	t.Helper()
	return apitest.Exchange(t, request(t, s, caller, op, input))
}

// request returns the signed request of a call.
func request(t *testing.T, s *server.Server, caller *apitest.Actor, op, input string) *http.Request {
	t.Helper()
	method, path, header := http.MethodPost, "/",
		http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Target": {"Sluice." + op}}
	if op == "Backup" {
		method, path, input, header = http.MethodGet, server.BackupPath, "", nil
	}
	r, err := http.NewRequest(method, s.Endpoint()+path, strings.NewReader(input))
	apitest.Must(t, r, err)
	maps.Copy(r.Header, header)
	signer := signature.Signer{
		AccessKeyID: caller.Keys.AccessKeyID, Secret: caller.Keys.SecretAccessKey, Token: caller.Keys.SessionToken,
		Region: "us-east-1",
	}
	signer.Sign(r, admin.ServiceName, []byte(input), time.Now())
	return r
}

// A single server says that it is one.
func TestWithoutCluster(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	for _, op := range []string{"DescribeCluster", "DrainNode", "ListShardQueues", "RemoveNode"} {
		if status, body := call(t, s, root, op, "{}"); status != http.StatusConflict ||
			!strings.Contains(body, "This server is alone") {
			t.Errorf("%s: %d %s", op, status, body)
		}
	}
}

// Policies within the first account decide which users administer the server; its root needs none.
func TestWhoMayAdminister(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	everything := apitest.Allow("*", "*")
	monitor, _ := root.User(t, "monitor", `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":["sluice:Describe*","sluice:ListAccounts"],"Resource":"*"},
		{"Effect":"Deny","Action":"sluice:ListAccounts","Resource":"*","Condition":{"NotIpAddress":{"aws:SourceIp":"127.0.0.0/8"}}}]}`)
	backup, _ := root.User(t, "backup", apitest.Allow("sluice:Backup", "*"))
	scoped, _ := root.User(t, "scoped", apitest.Allow("sluice:*", "arn:aws:sqs:*:*:*"))
	administrator, _ := root.User(t, "admin", everything)
	nobody, _ := root.User(t, "nobody", apitest.Allow("sqs:*", "*"))
	cred, _ := s.RootOf(apitest.OtherAccount)
	otherRoot := apitest.RootActor(s.Endpoint(), cred)
	foreign, _ := otherRoot.User(t, "foreign", everything)
	role, err := root.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("ops"), AssumeRolePolicyDocument: aws.String(apitest.Trusting(apitest.Account)),
	})
	apitest.Must(t, role, err)
	_, err = root.IAM.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
		RoleName: aws.String("ops"), PolicyName: aws.String("p"),
		PolicyDocument: aws.String(apitest.Allow("sluice:DrainNode", "*"))})
	apitest.Must(t, 0, err)
	assumed, err := administrator.STS.AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: role.Role.Arn, RoleSessionName: aws.String("night")})
	apitest.Must(t, assumed, err)
	session, err := root.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
	apitest.Must(t, session, err)

	// Each is called with an input that changes nothing: a refusal other than 403 means that the call was allowed.
	operations := []string{
		"Backup", "CreateAccount", "DeleteAccount", "DeleteLimits", "DescribeCluster", "DescribeServer", "DrainNode",
		"GetLimits", "GetLogLevel",
		"ListAccounts", "ListLimits", "ListShardQueues", "ProfileServer", "RemoveNode", "RetireKey", "SetLimits",
		"SetLogLevel",
	}
	input := map[string]string{"CreateAccount": `{"AccountId":"x"}`, "DeleteAccount": `{"AccountId":"x"}`}
	for _, tc := range []struct {
		who string
		as  *apitest.Actor
		may []string
	}{
		{"the root", root, operations},
		{"the root's session", root.Temporary(session.Credentials), operations},
		{"an administrator", administrator, operations},
		{"a monitor", monitor, []string{"DescribeCluster", "DescribeServer", "ListAccounts"}},
		{"a caller that makes backups", backup, []string{"Backup"}},
		{"a role's session", root.Temporary(assumed.Credentials), []string{"DrainNode"}},
		{"a user for queues", scoped, nil},
		{"a user without", nobody, nil},
		{"another account's root", otherRoot, nil},
		{"another account's administrator", foreign, nil},
	} {
		for _, op := range operations {
			in := input[op]
			if in == "" {
				in = "{}"
			}
			status, body := call(t, s, tc.as, op, in)
			if want := slices.Contains(tc.may, op); (status != http.StatusForbidden) != want {
				t.Errorf("%s: %s: %d %s", tc.who, op, status, body)
			}
			if status == http.StatusForbidden &&
				!strings.Contains(body, "is not authorized to perform: sluice:"+op+" on resource: *") {
				t.Errorf("%s: %s: %s", tc.who, op, body)
			}
		}
	}
}

// A request that is unsigned, or signed with an unknown key, is refused for every operation.
func TestUnknownCallersAreRefused(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	for _, op := range admin.New(admin.Options{}).Operations() {
		for _, c := range []struct{ key, code string }{{"", "MissingAuthenticationToken"},
			{"AKIAIOSFODNN7EXAMPLE", "UnrecognizedClient"}} {
			r, err := http.NewRequest(http.MethodPost, s.Endpoint(), strings.NewReader("{}"))
			apitest.Must(t, r, err)
			r.Header.Set("Content-Type", "application/x-amz-json-1.0")
			r.Header.Set("X-Amz-Target", "Sluice."+op.Name)
			if c.key != "" {
				signer := signature.Signer{AccessKeyID: c.key, Secret: s.Root().Secret, Region: "us-east-1"}
				signer.Sign(r, admin.ServiceName, []byte("{}"), time.Now())
			}
			if status, body := apitest.Exchange(t, r); status != http.StatusForbidden ||
				!strings.Contains(body, c.code) {
				t.Errorf("%s with the key %q: %d %s", op.Name, c.key, status, body)
			}
		}
	}
}
