package sns_test

import (
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

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

// escape writes an ARN into a query.
func escape(arn string) string { return strings.ReplaceAll(arn, ":", "%3A") }
