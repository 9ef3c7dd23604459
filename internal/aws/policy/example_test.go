package policy_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

func Example() {
	p, err := policy.Parse(policy.ForResource, `{
  "Version": "2012-10-17",
  "Statement": {
    "Sid": "office", "Effect": "Allow", "Principal": {"AWS": "444455556666"}, "Action": "sqs:SendMessage",
    "Resource": "arn:aws:sqs:us-east-1:111122223333:queue1",
    "Condition": {"IpAddress": {"aws:SourceIp": "10.52.176.0/24"}}
  }
}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := &policy.Request{
		Caller: policy.Caller{
			Kind: policy.Account, Account: "444455556666", ARN: "arn:aws:iam::444455556666:root",
			UserID: "444455556666",
		},
		Action: "sqs:SendMessage", Resource: "arn:aws:sqs:us-east-1:111122223333:queue1", Owner: "111122223333",
		Facts:          policy.Facts{Time: time.Now(), SourceIP: netip.MustParseAddr("10.52.176.7")},
		ResourcePolicy: p,
	}
	fmt.Println(policy.Decide(r).Allowed())

	r.Facts.SourceIP = netip.MustParseAddr("10.52.177.1")
	fmt.Println(policy.Decide(r).Message(r))
	fmt.Print(policy.Explain(r))
	// Output:
	// true
	// User: arn:aws:iam::444455556666:root is not authorized to perform: sqs:SendMessage on resource: arn:aws:sqs:us-east-1:111122223333:queue1 because no resource-based policy allows the sqs:SendMessage action
	// implicitDeny: no resource-based policy allows it
	//   resource-based policy, statement "office" (Allow, line 3) does not apply: IpAddress aws:SourceIp is not met: it wants 10.52.176.0/24, the request has 10.52.177.1
}
