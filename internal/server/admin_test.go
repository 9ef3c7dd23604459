package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/sluicemq/sluice/internal/api/apitest"
)

// An account is deleted only when it has nothing any more, and whoever asks is told what it has.
func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	s, _ := start(t, inMemory())
	const third = "333333333333"
	want := func(input string, status int, words string) {
		t.Helper()
		if got, body := callAdmin(t, s, "DeleteAccount", input); got != status || !strings.Contains(body, words) {
			t.Errorf("%s: %d %s, want %d and %q", input, got, body, status, words)
		}
	}
	if status, body := callAdmin(t, s, "CreateAccount", `{"AccountId":"`+third+`"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	cred, _ := s.credentials.Root(third)
	root := act(s, cred.AccessKeyID, cred.Secret, "")
	q, err := root.sqs.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	url := apitest.Must(t, q, err).QueueUrl
	for _, name := range []string{"bob", "eve"} {
		u, err := root.iam.CreateUser(t.Context(), &iam.CreateUserInput{UserName: &name})
		apitest.Must(t, u, err)
	}
	_, err = root.iam.CreateAccountAlias(t.Context(), &iam.CreateAccountAliasInput{AccountAlias: aws.String("shop")})
	apitest.Must(t, 0, err)
	want(`{"AccountId":"`+third+`"}`, http.StatusConflict, "still has 1 queue (orders in us-east-1), 2 users (bob, eve).")
	for _, name := range []string{"bob", "eve"} {
		_, err = root.iam.DeleteUser(t.Context(), &iam.DeleteUserInput{UserName: &name})
		apitest.Must(t, 0, err)
	}
	want(`{"AccountId":"`+third+`"}`, http.StatusConflict, "still has 1 queue (orders in us-east-1).")
	_, err = root.sqs.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: url})
	apitest.Must(t, 0, err)

	want(`{}`, http.StatusBadRequest, "accountId")
	want(`{"AccountId":"shop"}`, http.StatusBadRequest, "12 digits")
	want(`{"AccountId":"`+account+`"}`, http.StatusBadRequest, "cannot be deleted")
	want(`{"AccountId":"444444444444"}`, http.StatusNotFound, "does not exist")
	want(`{"AccountId":"`+third+`"}`, http.StatusOK, "")
	want(`{"AccountId":"`+third+`"}`, http.StatusNotFound, "does not exist")
	if _, err = root.sqs.ListQueues(t.Context(), &sqs.ListQueuesInput{}); code(err) != "InvalidClientTokenId" && code(err) != "UnrecognizedClientException" {
		t.Errorf("the key of a deleted account: %v", err)
	}
	if alias := s.directory.Alias(third); alias != "" {
		t.Errorf("its alias %s is still taken", alias)
	}
}
