package policy_test

import (
	"fmt"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

func TestAllowsSome(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]bool{
		`"Effect":"Allow","Action":"sqs:SendMessage"`:               true,
		`"Effect":"Allow","Action":["sns:*","SQS:Get*"]`:            true,
		`"Effect":"Allow","Action":"*"`:                             true,
		`"Effect":"Allow","Action":"sns:*"`:                         false,
		`"Effect":"Deny","Action":"sqs:*"`:                          false,
		`"Effect":"Allow","NotAction":"sns:*"`:                      true,
		`"Effect":"Allow","NotAction":["sns:*","sqs:SendMessage"]`:  true,
		`"Effect":"Allow","NotAction":["sns:Publish","sqs:*"]`:      false,
		`"Effect":"Allow","NotAction":"*"`:                          false,
		`"Effect":"Allow","NotAction":"sqs:*","Sid":"x"`:            false,
		`"Effect":"Allow","Action":"sqs:SendMessage","Sid":"other"`: true,
	} {
		p, err := policy.Parse(policy.ForIdentity,
			fmt.Sprintf(`{"Version":"2012-10-17","Statement":{%s,"Resource":"*"}}`, statement))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.AllowsSome("sqs"); got != want {
			t.Errorf("%s: %t", statement, got)
		}
	}
}
