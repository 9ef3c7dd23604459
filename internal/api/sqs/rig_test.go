package sqs_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// Short names for parts of apitest.
type (
	client  = apitest.Client
	sdk     = apitest.SDK
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
	anything         = apitest.Anything
	decimal          = apitest.Decimal
	handles          = apitest.Handles
	sequences        = apitest.Sequences
	uuidPattern      = apitest.UUID
	comesBack        = apitest.ComesBack
	noQueue          = apitest.NoQueue
	modelled         = apitest.Modelled
	generic          = apitest.Generic
	invalid          = apitest.Invalid
	missing          = apitest.Missing
	denied           = apitest.Denied
	attributeName    = apitest.AttributeName
	attributeValue   = apitest.AttributeValue
	overLimit        = apitest.OverLimit
	resourceNotFound = apitest.ResourceNotFound
	batchRefusal     = apitest.BatchRefusal
	taskHandle       = apitest.TaskHandle
	allowing         = apitest.Allowing
	visible          = apitest.Visible
	newRegion        = apitest.NewRegion
	redrive          = apitest.Redrive
	text             = apitest.Text
	number           = apitest.Number
	someMessage      = apitest.SomeMessage
	dumpRegion       = apitest.DumpRegion
)

// shared is a server in memory for all tests without special needs. Each of them uses its own region.
var shared *server.Server

func TestMain(m *testing.M) {
	apitest.Main(m, func() (_ *server.Server, err error) {
		shared, err = server.Start(servertest.InMemory())
		return shared, err
	})
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
	cred, _ := shared.RootOf(account)
	return &client{
		T: t, Dialect: d, Base: shared.Endpoint(), Region: newRegion(), Cred: cred,
		Version: "2012-11-05", Path: "/",
	}
}

// newSDK returns a client of the shared server in its own region.
func newSDK(t *testing.T) *sdk {
	cred, _ := shared.RootOf(account)
	return sdkOf(t, shared, cred, newRegion())
}

func sdkOf(t *testing.T, s *server.Server, cred identity.Credential, region string,
	options ...func(*sqs.Options)) *sdk {
	return apitest.NewSDK(t, s.Endpoint(), cred, region, options...)
}
