// Package servertest starts servers for tests that know the server only from outside: those of the services, of
// programs and of pages.
package servertest

import (
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server"
)

// InMemory is the configuration of a server in memory with two accounts. Messages may be as large as on AWS today, as
// the texts of its errors state.
func InMemory() server.Config {
	c := server.Default()
	c.InMemory = true
	c.Listen = "127.0.0.1:0"
	c.Accounts = []string{apitest.Account, apitest.OtherAccount}
	c.MaxMessageSize = 1_048_576
	return c
}

// OnDisk is the configuration of a server that keeps its data in a directory.
func OnDisk(dir string) server.Config {
	c := InMemory()
	c.InMemory, c.Data = false, dir
	return c
}

// Start runs a server. The returned function stops the server and waits until it is done; that happens at the end of
// the test at the latest.
func Start(t *testing.T, c server.Config) (s *server.Server, stop func() error) {
	t.Helper()
	s, err := server.Start(c)
	apitest.Must(t, s, err)
	return s, apitest.Run(t, s)
}

// NewStory returns a story of the root of the first account of a server in memory.
func NewStory(t *testing.T, service, version string) *apitest.Story {
	t.Helper()
	s, _ := Start(t, InMemory())
	return &apitest.Story{T: t, Endpoint: s.Endpoint(), Cred: s.Root(), Service: service, Version: version}
}
