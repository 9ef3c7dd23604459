package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// usesKeys is a policy that allows everything in SQS, SNS and Sluice, and some actions with keys.
func usesKeys(effect, actions, key string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["sqs:*","sns:*","sluice:*"],"Resource":"*"},
		{"Effect":%q,"Action":[%s],"Resource":%q}]}`, effect, actions, key)
}

// The key that a queue or topic names needs its own permissions, as on AWS, and serves its own account only. An AWS
// managed key needs none, but can be denied.
func TestKeyAccess(t *testing.T) {
	t.Parallel()
	s, _ := start(t, encrypted(t.TempDir()))
	root := apitest.RootActor(s.Endpoint(), s.Root())
	guest, _ := s.accounts.credentials.Root(otherAccount)
	id := s.secrecy.ring.First().ID()
	arn := "arn:aws:kms:us-east-1:" + account + ":key/" + id
	queue := func(name, key string) string {
		t.Helper()
		policy := `{"Statement":` + allowing(otherAccount, "sqs:*", "*", "") + `}`
		out, err := root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{
			QueueName: &name, Attributes: map[string]string{"KmsMasterKeyId": key, "Policy": policy},
		})
		return *apitest.Must(t, out, err).QueueUrl
	}
	queues := map[string]string{
		"id": queue("id", id), "arn": queue("arn", arn), "alias": queue("alias", "alias/aws/sqs"),
		"none": queue("none", ""),
	}
	user := func(name, policy string) *apitest.Actor {
		t.Helper()
		a, _ := root.User(t, name, policy)
		return a
	}
	const both = `"kms:GenerateDataKey","kms:Decrypt"`
	for name, c := range map[string]struct {
		*apitest.Actor
		may string // with permission to send and receive, and to receive only
	}{
		"root":     {root, "id arn alias none -"},
		"sqs only": {user("plain", apitest.Allow("sqs:*", "*")), "alias none -"},
		"both":     {user("both", usesKeys("Allow", both, arn)), "id arn alias none -"},
		"wildcard": {user("wildcard", usesKeys("Allow", `"kms:*"`, "*")), "id arn alias none -"},
		"decrypt":  {user("decrypt", usesKeys("Allow", `"kms:Decrypt"`, arn)), "alias none - id arn"},
		"another":  {user("another", usesKeys("Allow", both, arn+"0")), "alias none -"},
		"denied":   {user("denied", usesKeys("Deny", both, "*")), "none -"},
		"guest":    {apitest.RootActor(s.Endpoint(), guest), "none -"},
	} {
		uses, reads, _ := strings.Cut(c.may, "-")
		for queue, url := range queues {
			_, err := c.SQS.SendMessage(t.Context(), &sqs.SendMessageInput{
				QueueUrl: &url, MessageBody: aws.String("m"),
			})
			checkKeyAccess(t, name+" sends to "+queue, err, strings.Contains(uses, queue))
			_, err = c.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url})
			checkKeyAccess(t, name+" receives from "+queue, err, strings.Contains(uses+reads, queue))
		}
	}

	made, err := root.SNS.CreateTopic(t.Context(), &sns.CreateTopicInput{
		Name: aws.String("t"), Attributes: map[string]string{"KmsMasterKeyId": id},
	})
	topic := apitest.Must(t, made, err).TopicArn
	for name, may := range map[string]bool{"plain-sns": false, "both-sns": true} {
		a := user(name, map[bool]string{false: apitest.Allow("sns:*", "*"), true: usesKeys("Allow", both, arn)}[may])
		_, err := a.SNS.Publish(t.Context(), &sns.PublishInput{TopicArn: topic, Message: aws.String("m")})
		checkKeyAccess(t, name+" publishes", err, may)
	}
}

// A move needs the permissions of a receive and a send, and a move of dead letters those of their source queues: no
// message leaves a queue with a key through another one. The refusal is not one of KMS, which move tasks do not have.
func TestMovesTakeKeys(t *testing.T) {
	t.Parallel()
	s, _ := start(t, encrypted(t.TempDir()))
	root := apitest.RootActor(s.Endpoint(), s.Root())
	queue := func(name, key, letters string) (arn string) {
		t.Helper()
		attributes := map[string]string{"KmsMasterKeyId": key}
		if letters != "" {
			attributes["RedrivePolicy"] = `{"deadLetterTargetArn":"` + letters + `","maxReceiveCount":"1"}`
		}
		out, err := root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
		apitest.Must(t, out, err)
		return "arn:aws:sqs:us-east-1:" + account + ":" + name
	}
	key := s.secrecy.ring.First().ID()
	locked, open := queue("locked", key, ""), queue("open", "", "")
	letters, plain := queue("letters", "", ""), queue("plain", "", "")
	queue("from-locked", key, letters)
	queue("from-open", "", plain)
	for effect, may := range map[string]bool{"Deny": false, "Allow": true} {
		user, _ := root.User(t, effect, usesKeys(effect, `"kms:*"`, "*"))
		for _, c := range []struct {
			from, to string
			free     bool // no key is involved
		}{{locked, open, false}, {open, locked, false}, {letters, open, false}, {letters, "", false},
			{plain, open, true}} {
			what, may := fmt.Sprintf("%s: from %s to %s", effect, c.from, c.to), may || c.free
			in := &sqs.StartMessageMoveTaskInput{SourceArn: &c.from}
			if c.to != "" {
				in.DestinationArn = &c.to
			}
			// of an empty queue; the first two have no dead letters
			_, err := user.SQS.StartMessageMoveTask(t.Context(), in)
			if refused := apitest.Code(err) == "AccessDenied" && strings.Contains(err.Error(), "kms:"); refused == may {
				t.Errorf("%s: a task: %v", what, err)
			}
			name := c.from[strings.LastIndex(c.from, ":")+1:]
			status, out := user.Sluice(t, "RedriveMessages", object{"QueueUrl": name, "DestinationArn": c.to})
			if may && status != 200 || !may && (status != 403 || !strings.Contains(fmt.Sprint(out), "kms:")) {
				t.Errorf("%s: a redrive: %d %v", what, status, out)
			}
		}
	}
}

// checkKeyAccess checks that a call succeeds if and only if the caller may use a key.
func checkKeyAccess(t *testing.T, what string, err error, may bool) {
	t.Helper()
	switch code := strings.ToLower(apitest.Code(err)); {
	case may && err != nil:
		t.Errorf("%s: %v", what, err)
	case !may && !strings.HasPrefix(code, "kms"):
		t.Errorf("%s: %q, %v", what, code, err)
	}
}
