package syntax_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/syntax"
)

var language = syntax.Language{
	Space: syntax.Blank,
	Number: func(s string) int {
		return len(s) - len(strings.TrimLeft(s, "0123456789"))
	},
	Marks:   `"'`,
	Escapes: true,
	Signs:   []string{"!=", "=", "(", ")"},
	Word:    func(r rune) bool { return r != '*' },
	AnyCase: true,
	Within:  "of the test",
}

// tokens lists the tokens of a text: position, kind and text.
func tokens(text string) string {
	kinds := []string{"end", "word", "number", "quoted", "sign", "stray", "unclosed"}
	var out []string
	for c := language.Read(text); ; {
		t := c.Next()
		out = append(out, strings.TrimSpace(fmt.Sprintf("%d %s %s", t.At, kinds[t.Kind], t.Text)))
		if c.Peek() == t {
			return strings.Join(out, "; ")
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":               "0 end",
		" \t":            "2 end",
		"a!=12b":         "0 word a; 1 sign !=; 3 number 12; 5 word b; 6 end",
		"ü=(ö)":          "0 word ü; 1 sign =; 2 sign (; 3 word ö; 4 sign ); 5 end",
		"a!b":            "0 word a!b; 3 end",
		`"a 'b'" 'ü' x`:  "0 quoted a 'b'; 8 quoted ü; 12 word x; 13 end",
		`"a\"\\\b" ""`:   `0 quoted a"\\b; 10 quoted; 12 end`,
		"a*b":            "0 word a; 1 stray *",
		`ab "c`:          `0 word ab; 3 unclosed "`,
		"a\xff *\"never": "0 word a\xff; 3 stray *",
	} {
		if got := tokens(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestCursor(t *testing.T) {
	t.Parallel()
	c := language.Read(`select = "select" *`)
	if _, broken := c.Broken(); !broken || c.Accept("=") || !c.Accept("SELECT") || c.Expect("=") != nil {
		t.Error("the first tokens are not as expected")
	}
	if c.Accept("select") {
		t.Error("a quoted text became a word")
	}
	err := c.Expect("(")
	if want := `expected "(", found "select" at character 10 of the test`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	c.Next()
	for range 2 { // what is no token stays
		if err, want := c.Expect(")"), `unexpected '*' at character 19 of the test`; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		c.Next()
	}
}

// FuzzRead checks that every text has an end, and that its tokens are in order and inside it.
func FuzzRead(f *testing.F) {
	f.Add(`a!="b\\" 12 'ü`)
	f.Fuzz(func(t *testing.T, text string) {
		last := -1
		for c := language.Read(text); ; {
			next := c.Next()
			if next.At <= last && last >= 0 || next.At > len([]rune(text)) {
				t.Fatalf("%q has a token at %d, behind one at %d", text, next.At, last)
			}
			if next == c.Peek() {
				return
			}
			last = next.At
		}
	})
}
