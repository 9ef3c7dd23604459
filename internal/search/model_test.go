package search_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sluicemq/sluice/internal/search"
)

// A filter finds the same as an evaluator that is written as simply as possible: it decodes whole documents, computes
// with fractions, and knows the meaning of each term, not its spelling.
func TestLikeAModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawItem(t)
		var filter []string
		want := true
		for range rapid.IntRange(0, 3).Draw(t, "terms") {
			text, holds := drawTerm(t, m)
			if rapid.Bool().Draw(t, "not") {
				text, holds = "-"+text, !holds
			}
			filter = append(filter, text)
			want = want && holds
		}
		line := strings.Join(filter, " ")
		q, err := search.Parse(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got := q.Match(m); got != want {
			t.Fatalf("%s of %s: %v, want %v", line, m.Body, got, want)
		}
	})
}

// texts are few and similar, so that terms are often true.
var texts = rapid.SampledFrom([]string{"a", "b", "ab", "A", "aB", "a b", "1", "1.0", "10", "-2", "1e1", "", `"`, `\`,
	"é", "a.b", "*", "0"})

func drawItem(t *rapid.T) *search.Item {
	m := &search.Item{
		Body: []byte(drawBody(t)), ID: []byte(texts.Draw(t, "id")), Group: []byte(texts.Draw(t, "group")),
		Dedup:  []byte(texts.Draw(t, "dedup")),
		Sender: []byte(texts.Draw(t, "sender")), Source: []byte(texts.Draw(t, "source")),
		Sent:  at("2026-11-01T00:00:00Z") + rapid.Int64Range(-1, 1).Draw(t, "sent"),
		Count: rapid.Uint64Range(0, 3).Draw(t, "count"),
		Size:  rapid.IntRange(1023, 1025).Draw(t, "size"),
	}
	m.Now = m.Sent + time.Hour.Milliseconds() + rapid.Int64Range(-1, 1).Draw(t, "age")
	if rapid.Bool().Draw(t, "received") {
		m.First = m.Sent + 1
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "attributes") {
		m.Attributes = append(m.Attributes, search.Attribute{
			Name: []byte{"ab"[i]}, Value: []byte(texts.Draw(t, "value")),
		})
	}
	return m
}

func drawBody(t *rapid.T) string {
	if rapid.Bool().Draw(t, "text") {
		return texts.Draw(t, "body") + texts.Draw(t, "body")
	}
	doc := drawValue(t, 3)
	if rapid.IntRange(0, 9).Draw(t, "broken") == 0 {
		doc = doc[:rapid.IntRange(0, len(doc)).Draw(t, "length")]
	}
	return doc
}

func drawValue(t *rapid.T, depth int) string {
	space := rapid.SampledFrom([]string{"", "", " ", "\n\t"})
	var parts []string
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case kind == 0 && depth > 0:
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			parts = append(parts, space.Draw(t, "space")+drawValue(t, depth-1)+space.Draw(t, "space"))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case kind < 4 && depth > 0:
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			parts = append(parts,
				space.Draw(t, "space")+drawString(t)+space.Draw(t, "space")+":"+space.Draw(t, "space")+drawValue(t,
					depth-1))
		}
		return "{" + strings.Join(parts, ",") + space.Draw(t, "space") + "}"
	case kind == 4:
		return rapid.SampledFrom([]string{"1", "1.0", "10", "-2", "1e1", "0", "-0", "0.1E+2", "true", "false",
			"null"}).Draw(t, "literal")
	}
	return drawString(t)
}

// drawString returns a text as JSON, some with unnecessary escapes.
func drawString(t *rapid.T) string {
	b, err := json.Marshal(texts.Draw(t, "string"))
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "escaped") {
		b = bytes.ReplaceAll(b, []byte("a"), []byte(`\u0061`))
	}
	return string(b)
}

// quote writes a text without special characters.
func quote(s string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s) + `"`
}

func drawTerm(t *rapid.T, m *search.Item) (text string, holds bool) {
	switch rapid.IntRange(0, 7).Draw(t, "field") {
	case 0:
		w := rapid.SampledFrom([]string{"a", "b", "ab", "AB", "a b", "1", `"`, "é", "*"}).Draw(t, "word")
		for _, s := range append(values(m), string(m.Body), decoded(m.Body), string(m.Group)) {
			holds = holds || strings.Contains(strings.ToLower(s), strings.ToLower(w))
		}
		return quote(w), holds || strings.EqualFold(string(m.ID), w)
	case 1:
		name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
		test, is := drawTest(t)
		for _, a := range m.Attributes {
			holds = holds || string(a.Name) == name && is(string(a.Value))
		}
		return "attr." + name + test, holds
	case 2, 3, 4:
		return drawBodyTerm(t, m)
	case 5:
		name := rapid.SampledFrom([]string{"id", "group", "dedup", "sender", "source"}).Draw(t, "name")
		test, is := drawPattern(t)
		got := map[string]string{
			"id": string(m.ID), "group": string(m.Group), "dedup": string(m.Dedup), "sender": string(m.Sender),
			"source": string(m.Source),
		}[name]
		return name + test, is(got)
	case 6:
		op := rapid.SampledFrom([]string{"<", "<=", ">", ">="}).Draw(t, "op")
		switch rapid.IntRange(0, 2).Draw(t, "time") {
		case 0:
			return "sent" + op + "2026-11-01", compare(m.Sent, op, at("2026-11-01T00:00:00Z"))
		case 1:
			return "first" + op + "2026-11-01", m.First != 0 && compare(m.First, op, at("2026-11-01T00:00:00Z"))
		}
		return "age" + op + "1h", compare(m.Now-m.Sent, op, 3_600_000)
	}
	op := rapid.SampledFrom([]string{":", "<", "<=", ">", ">="}).Draw(t, "op")
	if rapid.Bool().Draw(t, "size") {
		return "size" + op + "1k", compare(int64(m.Size), op, 1024)
	}
	return "count" + op + "2", compare(int64(m.Count), op, 2)
}

// literals are the strings of a JSON document.
var literals = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// decoded returns a document with the escapes of its strings resolved; any other text is returned unchanged.
func decoded(body []byte) string {
	if !json.Valid(body) {
		return string(body)
	}
	return literals.ReplaceAllStringFunc(string(body), func(literal string) string {
		var s string
		if err := json.Unmarshal([]byte(literal), &s); err != nil {
			panic(err) // the document is valid
		}
		return `"` + s + `"`
	})
}

func values(m *search.Item) (out []string) {
	for _, a := range m.Attributes {
		out = append(out, string(a.Value))
	}
	return out
}

func compare(a int64, op string, b int64) bool {
	return a > b && op[0] == '>' || a < b && op[0] == '<' || a == b && (op == ":" || len(op) == 2)
}

func drawPattern(t *rapid.T) (text string, is func(string) bool) {
	s := texts.Draw(t, "value")
	bare := rapid.SampledFrom([]string{"a", "b", "1", "é"}).Draw(t, "bare")
	switch rapid.IntRange(0, 4).Draw(t, "asterisks") {
	case 0:
		return ":" + bare + "*", func(v string) bool { return strings.HasPrefix(v, bare) }
	case 1:
		return ":*" + bare, func(v string) bool { return strings.HasSuffix(v, bare) }
	case 2:
		return ":*" + bare + "*", func(v string) bool { return strings.Contains(v, bare) }
	}
	return ":" + quote(s), func(v string) bool { return v == s }
}

// drawTest returns a comparison of a text, with its spelling and its meaning.
func drawTest(t *rapid.T) (text string, is func(string) bool) {
	if rapid.Bool().Draw(t, "pattern") {
		return drawPattern(t)
	}
	op := rapid.SampledFrom([]string{"<", "<=", ">", ">="}).Draw(t, "op")
	number := rapid.SampledFrom([]string{"1", "10", "-2", "0", "1e1", "0.99", "10.000"}).Draw(t, "number")
	return op + number, func(v string) bool {
		want, _ := new(big.Rat).SetString(number)
		got, ok := new(big.Rat).SetString(v)
		return ok && v != "" && compare(int64(got.Cmp(want)), op, 0)
	}
}

// node is a JSON document in memory: a text, or members in order, whose names are their indexes in a list.
type node struct {
	scalar  string
	leaf    bool
	list    bool
	members []struct {
		name string
		node *node
	}
}

func drawBodyTerm(t *rapid.T, m *search.Item) (string, bool) {
	var steps, written []string
	for range rapid.IntRange(1, 3).Draw(t, "steps") {
		if rapid.IntRange(0, 3).Draw(t, "any") == 0 {
			steps, written = append(steps, "ANY"), append(written, "*")
			continue
		}
		s := rapid.SampledFrom([]string{"a", "b", "ab", "a b", "0", "1", "é", "a.b", "*"}).Draw(t, "step")
		if s == "0" || s == "1" {
			written = append(written, s)
		} else {
			written = append(written, quote(s))
		}
		steps = append(steps, s)
	}
	test, is := drawTest(t)
	exists := rapid.IntRange(0, 4).Draw(t, "exists") == 0
	if exists {
		test = ":*"
	}
	text := "body." + strings.Join(written, ".") + test
	if !json.Valid(m.Body) {
		return text, false
	}
	d := json.NewDecoder(bytes.NewReader(m.Body))
	d.UseNumber()
	root := parse(d)
	if root.leaf {
		return text, false
	}
	for _, n := range root.find(steps) {
		if exists || n.leaf && is(n.scalar) {
			return text, true
		}
	}
	return text, false
}

// parse builds the tree of the next value.
func parse(d *json.Decoder) *node {
	token, err := d.Token()
	if err != nil {
		panic(err) // the document is valid
	}
	switch v := token.(type) {
	case json.Delim:
		n := &node{list: v == '['}
		for i := 0; d.More(); i++ {
			name := strconv.Itoa(i)
			if v == '{' {
				key, _ := d.Token()
				name = key.(string)
			}
			n.members = append(n.members, struct {
				name string
				node *node
			}{name, parse(d)})
		}
		_, _ = d.Token()
		return n
	case nil:
		return &node{leaf: true, scalar: "null"}
	default:
		return &node{leaf: true, scalar: fmt.Sprint(v)}
	}
}

func (n *node) find(steps []string) (out []*node) {
	if len(steps) == 0 {
		return []*node{n}
	}
	if steps[0] == "ANY" {
		for _, m := range n.members {
			out = append(out, m.node.find(steps[1:])...)
		}
		return out
	}
	var last *node
	for _, m := range n.members {
		if m.name == steps[0] {
			last = m.node
		}
	}
	if last == nil {
		return nil
	}
	return last.find(steps[1:])
}
