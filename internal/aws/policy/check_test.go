package policy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// Guide, "Special Information for Amazon SQS Policies": 8,192 bytes, 20 statements, 50 principals, 10 conditions.
// Exactly that many are accepted.
func TestLimitsOfResourcePolicies(t *testing.T) {
	actions := func(n int) string {
		list := strings.Repeat(`"sqs:*",`, n)
		return `{"Statement":{"Effect":"Allow","Principal":"*","Action":[` + strings.TrimSuffix(list, ",") +
			`],"Resource":"*"}}`
	}
	for _, tc := range []struct{ text, want string }{
		{largePolicy(20, 50, 10, 8192), ""},
		{largePolicy(20, 50, 10, 8193), "Submitted policy is over max allowed size."},
		{largePolicy(21, 50, 10, 0), "21 statements were found in the submitted policy, max allowed is 20"},
		{largePolicy(20, 51, 10, 0), "51 principals were found in the submitted policy, max allowed is 50"},
		{largePolicy(20, 50, 11, 0), "11 conditions were found in the submitted policy, max allowed is 10"},
		{actions(7), ""},
		{actions(8), "8 actions were found in a statement from the submitted policy, max allowed is 7"},
	} {
		err := parse(t, policy.ForResource, tc.text).CheckResource(sqs)
		if _, again := policy.ParseResource(tc.text, sqs); fmt.Sprint(again) != fmt.Sprint(err) {
			t.Errorf("%d bytes: in one step %v, in two %v", len(tc.text), again, err)
		}
		var why *policy.Error
		switch {
		case tc.want == "" && err != nil, tc.want != "" &&
			(!errors.As(err, &why) || why.Error() != tc.want || why.Fault != policy.OverLimit):
			t.Errorf("%d bytes: got %v, want %q", len(tc.text), err, tc.want)
		}
	}
}

// A service may have its own limits; otherwise those of a queue apply.
func TestLimitsOfAnotherService(t *testing.T) {
	topics := &policy.Rules{
		Vendor: "SNS", Actions: []string{"SNS:Publish"}, Limits: policy.Limits{Bytes: 30720, Actions: 50},
	}
	text := func(actions int) string {
		return `{"Statement":{"Effect":"Allow","Principal":"*","Action":[` +
			strings.TrimSuffix(strings.Repeat(`"sns:Publish",`, actions), ",") + `],"Resource":"*"}}`
	}
	for source, want := range map[string]string{
		text(50): "", text(51): "51 actions were found in a statement from the submitted policy, max allowed is 50",
		text(1) + strings.Repeat(" ", 10000): "",
		text(1) + strings.Repeat(" ", 30720): "Submitted policy is over max allowed size.",
		strings.ReplaceAll(largePolicy(21, 50, 10, 0), "sqs:",
			"sns:"): "21 statements were found in the submitted policy, max allowed is 20",
	} {
		if _, err := policy.ParseResource(source, topics); want == "" && err != nil ||
			want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%.100s: got %v, want %q", source, err, want)
		}
	}
	long := text(1) + strings.Repeat(" ", 10000)
	p := policy.Permission{Label: "l", Accounts: []string{"111122223333"}, Actions: []string{"Publish"}}
	got, err := policy.AddPermission(long, "arn:aws:sns:us-east-1:111122223333:t", p, topics)
	if err != nil || !strings.Contains(got, `"Action":"SNS:Publish"`) {
		t.Errorf("%v: %s", err, got)
	}
}

// A text that is too large is refused for its size, before its contents are checked.
func TestSizeComesFirst(t *testing.T) {
	_, err := policy.ParseResource(strings.Repeat("x", 8193), sqs)
	if err == nil || err.Error() != "Submitted policy is over max allowed size." {
		t.Errorf("got %v", err)
	}
}

// IAM counts characters, without the white space between them.
func TestLimitsOfIAM(t *testing.T) {
	const text = "{ \"Statement\" :\n{\"Sid\":\"a\",\"Effect\":\"Allow\",\t\"Action\":\"sqs:*\",\"Resource\":\"arn:aws:sqs:*:*:é \"} }\r\n"
	p := parse(t, policy.ForIdentity, text)
	want := len([]rune(`{"Statement":{"Sid":"a","Effect":"Allow","Action":"sqs:*","Resource":"arn:aws:sqs:*:*:é "}}`))
	if p.Size() != want {
		t.Errorf("size %d, want %d", p.Size(), want)
	}
	if err := p.CheckIAM(want+7, 7); err != nil {
		t.Error(err)
	}
	if err := p.CheckIAM(want+7, 8); err == nil || !strings.HasPrefix(err.Error(), "Maximum policy size of") {
		t.Errorf("got %v", err)
	}
	p = parse(t, policy.ForIdentity, `{"Statement":{"Effect":"Allow","Action":"sqs:*","Resource":"arn:aws:sqs:*:*:€"}}`)
	if err := p.CheckIAM(policy.MaxManaged, 0); err == nil || !strings.Contains(err.Error(), "line 1, column 77") {
		t.Errorf("got %v", err)
	}
	if _, err := policy.Parse(policy.ForIdentity, strings.Repeat(" ", 131_073)); err == nil {
		t.Error("a document of any size is read")
	}
}

// A resource is text that IAM accepts as an ARN. Stored documents are not checked.
func TestARNs(t *testing.T) {
	const (
		vendor = "Resource vendor must be fully qualified and cannot contain regexes."
		broken = "The policy failed legacy parsing"
		paths  = `IAM resource path must either be "*", root, or start with user/, federated-user/, role/, group/, instance-profile/, mfa/, ` +
			`server-certificate/, policy/, sms-mfa/, saml-provider/, oidc-provider/, report/, access-report/.`
	)
	for resource, want := range map[string]string{
		"*": "", "arn:aws:sqs:::q": "", "arn:aws-cn:sqs:*:*:q": "", "arn:*:sqs:*:*:q": "", "arn:aws:sqs:*": "",
		"arn:amazon:sqs:*:*:q": `Partition "amazon" is not valid for resource "arn:amazon:sqs:*:*:q".`,
		"arn:sqs":              `Partition "sqs" is not valid for resource "arn:sqs:*:*:*:*".`,

		"arn:aws": vendor, "arn:aws::::q": vendor, "arn:aws:*:*:111122223333:*": vendor, "arn:aws:s?s:*:*:q": vendor,
		"arn:aws:glue:eu-north-1:111122223333atalog": broken,
		"arn:aws:iam:111122223333:user/bob":          broken,
		"arn:aws:sqs:*:1111-2222-3333:q":             broken,
		"arn:aws:sqs:*:1111*:q":                      "",
		"arn:aws:iam::aws:policy/x":                  "",
		"arn:aws:iam::*:*":                           "",
		"arn:aws:iam::*:root":                        "",
		"arn:aws:iam::111122223333:role/*":           "",
		"arn:aws:iam::111122223333:${aws:username}":  paths,
		"arn:aws:iam::111122223333:user":             paths,
		"arn:aws:sts::111122223333:assumed-role/r/s": "",
	} {
		p := parse(t, policy.ForIdentity, `{"Statement":{"Effect":"Allow","Action":"sqs:*","Resource":"`+resource+`"}}`)
		var why *policy.Error
		switch err := p.CheckIAM(policy.MaxManaged, 0); {
		case want == "" && err != nil, want != "" && (!errors.As(err, &why) || why.IAM() != want):
			t.Errorf("%s: %v", resource, err)
		}
	}
}

// A managed policy has the newest version. A document without a version has the oldest.
func TestVersionOfManagedPolicies(t *testing.T) {
	const text = `"Statement":{"Effect":"Allow","Action":"sqs:*","Resource":"*"}}`
	for begins, want := range map[string]string{
		`{"Version":"2012-10-17",`: "", `{`: "Policy document must be version 2012-10-17 or greater.",
		`{"Version":"2008-10-17",`: "Policy document must be version 2012-10-17 or greater.",
	} {
		var why *policy.Error
		switch err := parse(t, policy.ForIdentity, begins+text).CheckVersion(); {
		case want == "" && err != nil, want != "" && (!errors.As(err, &why) || why.IAM() != want):
			t.Errorf("%s: %v", begins, err)
		}
	}
}

// The texts with which IAM refuses documents.
func TestIAMWords(t *testing.T) {
	for text, want := range map[string]string{
		`{`: "Syntax errors in policy.",
		`{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*",}]}`:                     "Syntax errors in policy.",
		`{"Version":"2011-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`: "The policy must contain a valid version string",
		`{"Statement":{"Sid":"a-b","Effect":"Allow","Action":"*","Resource":"*"}}`:            "Statement IDs (SID) must be alpha-numeric. Check that your input satisfies the regular expression [0-9A-Za-z]*",
		`{"Statement":{"Effect":"Allow","Action":[],"Resource":"*"}}`:                         "Policy statement must contain actions.",
		`{"Statement":{"Effect":"Allow","Action":"*","NotResource":[]}}`:                      "Policy statement must contain resources.",
		`{"Statement":{"Effect":"Allow","Action":"a b:Send","Resource":"*"}}`:                 "Vendor a b is not valid",
		`{"Statement":{"Effect":"Allow","Action":":Send","Resource":"*"}}`:                    "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.",
		`{"Statement":[]}`:                                                                 "Syntax errors in policy.",
		`{"Statement":[],"Statement":[]}`:                                                  "Syntax errors in policy.",
		`{"Statement":{"Effect":"Allow","Resource":"*"}}`:                                  "Policy statement must contain actions.",
		`{"Statement":{"Effect":"Allow","Action":"sqs:*"}}`:                                "Policy statement must contain resources.",
		`{"Statement":{"Effect":"Allow","Action":"SendMessage","Resource":"*"}}`:           "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.",
		`{"Statement":{"Effect":"Allow","Action":"sqs:*","Resource":"queue1"}}`:            `Resource queue1 must be in ARN format or "*".`,
		`{"Statement":{"Effect":"Allow","Action":"sqs:Send:Message","Resource":"*"}}`:      "Actions/Condition can contain only one colon.",
		`{"Statement":{"Effect":"Allow","Action":"sqs:*","Resource":"*","Principal":"*"}}`: "Policy document should not specify a principal.",
		`{"Statement":[{"Sid":"1","Effect":"Allow","Action":"*","Resource":"*"},{"Sid":"1","Effect":"Allow","Action":"*","Resource":"*"}]}`: "Statement IDs (SID) in a single policy must be unique.",
	} {
		_, err := policy.Parse(policy.ForIdentity, text)
		var why *policy.Error
		if !errors.As(err, &why) || why.IAM() != want {
			t.Errorf("%s: got %v", text, err)
		}
	}
	for text, want := range map[string]string{
		`{`: "This policy contains invalid Json",
		`{"Statement":{"Effect":"Allow","Action":"*","Principal":{"AWS":"nobody"}}}`:                        `Invalid principal in policy: "AWS":"nobody"`,
		`{"Statement":{"Effect":"Allow","Action":"*","Principal":{"AWS":["111122223333","nobody"]}}}`:       `Invalid principal in policy: "AWS":"nobody"`,
		`{"Statement":{"Effect":"Allow","Action":"*","Principal":{}}}`:                                      "Invalid principal in policy.",
		`{"Statement":{"Effect":"Allow","Action":"sts:AssumeRole"}}`:                                        "Missing required field Principal",
		`{"Statement":{"Effect":"Allow","Action":"sqs:*","Resource":"*"}}`:                                  "Has prohibited field Resource",
		`{"Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"*"},"Resource":"*"}}`: "Has prohibited field Resource",
	} {
		_, err := policy.Parse(policy.ForTrust, text)
		var why *policy.Error
		if !errors.As(err, &why) || why.IAM() != want {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// The services that a trust policy names are AWS's. Only AWS knows all of their names, so their domains suffice.
func TestTrustedServices(t *testing.T) {
	for name, fine := range map[string]bool{
		"ec2.amazonaws.com": true, "ecs-tasks.amazonaws.com": true, "ops.apigateway.amazonaws.com": true,
		"ec2.amazonaws.com.cn": true, "alexa-appkit.amazon.com": true, "x.aws.internal": true,
		"amazonaws.com": false, ".amazonaws.com": false, "ec2.example.com": false, "ec2.amazonaws.com.example": false,
		"ec2amazonaws.com": false,
	} {
		p := parse(t, policy.ForTrust, `{"Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"`+
			name+`"}}}`)
		var why *policy.Error
		switch err := p.CheckIAM(policy.MaxTrust, 0); {
		case fine && err != nil:
			t.Errorf("%s: %v", name, err)
		case !fine && (!errors.As(err, &why) || why.IAM() != `Invalid principal in policy: "SERVICE":"`+name+`"`):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A trust policy grants the actions that assume a role, also to identity providers. Stored documents are not checked.
func TestTrust(t *testing.T) {
	const (
		actions   = "AssumeRole policy may only specify STS AssumeRole actions."
		federated = "Federated principals must be valid domain names or SAML metadata ARNs"
		provider  = "arn:aws:iam::111122223333:oidc-provider/token.example"
	)
	for _, tc := range []struct{ action, federated, want string }{
		{"sts:AssumeRoleWithWebIdentity", provider, ""}, {"sts:AssumeRole*", "accounts.google.com", ""},
		{"sts:*", provider, ""},
		{"STS:tagSession", "arn:aws:iam::111122223333:saml-provider/x", ""}, {"sts:SetSourceIdentity", provider, ""},
		{"sts:GetFederationToken", provider, actions}, {"sqs:*", provider, actions}, {"*", provider, actions},
		{"sts:AssumeRole", "x", federated},
		{"sts:AssumeRole", "arn:aws:iam:::oidc-provider/x", federated},
		{"sts:AssumeRole", "arn:aws:iam::111122223333:role/x", federated},
	} {
		p := parse(t, policy.ForTrust, `{"Statement":{"Effect":"Allow","Action":"`+tc.action+
			`","Principal":{"Federated":"`+tc.federated+`"}}}`)
		var why *policy.Error
		switch err := p.CheckIAM(policy.MaxTrust, 0); {
		case tc.want == "" && err != nil, tc.want != "" && (!errors.As(err, &why) || why.IAM() != tc.want):
			t.Errorf("%s by %s: %v", tc.action, tc.federated, err)
		}
	}
}
