package policy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

func add(t *testing.T, text string, p policy.Permission) string {
	t.Helper()
	text, err := policy.AddPermission(text, queue1, p, sqs)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func remove(t *testing.T, text, label string) string {
	t.Helper()
	text, err := policy.RemovePermission(text, label)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestPermissionsAreWrittenAsSQSDoes(t *testing.T) {
	one := add(t, "", policy.Permission{
		Label: "one", Accounts: []string{accountB}, Actions: []string{"ReceiveMessage"},
	})
	const begun = `{"Version":"2008-10-17","Id":"arn:aws:sqs:us-east-1:111122223333:queue1/SQSDefaultPolicy","Statement":[` +
		`{"Sid":"one","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::444455556666:root"},"Action":"SQS:ReceiveMessage","Resource":"arn:aws:sqs:us-east-1:111122223333:queue1"}`
	if one != begun+"]}" {
		t.Errorf("got %s", one)
	}
	two := add(t, one, policy.Permission{
		Label: "two-2_", Accounts: []string{accountB, "000000000000"}, Actions: []string{"*", "GetQueueUrl"},
	})
	if want := begun +
		`,{"Sid":"two-2_","Effect":"Allow","Principal":{"AWS":["arn:aws:iam::444455556666:root","arn:aws:iam::000000000000:root"]},` +
		`"Action":["SQS:*","SQS:GetQueueUrl"],"Resource":"arn:aws:sqs:us-east-1:111122223333:queue1"}]}`; two != want {
		t.Errorf("got %s", two)
	}
	if rest := remove(t, two, "two-2_"); rest != one {
		t.Errorf("after removing the second: %s", rest)
	}
	if rest := remove(t, one, "one"); rest != "" {
		t.Errorf("after removing the last: %s", rest)
	}
	if err := parse(t, policy.ForResource, two).CheckResource(sqs); err != nil {
		t.Error(err)
	}
}

// Permissions can build a policy of the maximum size.
func TestPermissionsUpToTheLimits(t *testing.T) {
	full := add(t, largePolicy(19, 49, 10, 0), policy.Permission{
		Label: "l", Accounts: []string{accountB}, Actions: []string{"SendMessage"},
	})
	if _, err := policy.ParseResource(full, sqs); err != nil {
		t.Error(err)
	}
	grant := policy.Permission{Label: "l", Accounts: []string{accountB}, Actions: []string{"SendMessage"}}
	grown := len(add(t, largePolicy(1, 1, 1, 5000), grant)) - 5000
	if _, err := policy.AddPermission(largePolicy(1, 1, 1, 8192-grown), queue1, grant, sqs); err != nil {
		t.Error(err)
	}
	if _, err := policy.AddPermission(largePolicy(1, 1, 1, 8193-grown), queue1, grant, sqs); err == nil {
		t.Error("8,193 bytes are accepted")
	}
}

// A user's own statements stay unchanged, even where SQS would have written them differently.
func TestPermissionsLeaveTheRestAlone(t *testing.T) {
	const written = `{ "Statement": {"Effect" : "Allow", "Principal":"*", "Action":"sqs:SendMessage",
		"Resource": "*", "Condition": {"StringEquals": {"aws:UserAgent": " a \" { \u00e9 "}}}, "Id":"mine" }`
	const kept = `{"Effect":"Allow","Principal":"*","Action":"sqs:SendMessage","Resource":"*","Condition":{"StringEquals":{"aws:UserAgent":" a \" { \u00e9 "}}}`
	with := add(t, written, policy.Permission{
		Label: "l", Accounts: []string{accountB}, Actions: []string{"SendMessage"},
	})
	if !strings.HasPrefix(with, `{"Statement":[`+kept+`,{"Sid":"l"`) || !strings.HasSuffix(with, `],"Id":"mine"}`) {
		t.Errorf("got %s", with)
	}
	if rest := remove(t, with, "l"); rest != `{"Statement":[`+kept+`],"Id":"mine"}` {
		t.Errorf("got %s", rest)
	}
}

// Guide, "Understanding Permissions": "If a principal has only a * permission,
// requesting to remove a SendMessage permission does not leave the principal with
// an 'everything but' permission. Instead, the request does nothing."
func TestPermissionsAreSeparate(t *testing.T) {
	may := func(text, action string) bool {
		r := policy.Request{
			Caller: root(accountB), Action: "sqs:" + action, Resource: queue1, Owner: accountA, Rules: sqs,
		}
		if text != "" {
			r.ResourcePolicy = parse(t, policy.ForResource, text)
		}
		return policy.Decide(&r).Allowed()
	}
	all := add(t, "", policy.Permission{Label: "all", Accounts: []string{accountB}, Actions: []string{"*"}})
	if _, err := policy.RemovePermission(all, "send"); err == nil ||
		err.Error() != "Value send for parameter Label is invalid. Reason: can't find label." {
		t.Errorf("got %v", err)
	}
	both := add(t, all, policy.Permission{
		Label: "send", Accounts: []string{accountB}, Actions: []string{"SendMessage"},
	})
	if rest := remove(t, both, "send"); rest != all || !may(rest, "SendMessage") {
		t.Errorf("an action that * includes is still there: %s", rest)
	}

	// "If you want to remove * and leave the principal with just the
	// ReceiveMessage permission, first add the ReceiveMessage permission, then
	// remove the * permission."
	receive := add(t, all, policy.Permission{
		Label: "receive", Accounts: []string{accountB}, Actions: []string{"ReceiveMessage"},
	})
	receive = remove(t, receive, "all")
	if !may(receive, "ReceiveMessage") || may(receive, "SendMessage") {
		t.Errorf("left is %s", receive)
	}
	if none := remove(t, receive, "receive"); none != "" || may(none, "ReceiveMessage") {
		t.Errorf("left is %q", none)
	}
}

func TestPermissionsThatCannotBe(t *testing.T) {
	good := policy.Permission{Label: "l", Accounts: []string{accountB}, Actions: []string{"SendMessage"}}
	tests := []struct {
		policy string
		change func(p *policy.Permission)
		fault  policy.Fault
		reason string
	}{
		{"", func(p *policy.Permission) { p.Label = "" }, policy.MissingParameter, "Label"},
		{"", func(p *policy.Permission) { p.Label = "a b" }, policy.InvalidParameter,
			"Value a b for parameter Label is invalid. Reason: Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"},
		{"", func(p *policy.Permission) { p.Label = strings.Repeat("x", 81) }, policy.InvalidParameter,
			"Value " + strings.Repeat("x", 81) +
				" for parameter Label is invalid. Reason: Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"},
		{"", func(p *policy.Permission) { p.Actions = nil }, policy.MissingParameter, "Actions"},
		{"", func(p *policy.Permission) { p.Accounts = nil }, policy.InvalidParameter,
			"Value [] for parameter PrincipalId is invalid. Reason: Unable to verify."},
		{"", func(p *policy.Permission) { p.Accounts = []string{"4444-5555-6666"} }, policy.InvalidParameter,
			"Value [4444-5555-6666] for parameter PrincipalId is invalid. Reason: Unable to verify."},
		{"", func(p *policy.Permission) { p.Actions = []string{"SendMessageBatch"} }, policy.InvalidParameter,
			"Value SQS:SendMessageBatch for parameter ActionName is invalid. Reason: Please refer to the appropriate WSDL for a list of valid actions. "},
		{"", func(p *policy.Permission) { p.Actions = []string{"sendmessage"} }, policy.InvalidParameter,
			"Value SQS:sendmessage for parameter ActionName is invalid. Reason: Please refer to the appropriate WSDL for a list of valid actions. "},
		{"", func(p *policy.Permission) { p.Actions = []string{"DeleteQueue"} }, policy.InvalidParameter,
			"Value SQS:DeleteQueue for parameter ActionName is invalid. Reason: Only the queue owner is allowed to invoke this action."},
		{"", func(p *policy.Permission) { p.Actions = make([]string, 8) }, policy.OverLimit,
			"8 Actions were found, maximum allowed is 7."},
		{"", func(p *policy.Permission) { p.Accounts = make([]string, 51) }, policy.OverLimit,
			"51 Principals were found, maximum allowed is 50."},
		{add(t, "", good), func(*policy.Permission) {}, policy.InvalidParameter,
			"Value l for parameter Label is invalid. Reason: Already exists."},
		{largePolicy(20, 20, 10, 0), func(*policy.Permission) {}, policy.OverLimit,
			"21 Statements were found, maximum allowed is 20."},
		{largePolicy(10, 50, 10, 0), func(*policy.Permission) {}, policy.OverLimit,
			"51 Principals were found, maximum allowed is 50."},
		{largePolicy(10, 10, 10, 8100), func(*policy.Permission) {}, policy.OverLimit,
			"Submitted policy is over max allowed size."},
		{`{"Statement":`, func(*policy.Permission) {}, policy.Syntax,
			`the text ends where the value of "Statement" should begin`},
	}
	for _, tc := range tests {
		p := good
		tc.change(&p)
		_, err := policy.AddPermission(tc.policy, queue1, p, sqs)
		var why *policy.Error
		if !errors.As(err, &why) || why.Fault != tc.fault || why.Reason != tc.reason {
			t.Errorf("%+v: got %v, want %s", p, err, tc.reason)
		}
	}
	for _, tc := range []struct{ policy, label, reason string }{
		{"", "l", "Value l for parameter Label is invalid. Reason: can't find label."},
		{add(t, "", good), "L", "Value L for parameter Label is invalid. Reason: can't find label."},
		{add(t, "", good), "", "Label"},
		{"[]", "l", "line 1, column 1: a policy is a list; it has to be an object in braces"},
	} {
		if _, err := policy.RemovePermission(tc.policy, tc.label); err == nil || err.Error() != tc.reason {
			t.Errorf("remove %q: got %v", tc.label, err)
		}
	}
}

// largePolicy returns a queue policy with this many statements, principals, conditions and, if not 0, bytes.
func largePolicy(statements, principals, conditions, size int) string {
	var list []string
	for i := range statements {
		var accounts, operators []string
		for j := i; j < principals; j += statements {
			accounts = append(accounts, fmt.Sprintf(`"%012d"`, j))
		}
		for j := i; j < conditions; j += statements {
			operators = append(operators, fmt.Sprintf(`"aws:key%d":"x"`, j))
		}
		list = append(list,
			fmt.Sprintf(`{"Sid":"s%d","Effect":"Allow","Principal":{"AWS":[%s]},"Action":"sqs:*","Resource":"*","Condition":{"StringEquals":{%s}}}`,
				i, strings.Join(accounts, ","), strings.Join(operators, ",")))
	}
	text := `{"Id":"","Statement":[` + strings.Join(list, ",") + "]}"
	return strings.Replace(text, `"Id":"`, `"Id":"`+strings.Repeat("x", max(0, size-len(text))), 1)
}
