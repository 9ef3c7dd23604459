package iam_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// All created resources survive a restart, and no secret is stored in plaintext.
func TestUsersAreKept(t *testing.T) {
	t.Parallel()
	config := servertest.OnDisk(filepath.Join(t.TempDir(), "data"))
	s, stop := servertest.Start(t, config)
	root := apitest.RootActor(s.Endpoint(), s.Root())
	q, err := root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
	queue := apitest.Must(t, q, err)
	bob, key := root.User(t, "bob", apitest.Allow("sqs:*", "arn:aws:sqs:*:*:*"))
	secret := bob.Keys.SecretAccessKey
	out, err := bob.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
	session := apitest.Must(t, out, err).Credentials
	url := func(s *server.Server) string { return s.Endpoint() + "/" + account + "/q" }
	apitest.Must(t, queue, stop())

	found := false
	err = filepath.WalkDir(config.Data, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		found = found || strings.Contains(string(text), "AmazonSQS") || strings.Contains(string(text), key)
		if strings.Contains(string(text), secret) {
			t.Errorf("%s contains the secret", path)
		}
		return err
	})
	if err != nil || !found {
		t.Fatalf("nothing was found: %v", err)
	}

	s, stop = servertest.Start(t, config)
	root = apitest.RootActor(s.Endpoint(), s.Root())
	if err := apitest.NewActor(s.Endpoint(), key, secret, "", nil).Send(t, url(s)); err != nil {
		t.Errorf("a user after a restart: %v", err)
	}
	if err := root.Temporary(session).Send(t, url(s)); err != nil {
		t.Errorf("a session after a restart: %v", err)
	}
	used, err := root.IAM.GetAccessKeyLastUsed(t.Context(), &iam.GetAccessKeyLastUsedInput{AccessKeyId: &key})
	if u := apitest.Must(t, used, err).AccessKeyLastUsed; u.LastUsedDate == nil || *u.ServiceName != "sqs" {
		t.Errorf("the key was used for %+v", u)
	}
	apitest.Must(t, 0, stop())

	master := filepath.Join(config.Data, server.MasterKeyFile)
	text, err := os.ReadFile(master)
	apitest.Must(t, text, err)
	for what, spoil := range map[string]func() error{
		"missing":             func() error { return os.Remove(master) },
		"read by others":      func() error { return os.Chmod(master, 0o644) },
		"cannot be decrypted": func() error { return os.WriteFile(master, []byte(strings.Repeat("0", 64)), 0o600) },
	} {
		apitest.Must(t, 0, os.WriteFile(master, text, 0o600))
		apitest.Must(t, 0, spoil())
		if s, err := server.Start(config); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("with a damaged master key (%s) it starts: %v, %v", what, s, err)
		}
		_ = os.Remove(master)
	}
	apitest.Must(t, 0, os.WriteFile(master, text, 0o600))
	servertest.Start(t, config)
}
