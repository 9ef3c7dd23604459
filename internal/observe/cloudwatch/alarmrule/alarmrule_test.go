package alarmrule_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarmrule"
)

// named returns the state of an alarm by its name: names that begin with a are in ALARM, with o in OK, and others have
// no data.
func named(child string) alarm.State {
	switch child[0] {
	case 'a':
		return alarm.Alarm
	case 'o':
		return alarm.OK
	}
	return alarm.Insufficient
}

func TestHolds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule     string
		want     bool
		children string
	}{
		{"TRUE", true, ""},
		{"false", false, ""},
		{"NOT FALSE", true, ""},
		{"NOT NOT FALSE", false, ""},
		{"ALARM(a)", true, "a"},
		{"ALARM (a)", true, "a"},
		{"OK(a)", false, "a"},
		{"INSUFFICIENT_DATA(x)", true, "x"},
		{`ALARM("a b(c), \"d\" \\")`, true, `a b(c), "d" \`},
		{"ALARM(arn:aws:cloudwatch:us-east-1:000000000000:alarm:a)", true,
			"arn:aws:cloudwatch:us-east-1:000000000000:alarm:a"},
		{"ALARM(a) AND OK(o)", true, "a|o"},
		{"ALARM(a)\n\tOR\nALARM(o)", true, "a|o"},
		{"ALARM(o) AND TRUE OR TRUE", true, "o"},
		{"TRUE OR TRUE AND FALSE", true, ""},
		{"(TRUE OR TRUE) AND FALSE", false, ""},
		{"NOT FALSE AND FALSE", false, ""},
		{"NOT (FALSE AND FALSE)", true, ""},
		{"ALARM(a) AND OK(a) OR ALARM(a)", true, "a"},
		{"AT_LEAST(2, ALARM, (a1, a2, o1))", true, "a1|a2|o1"},
		{"AT_LEAST(3, ALARM, (a1, a2, o1))", false, "a1|a2|o1"},
		{"AT_LEAST(67%, ALARM, (a1, a2, o1))", false, "a1|a2|o1"}, // 3 of 3
		{"AT_LEAST(66%, ALARM, (a1, a2, o1))", true, "a1|a2|o1"},  // 2 of 3
		{"AT_LEAST(1,NOT OK,(o1,o2))", false, "o1|o2"},
		{`AT_LEAST(100%, NOT OK, ("a 1",x)) AND NOT ALARM(o)`, true, "a 1|x|o"},
	} {
		e, err := alarmrule.Parse(c.rule)
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		if got := e.Holds(named); got != c.want || strings.Join(e.Children(), "|") != c.children {
			t.Errorf("%s: %v of %q, want %v", c.rule, got, e.Children(), c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	const operands = "'(', 'NOT', AT_LEAST, TRUE or FALSE, ALARM, OK, or INSUFFICIENT_DATA"
	var many, most []string
	for i := range 101 {
		many = append(many, fmt.Sprintf("OK(a%d)", i))
	}
	for range 501 {
		most = append(most, "TRUE")
	}
	for rule, want := range map[string]string{
		"":                        "Unexpected end of rule, must be: " + operands + ", at char 0",
		"()":                      "Unsupported token ')' at char 1, must be: " + operands,
		"ALARM(Queue Oldest Age)": "Unsupported token 'Oldest' at char 12, must be: ')'",
		"ALARM(é Oldest)":         "Unsupported token 'Oldest' at char 8, must be: ')'",
		"ALARM()":                 "Unsupported token ')' at char 6, must be: the name or ARN of an alarm",
		`ALARM("")`:               "Unsupported token '' at char 6, must be: the name or ARN of an alarm",
		"ALARM(a":                 "Unexpected end of rule, must be: ')', at char 7",
		"alarm(a)":                "Unsupported token 'alarm' at char 0, must be: " + operands,
		`"TRUE"`:                  "Unsupported token 'TRUE' at char 0, must be: " + operands,
		"TRUE FALSE":              "Unsupported token 'FALSE' at char 5, must be: 'AND', 'OR'",
		"TRUE)":                   "Unsupported token ')' at char 4, must be: 'AND', 'OR'",
		"TRUE AND":                "Unexpected end of rule, must be: " + operands + ", at char 8",
		`ALARM("a`:                "Unterminated quotation mark at char 6",
		"AT_LEAST(0, OK, (a))":    "Unsupported token '0' at char 9, must be: a number from 1 to 1, or a percentage from 1% to 100%",
		"AT_LEAST(2, OK, (a))":    "Unsupported token '2' at char 9, must be: a number from 1 to 1, or a percentage from 1% to 100%",
		"AT_LEAST(101%, OK, (a))": "Unsupported token '101%' at char 9, must be: a number from 1 to 1, or a percentage from 1% to 100%",
		"AT_LEAST(1, TRUE, (a))":  "Unsupported token 'TRUE' at char 12, must be: ALARM, OK, or INSUFFICIENT_DATA",
		"AT_LEAST(1, OK, a)":      "Unsupported token 'a' at char 16, must be: '('",
		strings.Repeat("x",
			200): "Unsupported token '" + strings.Repeat("x", 100) + "...' at char 0, must be: " + operands,
		strings.Join(many, " OR "):    "A rule can name at most 100 alarms; there is one too many at char 1093",
		strings.Join(most, " OR "):    "A rule can have at most 500 elements; there is one too many at char 4000",
		strings.Repeat("(", 501):      "A rule can have at most 500 elements; there is one too many at char 500",
		strings.Repeat("NOT ", 2_560): "Unexpected end of rule, must be: " + operands + ", at char 10240",
	} {
		_, err := alarmrule.Parse(rule)
		if _, ok := errors.AsType[*alarmrule.Error](err); !ok || err.Error() != want {
			t.Errorf("%.40s: %v, want %s", rule, err, want)
		}
	}
}

// FuzzParse checks that a rule that can be parsed can be evaluated, that a rule in parentheses that is negated twice
// means the same, and that the children include every alarm whose state is read.
func FuzzParse(f *testing.F) {
	for _, rule := range []string{
		"TRUE", `NOT (ALARM("a\"b") OR OK(o)) AND FALSE`, "AT_LEAST(50%, NOT OK, (a, o)) OR INSUFFICIENT_DATA(x)",
		"(((TRUE", "AT_LEAST(",
	} {
		f.Add(rule)
	}
	f.Fuzz(func(t *testing.T, rule string) {
		e, err := alarmrule.Parse(rule)
		if err != nil {
			if len(err.Error()) > 700 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		state := func(child string) alarm.State {
			if !slices.Contains(e.Children(), child) {
				t.Fatalf("%q is not among the children %q", child, e.Children())
			}
			return named(child)
		}
		again, err := alarmrule.Parse("NOT NOT (" + rule + ")")
		if err == nil && again.Holds(state) != e.Holds(state) {
			t.Errorf("%q has another meaning in parentheses", rule)
		}
	})
}
