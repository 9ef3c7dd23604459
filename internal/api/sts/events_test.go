package sts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	cttypes "github.com/aws/aws-sdk-go-v2/service/cloudtrail/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// event has the fields that these tests check in an event of a call that returns temporary keys.
type event struct {
	ReadOnly         bool
	ErrorCode        string
	SharedEventID    string
	ResponseElements struct {
		Credentials struct{ AccessKeyID, SecretAccessKey, SessionToken string }
		AssumedUser struct{ AssumedRoleID, ARN string } `json:"assumedRoleUser"`
	}
	Resources []struct{ ARN, AccountID, Type string }
}

// lookUp returns the only event of an operation in an account.
func lookUp(t *testing.T, who *apitest.Actor, endpoint, operation string) (e event, text string) {
	t.Helper()
	client := cloudtrail.New(cloudtrail.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return who.Keys, nil
		}),
	})
	eventually.Succeeds(t, func() error {
		out, err := client.LookupEvents(t.Context(), &cloudtrail.LookupEventsInput{
			LookupAttributes: []cttypes.LookupAttribute{{AttributeKey: "EventName", AttributeValue: &operation}},
		})
		if err != nil {
			return err
		}
		if len(out.Events) != 1 {
			return fmt.Errorf("there are %d events of %s", len(out.Events), operation)
		}
		text = *out.Events[0].CloudTrailEvent
		return json.Unmarshal([]byte(text), &e)
	})
	return e, text
}

// The event of a call that returns temporary keys has the id of the key and the role, and never a secret. The account
// of a role sees which caller of another account has assumed it.
func TestEventsOfTemporaryKeys(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	otherRoot, _ := s.RootOf(otherAccount)
	other := apitest.RootActor(s.Endpoint(), otherRoot)
	bob, _ := root.User(t, "bob", apitest.Allow("sts:AssumeRole", "*"))
	made, err := other.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("worker"), AssumeRolePolicyDocument: aws.String(apitest.Trusting(account)),
	})
	role := apitest.Must(t, made, err).Role
	out, err := bob.STS.AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: role.Arn, RoleSessionName: aws.String("s1"),
	})
	keys := apitest.Must(t, out, err).Credentials
	of, text := lookUp(t, root, s.Endpoint(), "AssumeRole")
	theirs, _ := lookUp(t, other, s.Endpoint(), "AssumeRole")
	for _, e := range []event{of, theirs} {
		r := e.ResponseElements
		if !e.ReadOnly || r.Credentials.AccessKeyID != *keys.AccessKeyId ||
			r.AssumedUser.ARN != *out.AssumedRoleUser.Arn || r.AssumedUser.AssumedRoleID != *role.RoleId+":s1" {
			t.Errorf("the event is %+v", e)
		}
		if len(e.Resources) != 1 || e.Resources[0].ARN != *role.Arn || e.Resources[0].Type != "AWS::IAM::Role" ||
			e.Resources[0].AccountID != otherAccount {
			t.Errorf("the resources are %+v", e.Resources)
		}
		if e.SharedEventID == "" || e.SharedEventID != of.SharedEventID {
			t.Errorf("the shared event id is %q", e.SharedEventID)
		}
	}
	session, err := bob.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
	apitest.Must(t, session, err)
	token, more := lookUp(t, root, s.Endpoint(), "GetSessionToken")
	if token.ResponseElements.Credentials.AccessKeyID != *session.Credentials.AccessKeyId {
		t.Errorf("the event is %+v", token)
	}
	for _, secret := range []string{*keys.SecretAccessKey, *keys.SessionToken, *session.Credentials.SecretAccessKey,
		*session.Credentials.SessionToken} {
		if strings.Contains(text+more, secret) {
			t.Errorf("a secret is in %s %s", text, more)
		}
	}
}

// A refused attempt is recorded only in the account of the caller.
func TestEventOfRefusedRole(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	otherRoot, _ := s.RootOf(otherAccount)
	other := apitest.RootActor(s.Endpoint(), otherRoot)
	bob, _ := root.User(t, "bob", "")
	made, err := other.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("worker"), AssumeRolePolicyDocument: aws.String(apitest.Trusting(account)),
	})
	role := apitest.Must(t, made, err).Role
	if _, err := bob.STS.AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: role.Arn, RoleSessionName: aws.String("s1"),
	}); apitest.Code(err) != "AccessDenied" {
		t.Fatal(err)
	}
	e, _ := lookUp(t, root, s.Endpoint(), "AssumeRole")
	if e.ErrorCode != "AccessDenied" || e.ResponseElements.Credentials.AccessKeyID != "" || len(e.Resources) != 0 ||
		e.SharedEventID != "" {
		t.Errorf("the event is %+v", e)
	}
}
