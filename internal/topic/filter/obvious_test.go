package filter

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The slow, obvious evaluator, after the Developer Guide: "Payload-based message filtering", "Filter policy
// constraints", "AND/OR logic". It interprets the policy as decoded JSON, without compiling anything, with regular
// expressions for strings and fractions for numbers. A message is a set of worlds: in each, every array of the body is
// one of its elements, and what is left is flat, a list of values for each path. The policy matches if it matches in
// one of the worlds.

// world holds the values of each path.
type world map[string][]any

// mostWorlds is the maximum number of worlds of a message that is evaluated.
const mostWorlds = 2000

// worldsOf returns the worlds of a value at a path.
func worldsOf(path string, v any) []world {
	switch v := v.(type) {
	case map[string]any:
		all := []world{{}}
		for name, child := range v {
			all = crossed(all, worldsOf(joined(path, name), child))
		}
		return all
	case []any:
		var all []world
		for _, e := range v {
			all = append(all, worldsOf(path, e)...)
		}
		if all == nil {
			return []world{{}}
		}
		return all[:min(len(all), mostWorlds+1)]
	}
	return []world{{path: []any{v}}}
}

func joined(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// crossed returns each of a with each of b, up to the maximum.
func crossed(a, b []world) (all []world) {
	for _, one := range a {
		for _, other := range b {
			if len(all) > mostWorlds {
				return all
			}
			both := maps.Clone(one)
			for path, values := range other {
				both[path] = slices.Concat(both[path], values)
			}
			all = append(all, both)
		}
	}
	return all
}

// holds reports whether an object of a policy, at a path, matches in a world.
func holds(policy map[string]any, path string, w world) bool {
	for name, v := range policy {
		if name == "$or" {
			if !slices.ContainsFunc(v.([]any), func(a any) bool { return holds(a.(map[string]any), path, w) }) {
				return false
			}
			continue
		}
		matches := false
		if nested, ok := v.(map[string]any); ok {
			matches = holds(nested, joined(path, name), w)
		} else {
			matches = obviousKey(v.([]any), w[joined(path, name)])
		}
		if !matches {
			return false
		}
	}
	return true
}

// ambiguous reports whether a path leads two ways from an object of a body.
func ambiguous(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			for other := range v {
				if strings.HasPrefix(other, name+".") {
					return true
				}
			}
			if ambiguous(child) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, ambiguous)
	}
	return false
}

func decode(s string) any {
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil
	}
	return v
}

func obviousKey(conditions, values []any) bool {
	for _, c := range conditions {
		if o, ok := c.(map[string]any); ok && o["exists"] != nil {
			isThere := slices.ContainsFunc(values, func(v any) bool { return v != nil && v != "" })
			if o["exists"] == true && isThere || o["exists"] == false && len(values) == 0 {
				return true
			}
			continue
		}
		if slices.ContainsFunc(values, func(v any) bool { return obviousCondition(c, v) }) {
			return true
		}
	}
	return false
}

func rational(v any) *big.Rat {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	r, _ := new(big.Rat).SetString(n.String())
	return r
}

func obviousCondition(condition, v any) bool {
	s, isText := v.(string)
	number := rational(v)
	expression := func(pattern string) bool {
		return isText &&
			regexp.MustCompile("(?s)^(?:"+pattern+")$").MatchString(s)
	}
	operator, ok := condition.(map[string]any)
	if !ok {
		if want := rational(condition); want != nil {
			return number != nil && number.Cmp(want) == 0
		}
		return condition == v
	}
	for name, operand := range operator {
		text, _ := operand.(string)
		switch name {
		case "prefix":
			return expression(regexp.QuoteMeta(text) + ".*")
		case "suffix":
			return expression(".*" + regexp.QuoteMeta(text))
		case "equals-ignore-case":
			return expression("(?i)" + regexp.QuoteMeta(text))
		case "wildcard":
			return expression(strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*"))
		case "cidr":
			_, network, _ := net.ParseCIDR(text)
			return isText && net.ParseIP(s) != nil && network.Contains(net.ParseIP(s))
		case "numeric":
			list := operand.([]any)
			for i := 0; i < len(list); i += 2 {
				if number == nil || !compares(number.Cmp(rational(list[i+1])), list[i].(string)) {
					return false
				}
			}
			return true
		case "anything-but":
			if inner, ok := operand.(map[string]any); ok {
				return !obviousCondition(inner, v)
			}
			list, ok := operand.([]any)
			if !ok {
				list = []any{operand}
			}
			return !slices.ContainsFunc(list, func(c any) bool { return obviousCondition(c, v) })
		}
	}
	panic("no such operator")
}

func compares(c int, operator string) bool {
	switch operator {
	case "=":
		return c == 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// The pools of values are small, so that policies and messages often meet.
var (
	names   = []string{"a", "b", "a.b", "b.a", "c"}
	words   = []string{"", "x", "X", "xy", "xyx", "yx", "10.0.0.1", "10.0.1.7", "é", "\"\\", "true"}
	numbers = []json.Number{"0", "-0", "1", "1.0", "1e0", "-1.5", "2.00001", "2.00002", "100", "1E2"}
)

func draw[T any](t *rapid.T, from []T) T { return rapid.SampledFrom(from).Draw(t, "choice") }

func drawScalar(t *rapid.T) any {
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return true
	case 1:
		return nil
	case 2, 3, 4:
		return draw(t, numbers)
	}
	return draw(t, words)
}

func drawCondition(t *rapid.T) any {
	pattern := draw(t, []string{"*", "x*", "*x", "x*x", "*y*", "xy"})
	switch rapid.IntRange(0, 11).Draw(t, "operator") {
	case 0:
		return map[string]any{"prefix": draw(t, words)}
	case 1:
		return map[string]any{"suffix": draw(t, words)}
	case 2:
		return map[string]any{"equals-ignore-case": draw(t, words)}
	case 3:
		return map[string]any{"wildcard": pattern}
	case 4:
		return map[string]any{"cidr": draw(t, []string{"10.0.0.0/24", "10.0.0.7/16", "::1/64"})}
	case 5:
		return map[string]any{"numeric": []any{draw(t, []string{"=", "<", "<=", ">", ">="}), draw(t, numbers)}}
	case 6:
		return map[string]any{
			"numeric": []any{draw(t, []string{">", ">="}), draw(t, numbers[:5]), draw(t, []string{"<", "<="}),
				draw(t, numbers[6:])},
		}
	case 7:
		return map[string]any{
			"anything-but": draw(t,
				[]any{[]any{"x", "xy"}, []any{json.Number("1"), json.Number("100.0")}, "x", json.Number("0")}),
		}
	case 8:
		operator := draw(t, []string{"prefix", "suffix", "equals-ignore-case", "wildcard"})
		return map[string]any{"anything-but": map[string]any{operator: draw(t, []string{"x", "xy", "yx"})}}
	case 9:
		return map[string]any{"exists": rapid.Bool().Draw(t, "exists")}
	}
	return drawScalar(t)
}

func drawPolicy(t *rapid.T, scope Scope, depth int) map[string]any {
	policy := map[string]any{}
	for range rapid.IntRange(1, 2).Draw(t, "keys") {
		name := draw(t, names)
		if scope == MessageBody && depth < 3 && rapid.IntRange(0, 2).Draw(t, "nested") == 0 {
			policy[name] = drawPolicy(t, scope, depth+1)
			continue
		}
		policy[name] = rapid.SliceOfN(rapid.Custom(drawCondition), 1, 3).Draw(t, "conditions")
	}
	if depth < 3 && rapid.IntRange(0, 3).Draw(t, "or") == 0 {
		policy["$or"] = []any{drawPolicy(t, scope, depth+1), drawPolicy(t, scope, depth+1)}
	}
	return policy
}

func drawValue(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case kind < 2 && depth < 4:
		return drawObject(t, depth+1)
	case kind == 2 && depth < 4:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			list = append(list, drawValue(t, depth+1))
		}
		return list
	}
	return drawScalar(t)
}

func drawObject(t *rapid.T, depth int) map[string]any {
	o := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		o[draw(t, names)] = drawValue(t, depth)
	}
	return o
}

// encode writes JSON as clients do, with escapes now and then.
func encode(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "escaped") {
		return strings.ReplaceAll(string(b), "x", `\u0078`)
	}
	return string(b)
}

func TestPolicyAgreesWithTheObviousEvaluator(t *testing.T) {
	matched, held := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		scope := MessageAttributes
		if rapid.Bool().Draw(t, "body") {
			scope = MessageBody
		}
		source := encode(t, drawPolicy(t, scope, 1))
		p, err := Parse(source, scope)
		var e *Error
		if errors.As(err, &e) &&
			(strings.Contains(e.Reason, "too complex") || strings.Contains(e.Reason, "more than 5 keys")) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		var m *Message
		var worlds []world
		exact := true
		if scope == MessageBody {
			body := encode(t, drawObject(t, 1))
			m = NewMessage(body, nil)
			worlds = worldsOf("", decode(body))
			exact = len(worlds) == 1 || !ambiguous(decode(body)) // otherwise more may match: see body.go
		} else {
			attributes := drawAttributes(t)
			m = NewMessage("", attributes)
			if len(attributes) > 0 { // without any, no policy matches
				worlds = []world{worldOf(attributes)}
			}
		}
		if len(worlds) > mostWorlds {
			t.Skip("too many worlds")
		}
		got := p.Matches(m)
		want := slices.ContainsFunc(worlds, func(w world) bool { return holds(decode(source).(map[string]any), "", w) })
		if got != want && (exact || want) {
			t.Fatalf("%s: %v, and the obvious evaluator says %v", source, got, want)
		}
		if got {
			matched++
		} else {
			held++
		}
	})
	if matched == 0 || held == 0 {
		t.Errorf("%d messages were let through, %d held", matched, held)
	}
}

func drawAttributes(t *rapid.T) []Attribute {
	var attributes []Attribute
	for _, name := range names {
		a := Attribute{
			Name: name, Type: draw(t, []string{"String", "Number", "String.Array", "Binary", "String.x", ""}),
		}
		switch a.Type {
		case "": // no such attribute
			continue
		case "Number":
			a.Value = draw(t, numbers).String()
		case "String.Array":
			a.Value = encode(t, rapid.SliceOfN(rapid.Custom(drawScalar), 1, 3).Draw(t, "array"))
		default:
			a.Value = draw(t, words)
		}
		attributes = append(attributes, a)
	}
	return attributes
}

// worldOf returns the values of a message's attributes.
func worldOf(attributes []Attribute) world {
	w := world{}
	for _, a := range attributes {
		switch a.Type {
		case "Binary":
		case "Number":
			w[a.Name] = []any{json.Number(a.Value)}
		case "String.Array":
			w[a.Name] = decode(a.Value).([]any)
		default:
			w[a.Name] = []any{a.Value}
		}
	}
	return w
}
