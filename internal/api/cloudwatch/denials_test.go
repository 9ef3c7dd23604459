package cloudwatch_test

import (
	"testing"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
)

// The refusal of an action without a resource names none.
func TestDenials(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		const bob = "arn:aws:iam::" + account + ":user/bob"
		r.caller = identity.Identity{Caller: policy.Caller{Kind: policy.User, Account: account, ARN: bob}}
		const refusal = "User: " + bob + " is not authorized to perform: cloudwatch:"
		r.fails("ListMetrics", object{}, 403, "AccessDenied", refusal+"ListMetrics")
		r.fails("DescribeAlarms", object{}, 403, "AccessDenied",
			refusal+"DescribeAlarms on resource: arn:aws:cloudwatch:"+region+":"+account+":alarm:*")
	})
}
