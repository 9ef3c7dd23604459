package declared

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/internal/tool/bytesize"
	"github.com/sluicemq/sluice/internal/tool/days"
	"github.com/sluicemq/sluice/internal/tool/plainjson"
)

// A shape defines the value of a setting: in the file, in the API, in a plan and in the schema.
type shape struct {
	// parse reads the value, and returns it in the API's form.
	parse func(f *fileReader, n *yaml.Node) (string, bool)
	// canonical returns the same text for values with the same meaning; nil: only equal values have the same meaning.
	canonical func(string) string
	// show returns the value in the form of a file: text, number, list or ordered mapping. nil: the text itself.
	show func(s Scope, value string) any
	// schema is the JSON schema of the value.
	schema map[string]any
}

func (s *shape) same(a, b string) bool {
	return a == b || s.canonical != nil && s.canonical(a) == s.canonical(b)
}

func (s *shape) shown(scope Scope, value string) any {
	if s.show == nil || value == "" {
		return value
	}
	return s.show(scope, value)
}

// none is the word for a setting to remove.
const none = "none"

var textShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		text, ok := f.text(n, "a text")
		if !ok {
			return "", false
		}
		return f.expand(n, text), true
	},
	show:   func(_ Scope, value string) any { return escape(value) },
	schema: map[string]any{"type": []string{"string", "number", "boolean"}},
}

var boolShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		text, ok := f.text(n, "true or false")
		if ok && text != "true" && text != "false" {
			f.fail(f.value(n), "%s: want true or false", shorten(text))
			return "", false
		}
		return text, ok
	},
	canonical: strings.ToLower,
	show:      func(_ Scope, value string) any { return plain(strings.ToLower(value)) },
	schema:    map[string]any{"type": "boolean"},
}

var numberShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		text, ok := f.text(n, "a number")
		if !ok {
			return "", false
		}
		number, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
			f.fail(f.value(n), "%s: want a number", shorten(text))
			return "", false
		}
		return formatNumber(number), true
	},
	canonical: func(value string) string {
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			return formatNumber(number)
		}
		return value
	},
	show:   func(_ Scope, value string) any { return plain(value) },
	schema: map[string]any{"type": "number"},
}

func formatNumber(n float64) string {
	text, err := json.Marshal(n)
	if err != nil {
		return ""
	}
	return string(text)
}

// wordShape is one of a set of words.
func wordShape(words ...string) shape {
	return shape{
		parse: func(f *fileReader, n *yaml.Node) (string, bool) {
			text, ok := f.text(n, "one of "+strings.Join(words, ", "))
			if ok && !slices.Contains(words, text) {
				f.fail(f.value(n), "%s: want one of %s", shorten(text), strings.Join(words, ", "))
				return "", false
			}
			return text, ok
		},
		schema: map[string]any{"enum": words},
	}
}

var secondsShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		text, ok := f.text(n, "a duration, such as 30s, 5m or 4d")
		if !ok {
			return "", false
		}
		seconds, ok := parseSeconds(text)
		if !ok {
			f.fail(f.value(n), "%s: want whole seconds, such as 30s, 5m, 12h, 4d or 30", shorten(text))
			return "", false
		}
		return strconv.FormatInt(seconds, 10), true
	},
	show:   func(_ Scope, value string) any { return plain(showSeconds(value)) },
	schema: map[string]any{"type": []string{"string", "integer"}, "pattern": `^([0-9]+(d|h|m|s))+$|^[0-9]+$`},
}

// parseSeconds parses a number of seconds, or a duration that may begin with days.
func parseSeconds(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, n >= 0 && n <= math.MaxInt32
	}
	d, err := days.Parse(text)
	return int64(d / time.Second), err == nil && d >= 0 && d%time.Second == 0 && d/time.Second <= math.MaxInt32
}

// showSeconds formats seconds in the largest unit that divides them.
func showSeconds(value string) string {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return value
	}
	for _, unit := range []struct {
		name    string
		seconds int64
	}{{"d", 86_400}, {"h", 3600}, {"m", 60}} {
		if n > 0 && n%unit.seconds == 0 {
			return strconv.FormatInt(n/unit.seconds, 10) + unit.name
		}
	}
	return value + "s"
}

var bytesShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		text, ok := f.text(n, "a number of bytes, such as 256KiB")
		if !ok {
			return "", false
		}
		size, ok := byteUnits.parse(text)
		if !ok {
			f.fail(f.value(n), "%s: want a number of bytes, such as 256KiB, 1MiB or 262144", shorten(text))
			return "", false
		}
		return strconv.FormatInt(size, 10), true
	},
	show:   byteUnits.show,
	schema: map[string]any{"type": []string{"string", "integer"}, "pattern": `^[0-9]+ ?(KiB|MiB)?$`},
}

// byteUnits are the units of the size of a message.
var byteUnits = units{bytesize.MiB, bytesize.KiB}

// units are the units that a setting may have.
type units bytesize.Units

func (u units) parse(text string) (int64, bool) { return bytesize.Units(u).Parse(text) }

// show is the show of a shape.
func (u units) show(_ Scope, value string) any {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return value
	}
	return plain(bytesize.Units(u).Format(n))
}

// documentShape is a policy: as YAML, whose values all become texts, or as a text with JSON.
var documentShape = shape{
	parse:     func(f *fileReader, n *yaml.Node) (string, bool) { return f.document(n, true) },
	canonical: canonicalPolicy,
	show:      showDocument,
	schema:    map[string]any{"type": []string{"object", "string"}},
}

// jsonShape is any JSON object.
var jsonShape = shape{
	parse:     func(f *fileReader, n *yaml.Node) (string, bool) { return f.document(n, false) },
	canonical: canonicalJSON,
	show:      showDocument,
	schema:    map[string]any{"type": []string{"object", "array", "string"}},
}

// document reads an object in YAML or JSON, as compact JSON. The word none stands for no document.
func (f *fileReader) document(n *yaml.Node, textsOnly bool) (string, bool) {
	n = f.value(n)
	if n.Kind == yaml.ScalarNode {
		if n.Value == none {
			return "", true
		}
		var parsed any
		if err := decodeJSON(n.Value, &parsed); err != nil {
			f.fail(n, "want a mapping, or a text with JSON (%s)", shorten(err.Error()))
			return "", false
		}
		switch parsed.(type) {
		case map[string]any, []any:
			return encodeJSON(f.expandAll(n, parsed)), true
		}
		f.fail(n, "want a mapping, or a text with JSON")
		return "", false
	}
	before := len(f.problems)
	parsed := f.tree(n, textsOnly)
	return encodeJSON(parsed), len(f.problems) == before
}

// tree returns YAML in the form of decoded JSON. With textsOnly, all scalars stay texts: in a policy, the version is
// not a date and an account is not a number.
func (f *fileReader) tree(n *yaml.Node, textsOnly bool) any {
	n = f.value(n)
	switch n.Kind {
	case yaml.MappingNode:
		out := make(map[string]any)
		f.mapping(n, "a mapping", func(key, value *yaml.Node) { out[key.Value] = f.tree(value, textsOnly) })
		return out
	case yaml.SequenceNode:
		out := []any{}
		f.list(n, func(one *yaml.Node) { out = append(out, f.tree(one, textsOnly)) })
		return out
	}
	switch {
	case textsOnly || n.Tag == "!!str" || n.Tag == "!!timestamp":
		return f.expand(n, n.Value)
	case n.Tag == "!!null":
		return nil
	case n.Tag == "!!bool":
		return strings.EqualFold(n.Value, "true")
	case n.Tag == "!!int" || n.Tag == "!!float":
		number := json.Number(n.Value)
		if _, err := number.Float64(); err == nil && json.Valid([]byte(n.Value)) {
			return number
		}
	}
	return n.Value
}

func (f *fileReader) expandAll(n *yaml.Node, v any) any {
	switch v := v.(type) {
	case string:
		return f.expand(n, v)
	case []any:
		for i := range v {
			v[i] = f.expandAll(n, v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = f.expandAll(n, v[key])
		}
	}
	return v
}

func decodeJSON(text string, out *any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(out); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("there is more after the first value")
	}
	return nil
}

func encodeJSON(v any) string {
	b, err := plainjson.Marshal(v)
	if err != nil { // what came from YAML or JSON has a form in JSON
		return ""
	}
	return string(b)
}

func showDocument(_ Scope, value string) any {
	var v any
	if decodeJSON(value, &v) != nil {
		return value
	}
	return ordered(v)
}

// canonicalJSON writes JSON in one form: names in order, numbers by their value, without nulls.
func canonicalJSON(value string) string {
	var v any
	if decodeJSON(value, &v) != nil {
		return value
	}
	return encodeJSON(normal(v))
}

func normal(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case map[string]any:
		for key, member := range v {
			if v[key] = normal(member); v[key] == nil {
				delete(v, key)
			}
		}
	}
	return v
}

// canonicalPolicy writes a policy in one form: single elements without a list, all values as texts, in order where
// order has no meaning, accounts as their roots, and everybody as *.
func canonicalPolicy(value string) string {
	var v any
	if decodeJSON(value, &v) != nil {
		return value
	}
	document, ok := v.(map[string]any)
	if !ok {
		return value
	}
	statements := several(document["Statement"])
	for i, s := range statements {
		statement, ok := s.(map[string]any)
		if !ok {
			continue
		}
		for name, member := range statement {
			switch name {
			case "Action", "NotAction":
				statement[name] = set(member, strings.ToLower)
			case "Resource", "NotResource":
				statement[name] = set(member, nil)
			case "Principal", "NotPrincipal":
				statement[name] = principals(member)
			case "Condition":
				conditions(member)
			}
		}
		statements[i] = statement
	}
	document["Statement"] = statements
	return encodeJSON(document)
}

func several(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	if v == nil {
		return nil
	}
	return []any{v}
}

// set returns values as an ordered set of texts. A single value has no list.
func set(v any, each func(string) string) any {
	var texts []string
	for _, one := range several(v) {
		text := fmt.Sprint(one)
		if each != nil {
			text = each(text)
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if len(texts) == 1 {
		return texts[0]
	}
	return texts
}

func principals(v any) any {
	who, ok := v.(map[string]any)
	if !ok {
		return map[string]any{"AWS": v}
	}
	for kind, members := range who {
		who[kind] = set(members, func(text string) string {
			if account, ok := strings.CutSuffix(text, ":root"); ok && strings.HasPrefix(text, "arn:") {
				return account[strings.LastIndexByte(account, ':')+1:]
			}
			return text
		})
	}
	return who
}

func conditions(v any) {
	operators, _ := v.(map[string]any)
	for _, keys := range operators {
		values, _ := keys.(map[string]any)
		for key, v := range values {
			values[key] = set(v, nil)
		}
	}
}

// plain matches texts that need no quotes in YAML: a number, boolean or duration.
type plain string

// entry is an entry of an ordered mapping.
type entry struct {
	name  string
	value any
}

// ordered returns decoded JSON with ordered mappings; those of policies are in the customary order.
func ordered(v any) any {
	switch v := v.(type) {
	case map[string]any:
		var out []entry
		for _, name := range slices.SortedFunc(maps.Keys(v), byCustom) {
			out = append(out, entry{name, ordered(v[name])})
		}
		if out == nil {
			return []entry{}
		}
		return out
	case []any:
		out := []any{}
		for _, one := range v {
			out = append(out, ordered(one))
		}
		return out
	case json.Number:
		return plain(v.String())
	case string:
		return escape(v)
	}
	return v
}

// custom is the customary order of the members of policies.
var custom = []string{
	"Version",
	"Id",
	"Sid",
	"Effect",
	"Principal",
	"NotPrincipal",
	"Action",
	"NotAction",
	"Resource",
	"NotResource",
	"Condition",
	"Statement",
}

func byCustom(a, b string) int {
	place := func(name string) int {
		if i := slices.Index(custom, name); i >= 0 {
			return i
		}
		return len(custom)
	}
	if d := place(a) - place(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}
