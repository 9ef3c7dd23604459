package sts_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// The trust policy of a role and the policies of the caller decide who may assume it, and for how long.
func TestAssumeRole(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	otherRoot, _ := s.RootOf(otherAccount)
	other := apitest.RootActor(s.Endpoint(), otherRoot)
	assuming := `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":["sts:AssumeRole","sts:TagSession"],"Resource":"*"}}`
	bob, _ := root.User(t, "bob", "")
	able, _ := root.User(t, "able", assuming)
	stranger, _ := other.User(t, "stranger", "")
	ally, _ := other.User(t, "ally", assuming)

	roles := 0
	role := func(principal, action, condition string) *string {
		t.Helper()
		roles++
		trust := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":%q},"Action":[%s],"Condition":{%s}}]}`, principal, action, condition)
		out, err := root.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{
			RoleName: aws.String(fmt.Sprint("r", roles)), AssumeRolePolicyDocument: &trust,
			MaxSessionDuration: aws.Int32(7200),
		})
		return apitest.Must(t, out, err).Role.Arn
	}
	const assume, tag = `"sts:AssumeRole"`, `"sts:AssumeRole","sts:TagSession"`
	iamARN := func(account, name string) string { return "arn:aws:iam::" + account + ":" + name }
	named := role(iamARN(account, "user/bob"), assume, "")
	delegated := role(account, assume, "")
	external := role(iamARN(account, "user/bob"), assume, `"StringEquals":{"sts:ExternalId":"42"}`)
	session := role(iamARN(account, "user/bob"), assume, `"StringLike":{"sts:RoleSessionName":"job-*"}`)
	tagged := role(iamARN(account, "user/bob"), tag, `"StringEquals":{"aws:RequestTag/team":"red"}`)
	abroad := role(otherAccount, assume, "")
	team := []ststypes.Tag{{Key: aws.String("team"), Value: aws.String("red")}}
	for _, c := range []struct {
		what string
		who  *apitest.Actor
		in   sts.AssumeRoleInput
		code string
	}{
		{"named", bob, sts.AssumeRoleInput{RoleArn: named}, ""},
		{"not named, though able", able, sts.AssumeRoleInput{RoleArn: named}, "AccessDenied"},
		{"left to the account, not able", bob, sts.AssumeRoleInput{RoleArn: delegated}, "AccessDenied"},
		{"left to the account, able", able, sts.AssumeRoleInput{RoleArn: delegated}, ""},
		{"no external id", bob, sts.AssumeRoleInput{RoleArn: external}, "AccessDenied"},
		{"another external id", bob, sts.AssumeRoleInput{RoleArn: external, ExternalId: aws.String("43")},
			"AccessDenied"},
		{"the external id", bob, sts.AssumeRoleInput{RoleArn: external, ExternalId: aws.String("42")}, ""},
		{"another session name", bob, sts.AssumeRoleInput{RoleArn: session}, "AccessDenied"},
		{"the session name", bob, sts.AssumeRoleInput{RoleArn: session, RoleSessionName: aws.String("job-1")}, ""},
		{"tags that are not allowed", bob, sts.AssumeRoleInput{RoleArn: named, Tags: team}, "AccessDenied"},
		{"tags that are allowed", bob, sts.AssumeRoleInput{RoleArn: tagged, Tags: team}, ""},
		{"another account's user, not able", stranger, sts.AssumeRoleInput{RoleArn: abroad}, "AccessDenied"},
		{"another account's user, able", ally, sts.AssumeRoleInput{RoleArn: abroad}, ""},
		{"another account's root", other, sts.AssumeRoleInput{RoleArn: abroad}, "AccessDenied"},
		{"no such role", bob, sts.AssumeRoleInput{RoleArn: aws.String(*named + "x")}, "AccessDenied"},
		{"not a role", bob, sts.AssumeRoleInput{RoleArn: aws.String(iamARN(account, "user/bob"))}, "AccessDenied"},
		{"two hours", bob, sts.AssumeRoleInput{RoleArn: named, DurationSeconds: aws.Int32(7200)}, ""},
		{"longer than the role allows", bob, sts.AssumeRoleInput{RoleArn: named, DurationSeconds: aws.Int32(7201)},
			"ValidationError"},
		{"a bad policy", bob, sts.AssumeRoleInput{RoleArn: named, Policy: aws.String("{}")}, "MalformedPolicyDocument"},
		{"a bad policy of a caller without permission", able,
			sts.AssumeRoleInput{RoleArn: named, Policy: aws.String("{}")}, "AccessDenied"},
	} {
		if c.in.RoleSessionName == nil {
			c.in.RoleSessionName = aws.String("s1")
		}
		if _, err := c.who.STS.AssumeRole(t.Context(), &c.in); apitest.Code(err) != c.code {
			t.Errorf("%s: %v, want %q", c.what, err, c.code)
		}
	}

	// A role that is assumed from another role's session lasts at most an hour.
	first := role(iamARN(account, "user/bob"), assume, "")
	_, err := root.IAM.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
		RoleName: aws.String(fmt.Sprint("r", roles)), PolicyName: aws.String("p"), PolicyDocument: &assuming,
	})
	apitest.Must(t, 0, err)
	out, err := bob.STS.AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: first, RoleSessionName: aws.String("s1")})
	chained := root.Temporary(apitest.Must(t, out, err).Credentials)
	for seconds, want := range map[int32]string{3600: "", 3601: "ValidationError"} {
		_, err := chained.STS.AssumeRole(t.Context(), &sts.AssumeRoleInput{
			RoleArn: delegated, RoleSessionName: aws.String("s2"), DurationSeconds: &seconds,
		})
		if apitest.Code(err) != want {
			t.Errorf("a chain of %d seconds: %v", seconds, err)
		}
	}

	// A new user with the name of a deleted one is not trusted.
	keys, err := root.IAM.ListAccessKeys(t.Context(), &iam.ListAccessKeysInput{UserName: aws.String("bob")})
	for _, k := range apitest.Must(t, keys, err).AccessKeyMetadata {
		_, err := root.IAM.DeleteAccessKey(t.Context(), &iam.DeleteAccessKeyInput{
			UserName: aws.String("bob"), AccessKeyId: k.AccessKeyId,
		})
		apitest.Must(t, 0, err)
	}
	_, err = root.IAM.DeleteUser(t.Context(), &iam.DeleteUserInput{UserName: aws.String("bob")})
	apitest.Must(t, 0, err)
	bob, _ = root.User(t, "bob", "")
	if _, err := bob.STS.AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: named, RoleSessionName: aws.String("s1"),
	}); apitest.Code(err) != "AccessDenied" {
		t.Errorf("another bob is trusted: %v", err)
	}

	// For a role and another account's queue, both accounts must allow the call.
	q, err := other.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("theirs")})
	url := *apitest.Must(t, q, err).QueueUrl
	out, err = ally.STS.AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: abroad, RoleSessionName: aws.String("s1"),
	})
	visitor := root.Temporary(apitest.Must(t, out, err).Credentials)
	if got := apitest.Code(visitor.Send(t, url)); got != "AccessDenied" {
		t.Errorf("a visitor sends without policies: %q", got)
	}
	_, err = other.SQS.AddPermission(t.Context(), &sqs.AddPermissionInput{
		QueueUrl: &url, Label: aws.String("l"), AWSAccountIds: []string{account}, Actions: []string{"SendMessage"},
	})
	apitest.Must(t, 0, err)
	if got := apitest.Code(visitor.Send(t, url)); got != "AccessDenied" {
		t.Errorf("a visitor sends without its own account's permission: %q", got)
	}
	_, err = root.IAM.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
		RoleName: aws.String("r6"), PolicyName: aws.String("p"),
		PolicyDocument: aws.String(apitest.Allow("sqs:SendMessage", "*")),
	})
	apitest.Must(t, 0, err)
	if err := visitor.Send(t, url); err != nil {
		t.Errorf("a visitor whom both accounts allow: %v", err)
	}
}
