package sts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// Users, members of groups, sessions, federated users and roles: each caller with a key may do what the policies allow,
// and no more.
func TestActors(t *testing.T) {
	t.Parallel()
	var clock apitest.Clock
	config := servertest.InMemory()
	config.Now = clock.Now
	s, _ := servertest.Start(t, config)
	act := func(keyID, secret, token string) *apitest.Actor {
		return apitest.NewActor(s.Endpoint(), keyID, secret, token, clock.Now)
	}
	root := act(s.Root().AccessKeyID, s.Root().Secret, "")
	q, err := root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
	url := *apitest.Must(t, q, err).QueueUrl
	want := func(who string, a *apitest.Actor, denied string) {
		t.Helper()
		if got := apitest.Code(a.Send(t, url)); got != denied {
			t.Errorf("%s: %q, want %q", who, got, denied)
		}
	}
	const no, unknown = "AccessDenied", "InvalidClientTokenId"

	bob, bobKey := root.User(t, "bob", apitest.Allow("sqs:SendMessage", "arn:aws:sqs:*:*:*"))
	want("a user with a policy", bob, "")
	eve, _ := root.User(t, "eve", "")
	want("a user without a policy", eve, no)

	// A member of a group.
	_, err = root.IAM.CreateGroup(t.Context(), &iam.CreateGroupInput{GroupName: aws.String("senders")})
	apitest.Must(t, 0, err)
	_, err = root.IAM.AttachGroupPolicy(t.Context(), &iam.AttachGroupPolicyInput{
		GroupName: aws.String("senders"), PolicyArn: aws.String("arn:aws:iam::aws:policy/AmazonSQSFullAccess")})
	apitest.Must(t, 0, err)
	_, err = root.IAM.AddUserToGroup(t.Context(), &iam.AddUserToGroupInput{
		GroupName: aws.String("senders"), UserName: aws.String("eve"),
	})
	apitest.Must(t, 0, err)
	want("a member of a group", eve, "")
	_, err = root.IAM.RemoveUserFromGroup(t.Context(), &iam.RemoveUserFromGroupInput{
		GroupName: aws.String("senders"), UserName: aws.String("eve"),
	})
	apitest.Must(t, 0, err)
	want("a member no more", eve, no)

	// The sender of a message.
	received, err := root.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &url, MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{"SenderId"},
	})
	if id := apitest.Must(t, received, err).Messages[0].Attributes["SenderId"]; !strings.HasPrefix(id, "AIDA") {
		t.Errorf("the message is from %q", id)
	}

	// A boundary.
	_, err = root.IAM.PutUserPermissionsBoundary(t.Context(), &iam.PutUserPermissionsBoundaryInput{
		UserName:            aws.String("bob"),
		PermissionsBoundary: aws.String("arn:aws:iam::aws:policy/AmazonSQSReadOnlyAccess")})
	apitest.Must(t, 0, err)
	want("a user behind a boundary", bob, no)
	_, err = root.IAM.DeleteUserPermissionsBoundary(t.Context(), &iam.DeleteUserPermissionsBoundaryInput{
		UserName: aws.String("bob"),
	})
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
	_, err = root.IAM.PutUserPolicy(t.Context(), &iam.PutUserPolicyInput{
		UserName: aws.String("bob"), PolicyName: aws.String("own"), PolicyDocument: &document,
	})
	apitest.Must(t, 0, err)
	federate := func(policy *string) *apitest.Actor {
		t.Helper()
		out, err := bob.STS.GetFederationToken(t.Context(), &sts.GetFederationTokenInput{
			Name: aws.String("jean"), Policy: policy, DurationSeconds: aws.Int32(900),
		})
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
		RoleName: aws.String("worker"), Path: aws.String("/jobs/"),
		AssumeRolePolicyDocument: aws.String(apitest.Trusting("arn:aws:iam::" + account + ":user/bob"))})
	arn := apitest.Must(t, role, err).Role.Arn
	assume := func(a *apitest.Actor, policy *string) (*apitest.Actor, error) {
		out, err := a.STS.AssumeRole(t.Context(), &sts.AssumeRoleInput{
			RoleArn: arn, RoleSessionName: aws.String("s1"), Policy: policy, DurationSeconds: aws.Int32(900),
		})
		if err != nil {
			return nil, err
		}
		return root.Temporary(out.Credentials), nil
	}
	for _, a := range []*apitest.Actor{eve, root} {
		if _, err := assume(a, nil); apitest.Code(err) != no {
			t.Errorf("an untrusted caller assumes a role: %v", err)
		}
	}
	worker, err := assume(bob, nil)
	apitest.Must(t, worker, err)
	want("a role without a policy", worker, no)
	_, err = root.IAM.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
		RoleName: aws.String("worker"), PolicyName: aws.String("own"),
		PolicyDocument: aws.String(apitest.Allow("sqs:*", "*")),
	})
	apitest.Must(t, 0, err)
	want("a role's session", worker, "")
	limited, err := assume(bob, aws.String(apitest.Allow("sqs:ReceiveMessage", "*")))
	want("a role's session with a policy", apitest.Must(t, limited, err), no)
	fromSession, err := assume(session, nil)
	want("a role's session from a user's session", apitest.Must(t, fromSession, err), "")
	who, err = worker.STS.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	if id := apitest.Must(t, who, err); *id.Arn != "arn:aws:sts::"+account+":assumed-role/worker/s1" ||
		*id.UserId != *role.Role.RoleId+":s1" {
		t.Errorf("the worker is %s, %s", *id.Arn, *id.UserId)
	}

	// A changed token, no token, and another's token.
	keys := apitest.Must(t, out, nil).Credentials
	for what, token := range map[string]string{
		"no token": "", "a changed token": changed(*keys.SessionToken),
		"the token of another key": *rootOut.Credentials.SessionToken,
	} {
		want(what, act(*keys.AccessKeyId, *keys.SecretAccessKey, token), unknown)
	}
	want("a long-term key with a token", act(s.Root().AccessKeyID, s.Root().Secret, *keys.SessionToken), unknown)

	// Time passes.
	for _, a := range []*apitest.Actor{session, jean, worker} {
		want("a session in time", a, "")
	}
	clock.Forward(15 * time.Minute)
	want("a user after a while", bob, "")
	for _, a := range []*apitest.Actor{session, jean, worker} {
		if _, err := a.STS.GetCallerIdentity(t.Context(),
			&sts.GetCallerIdentityInput{}); apitest.Code(err) != "ExpiredToken" {
			t.Errorf("an expired session asks STS who it is: %v", err)
		}
		want("an expired session", a, "ExpiredToken")
	}

	// A deleted role, and one that was created again under its name.
	worker, err = assume(bob, nil)
	want("a role's new session", apitest.Must(t, worker, err), "")
	_, err = root.IAM.DeleteRolePolicy(t.Context(), &iam.DeleteRolePolicyInput{
		RoleName: aws.String("worker"), PolicyName: aws.String("own"),
	})
	apitest.Must(t, 0, err)
	_, err = root.IAM.DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("worker")})
	apitest.Must(t, 0, err)
	want("a session of a role that is no more", worker, unknown)

	// A key that is inactive, active again, and deleted.
	for _, status := range []iamtypes.StatusType{"Inactive", "Active"} {
		_, err = root.IAM.UpdateAccessKey(t.Context(), &iam.UpdateAccessKeyInput{
			UserName: aws.String("bob"), AccessKeyId: &bobKey, Status: status,
		})
		apitest.Must(t, 0, err)
		want("a key that is "+string(status), bob, map[iamtypes.StatusType]string{"Inactive": unknown}[status])
	}
	out, err = bob.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
	session = root.Temporary(apitest.Must(t, out, err).Credentials)
	used, err := root.IAM.GetAccessKeyLastUsed(t.Context(), &iam.GetAccessKeyLastUsedInput{AccessKeyId: &bobKey})
	if u := apitest.Must(t, used, err); *u.UserName != "bob" || *u.AccessKeyLastUsed.ServiceName != "sts" ||
		*u.AccessKeyLastUsed.Region != "us-east-1" {
		t.Errorf("bob's key was used for %+v", u.AccessKeyLastUsed)
	}
	_, err = root.IAM.DeleteAccessKey(t.Context(), &iam.DeleteAccessKeyInput{
		UserName: aws.String("bob"), AccessKeyId: &bobKey,
	})
	apitest.Must(t, 0, err)
	want("a revoked key", bob, unknown)
	want("the session of a user whose key is revoked", session, "")
	_, err = root.IAM.DeleteUserPolicy(t.Context(), &iam.DeleteUserPolicyInput{
		UserName: aws.String("bob"), PolicyName: aws.String("own"),
	})
	apitest.Must(t, 0, err)
	want("the session of a user whose policy was taken", session, no)
	_, err = root.IAM.DeleteUser(t.Context(), &iam.DeleteUserInput{UserName: aws.String("bob")})
	apitest.Must(t, 0, err)
	want("the session of a user who is no more", session, unknown)
}

// changed returns a token that differs in one character.
func changed(token string) string {
	if token[0] == 'A' {
		return "B" + token[1:]
	}
	return "A" + token[1:]
}
