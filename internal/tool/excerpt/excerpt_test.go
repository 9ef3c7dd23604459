package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"äöü", 3, "äöü"},
		{"äöüß", 3, "äöü…"},
		{"a\xffb", 3, "a\uFFFDb"},
		{"a\xffbc", 3, "a\uFFFDb…"},
		{"abc", 0, "…"},
	} {
		if got := Of(c.text, c.most); got != c.want {
			t.Errorf("Of(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func TestLine(t *testing.T) {
	if got, want := Line("<html>\n\t<body> no  entry\r\n", 14), "<html> <body> …"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzOf(f *testing.F) {
	f.Add("a\xffäöü", 2)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < 0 {
			return
		}
		got := strings.TrimSuffix(Of(text, most), "…")
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > max(most, utf8.RuneCountInString(text)) {
			t.Errorf("Of(%q, %d) = %q", text, most, got)
		}
	})
}
