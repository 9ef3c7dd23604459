package iam_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// A policy that names an action of no service here is accepted, as on AWS, and the log says so.
func TestWarningOfActionsThatDoNotExist(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := servertest.InMemory()
	c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s, err := server.Start(c)
	apitest.Must(t, s, err)
	stop := apitest.Run(t, s)
	st := &apitest.Story{T: t, Endpoint: s.Endpoint(), Cred: s.Root(), Service: "iam", Version: "2010-05-08"}
	st.Does("CreateUser", with{"UserName", "bob"})
	document := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Resource":"*","Action":
		["sqs:SendMesage","sqs:Send*","sluice:Bakcup","iam:GetUsr","iam:PassRole","iam:CreateLoginProfile","sts:TagSession","sts:Assume*","s3:GetObject"]}]}`
	st.Does("PutUserPolicy", with{"UserName", "bob", "PolicyName", "p", "PolicyDocument", document})
	apitest.Must(t, 0, stop())
	var actions []string
	for line := range strings.Lines(log.String()) {
		if _, reason, ok := strings.Cut(line, " has no action "); ok {
			actions = append(actions, strings.Trim(reason, "\"\n"))
		}
	}
	apitest.Equal(t, actions, []string{"sqs:sendmesage", "sluice:bakcup", "iam:getusr"})
}
