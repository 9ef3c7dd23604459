package sts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// factor is a second factor of a user with unused codes: each code is valid once.
type factor struct{ serial, code *string }

// newFactor returns a second factor of the user.
func newFactor(t *testing.T, root *apitest.Actor, user, name string) factor {
	t.Helper()
	made, err := root.IAM.CreateVirtualMFADevice(t.Context(), &iam.CreateVirtualMFADeviceInput{
		VirtualMFADeviceName: &name,
	})
	device := apitest.Must(t, made, err).VirtualMFADevice
	now := time.Now()
	code := func(after time.Duration) *string {
		return aws.String(apitest.Code6(t, string(device.Base32StringSeed), now.Add(after)))
	}
	_, err = root.IAM.EnableMFADevice(t.Context(), &iam.EnableMFADeviceInput{
		UserName: &user, SerialNumber: device.SerialNumber, AuthenticationCode1: code(-30 * time.Second),
		AuthenticationCode2: code(0),
	})
	apitest.Must(t, 0, err)
	return factor{device.SerialNumber, code(30 * time.Second)}
}

// A code of a second factor is valid once, for its user. Keys of GetSessionToken record it, and a role can be assumed
// with it.
func TestSecondFactor(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	ann, _ := root.User(t, "ann", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"iam:GetUser","Resource":"*"},
		{"Effect":"Allow","Action":"sqs:CreateQueue","Resource":"*","Condition":{"Bool":{"aws:MultiFactorAuthPresent":"true"},"NumericLessThan":{"aws:MultiFactorAuthAge":"3600"}}}]}`)
	eve, _ := root.User(t, "eve", "")
	first, second, hers := newFactor(t, root, "ann", "first"), newFactor(t, root, "ann", "second"),
		newFactor(t, root, "eve", "hers")
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":["arn:aws:iam::` + account + `:user/ann"]},"Action":"sts:AssumeRole",
		"Condition":{"Bool":{"aws:MultiFactorAuthPresent":"true"}}}]}`
	made, err := root.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("careful"), AssumeRolePolicyDocument: &trust,
	})
	role := apitest.Must(t, made, err).Role.Arn
	session := func(who *apitest.Actor, serial, code *string) (*sts.GetSessionTokenOutput, error) {
		return who.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{SerialNumber: serial, TokenCode: code})
	}
	assume := func(who *apitest.Actor, serial, code *string) (*sts.AssumeRoleOutput, error) {
		return who.STS.AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: role, RoleSessionName: aws.String("s1"),
			SerialNumber: serial, TokenCode: code})
	}
	create := func(who *apitest.Actor) error {
		_, err := who.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
		return err
	}
	look := func(who *apitest.Actor) error {
		_, err := who.IAM.GetUser(t.Context(), &iam.GetUserInput{})
		return err
	}
	refused := func(what string, err error, code, says string) {
		t.Helper()
		if got := apitest.Code(err); got != code || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s: %s", what, err, code, says)
		}
	}
	const (
		denied  = "AccessDenied"
		wrong   = "MultiFactorAuthentication failed with invalid MFA one time pass code. "
		unknown = "MultiFactorAuthentication failed, unable to validate MFA code.  Please verify your MFA serial number is valid and associated with this user."
	)
	_, err = session(ann, first.serial, aws.String("000000"))
	refused("a wrong code", err, denied, wrong)
	_, err = session(ann, hers.serial, hers.code)
	refused("another's", err, denied, unknown)
	_, err = session(ann, aws.String("arn:aws:iam::"+account+":mfa/none"), first.code)
	refused("none", err, denied, unknown)
	_, err = session(ann, first.serial, nil)
	refused("no code", err, denied, unknown)
	_, err = session(root, first.serial, first.code)
	refused("a root", err, denied, unknown)
	_, err = assume(ann, nil, nil)
	refused("the role without a code", err, denied, "is not authorized to perform: sts:AssumeRole")
	_, err = assume(eve, hers.serial, hers.code)
	refused("the role for another", err, denied, "is not authorized to perform: sts:AssumeRole")

	out, err := session(ann, nil, nil)
	plain := root.Temporary(apitest.Must(t, out, err).Credentials)
	refused("a queue without a code", create(plain), denied, "")
	refused("IAM without a code", look(plain), "InvalidClientTokenId", "")
	out, err = session(ann, first.serial, first.code)
	vouched := root.Temporary(apitest.Must(t, out, err).Credentials)
	refused("a queue", create(vouched), "", "")
	refused("IAM", look(vouched), "", "")
	_, err = assume(vouched, nil, nil)
	refused("the role in such a session", err, "", "")
	_, err = session(ann, first.serial, first.code)
	refused("a code twice", err, denied, wrong)
	_, err = assume(ann, second.serial, second.code)
	refused("the role", err, "", "")
}
