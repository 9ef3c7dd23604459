package protocol

import "testing"

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc..."}, {"aäb", 2, "a..."}, {"aäb", 3, "aä..."},
		{"a\xff", 3, "a\uFFFD"},
		{"\xff\xff\xff", 2, "\uFFFD..."}, {"\x80\x80\x80", 2, "..."}, {"abc", 0, "..."},
	} {
		if got := Shorten(tc.text, tc.most); got != tc.want {
			t.Errorf("%q to %d: %q, want %q", tc.text, tc.most, got, tc.want)
		}
	}
}
