package filter

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// No policy and no message may panic. An accepted policy is JSON, and means the same when it is read again.
func FuzzPolicy(f *testing.F) {
	for _, c := range attributeCases {
		f.Add(c.policy, `{"a": "x"}`, "String.Array", `["x", 1, null]`)
	}
	for _, c := range bodyCases {
		for _, body := range append(c.through, c.held...) {
			f.Add(c.policy, body, "Number", "1e400")
		}
	}
	f.Fuzz(func(t *testing.T, source, body, kind, value string) {
		for _, scope := range []Scope{MessageAttributes, MessageBody} {
			p, err := Parse(source, scope)
			if err != nil {
				if len(err.Error()) > 2000 || !utf8.ValidString(err.Error()) {
					t.Errorf("an error of %d bytes: %q", len(err.Error()), err)
				}
				continue
			}
			if !json.Valid([]byte(source)) {
				t.Fatalf("%q is not JSON, and accepted", source)
			}
			m := NewMessage(body, []Attribute{{"a", kind, value}, {"b", "String", body}})
			got := p.Matches(m)
			again, err := Parse(strings.TrimSpace(source), scope)
			if err != nil || again.Matches(m) != got {
				t.Fatalf("%q means something else when it is read again: %v", source, err)
			}
		}
	})
}

// Reading a document's text agrees with encoding/json.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{`{"a": [1, {"b": "x\"\\"}], "c": null}`, `[[], {}, "é", -1.5e3, true]`,
		`{"a": 1, "a": 2}`, ``, `"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, ok := parseDocument(s)
		if ok != json.Valid([]byte(s)) {
			t.Fatalf("%q: %v", s, ok)
		}
		if ok && utf8.ValidString(s) {
			equal(t, d, d.root(), decode(s))
		}
	})
}

func equal(t *testing.T, d *document, n node, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		for name, v := range want {
			equal(t, d, d.member(n, name), v)
		}
	case []any:
		e := d.first(n)
		for _, v := range want {
			equal(t, d, e, v)
			e = d.next(n, e)
		}
		if e != none {
			t.Errorf("the array has more than %d elements", len(want))
		}
	case string:
		if s := d.scalar(n); s.form != text || s.text != want {
			t.Errorf("%q is %q", want, s.text)
		}
	case json.Number:
		if s := d.scalar(n); s.form != number || s.text != want.String() {
			t.Errorf("%s is %q", want, s.text)
		}
	default:
		b, _ := json.Marshal(want)
		if s := d.scalar(n); s.form != keyword || s.text != string(b) {
			t.Errorf("%s is %q", b, s.text)
		}
	}
}
