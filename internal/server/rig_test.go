package server

import (
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// Short names for parts of apitest.
type (
	client  = apitest.Client
	object  = apitest.Object
	list    = apitest.List
	refusal = apitest.Refusal
	answer  = apitest.Answer
)

const (
	account      = apitest.Account
	otherAccount = apitest.OtherAccount
	inJSON       = apitest.InJSON
	inForm       = apitest.InForm
	inURL        = apitest.InURL
)

var (
	uuidPattern  = apitest.UUID
	modelled     = apitest.Modelled
	generic      = apitest.Generic
	invalid      = apitest.Invalid
	batchRefusal = apitest.BatchRefusal
	allowing     = apitest.Allowing
	newRegion    = apitest.NewRegion
	redrive      = apitest.Redrive
	text         = apitest.Text
	someMessage  = apitest.SomeMessage
	dumpRegion   = apitest.DumpRegion
)

// shared is a server in memory for all tests without special needs. Each of them uses its own region.
var shared *Server

func TestMain(m *testing.M) {
	apitest.Main(m, func() (_ *Server, err error) {
		shared, err = Start(inMemory())
		return shared, err
	})
}

// inMemory is the configuration of shared: messages may be as large as on AWS today, as the texts of its errors say.
func inMemory() Config {
	c := Default()
	c.InMemory = true
	c.Listen = "127.0.0.1:0"
	c.Accounts = []string{account, otherAccount}
	c.MaxMessageSize = 1_048_576
	return c
}

// start runs a server for one test. The returned function stops the server and waits until it has ended, at the latest
// at the end of the test.
func start(t *testing.T, c Config) (s *Server, stop func() error) {
	t.Helper()
	s, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	return s, run(t, s)
}

// run serves until the test ends or stop is called.
func run(t *testing.T, s *Server) (stop func() error) {
	t.Helper()
	return apitest.Run(t, s)
}

// inAll runs f with a client of each dialect, in its own region.
func inAll(t *testing.T, f func(t *testing.T, c *client)) {
	t.Helper()
	for _, d := range apitest.Dialects {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			f(t, newClient(t, d))
		})
	}
}

func newClient(t *testing.T, d apitest.Dialect) *client {
	cred, _ := shared.accounts.credentials.Root(account)
	return &client{
		T: t, Dialect: d, Base: shared.Endpoint(), Region: newRegion(), Cred: cred,
		Version: "2012-11-05", Path: "/",
	}
}
