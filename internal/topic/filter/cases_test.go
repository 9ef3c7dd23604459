package filter

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// cases are policies with messages that they pass and messages that they reject. A message of scope MessageAttributes
// is written as its attributes: name, type, value.
var attributeCases = []struct {
	policy  string
	through []Attribute // each one is a message
	held    []Attribute
}{
	{`{}`, []Attribute{{"a", "String", "x"}}, nil},
	{
		`{"interests": ["rugby", "tennis"]}`,
		[]Attribute{{"interests", "String", "rugby"}, {"interests", "String.Array", `["golf", "tennis"]`},
			{"interests", "String.custom", "rugby"}},
		[]Attribute{
			{"interests", "String", "Rugby"}, {"interests", "String.Array", `["golf"]`},
			{"interests", "Binary", "rugby"},
			{"interest", "String", "rugby"}, {"interests", "String.Array", `[`},
			{"interests", "String.Array", `"rugby"`},
		},
	},
	{
		`{"interests": [{"anything-but": ["rugby", "tennis"]}]}`,
		[]Attribute{{"interests", "String", "golf"}, {"interests", "String.Array", `["rugby", "golf"]`},
			{"interests", "Number", "1"}},
		[]Attribute{{"interests", "String", "rugby"}, {"interests", "String.Array", `["rugby"]`},
			{"other", "String", "golf"}},
	},
	{
		`{"event": [{"anything-but": "order-x"}]}`,
		[]Attribute{{"event", "String", "order-y"}}, []Attribute{{"event", "String", "order-x"}},
	},
	{
		`{"event": [{"anything-but": {"prefix": "order-"}}]}`,
		[]Attribute{{"event", "String", "data-entry"}, {"event", "Number", "1"}},
		[]Attribute{{"event", "String", "order-x"}},
	},
	{
		`{"event": [{"anything-but": {"suffix": ["-x", "-y"]}}]}`,
		[]Attribute{{"event", "String", "order-z"}},
		[]Attribute{{"event", "String", "order-x"}, {"event", "String", "order-y"}},
	},
	{
		`{"event": [{"anything-but": {"wildcard": "*-o*"}}]}`,
		[]Attribute{{"event", "String", "a-b"}}, []Attribute{{"event", "String", "a-order"}},
	},
	{
		`{"event": [{"anything-but": {"equals-ignore-case": "Tennis"}}]}`,
		[]Attribute{{"event", "String", "golf"}}, []Attribute{{"event", "String", "TENNIS"}},
	},
	{`{"a": [{"prefix": "bas"}]}`, []Attribute{{"a", "String", "baseball"}},
		[]Attribute{{"a", "String", "Baseball"}, {"a", "Number", "5"}}},
	{`{"a": [{"suffix": "ball"}]}`, []Attribute{{"a", "String", "baseball"}}, []Attribute{{"a", "String", "balls"}}},
	{`{"a": [{"equals-ignore-case": "tennis"}]}`, []Attribute{{"a", "String", "TeNNis"}},
		[]Attribute{{"a", "String", "tenni"}}},
	{
		`{"a": [{"wildcard": "*ball"}]}`,
		[]Attribute{{"a", "String", "baseball"}, {"a", "String", "ball"}}, []Attribute{{"a", "String", "balls"}},
	},
	{
		`{"a": [{"wildcard": "a*b*c"}]}`,
		[]Attribute{{"a", "String", "abc"}, {"a", "String", "aabbcc"}, {"a", "String", "abcbc"}},
		[]Attribute{{"a", "String", "ac"}, {"a", "String", "abcb"}},
	},
	{`{"a": [{"wildcard": "aa*aa"}]}`, []Attribute{{"a", "String", "aaaa"}}, []Attribute{{"a", "String", "aaa"}}},
	{`{"a": [{"wildcard": "a\\*b*\\\\"}]}`, []Attribute{{"a", "String", `a*bc\`}},
		[]Attribute{{"a", "String", `axbc\`}}},
	{`{"a": [{"wildcard": "plain\\*"}]}`, []Attribute{{"a", "String", `plain*`}},
		[]Attribute{{"a", "String", `plainx`}}},
	{
		`{"ip": [{"cidr": "10.1.2.0/24"}]}`,
		[]Attribute{{"ip", "String", "10.1.2.255"}, {"ip", "String", "::ffff:10.1.2.3"}},
		[]Attribute{{"ip", "String", "10.1.3.0"}, {"ip", "String", "10.1.2"}, {"ip", "Number", "10"}},
	},
	{
		`{"ip": [{"cidr": "::ffff:10.0.0.0/104"}]}`,
		[]Attribute{{"ip", "String", "10.1.2.3"}, {"ip", "String", "::ffff:10.1.2.3"}},
		[]Attribute{{"ip", "String", "11.0.0.1"}, {"ip", "String", "::a01:203"}},
	},
	{`{"ip": [{"cidr": "2001:db8::/32"}]}`, []Attribute{{"ip", "String", "2001:db8::1"}},
		[]Attribute{{"ip", "String", "2001:db9::1"}}},
	{
		`{"price": [{"numeric": ["=", 301.5]}]}`,
		[]Attribute{{"price", "Number", "301.5"}, {"price", "Number", "3.015e2"},
			{"price", "Number.float", "301.500001"}},
		[]Attribute{{"price", "Number", "301.50001"}, {"price", "String", "301.5"}},
	},
	{`{"price": [301.5]}`, []Attribute{{"price", "Number", "3.015E2"}}, []Attribute{{"price", "String", "301.5"}}},
	{`{"id": [123456789012345678]}`, []Attribute{{"id", "Number", "123456789012345678"}},
		[]Attribute{{"id", "Number", "123456789012345679"}}},
	{`{"price": [{"anything-but": [100, 500]}]}`,
		[]Attribute{{"price", "Number", "101"}, {"price", "Number", "1e20"}, {"price", "String", "100"}},
		[]Attribute{{"price", "Number", "100.0"}}},
	{
		`{"price": [{"numeric": [">", 0, "<=", 150]}]}`,
		[]Attribute{{"price", "Number", "0.00001"}, {"price", "Number", "150"}},
		[]Attribute{{"price", "Number", "0"}, {"price", "Number", "150.00001"}, {"price", "Number", "x"}},
	},
	{`{"price": [{"numeric": ["<", 0]}]}`, []Attribute{{"price", "Number", "-1"}},
		[]Attribute{{"price", "Number", "0"}, {"price", "Number", "-2e9"}}},
	{
		`{"a": [{"exists": true}]}`,
		[]Attribute{{"a", "String", "x"}, {"a", "String.Array", "[null, 1]"}},
		[]Attribute{{"b", "String", "x"}, {"a", "Binary", "x"}, {"a", "String.Array", "[]"},
			{"a", "String.Array", `[null, ""]`}, {"a", "String.Array", "["}},
	},
	{`{"a": [{"exists": false}]}`, []Attribute{{"b", "String", "x"}}, []Attribute{{"a", "String", "x"}}},
	{`{"a": ["x", {"exists": false}]}`, []Attribute{{"b", "String", "x"}, {"a", "String", "x"}},
		[]Attribute{{"a", "String", "y"}}},
	{`{"a": [true, null]}`, []Attribute{{"a", "String.Array", "[true]"}, {"a", "String.Array", "[1, null]"}},
		[]Attribute{{"a", "String", "true"}, {"a", "String.Array", `["true"]`}}},
	{`{"$or": [{"a": ["x"]}, {"b": ["y"]}]}`, []Attribute{{"a", "String", "x"}, {"b", "String", "y"}},
		[]Attribute{{"a", "String", "y"}}},
	{ // one object, and reserved names: here the name $or has no special meaning
		`{"$or": ["x", {"prefix": "y"}]}`,
		[]Attribute{{"$or", "String", "x"}, {"$or", "String", "yx"}},
		[]Attribute{{"prefix", "String", "y"}, {"$or", "String", "z"}},
	},
	{
		`{"\u0024or": [{"numeric": ["=", 1]}, {"pr\u0065fix": "x"}, "z"]}`,
		[]Attribute{{"$or", "Number", "1"}, {"$or", "String", "xy"}, {"$or", "String", "z"}},
		[]Attribute{{"numeric", "Number", "1"}},
	},
	{ // names within the alternatives' values are not names of alternatives
		`{"$or": [{"a": [{"prefix": "x"}]}, {"b": [{"exists": true}]}]}`,
		[]Attribute{{"a", "String", "xy"}, {"b", "String", "x"}}, []Attribute{{"a", "String", "y"}},
	},
	{`{"a": ["x"], "b": ["y"]}`, nil, []Attribute{{"a", "String", "x"}, {"b", "String", "y"}}},
}

var bodyCases = []struct {
	policy        string
	through, held []string
}{
	{`{}`, []string{`not JSON`, ``}, nil},
	{
		`{"a": {"b": ["x"]}}`,
		[]string{`{"a": {"b": "x"}}`, `{"a": [{"b": "y"}, {"b": ["z", "x"]}]}`, `{"a": {"b": "\u0078"}}`,
			`{"\u0061": {"b": "x"}}`},
		[]string{`not JSON`, ``, `"x"`, `[{"a": {"b": "x"}}]`, `{"a": {"b": "y"}}`, `{"a": "x"}`, `{"b": "x"}`,
			`{"a": {"b": {"b": "x"}}}`, `{"a": {"b": "x"}} x`},
	},
	{ // keys below one array match in one element
		`{"a": {"b": ["x"], "c": ["y"]}}`,
		[]string{`{"a": [{"b": "x", "c": "z"}, {"b": "x", "c": "y"}]}`},
		[]string{`{"a": [{"b": "x", "c": "z"}, {"b": "z", "c": "y"}]}`},
	},
	{`{"a": [1]}`, []string{`{"a": [[2], [[1.0]]]}`, `{"a": 1e0}`}, []string{`{"a": "1"}`, `{"a": [{"a": 1}]}`}},
	{`{"a": [true, false]}`, []string{`{"a": true}`, `{"a": [null, false]}`}, []string{`{"a": null}`, `{"a": "true"}`}},
	{
		`{"a": [{"exists": true}]}`,
		[]string{`{"a": [1]}`, `{"a": false}`, `{"a": [null, "x"]}`, `{"a": 0}`},
		[]string{`{}`, `{"a": null}`, `{"a": ""}`, `{"a": [null]}`, `{"a": {}}`, `{"a": []}`, `{"a": {"b": 1}}`},
	},
	{
		`{"a": {"b": [{"exists": false}]}}`,
		[]string{`{}`, `{"a": 1}`, `{"a": {"b": []}}`, `{"a": {"b": {"c": 1}}}`, `{"a": [{"b": 1}, {}]}`, `{"a": []}`},
		[]string{`{"a": {"b": 1}}`, `{"a": [{"b": 1}]}`},
	},
	{`{"a": ["x"]}`, []string{`{"a": "y", "a": "x"}`}, []string{`{"a": "x", "a": "y"}`}},
	{
		`{"a": ["x"], "$or": [{"b": [{"numeric": [">", 5]}]}, {"c": {"d": ["y"]}, "e": ["z"]}]}`,
		[]string{`{"a": "x", "b": 6}`, `{"a": "x", "c": {"d": "y"}, "e": "z"}`},
		[]string{`{"a": "x"}`, `{"b": 6}`, `{"a": "x", "c": {"d": "y"}}`},
	},
	{ // a path is the same whether it is written as objects or with dots
		`{"object": {"nested": ["x"]}}`,
		[]string{`{"object.nested": "x"}`, `{"object": {"nested": "x"}}`,
			`{"object.nested": "y", "object": {"nested": "x"}}`},
		[]string{`{"object.nested": "y"}`, `{"nested": "x"}`, `{"object.nested.a": "x"}`,
			`{"object": "x", "nested": "x"}`},
	},
	{
		`{"a.b": ["x"]}`,
		[]string{`{"a": {"b": "x"}}`, `{"a.b": "x"}`, `{"a": [{"b": "y"}, {"b": "x"}]}`},
		[]string{`{"a": {"b": "y"}}`, `{"a": "x"}`, `{"a": {"b": {"c": "x"}}}`},
	},
	{
		`{"a": {"b.c": {"d": ["x"]}}}`,
		[]string{`{"a.b": {"c": {"d": "x"}}}`, `{"a": {"b": {"c.d": "x"}}}`, `{"a.b.c.d": ["x"]}`,
			`{"a": {"b": {"c": [{"d": "x"}]}}}`},
		[]string{`{"a.b": {"c": {"e": "x"}}}`},
	},
	{
		`{"a": {"b": [{"exists": false}]}}`,
		[]string{`{"a.c": 1}`}, []string{`{"a.b": 1}`, `{"a": {}, "a.b": null}`},
	},
	{ // keys below one array match in one element, however they are written
		`{"a.b": ["x"], "a": {"c": ["y"]}}`,
		[]string{`{"a": [{"b": "x", "c": "y"}]}`, `{"a": {"b": "x"}, "a.c": "y"}`},
		[]string{`{"a": [{"b": "x", "c": "z"}, {"b": "z", "c": "y"}]}`},
	},
	{
		`{"a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a": ["x"]}`,
		[]string{`{"a.a": {"a.a.a.a.a.a.a.a.a": {"a.a.a.a.a.a.a": "y", "a.a.a.a.a.a.a": "x"}}}`,
			`{"a": 1, "a.a": 2, "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a": "x"}`},
		[]string{`{"a.a": {"a.a.a.a.a.a.a.a.a": {"a.a.a.a.a.a.a": "x", "a.a.a.a.a.a.a": "y"}}}`, `{"a": "x"}`},
	},
	{
		`{"a..b": ["x"], "c.": ["y"]}`,
		[]string{`{"a": {"": {"b": "x"}}, "c": {"": "y"}}`, `{"a..b": "x", "c.": "y"}`},
		[]string{`{"a": {"b": "x"}, "c": "y"}`},
	},
	{
		`{"a": {"$or": [{"b": ["x"]}, {"c": ["y"]}]}}`,
		[]string{`{"a": {"b": "x"}}`, `{"a": {"c": "y"}}`}, []string{`{"b": "x"}`},
	},
	{ // a list that cannot be alternatives, a value that is no list, and alternatives below the name
		`{"$or": {"$or": [{"a": ["x"]}, {"b": ["y"]}], "$o": ["z"]}}`,
		[]string{`{"$or": {"a": "x", "$o": "z"}}`, `{"$or": {"b": "y", "$o": "z"}}`},
		[]string{`{"a": "x", "$o": "z"}`, `{"$or": {"a": "x"}}`},
	},
}

func TestAttributes(t *testing.T) {
	for _, c := range attributeCases {
		p := mustParse(t, c.policy, MessageAttributes)
		for i, a := range append(c.through, c.held...) {
			if got, want := p.Matches(NewMessage("", []Attribute{a})), i < len(c.through); got != want {
				t.Errorf("%s and %v: %v", c.policy, a, got)
			}
		}
	}
	for _, policy := range []string{`{"a": [{"exists": false}]}`,
		`{"a": [{"exists": false}], "b": [{"exists": false}]}`} {
		if mustParse(t, policy, MessageAttributes).Matches(NewMessage("x", nil)) {
			t.Errorf("%s lets a message without attributes through", policy)
		}
	}
	if !mustParse(t, `{}`, MessageAttributes).Matches(NewMessage("x", nil)) {
		t.Error("{} rejects a message without attributes")
	}
	two := []Attribute{{"a", "String", "x"}, {"b", "String", "y"}}
	if !mustParse(t, `{"a": ["x"], "b": ["y"]}`, MessageAttributes).Matches(NewMessage("", two)) {
		t.Error("two matching keys reject a message")
	}
}

func TestBodies(t *testing.T) {
	for _, c := range bodyCases {
		p := mustParse(t, c.policy, MessageBody)
		for i, body := range append(c.through, c.held...) {
			if got, want := p.Matches(NewMessage(body, nil)), i < len(c.through); got != want {
				t.Errorf("%s and %s: %v", c.policy, body, got)
			}
		}
	}
}

// A member of a large object is found by an index; the last of two counts there too.
func TestLargeObject(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, `"k%d": %d, `, i, i)
	}
	m := NewMessage(`{"k7": 8, `+b.String()+`"z": {"k7": 8}}`, nil)
	for policy, want := range map[string]bool{
		`{"k7": [7]}`: true, `{"k7": [8]}`: false, `{"z": {"k7": [8]}}`: true, `{"k1000": [1]}`: false,
	} {
		if got := mustParse(t, policy, MessageBody).Matches(m); got != want {
			t.Errorf("%s: %v", policy, got)
		}
	}
}

func mustParse(t testing.TB, source string, scope Scope) *Policy {
	t.Helper()
	p, err := Parse(source, scope)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return p
}

func TestRefusals(t *testing.T) {
	list := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }
	for _, c := range []struct {
		policy string
		scope  Scope
		want   string // the beginning
	}{
		{``, MessageBody, "FilterPolicy: failed to parse JSON. Unexpected end-of-input"},
		{`{`, MessageBody,
			"FilterPolicy: failed to parse JSON. Unexpected end-of-input: expected close marker for Object (start marker at [Source: (String)\"{\"; line: 1, column: 1])\n at [Source: (String)\"{\"; line: 1, column: 2]"},
		{`not json`, MessageBody,
			"FilterPolicy: failed to parse JSON. Unrecognized token 'not': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')\n at [Source: (String)\"not json\"; line: 1, column: 4]"},
		{`{invalid`, MessageBody,
			"FilterPolicy: failed to parse JSON. Unexpected character ('i' (code 105)): was expecting double-quote to start field name\n at [Source: (String)\"{invalid\"; line: 1, column: 3]"},
		{`{"a": ["x" "y"]}`, MessageBody,
			"FilterPolicy: failed to parse JSON. Unexpected character ('\"' (code 34)): was expecting comma to separate Array entries\n at [Source: (String)\"{\"a\": [\"x\" \"y\"]}\"; line: 1, column: 13]"},
		{`{"a" ["x"]}`, MessageBody,
			"FilterPolicy: failed to parse JSON. Unexpected character ('[' (code 91)): was expecting a colon to separate field name and value"},
		{`{"a": [}`, MessageBody,
			"FilterPolicy: failed to parse JSON. Unexpected character ('}' (code 125)): expected a valid value (JSON String,"},
		{`{"a": ["x`, MessageBody, "FilterPolicy: failed to parse JSON. Unexpected end-of-input in VALUE_STRING"},
		{`{"a": ["\q"]}`, MessageBody, "FilterPolicy: failed to parse JSON. Unexpected content"},
		{strings.Repeat("[", 100_000), MessageBody,
			"FilterPolicy: failed to parse JSON. Document nesting depth (1001) exceeds"},
		{`{"a"`, MessageBody, "FilterPolicy: failed to parse JSON. Unexpected end-of-input"},
		{`{"a": [x]}`, MessageBody, "FilterPolicy: failed to parse JSON. Unrecognized token 'x': was expecting"},
		{`{"a": ["x"]} {}`, MessageBody, "FilterPolicy: failed to parse JSON. Unexpected content"},
		{"{\"a\": [\"\xff\"]}", MessageBody, "FilterPolicy: failed to parse JSON. The text is not UTF-8"},
		{`["x"]`, MessageBody, "FilterPolicy: Filter is not an object"},
		{`{"a": "x"}`, MessageBody, `FilterPolicy: "a" must be an object or an array`},
		{`{"a": []}`, MessageBody,
			"FilterPolicy: Empty arrays are not allowed\n at [Source: (String)\"{\"a\":[]}\"; line: 1, column: 8]"},
		{"{\n \"a\": [[1]]}", MessageBody,
			"FilterPolicy: Match value must be String, number, true, false, or null\n at [Source: (String)\"{\"a\":[[1]]}\"; line: 1, column: 8]"},
		{`{"key": {"suffix": "v"}}`, MessageAttributes,
			"FilterPolicy: \"suffix\" must be an object or an array\n at [Source: (String)\"{\"key\":{\"suffix\":\"v\"}}\"; line: 1, column: 19]"},
		{`{"a": [{"prefix": ["x"]}]}`, MessageBody,
			"FilterPolicy: prefix match pattern must be a string\n at [Source: (String)\"{\"a\":[{\"prefix\":[\"x\"]}]}\"; line: 1, column: 18]"},
		{`{"a": [{"cidr": ["x"]}]}`, MessageBody,
			"FilterPolicy: prefix match pattern must be a string\n at [Source: (String)\"{\"a\":[{\"cidr\":[\"x\"]}]}\"; line: 1, column: 16]"},
		{`{"a": [{"anything-but": {"prefix": 100}}]}`, MessageBody,
			"FilterPolicy: prefix match pattern must be a string\n at [Source: (String)\"{\"a\":[{\"anything-but\":{\"prefix\":100}}]}\"; line: 1, column: 36]"},
		{`{"a": [{"wrong": "x"}]}`, MessageBody,
			"FilterPolicy: Unrecognized match type wrong\n at [Source: (String)\"{\"a\":[{\"wrong\":\"x\"}]}\"; line: 1, column: 17]"},
		{`{"a": [{"numeric": [">", 20, 30]}]}`, MessageBody,
			"FilterPolicy: Bad value in numeric range: 30\n at [Source: (String)\"{\"a\":[{\"numeric\":[\">\",20,30]}]}\"; line: 1, column: 28]"},
		{`{"a": [{"numeric": [">", 1, "<", 1, "<"]}]}`, MessageBody,
			"FilterPolicy: Too many terms in numeric range expression"},
		{`{"a": [{"cidr": "xx.11.xx/8"}]}`, MessageBody, "FilterPolicy: Nonstandard IP address: xx.11.xx"},
		{`{"a": [{"cidr": "10.0.0.0/xx"}]}`, MessageBody, "FilterPolicy: Malformed CIDR, mask bits must be an integer"},
		{`{"a": [{"cidr": "10.0.0.0/-1"}]}`, MessageBody,
			"FilterPolicy: Malformed CIDR, mask bits must not be negative"},
		{`{"a": [{"cidr": "10.0.0.0/33"}]}`, MessageBody, "FilterPolicy: IPv4 mask bits must be < 32"},
		{`{"a": [{"cidr": "::ffff:0.0.0.0/64"}]}`, MessageBody, "FilterPolicy: Nonstandard IP address: ::ffff:0.0.0.0"},
		{`{"a": [{"cidr": "10.0.0.0/8/8"}]}`, MessageBody, "FilterPolicy: Malformed CIDR, one '/' required"},
		{`{"a": {}}`, MessageBody, "FilterPolicy: Empty objects are not allowed"},
		{`{"a": {"b": ["x"]}}`, MessageAttributes,
			"Filter policy scope MessageAttributes does not support nested filter policy"},
		{`{"a": ["x"], "a": ["y"]}`, MessageBody, "FilterPolicy: Path `a` cannot be allowed multiple times"},
		{`{"a": [{}]}`, MessageBody, "FilterPolicy: Match expression name not found"},
		{`{"a": [{"prefixx": "x"}]}`, MessageBody, "FilterPolicy: Unrecognized match type prefixx"},
		{`{"a": [{"prefix": 1}]}`, MessageBody, "FilterPolicy: prefix match pattern must be a string"},
		{`{"a": [{"prefix": "x", "suffix": "y"}]}`, MessageBody,
			"FilterPolicy: Only one key allowed in match expression"},
		{`{"a": [{"exists": "x"}]}`, MessageBody, "FilterPolicy: exists match pattern must be either true or false."},
		{`{"a": [{"cidr": "10.0.0.0"}]}`, MessageBody, "FilterPolicy: Malformed CIDR, one '/' required"},
		{`{"a": [{"wildcard": "a**b"}]}`, MessageBody, "FilterPolicy: Consecutive wildcard characters at pos 1"},
		{`{"a": [{"wildcard": "a\\b*"}]}`, MessageBody, "FilterPolicy: Invalid escape character at pos 1"},
		{`{"a": [{"wildcard": "a\\"}]}`, MessageBody, "FilterPolicy: Invalid escape character at pos 1"},
		{`{"a": [{"numeric": 1}]}`, MessageBody, "FilterPolicy: Value of numeric must be an array."},
		{`{"a": [{"numeric": []}]}`, MessageBody, "FilterPolicy: Invalid member in numeric match: ]"},
		{`{"a": [{"numeric": [1]}]}`, MessageBody, "FilterPolicy: Invalid member in numeric match: 1"},
		{`{"a": [{"numeric": ["!", 1]}]}`, MessageBody, "FilterPolicy: Unrecognized numeric range operator: !"},
		{`{"a": [{"numeric": ["=", "1"]}]}`, MessageBody, "FilterPolicy: Value of equals must be numeric"},
		{`{"a": [{"numeric": ["<"]}]}`, MessageBody, "FilterPolicy: Value of < must be numeric"},
		{`{"a": [{"numeric": ["<", 1, ">", 0]}]}`, MessageBody,
			"FilterPolicy: Too many elements in numeric expression"},
		{`{"a": [{"numeric": [">", 1, "=", 2]}]}`, MessageBody, "FilterPolicy: Bad numeric range operator: ="},
		{`{"a": [{"numeric": [">", 1, "<", 1]}]}`, MessageBody, "FilterPolicy: Bottom must be less than top"},
		{`{"a": [{"numeric": [">", 1, "<", 2, 3]}]}`, MessageBody,
			"FilterPolicy: Too many terms in numeric range expression"},
		{`{"a": [{"numeric": [">", 1e10]}]}`, MessageBody,
			"FilterPolicy: Value must be between -1.0E9 and 1.0E9, inclusive"},
		{`{"a": [{"anything-but": true}]}`, MessageBody,
			"FilterPolicy: Value of anything-but must be an array or single string/number value."},
		{`{"a": [{"anything-but": [1, "x"]}]}`, MessageBody,
			"FilterPolicy: Inside anything but list, either all values are number or string, mixed type is not supported"},
		{`{"a": [{"anything-but": []}]}`, MessageBody, "FilterPolicy: Inside anything but list, either all"},
		{`{"a": [{"anything-but": [null]}]}`, MessageBody,
			"FilterPolicy: Inside anything but list, start|null|boolean is not supported."},
		{`{"a": [{"anything-but": {"numeric": ["=", 1]}}]}`, MessageBody,
			"FilterPolicy: Unsupported anything-but pattern: numeric"},
		{`{"a": [{"anything-but": {"prefix": ""}}]}`, MessageBody, "FilterPolicy: Null prefix/suffix not allowed"},
		{`{"a": [{"anything-but": {"prefix": []}}]}`, MessageBody, "FilterPolicy: Empty arrays are not allowed"},
		{`{"$or": "x"}`, MessageBody, `FilterPolicy: "$or" must be an object or an array`},
		{`{"$or": {"a": ["x"]}}`, MessageAttributes,
			"Filter policy scope MessageAttributes does not support nested filter policy"},
		{`{"$or": [{"a": ["x"]}]}`, MessageBody, "FilterPolicy: Unrecognized match type a"},
		{`{"$or": [{"numeric": 123}, {"prefix": "abc"}]}`, MessageBody,
			"FilterPolicy: Value of numeric must be an array."},
		{`{"$or": [{"prefix": ["x"]}, {"b": ["y"]}]}`, MessageBody,
			"FilterPolicy: prefix match pattern must be a string"},
		{`{"$or": [{"a": ["x"]}, "x", {"b": ["y"]}]}`, MessageBody,
			"FilterPolicy: Only JSON object is allowed in array of $or relationship."},
		{`{"$or": [{}, {}]}`, MessageBody, "FilterPolicy: Empty objects are not allowed"},
		{`{"a": [{"numeric": ["=", 1], "prefix": "x"}]}`, MessageBody,
			"FilterPolicy: Too many elements in numeric expression"},
		{`{"a": [{"anything-but": "x", "prefix": "x"}]}`, MessageBody,
			"FilterPolicy: Too many elements in numeric expression"},
		{`{"a": [{"anything-but": {"prefix": "x"}, "prefix": "x"}]}`, MessageBody,
			"FilterPolicy: Only one key allowed in match expression"},
		{`{"a": [{"anything-but": {"prefix": "x", "suffix": "x"}}]}`, MessageBody,
			"FilterPolicy: Only one key allowed in match expression"},
		{`{"a":[1],"b":[1],"c":[1],"d":[1],"e":[1],"f":[1]}`, MessageBody,
			"FilterPolicy: Filter policy can not have more than 5 keys"},
		{`{"a": ` + list(151) + `}`, MessageBody, "FilterPolicy: Filter policy is too complex"},
		{`{"a": {"b": ` + list(76) + `}}`, MessageBody, "FilterPolicy: Filter policy is too complex"},
		{`{"a": ` + list(13) + `, "b": ` + list(12) + `}`, MessageBody, "FilterPolicy: Filter policy is too complex"},
		{`{"$or": [{"a": ` + list(76) + `}, {"b": ` + list(75) + `}]}`, MessageBody,
			"FilterPolicy: Filter policy is too complex"},
		{`{"a": [{"anything-but": {"prefix": ["x"` + strings.Repeat(`, "x"`, 150) + `]}}]}`, MessageBody,
			"FilterPolicy: Filter policy is too complex"},
		{strings.Repeat(`{"a":`, 100) + `["x"]` + strings.Repeat(`}`, 100), MessageBody,
			"FilterPolicy: Filter policy is too complex"},
		{`{"a": ["` + strings.Repeat("x", MaxBytes) + `"]}`, MessageBody,
			"FilterPolicy: Filter policy is larger than 256 KB"},
	} {
		_, err := Parse(c.policy, c.scope)
		if strings.Contains(c.policy, "cidr") && !strings.Contains(c.policy, "[\"x\"]") && err != nil &&
			err.Error() != c.want {
			t.Errorf("%s: %v has more than its sentence", c.policy, err)
		}
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.80s: %v", c.policy, err)
		}
	}
}

// AWS's examples of the limits: 4 values three levels deep, 3 two levels deep and 2 are 4·3 × 3·2 × 2 = 144.
func TestLimitsThatAreKept(t *testing.T) {
	mustParse(t, `{"a": {"b": {"c": [1, 2, 3, 4]}}, "d": {"e": [1, 2, 3]}, "f": [1, 2]}`, MessageBody)
	mustParse(t, `{"a":[1],"b":[1],"c":[1],"d":[1],"$or":[{"e":[1]},{"f":[1]},{"g":[1]}]}`, MessageBody)
	// keys within a key do not count
	mustParse(t, `{"a":[1],"b":[1],"c":[1],"d":{"e":[1],"f":[1],"g":[1]}}`, MessageBody)
}

func TestAnErrorRepeatsLittleOfThePolicy(t *testing.T) {
	for _, source := range []string{
		`{"a": ["` + strings.Repeat("é", 50_000) + `", []]}`,
		`{"` + strings.Repeat("é", 50_000) + `": 1}`,
		`{"a": [{"` + strings.Repeat("é", 50_000) + `": 1}]}`,
	} {
		_, err := Parse(source, MessageBody)
		if err == nil || len(err.Error()) > 1200 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	}
}

// manyWays returns an object with hundreds of ways for a path a.a.a….
func manyWays() string {
	var b strings.Builder
	for i := range 700 {
		fmt.Fprintf(&b, `,"a%s":{"a":[{}],"a.a":[{}]}`, strings.Repeat(".a", i))
	}
	return "{" + b.String()[1:] + "}"
}

// The combined cost of a policy and a body: a wildcard with many pieces, many alternatives, lists of thousands of
// values, deep arrays, large objects. The longest takes a second or two under the race detector; an evaluator that
// tries all ways would never end. The gap between the two leaves room for a busy machine.
func TestHostilePoliciesAreBounded(t *testing.T) {
	alternatives := strings.TrimSuffix(strings.Repeat(`{"a": {"b": ["x"]}},`, 75), ",")
	policies := []string{
		`{"a": [{"wildcard": "` + strings.Repeat("*a", 100_000) + `*b"}]}`,
		`{"$or": [` + alternatives + `]}`,
		`{"a": [{"anything-but": ["v0"` + strings.Repeat(`, "vv"`, 20_000) + `]}]}`,
		`{"a": [` + strings.TrimSuffix(strings.Repeat(`{"numeric": ["=", 7]},`, 150), ",") + `]}`,
		`{"a` + strings.Repeat(".a", 100_000) + `": ["x", {"exists": false}]}`,
	}
	bodies := []string{
		`{"a": "` + strings.Repeat("a", 250_000) + `"}`,
		`{"a": [` + strings.TrimSuffix(strings.Repeat(`{"b":1},`, 30_000), ",") + `]}`,
		`{"a": [` + strings.TrimSuffix(strings.Repeat(`1,`, 120_000), ",") + `]}`,
		`{"a": [` + strings.TrimSuffix(strings.Repeat(`"v0",`, 50_000), ",") + `]}`,
		`{"a": ` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}`,
		`{"a": ` + strings.Repeat("[", 120_000) + strings.Repeat("]", 120_000) + `}`,
		`{"a": {` + strings.TrimSuffix(strings.Repeat(`"b":2,`, 40_000), ",") + `}}`,
		strings.Repeat(`{"a.a":[[]],"a":`, 5_000) + "1" + strings.Repeat("}", 5_000),
		manyWays(),
	}
	const busy = 3 * time.Minute
	for i, policy := range policies {
		p := mustParse(t, policy, MessageBody)
		for j, body := range bodies {
			start := time.Now()
			p.Matches(NewMessage(body, nil))
			if took := time.Since(start); took > busy {
				t.Errorf("policy %d and body %d: %v", i, j, took)
			} else if testing.Verbose() {
				t.Logf("policy %d and body %d: %v", i, j, took)
			}
		}
	}
}

// A policy that an earlier version accepted, because every list behind $or was one of alternatives, keeps its meaning.
func TestStoredAlternatives(t *testing.T) {
	const source = `{"$or": [{"prefix": ["x"]}, {"b": ["y"]}]}`
	if _, err := Parse(source, MessageAttributes); err == nil {
		t.Error("it is accepted")
	}
	p, err := ParseStored(source, MessageAttributes)
	if err != nil {
		t.Fatal(err)
	}
	for a, want := range map[Attribute]bool{
		{"prefix", "String", "x"}: true, {"b", "String", "y"}: true, {"b", "String", "x"}: false,
	} {
		if got := p.Matches(NewMessage("", []Attribute{a})); got != want {
			t.Errorf("%v: %v", a, got)
		}
	}
	if _, err := ParseStored(`{"a": []}`, MessageBody); err == nil ||
		!strings.HasPrefix(err.Error(), "FilterPolicy: Empty arrays") {
		t.Error(err)
	}
}

// The lists that can stand behind $or are found in one reading, however policies nest.
func TestNestedAlternatives(t *testing.T) {
	const levels = 2500
	source := strings.Repeat(`{"$or":[{"a":["x"]},`, levels) + `{"b":["y"]}` + strings.Repeat(`]}`, levels)
	if _, err := Parse(source, MessageBody); err == nil || !strings.HasPrefix(err.Error(), "FilterPolicy: ") {
		t.Error(err)
	}
}
