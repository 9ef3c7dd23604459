package jackson

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFault(t *testing.T) {
	t.Parallel()
	const values = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
	for source, want := range map[string]string{
		`{`: "Unexpected end-of-input: expected close marker for Object (start marker at [Source: (String)\"{\"; line: 1, column: 1])\n at [Source: (String)\"{\"; line: 1, column: 2]",
		`not json`: "Unrecognized token 'not': was expecting " + values +
			"\n at [Source: (String)\"not json\"; line: 1, column: 4]",
		`{invalid`:        "Unexpected character ('i' (code 105)): was expecting double-quote to start field name\n at [Source: (String)\"{invalid\"; line: 1, column: 3]",
		"[\n\"x\" \"y\"]": "Unexpected character ('\"' (code 34)): was expecting comma to separate Array entries\n at [Source: (String)\"[\n\"x\" \"y\"]\"; line: 2, column: 6]",
		`{"a" 1}`:         "Unexpected character ('1' (code 49)): was expecting a colon to separate field name and value\n at [Source: (String)\"{\"a\" 1}\"; line: 1, column: 7]",
		`{"a":}`: "Unexpected character ('}' (code 125)): expected a valid value " + values +
			"\n at [Source: (String)\"{\"a\":}\"; line: 1, column: 7]",
		`["x`:   "Unexpected end-of-input in VALUE_STRING\n at [Source: (String)\"[\"x\"; line: 1, column: 4]",
		`{"x`:   "Unexpected end-of-input in field name\n at [Source: (String)\"{\"x\"; line: 1, column: 4]",
		`{"x":`: "Unexpected end-of-input within/between Object entries\n at [Source: (String)\"{\"x\":\"; line: 1, column: 6]",
		`[–]`: "Unexpected character ('–' (code 8211 / 0x2013)): expected a valid value " +
			values + "\n at [Source: (String)\"[–]\"; line: 1, column: 3]",
		"[\x01]": "Illegal character ((CTRL-CHAR, code 1)): expected a valid value " + values +
			"\n at [Source: (String)\"[\x01]\"; line: 1, column: 3]",
		`["\\q"]`: "Unexpected content\n at [Source: (String)\"[\"\\\\q\"]\"; line: 1, column: 8]",
		"[" + strings.Repeat(" ",
			500): "Unexpected end-of-input: expected close marker for Array (start marker at [Source: (String)\"[" +
			strings.Repeat(" ", 499) + "\"[truncated 1 chars]; line: 1, column: 1])\n at [Source: (String)\"[" +
			strings.Repeat(" ", 499) + "\"[truncated 1 chars]; line: 1, column: 502]",
	} {
		if got := Fault(source); got != want {
			t.Errorf("%s: %s\nwant %s", source, got, want)
		}
	}
}

// The fault of every invalid text is found and described in a few words.
func FuzzFault(f *testing.F) {
	for _, s := range []string{``, `{"a": [1, {"b": "x"}], "c": nul`, `[[], {}, "é", -1.5e3, tru]`, `{"a": 1 "b"}`,
		`"\`, "\xff", strings.Repeat("[", 5000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if json.Valid([]byte(s)) || !utf8.ValidString(s) {
			return // it is valid, or not text
		}
		if got := Fault(s); got == "" || len(got) > 4000 || !utf8.ValidString(got) {
			t.Errorf("%q: %q", s, got)
		}
	})
}
