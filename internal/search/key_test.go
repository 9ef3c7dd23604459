package search_test

import (
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/search"
)

// keyed returns a message's value of a key, and the terms for it.
func keyed(t *testing.T, name string, m *search.Item) (search.Value, string) {
	t.Helper()
	k, err := search.ParseKey(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	v := k.Of(m)
	return v, k.Term(v)
}

func TestKey(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"attr.tenant": "Acme", "attr.trace.id": "x:y", "attr.weight": "1.50",
		"source": "arn:aws:sqs:us-east-1:000000000000:orders",
		"sender": "AIDA", "group": "g1", "count": "3", "day": "2026-11-01",
		"body.order.id": "17", "body.order.customer": `Ann "A" Berg`, "body.order.lines.1.sku": "b-2",
		"body.order.paid":   "true",
		`body."order".note`: "null", "body.order.lines.1.n": "12345678901234567891",
	} {
		m := order()
		v, term := keyed(t, name, m)
		if string(v.Text) != want || v.Missing || v.Cut {
			t.Errorf("%s: %q, missing %v, cut %v; want %q", name, v.Text, v.Missing, v.Cut, want)
		}
		q, err := search.Parse(term)
		if err != nil || !q.Match(m) || q.Match(&search.Item{Body: []byte("{}")}) {
			t.Errorf("%s: the term %s does not select the message alone: %v", name, term, err)
		}
	}
}

// Messages without a value have their own term, which selects no message with a value.
func TestKeyMissing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"attr.tenant", "body.order.id", "source", "sender", "group"} {
		for _, body := range []string{"", "text", "{}", `{"order": 1}`, `{"order":`} {
			m := &search.Item{Body: []byte(body)}
			v, term := keyed(t, name, m)
			q, err := search.Parse(term)
			if err != nil || !v.Missing || !q.Match(m) || q.Match(order()) {
				t.Errorf("%s of %q: missing %v, term %s, %v", name, body, v.Missing, term, err)
			}
		}
	}
}

// A value has no term if no filter can name it: a long text, an object, text that is not UTF-8.
func TestKeyWithoutTerm(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"a": {"b": 1}, "c": 2}`: `{"b": 1}`, `{"a": [1, 2] }`: "[1, 2]",
		`{"a": "` + strings.Repeat("x", 255) + "ëz\"}": strings.Repeat("x", 255),
	} {
		v, term := keyed(t, "body.a", &search.Item{Body: []byte(body)})
		if string(v.Text) != want || !v.Cut || v.Missing || term != "" {
			t.Errorf("%s: %q, cut %v, term %s", body, v.Text, v.Cut, term)
		}
	}
	raw := &search.Item{
		Attributes: []search.Attribute{{Name: []byte("raw"), Type: []byte("Binary"), Value: []byte{0, 255}}},
	}
	if v, term := keyed(t, "attr.raw", raw); v.Cut || v.Missing || term != "" {
		t.Errorf("a binary value: %+v, term %s", v, term)
	}
	if v, term := keyed(t, "body.a", &search.Item{Body: []byte(`{"a": ""}`)}); v.Missing || term != `body.a:""` {
		t.Errorf("an empty text: %+v, term %s", v, term)
	}
}

func TestParseKeyErrors(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": "there is no key", "x": "there are attr.NAME", "attr": "there is no key", "body": "there is no key",
		"id":    "there is no key",
		"dedup": "there is no key", "source.x": "there is no key", "body.a.": "a step of the path is empty",
		"body.*.a": "has no *",
		"body.a:1": "there is no key", "attr.a b": "there is no key", `"source"`: "there is no key",
		`body."a`:                          "not closed",
		"attr." + strings.Repeat("x", 600): "it may have 512", "attr.\xff": "in UTF-8",
	} {
		if _, err := search.ParseKey(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}
