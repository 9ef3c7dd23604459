package sns_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

type with = apitest.With

const (
	account      = apitest.Account
	otherAccount = apitest.OtherAccount
	region       = "us-east-1"
)

// rig is a server in memory with the clients of its two accounts.
type rig struct {
	*testing.T
	server *server.Server
	root   *apitest.Actor
	other  *apitest.Actor
}

func newRig(t *testing.T) *rig {
	t.Helper()
	s, _ := servertest.Start(t, servertest.InMemory())
	other, _ := s.RootOf(otherAccount)
	return &rig{t, s, apitest.RootActor(s.Endpoint(), s.Root()), apitest.RootActor(s.Endpoint(), other)}
}

func topicARN(name string) string { return "arn:aws:sns:" + region + ":" + account + ":" + name }
func queueARN(name string) string { return "arn:aws:sqs:" + region + ":" + account + ":" + name }

// traced returns a signed publish request with a trace header.
func traced(t *testing.T, r *rig, topic, header string) *http.Request {
	t.Helper()
	form := url.Values{"Action": {"Publish"}, "Version": {"2010-03-31"}, "TopicArn": {topic}, "Message": {"m"}}
	request, err := http.NewRequest(http.MethodPost, r.server.Endpoint(), strings.NewReader(form.Encode()))
	apitest.Must(t, request, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("X-Amzn-Trace-Id", header)
	apitest.SignAt(t, request, r.server.Root(), "sns", region, time.Now())
	return request
}
