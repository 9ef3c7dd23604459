package sqs

import (
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

// No URL and no ARN names the queue of a topic or a subscription.
func TestInternalQueuesHaveNoName(t *testing.T) {
	caller := policy.Caller{Account: "000000000000"}
	c := &protocol.Call{Identity: &identity.Identity{Caller: caller}, Region: "us-east-1", Kind: protocol.Query}
	for _, n := range []catalog.Name{catalog.TopicQueue("1"), catalog.SubscriptionQueue("1")} {
		for _, account := range []string{"", "000000000000"} {
			for _, region := range []string{"", "us-east-1"} {
				arn := strings.Join([]string{"arn:aws:sqs", region, account, n.Queue}, ":")
				if got, ok := service.ParseQueueARN(arn); ok {
					t.Errorf("%s names %v", arn, got)
				}
			}
			for _, url := range []string{n.Queue, "/" + n.Queue, "//" + n.Queue, "http://h/" + account + "/" + n.Queue,
				"http://h//" + n.Queue, account + "/" + n.Queue} {
				if got, err := target(c, url); err == nil && got.Internal() {
					t.Errorf("%s names %v", url, got)
				}
			}
		}
	}
}
