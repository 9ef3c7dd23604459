package policy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// meets reports whether a request with a key satisfies a condition on it.
func meets(t *testing.T, operator, want string, has policy.Value) bool {
	t.Helper()
	quoted, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	p := parse(t, policy.ForIdentity, fmt.Sprintf(
		`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{%q:{"acme:key":%s}}}}`, operator, quoted))
	r := &policy.Request{
		Caller: callers["bob"], Action: "sqs:SendMessage", Resource: queue1, Owner: accountA,
		Identity: []*policy.Policy{p},
	}
	r.Facts.Lookup = func(name string) (policy.Value, bool) { return has, name == "acme:key" }
	return policy.Decide(r).Allowed()
}

// The values that the operators accept, on either side.
func TestOperatorsRead(t *testing.T) {
	for _, tc := range []struct {
		operator, want, has string
		met                 bool
	}{
		{"DateEquals", "2009", "2009-01-01T00:00:00Z", true},
		{"DateEquals", "2009-06", "2009-06-01", true},
		{"DateEquals", "2009-06-30", "2009-06-30T00:00Z", true},
		{"DateEquals", "2009-06-30T12:00Z", "2009-06-30T12:00:00Z", true},
		{"DateEquals", "2009-06-30T14:00+02:00", "2009-06-30T07:00:00-05:00", true},
		{"DateEquals", "2009-06-30T12:00:00.500Z", "2009-06-30T12:00:00.5Z", true},
		{"DateEquals", "1246363200", "2009-06-30T12:00:00Z", true},
		{"DateEquals", "1246363200.5", "2009-06-30T12:00:00.5Z", true},
		{"DateEquals", "0", "1970-01-01", true},
		{"DateEquals", "1e99", "1e99", false},
		{"DateEquals", "2009-06-30T12:00:00", "2009-06-30T12:00:00", false}, // without a zone
		{"DateEquals", "2009-02-30", "2009-02-30", false},
		{"DateEquals", "2009-06-30 12:00:00Z", "2009-06-30 12:00:00Z", false},
		{"DateEquals", "", "", false},
		{"DateLessThan", "2009-06-30", "yesterday", false},
		{"NumericEquals", "1.50", "1.5", true},
		{"NumericEquals", "-2e3", "-2000", true},
		{"NumericEquals", "+7", "7", true},
		{"NumericEquals", "0x10", "16", false},
		{"NumericEquals", "1_000", "1000", false},
		{"NumericEquals", "Inf", "Inf", false},
		{"NumericEquals", "NaN", "NaN", false},
		{"NumericNotEquals", "NaN", "NaN", true},
		{"NumericEquals", ".5", "0.5", false},
		{"NumericEquals", "5.", "5", false},
		{"NumericEquals", "1e", "1", false},
		{"NumericEquals", "1e999", "1e999", false},
		{"NumericEquals", "", "", false},
		{"Bool", "TRUE", "true", true},
		{"Bool", "false", "False", true},
		{"Bool", "true", "yes", false},
		{"Bool", "yes", "yes", false},
		{"BinaryEquals", "AAE=", "AAE=", true},
		{"BinaryEquals", "AAE", "AAE", false},
		{"IpAddress", "10.0.0.0/8", "10.255.255.255", true},
		{"IpAddress", "10.0.0.0/8", "11.0.0.0", false},
		{"IpAddress", "0.0.0.0/0", "203.0.113.9", true},
		{"IpAddress", "0.0.0.0/0", "2001:db8::1", false},
		{"IpAddress", "::/0", "203.0.113.9", false},
		{"IpAddress", "::/0", "2001:db8::1", true},
		{"IpAddress", "2001:db8::1", "2001:DB8:0::1", true},
		{"IpAddress", "::ffff:10.0.0.0/104", "10.1.2.3", true},
		{"IpAddress", "::ffff:10.0.0.1", "10.0.0.1", true},
		{"IpAddress", "10.0.0.1", "::ffff:10.0.0.1", true},
		{"IpAddress", "::ffff:0.0.0.0/64", "10.0.0.1", false},
		{"IpAddress", "fe80::1%eth0", "fe80::1", false},
		{"IpAddress", "10.0.0.0/33", "10.0.0.1", false},
		{"IpAddress", "10.0.0.0/8", "nowhere", false},
		{"NotIpAddress", "10.0.0.0/8", "nowhere", true},
		{"StringEquals", "é", "é", true},
		{"StringEqualsIgnoreCase", "É", "é", true},
		{"StringLike", "?", "é", true},
		{"StringLike", "?", "e\u0301", false}, // two characters
		{"StringLike", "a\ufffdb", "a\xffb", false},
		{"StringLike", "a?b", "a\xffb", true},
		{"StringLike", "?\ufffd", "a\xff", false},
		{"StringLike", "?\ufffd", "a\ufffd", true},
		{"StringLike", "", "", true},
		{"StringLike", "*", "", true},
		{"StringLike", "a*b*c", "aXcbXbc", true},
		{"StringLike", "${*}${?}${$}{", "*?${", true},
		{"StringLike", "${acme:key}", "x*", true},
		{"StringLike", "$ {$", "$ {$", true},
		{"ArnLike", "arn:aws:sns:*:*:t?pic", "arn:aws:sns:us-east-1:1:topic", true},
		{"ArnLike", "arn:aws:sns:*:topic", "arn:aws:sns:us-east-1:1:topic", false},
		{"ArnLike", "arn:aws:sns:*", "arn:aws:sns:us-east-1:1:topic:subscription", true},
		{"ArnLike", "arn:aws:sns:us-east-?*", "arn:aws:sns:us-east-1:1:topic", true},
		{"ArnLike", "*", "anything", true},
		{"ArnLike", "arn:aws:sns:us-east-1:1:topic", "arn:aws:sns", false},
		{"ArnEquals", "arn:aws:sns:us-east-1:1:topic:*", "arn:aws:sns:us-east-1:1:topic:a:b", true},
		{"ArnEquals", "arn:${acme:key}", "arn:aws:sns:us-east-1:1:topic", false},
		{"Null", "true", "x", false},
		{"Null", "maybe", "x", false},
	} {
		if got := meets(t, tc.operator, tc.want, policy.Text(tc.has)); got != tc.met {
			t.Errorf("%s %q, the request has %q: %t", tc.operator, tc.want, tc.has, got)
		}
	}
}

// Only the set operators take lists, for values of every type.
func TestSetOperators(t *testing.T) {
	for _, tc := range []struct {
		operator, want, has string
		met                 bool
	}{
		{"ForAllValues:IpAddress", "10.0.0.0/8", "10.0.0.1 10.0.0.2", true},
		{"ForAllValues:IpAddress", "10.0.0.0/8", "10.0.0.1 11.0.0.2", false},
		{"ForAnyValue:NumericGreaterThan", "5", "1 6", true},
		{"ForAnyValue:NumericGreaterThan", "5", "1 5", false},
		{"ForAnyValue:Bool", "true", "false true", true},
		{"ForAllValues:DateLessThan", "2010", "2008 2009", true},
		{"ForAllValues:ArnLike", "arn:aws:sns:*", "arn:aws:sns:a:b:c arn:aws:sqs:a:b:c", false},
		{"ForAllValues:StringEqualsIfExists", "a", "", true},
		{"ForAnyValue:StringEquals", "a", "", false},
		{"ForAnyValue:StringEqualsIfExists", "a", "", true},
		{"StringNotEquals", "a", "b", false}, // a list has no single value
		{"StringLike", "*", "b", false},
		{"Null", "false", "b", true},
		{"Null", "true", "", true},
	} {
		if got := meets(t, tc.operator, tc.want, policy.List(strings.Fields(tc.has))); got != tc.met {
			t.Errorf("%s %q, the request has the list %q: %t", tc.operator, tc.want, tc.has, got)
		}
	}
}

// The set operators also accept keys with a single value.
func TestSetOperatorsOfOneValue(t *testing.T) {
	for operator, met := range map[string]bool{
		"ForAllValues:StringEquals": true, "ForAnyValue:StringEquals": true,
		"ForAllValues:StringNotEquals": false, "ForAnyValue:StringNotEquals": false,
	} {
		if got := meets(t, operator, "a", policy.Text("a")); got != met {
			t.Errorf("%s: %t", operator, got)
		}
	}
}
