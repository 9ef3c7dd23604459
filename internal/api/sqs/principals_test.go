package sqs_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// A queue's policy means the users and roles that had its names when it was set, even after they are renamed, and not
// others that later get one of the names.
func TestPoliciesNamePeople(t *testing.T) {
	t.Parallel()
	config := servertest.OnDisk(filepath.Join(t.TempDir(), "data"))
	s, stop := servertest.Start(t, config)
	root := apitest.RootActor(s.Endpoint(), s.Root())
	bob, key := root.User(t, "bob", "")
	villain, _ := root.User(t, "villain", apitest.Allow("*", "*"))
	q, err := root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
	apitest.Must(t, q, err)
	document := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[
		{"Sid":"bob","Effect":"Allow","Principal":{"AWS":["arn:aws:iam::%[1]s:user/bob"]},"Action":"sqs:SendMessage","Resource":"arn:aws:sqs:us-east-1:%[1]s:q"},
		{"Sid":"villain","Effect":"Deny","Principal":{"AWS":["arn:aws:iam::%[1]s:user/villain"]},"Action":"sqs:SendMessage","Resource":"arn:aws:sqs:us-east-1:%[1]s:q"}]}`, account)
	try := func(document string) error {
		_, err := root.SQS.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
			QueueUrl:   aws.String(s.Endpoint() + "/" + account + "/q"),
			Attributes: map[string]string{"Policy": document},
		})
		return err
	}
	set := func() {
		t.Helper()
		apitest.Must(t, 0, try(document))
	}
	rename := func(from, to string) {
		t.Helper()
		_, err := root.IAM.UpdateUser(t.Context(), &iam.UpdateUserInput{
			UserName: &from, NewUserName: &to, NewPath: aws.String("/elsewhere/"),
		})
		apitest.Must(t, 0, err)
	}
	want := func(what string, a *apitest.Actor, denied string) {
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
	if got := apitest.Code(try(strings.Replace(document, "user/bob", "user/nobody",
		1))); got != "InvalidAttributeValue" {
		t.Errorf("a policy that names an unknown user: %q", got)
	}

	_, err = root.IAM.DeleteAccessKey(t.Context(), &iam.DeleteAccessKeyInput{
		UserName: aws.String("robert"), AccessKeyId: &key,
	})
	apitest.Must(t, 0, err)
	_, err = root.IAM.DeleteUser(t.Context(), &iam.DeleteUserInput{UserName: aws.String("robert")})
	apitest.Must(t, 0, err)
	bob, key = root.User(t, "bob", "")
	apitest.Must(t, 0, stop())
	s, _ = servertest.Start(t, config)
	root, bob = apitest.RootActor(s.Endpoint(), s.Root()),
		apitest.NewActor(s.Endpoint(), key, bob.Keys.SecretAccessKey, "", nil)
	want("another bob", bob, "AccessDenied")
	set()
	want("the other bob, meant", bob, "")
}
