package inspect_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

type object = apitest.Object

// rig is a server, the root of its first account and the operations that tests need.
type rig struct {
	*testing.T
	server *server.Server
	root   *apitest.Actor
}

func newRig(t *testing.T) *rig {
	t.Helper()
	s, _ := servertest.Start(t, servertest.InMemory())
	return &rig{t, s, apitest.RootActor(s.Endpoint(), s.Root())}
}

// queue creates a queue with attributes, names and values in turn, and returns its URL.
func (r *rig) queue(name string, attributes ...string) string {
	r.Helper()
	in := &sqs.CreateQueueInput{QueueName: &name, Attributes: make(map[string]string)}
	for i := 0; i < len(attributes); i += 2 {
		in.Attributes[attributes[i]] = attributes[i+1]
	}
	q, err := r.root.SQS.CreateQueue(r.Context(), in)
	return *apitest.Must(r.T, q, err).QueueUrl
}

func arn(name string) string { return "arn:aws:sqs:us-east-1:" + apitest.Account + ":" + name }

func (r *rig) send(in *sqs.SendMessageInput) {
	r.Helper()
	out, err := r.root.SQS.SendMessage(r.Context(), in)
	apitest.Must(r.T, out, err)
}

func (r *rig) sendBodies(url string, bodies ...string) {
	r.Helper()
	for _, body := range bodies {
		r.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String(body)})
	}
}

// ask calls an operation as the root, and fails the test if it is refused.
func (r *rig) ask(operation string, in object) object {
	r.Helper()
	status, out := r.root.Sluice(r.T, operation, in)
	if status != http.StatusOK {
		r.Fatalf("%s: %d %v", operation, status, out)
	}
	return out
}

// refused calls an operation that must be refused with this status and text.
func (r *rig) refused(as *apitest.Actor, operation string, in object, status int, words string) {
	r.Helper()
	got, out := as.Sluice(r.T, operation, in)
	if text := fmt.Sprint(out); got != status || !strings.Contains(text, words) {
		r.Errorf("%s with %v: %d %s; want %d and %q", operation, in, got, text, status, words)
	}
}
