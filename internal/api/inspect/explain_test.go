package inspect_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

func TestExplainAccess(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q")
	const user = "arn:aws:iam::" + apitest.Account + ":user/"
	r.root.User(t, "sender", apitest.Allow("sqs:SendMessage", arn("q")))
	r.root.User(t, "nothing", "")
	r.root.User(t, "night",
		`{"Version":"2012-10-17","Statement":[{"Sid":"N","Effect":"Allow","Action":"sqs:*","Resource":"*","Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}}]}`)
	r.root.User(t, "denied", `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":"sqs:*","Resource":"*"},
		{"Sid":"NoPurge","Effect":"Deny","Action":"sqs:PurgeQueue","Resource":"*"}]}`)
	role, err := r.root.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("worker"), AssumeRolePolicyDocument: aws.String(apitest.Trusting(apitest.Account)),
	})
	apitest.Must(t, role, err)
	_, err = r.root.SQS.SetQueueAttributes(t.Context(),
		&sqs.SetQueueAttributesInput{QueueUrl: &url, Attributes: map[string]string{
			"Policy": `{"Version":"2012-10-17","Statement":[{"Sid":"Partner","Effect":"Allow","Principal":{"AWS":"` +
				apitest.OtherAccount + `"},"Action":"sqs:SendMessage","Resource":"` + arn("q") + `"}]}`,
		}})
	apitest.Must(t, 0, err)

	inside := []any{object{"Key": "aws:SourceIp", "Values": []string{"10.1.2.3"}}}
	for _, tc := range []struct {
		who, action    string
		context        []any
		decision, by   string
		decided        string // "policy kind, Sid or line" of the deciding statement
		remedy, reason string
	}{
		{user + "sender", "sqs:SendMessage", nil, "allowed", "identity-based policy", "identity-based policy 1", "",
			""},
		{user + "sender", "sqs:SendMessageBatch", nil, "allowed", "identity-based policy", "identity-based policy 1",
			"", ""},
		{user + "sender", "sqs:PurgeQueue", nil, "implicitDeny", "identity-based policy", "",
			`"Action":"sqs:PurgeQueue","Effect":"Allow","Resource":"` + arn("q"), "Action does not name"},
		{user + "nothing", "sqs:SendMessage", nil, "implicitDeny", "identity-based policy", "",
			"to a policy of the caller, or", ""},
		{user + "night", "sqs:SendMessage", nil, "implicitDeny", "identity-based policy", "",
			"to a policy of the caller", "aws:SourceIp"},
		{user + "night", "sqs:SendMessage", inside, "allowed", "identity-based policy", "identity-based policy N", "",
			""},
		{user + "denied", "sqs:PurgeQueue", nil, "explicitDeny", "identity-based policy",
			"identity-based policy NoPurge", "Take the Deny at line 3 out", ""},
		{*role.Role.Arn, "sqs:SendMessage", nil, "implicitDeny", "identity-based policy", "",
			"to a policy of the caller", ""},
		{apitest.Account, "sqs:PurgeQueue", nil, "allowed", "owner", "", "", ""},
		{apitest.OtherAccount, "sqs:SendMessage", nil, "allowed", "resource-based policy",
			"resource-based policy Partner", "", ""},
		{"arn:aws:iam::" + apitest.OtherAccount + ":user/eve", "sqs:SendMessage", nil, "allowed",
			"resource-based policy", "", "", ""},
		{"arn:aws:iam::" + apitest.OtherAccount + ":user/eve", "sqs:ReceiveMessage", nil, "implicitDeny",
			"resource-based policy", "", `"Principal":{"AWS":"arn:aws:iam::` + apitest.OtherAccount + `:user/eve"}`,
			""},
		{"anonymous", "sqs:SendMessage", nil, "implicitDeny", "resource-based policy", "", `"Principal":"*"`, ""},
		{apitest.OtherAccount, "sluice:PeekMessages", nil, "implicitDeny", "resource-based policy", "", "Nothing: ",
			""},
	} {
		out := r.ask("ExplainAccess", object{
			"QueueUrl": url, "Principal": tc.who, "Action": tc.action, "Context": tc.context,
		})
		name := tc.who + " " + tc.action
		if out["Decision"] != tc.decision || tc.by != "" && out["By"] != tc.by {
			t.Errorf("%s: %v by %v; want %s by %s", name, out["Decision"], out["By"], tc.decision, tc.by)
		}
		decided := ""
		for _, st := range out["Statements"].([]any) {
			if st := st.(object); st["Decided"] == true && decided == "" && tc.decided != "" {
				sid, _ := st["Sid"].(string)
				if sid == "" {
					sid = fmt.Sprint(st["Line"])
				}
				decided = st["Source"].(string) + " " + sid
			}
		}
		if decided != tc.decided {
			t.Errorf("%s: decided by %q, want %q: %v", name, decided, tc.decided, out["Statements"])
		}
		remedy := ""
		if m, _ := out["Remedy"].(object); m != nil {
			remedy = fmt.Sprint(m["Text"], " ", m["Statement"])
		}
		if (tc.remedy == "") != (remedy == "") || !strings.Contains(remedy, tc.remedy) {
			t.Errorf("%s: remedy %q, want %q", name, remedy, tc.remedy)
		}
		if !strings.Contains(fmt.Sprint(out["Statements"]), tc.reason) {
			t.Errorf("%s: no %q in %v", name, tc.reason, out["Statements"])
		}
		if (out["Message"] == nil) != (tc.decision == "allowed") {
			t.Errorf("%s: message %v", name, out["Message"])
		}
		if strings.Contains(tc.who, apitest.OtherAccount+":user") != (out["Assumed"] != nil) {
			t.Errorf("%s: assumed %v", name, out["Assumed"])
		}
	}
	for words, in := range map[string]object{
		"not an action here":      {"QueueUrl": url, "Principal": "anonymous", "Action": "sqs:Fly"},
		"no such user or role":    {"QueueUrl": url, "Principal": user + "none", "Action": "sqs:SendMessage"},
		"it must be the ARN of a": {"QueueUrl": url, "Principal": "bob", "Action": "sqs:SendMessage"},
		"without a key or without": {"QueueUrl": url, "Principal": "anonymous", "Action": "sqs:SendMessage",
			"Context": []any{object{"Key": "a"}}},
	} {
		r.refused(r.root, "ExplainAccess", in, http.StatusBadRequest, words)
	}
	nobody, _ := r.root.User(t, "nobody", apitest.Allow("sqs:*", "*"))
	r.refused(nobody, "ExplainAccess", object{"QueueUrl": url, "Principal": "anonymous", "Action": "sqs:SendMessage"},
		403, "sluice:ExplainAccess on resource: "+arn("q"))
}
