package sqs_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/sluicemq/sluice/internal/api/apitest"
)

// An account has as many queues as it may, in all regions together. Other accounts have
// theirs, and what there is goes on.
func TestMaxQueues(t *testing.T) {
	t.Parallel()
	config := inMemory()
	config.MaxQueues = 2
	s, _ := start(t, config)
	own, _ := s.RootOf(account)
	other, _ := s.RootOf(otherAccount)
	east, west := sdkOf(t, s, own, "us-east-1"), sdkOf(t, s, own, "us-west-2")
	u := east.Create("a", nil)
	west.Create("a", nil)
	for _, c := range []*sdk{east, west} {
		_, err := c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("b")})
		apitest.Refused[*types.OverLimit](t, err, "OverLimit")
	}
	east.Create("a", nil) // which is there
	sdkOf(t, s, other, "us-east-1").Create("b", nil)
	if _, err := east.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: u}); err != nil {
		t.Fatal(err)
	}
	west.Create("b", nil)
}

// Test suites purge queues and make them anew faster than SQS lets them.
func TestNoCoolDowns(t *testing.T) {
	t.Parallel()
	config := inMemory()
	config.NoCoolDowns = true
	s, _ := start(t, config)
	cred, _ := s.RootOf(account)
	c := sdkOf(t, s, cred, "us-east-1")
	for range 3 {
		u := c.Create("q", nil)
		for range 3 {
			c.Send(u, "m")
			if _, err := c.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: u}); err != nil {
				t.Fatal(err)
			}
			c.Counts(u, 0, 0, 0)
		}
		if _, err := c.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: u}); err != nil {
			t.Fatal(err)
		}
	}
}
