package iam_test

import (
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server"
)

type with = apitest.With

const (
	account      = apitest.Account
	otherAccount = apitest.OtherAccount
)

// inMemory is the configuration of a server with two accounts.
func inMemory() server.Config {
	c := server.Default()
	c.InMemory = true
	c.Listen = "127.0.0.1:0"
	c.Accounts = []string{account, otherAccount}
	return c
}

// start runs a server in memory until the test ends.
func start(t *testing.T) *server.Server {
	t.Helper()
	s, err := server.Start(inMemory())
	apitest.Must(t, s, err)
	apitest.Run(t, s)
	return s
}

// newStory returns a story of the root of a server's first account.
func newStory(t *testing.T) *apitest.Story {
	t.Helper()
	s := start(t)
	return &apitest.Story{T: t, Endpoint: s.Endpoint(), Cred: s.Root(), Service: "iam", Version: "2010-05-08"}
}
