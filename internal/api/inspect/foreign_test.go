package inspect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// A role or user of another account is known by its ARN only. ExplainAccess's answer for one does not depend on its
// tags, its unique id, or whether it exists.
func TestExplainAccessKnowsForeignersByTheirARN(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q")
	cred, _ := r.server.RootOf(apitest.OtherAccount)
	other := apitest.RootActor(r.server.Endpoint(), cred)
	made, err := other.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("there"), AssumeRolePolicyDocument: aws.String(apitest.Trusting(apitest.OtherAccount)),
		Tags: []iamtypes.Tag{{Key: aws.String("team"), Value: aws.String("red")}},
	})
	role := apitest.Must(t, made, err).Role
	other.User(t, "there", "")
	const foreign, session = "arn:aws:iam::" + apitest.OtherAccount,
		"arn:aws:sts::" + apitest.OtherAccount + ":assumed-role/"
	explain := func(who, policy string) string {
		t.Helper()
		_, err := r.root.SQS.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
			QueueUrl: &url, Attributes: map[string]string{"Policy": policy},
		})
		apitest.Must(t, 0, err)
		out := r.ask("ExplainAccess", object{"QueueUrl": url, "Principal": who, "Action": "sqs:SendMessage"})
		text, err := json.Marshal(out)
		apitest.Must(t, text, err)
		return strings.ReplaceAll(string(text), "absent", "there")
	}
	statement := func(principal, condition string) string {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"` + principal +
			`"},"Action":"sqs:SendMessage","Resource":"` + arn("q") + `","Condition":{` + condition + `}}]}`
	}
	const all = apitest.OtherAccount
	for _, tc := range []struct{ name, of, principal, condition string }{
		{"a tag of a role", foreign + ":role/", all, `"StringEquals":{"aws:PrincipalTag/team":"red"}`},
		{"the id of a role", foreign + ":role/", all, `"StringLike":{"aws:userid":"` + *role.RoleId + `:*"}`},
		{"any id of a role", foreign + ":role/", all, `"StringLike":{"aws:userid":"*"}`},
		{"a role by its id", foreign + ":role/", *role.RoleId, ""},
		{"no condition", foreign + ":role/", all, ""},
		{"a tag of a user", foreign + ":user/", all, `"Null":{"aws:PrincipalTag/team":"false"}`},
		{"the id of a session", session, all, `"StringLike":{"aws:userid":"` + *role.RoleId + `:*"}`},
	} {
		policy, after := statement(tc.principal, tc.condition), ""
		if strings.HasPrefix(tc.of, session) {
			after = "/s"
		}
		if there, absent := explain(tc.of+"there"+after, policy),
			explain(tc.of+"absent"+after, policy); there != absent {
			t.Errorf("%s: one that exists is explained as\n%s\nand one that does not as\n%s", tc.name, there, absent)
		}
	}
	// If the policy names it, it has what the policy grants.
	for _, who := range []string{foreign + ":role/there", foreign + ":user/there"} {
		if out := explain(who, statement(who, "")); !strings.Contains(out, `"Decision":"allowed"`) {
			t.Errorf("%s is named by the policy: %s", who, out)
		}
	}
}
