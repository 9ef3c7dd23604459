package iam_test

import (
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

type with = apitest.With

const (
	account      = apitest.Account
	otherAccount = apitest.OtherAccount
)

// newStory returns a story of the root of a server's first account.
func newStory(t *testing.T) *apitest.Story {
	t.Helper()
	return servertest.NewStory(t, "iam", "2010-05-08")
}
