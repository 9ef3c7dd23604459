package front

import (
	"strings"
	"testing"
)

func TestLoggable(t *testing.T) {
	t.Parallel()
	handle := strings.Repeat("AQEB", 40)
	for _, tc := range []struct{ message, want string }{
		{"The specified queue does not exist.", "The specified queue does not exist."},
		{"Value a secret for parameter DelaySeconds is invalid. Reason: Must be an integer.",
			"Value ... for parameter DelaySeconds is invalid. Reason: Must be an integer."},
		{"Value for parameter for parameter X is invalid.", "Value ... for parameter X is invalid."},
		{"The input receipt handle " + handle + " is not valid.", "The input receipt handle AQEBAQEB... is not valid."},
		{strings.Repeat("ä ", 1_000_000), strings.Repeat("ä ", 100) + "..."},
		{"a\xff", "a\uFFFD"},
	} {
		if got := loggable(tc.message); got != tc.want {
			t.Errorf("%.100q: %q, want %q", tc.message, got, tc.want)
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		most int
		want string
	}{{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc..."}, {"aäb", 2, "a..."}, {"\xff\xff\xff", 2, "\uFFFD..."}} {
		if got := shorten(tc.text, tc.most); got != tc.want {
			t.Errorf("%q to %d: %q, want %q", tc.text, tc.most, got, tc.want)
		}
	}
}
