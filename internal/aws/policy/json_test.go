package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// Texts that testdata/decisions/saving.txt cannot hold.
func TestTextsThatAreNotRead(t *testing.T) {
	members := make([]string, 257)
	for i := range members {
		members[i] = fmt.Sprintf(`"aws:k%d":"v"`, i)
	}
	large := `{"Statement":{"Condition":{"StringEquals":{` + strings.Join(members[:256], ",") + ","
	for text, want := range map[string]string{
		"":                                    "line 1, column 1: the text ends where the document should begin",
		" \n ":                                "line 2, column 2: the text ends where the document should begin",
		"\ufeff{}":                            "line 1, column 1: the document should begin here, not a byte order mark",
		"{\"Id\":\"a\xffb\"":                  "line 1, column 9: the text is not UTF-8",
		"{\"Id\":\"\ufffd\xc3\"}":             "line 1, column 9: the text is not UTF-8",
		"{\"Id\": \"a\tb\"}":                  "line 1, column 10: the control character U+0009 stands within the string that begins in front of it; it is written as an escape",
		"{\x7f}":                              "line 1, column 2: a name in double quotes should begin here, not the control character U+007F",
		"{\"Id\": \"a":                        "line 1, column 8: the string that begins here does not end",
		"{\"Id\": \"a\\":                      "line 1, column 10: the text ends in a backslash",
		`{"Id": "\u12"}`:                      `line 1, column 9: \u is not followed by the four hexadecimal digits of a character`,
		`{"Id": "\ud83d\u0041"}`:              `line 1, column 9: \u is not followed by the four hexadecimal digits of a character`,
		`{"Id": "\ude00"}`:                    `line 1, column 9: \u is not followed by the four hexadecimal digits of a character`,
		`{"Id": "x" "y"}`:                     `line 1, column 12: a comma or } should follow the value of "Id", not "`,
		`{"Id" "x"}`:                          `line 1, column 7: a colon should follow the name "Id", not "`,
		`{"Id": 1.}`:                          "line 1, column 8: this is not how JSON writes a number; an account or a date goes into double quotes",
		`{"Id": -}`:                           "line 1, column 8: this is not how JSON writes a number; an account or a date goes into double quotes",
		`{"Id": 1e}`:                          "line 1, column 8: this is not how JSON writes a number; an account or a date goes into double quotes",
		"{\r\n\"é\": 1,\r\n\"Id\": True\r\n}": `line 3, column 7: the value of "Id" should begin here, not T`,
		large + members[256] + "}}}}": fmt.Sprintf("line 1, column %d: the object has more than 256 members",
			len(large)+1),
	} {
		_, err := policy.Parse(policy.ForResource, text)
		if err == nil || err.Error() != want {
			t.Errorf("%.80q:\ngot  %v\nwant %s", text, err, want)
		}
	}
}
