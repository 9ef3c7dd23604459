package iam_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// Conditions see the boundary and the tags of a request's target, and the boundary that a request sets.
func TestConditionsOnTheTarget(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	const x = "arn:aws:iam::aws:policy/AmazonSQSFullAccess"
	const y = "arn:aws:iam::aws:policy/IAMFullAccess"
	ctx := t.Context()
	trust := aws.String(apitest.Trusting(account))
	for name, boundary := range map[string]*string{"bounded": aws.String(x), "free": nil, "otherwise": aws.String(y)} {
		u, err := root.IAM.CreateUser(ctx,
			&iam.CreateUserInput{UserName: &name, PermissionsBoundary: boundary, Tags: []types.Tag{
				{Key: aws.String("Protected"), Value: aws.String("true")}}})
		apitest.Must(t, u, err)
		r, err := root.IAM.CreateRole(ctx, &iam.CreateRoleInput{
			RoleName: &name, PermissionsBoundary: boundary, AssumeRolePolicyDocument: trust,
		})
		apitest.Must(t, r, err)
	}
	document := aws.String(apitest.Allow("sqs:*", "*"))
	calls := map[string]func(a *apitest.Actor, name *string) error{
		"PutUserPolicy": func(a *apitest.Actor, name *string) error {
			return apitest.Second(a.IAM.PutUserPolicy(ctx, &iam.PutUserPolicyInput{
				UserName: name, PolicyName: aws.String("p"), PolicyDocument: document,
			}))
		},
		"DeleteUserPolicy": func(a *apitest.Actor, name *string) error {
			return apitest.Second(a.IAM.DeleteUserPolicy(ctx, &iam.DeleteUserPolicyInput{
				UserName: name, PolicyName: aws.String("p"),
			}))
		},
		"AttachUserPolicy": func(a *apitest.Actor, name *string) error {
			return apitest.Second(a.IAM.AttachUserPolicy(ctx, &iam.AttachUserPolicyInput{
				UserName: name, PolicyArn: aws.String(x),
			}))
		},
		"DetachUserPolicy": func(a *apitest.Actor, name *string) error {
			return apitest.Second(a.IAM.DetachUserPolicy(ctx, &iam.DetachUserPolicyInput{
				UserName: name, PolicyArn: aws.String(x),
			}))
		},
		"PutRolePolicy": func(a *apitest.Actor, name *string) error {
			return apitest.Second(a.IAM.PutRolePolicy(ctx, &iam.PutRolePolicyInput{
				RoleName: name, PolicyName: aws.String("p"), PolicyDocument: document,
			}))
		},
		"DeleteRolePolicy": func(a *apitest.Actor, name *string) error {
			return apitest.Second(a.IAM.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{
				RoleName: name, PolicyName: aws.String("p"),
			}))
		},
		"AttachRolePolicy": func(a *apitest.Actor, name *string) error {
			return apitest.Second(a.IAM.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{
				RoleName: name, PolicyArn: aws.String(x),
			}))
		},
		"DetachRolePolicy": func(a *apitest.Actor, name *string) error {
			return apitest.Second(a.IAM.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{
				RoleName: name, PolicyArn: aws.String(x),
			}))
		},
		"DeleteUserPermissionsBoundary": func(a *apitest.Actor, name *string) error {
			return apitest.Second(a.IAM.DeleteUserPermissionsBoundary(ctx, &iam.DeleteUserPermissionsBoundaryInput{
				UserName: name,
			}))
		},
		"DeleteRolePermissionsBoundary": func(a *apitest.Actor, name *string) error {
			return apitest.Second(a.IAM.DeleteRolePermissionsBoundary(ctx, &iam.DeleteRolePermissionsBoundaryInput{
				RoleName: name,
			}))
		},
		// what it sets counts, not what there is
		"PutUserPermissionsBoundary": func(a *apitest.Actor, name *string) error {
			return apitest.Second(a.IAM.PutUserPermissionsBoundary(ctx, &iam.PutUserPermissionsBoundaryInput{
				UserName: name, PermissionsBoundary: aws.String(y),
			}))
		},
		"CreateAccessKey": func(a *apitest.Actor, name *string) error {
			return apitest.Second(a.IAM.CreateAccessKey(ctx, &iam.CreateAccessKeyInput{UserName: name}))
		},
	}
	denies := func(condition string) string {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"iam:*","Resource":"*"},
			{"Effect":"Deny","Action":"iam:*","Resource":"*","Condition":{` + condition + `}}]}`
	}
	denied := func(a *apitest.Actor, op, name string) bool {
		return apitest.Code(calls[op](a, &name)) == "AccessDenied"
	}

	careful, _ := root.User(t, "careful", denies(`"StringEquals":{"iam:PermissionsBoundary":"`+x+`"}`))
	for op := range calls {
		_, err := root.IAM.PutUserPermissionsBoundary(ctx, &iam.PutUserPermissionsBoundaryInput{
			UserName: aws.String("bounded"), PermissionsBoundary: aws.String(x),
		})
		apitest.Must(t, 0, err)
		// Where a request sets a boundary, conditions see that one; for other actions the key is missing.
		want := op != "PutUserPermissionsBoundary" && op != "CreateAccessKey"
		if got := denied(careful, op, "bounded"); got != want {
			t.Errorf("%s of a target that has the boundary: denied %t", op, got)
		}
		for _, name := range []string{"free", "otherwise"} {
			if op != "PutUserPermissionsBoundary" && denied(careful, op, name) {
				t.Errorf("%s of %s was denied", op, name)
			}
		}
	}

	tagged, _ := root.User(t, "tagged", denies(`"StringEquals":{"iam:ResourceTag/protected":"true"}`))
	unnamed, _ := root.User(t, "unnamed", denies(`"StringEquals":{"aws:ResourceTag/protected":"true"}`))
	for op := range calls {
		if !strings.Contains(op, "Role") && (!denied(tagged, op, "free") || !denied(unnamed, op, "free")) {
			t.Errorf("%s of a user with the tag was not denied", op)
		}
	}

	// The pattern of AWS's guide: a delegate may give permissions only to users that have the boundary, and create only
	// such users.
	delegate, _ := root.User(t, "delegate", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Resource":"*",
		"Action":["iam:CreateUser","iam:AttachUserPolicy","iam:DetachUserPolicy","iam:PutUserPolicy","iam:DeleteUserPolicy","iam:PutUserPermissionsBoundary"],
		"Condition":{"StringEquals":{"iam:PermissionsBoundary":"`+x+`"}}}]}`)
	_, err := root.IAM.PutUserPermissionsBoundary(ctx, &iam.PutUserPermissionsBoundaryInput{
		UserName: aws.String("bounded"), PermissionsBoundary: aws.String(x),
	})
	apitest.Must(t, 0, err)
	_, err = delegate.IAM.CreateUser(ctx, &iam.CreateUserInput{UserName: aws.String("new")})
	if apitest.Code(err) != "AccessDenied" {
		t.Errorf("a user without the boundary: %v", err)
	}
	_, err = delegate.IAM.CreateUser(ctx, &iam.CreateUserInput{
		UserName: aws.String("new"), PermissionsBoundary: aws.String(x),
	})
	apitest.Must(t, 0, err)
	for _, op := range []string{"AttachUserPolicy", "PutUserPolicy", "DetachUserPolicy", "DeleteUserPolicy"} {
		for name, want := range map[string]bool{"bounded": false, "new": false, "free": true, "otherwise": true} {
			if denied(delegate, op, name) != want {
				t.Errorf("a delegate: %s of %s: denied %t", op, name, !want)
			}
		}
	}
	for _, op := range []string{"DeleteUserPermissionsBoundary", "PutUserPermissionsBoundary"} {
		if !denied(delegate, op, "new") {
			t.Errorf("a delegate: %s", op)
		}
	}
}
