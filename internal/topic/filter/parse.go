package filter

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sluicemq/sluice/internal/tool/excerpt"
	"github.com/sluicemq/sluice/internal/topic/jackson"
)

// Limits of a policy, as SNS has them.
const (
	MaxBytes        = 256 << 10
	maxKeys         = 5
	maxCombinations = 150
	maxDepth        = 32 // SNS has no such limit, but depth multiplies into the combinations
)

// Parse reads a policy. The error is always an *Error.
func Parse(source string, scope Scope) (*Policy, error) { return parse(source, scope, false) }

// ParseStored is Parse for a policy that this or an earlier version has accepted. Earlier versions took every list
// behind $or for a list of alternatives.
func ParseStored(source string, scope Scope) (*Policy, error) {
	p, err := parse(source, scope, false)
	if err == nil {
		return p, nil
	}
	if older, wrong := parse(source, scope, true); wrong == nil {
		return older, nil
	}
	return nil, err
}

func parse(source string, scope Scope, everyOr bool) (*Policy, error) {
	if len(source) > MaxBytes {
		return nil, overLimit("Filter policy is larger than 256 KB")
	}
	if !utf8.ValidString(source) {
		return nil, &Error{Reason: "FilterPolicy: failed to parse JSON. The text is not UTF-8"}
	}
	source, ok := compact(source)
	if !ok {
		return nil, &Error{Reason: "FilterPolicy: failed to parse JSON. " + jackson.Fault(source)}
	}
	p := &parser{source: source, decoder: json.NewDecoder(strings.NewReader(source)), everyOr: everyOr}
	p.decoder.UseNumber()
	root, err := p.document()
	if err != nil {
		return nil, err
	}
	if p.nested && scope == MessageAttributes {
		return nil, &Error{Reason: "Filter policy scope MessageAttributes does not support nested filter policy"}
	}
	if err := root.checkLimits(); err != nil {
		return nil, err
	}
	return newPolicy(scope, root.rules), nil
}

// compact removes the spaces from a JSON text: places in errors are counted without them. It reports whether the text
// is valid.
func compact(source string) (string, bool) {
	var b bytes.Buffer
	if json.Compact(&b, []byte(source)) != nil {
		return source, false
	}
	return b.String(), true
}

// parser reads a policy token by token. An error is about the token that was read last.
type parser struct {
	source  string
	decoder *json.Decoder
	token   json.Token
	start   int  // where the token begins, in bytes
	values  int  // of the key's list so far, with those that operators of anything-but have
	nested  bool // there is an object within an object

	alternatives map[int]bool // where the lists begin that can stand behind $or; nil: not needed yet
	everyOr      bool         // see ParseStored
}

// parsedRule is a parsed object of a policy, with its counts for the limits.
type parsedRule struct {
	rules        []rule // its alternatives, at most as many as combinations; none if there are too many of those
	keys         int    // at this level: its own, and the most that an alternative of each $or has
	combinations int    // at most maxCombinations+1
}

// newRule returns an object without members, which matches everything.
func newRule() *parsedRule { return &parsedRule{rules: []rule{nil}, combinations: 1} }

// maxRule is how many keys a rule can have: five of the policy itself, and seven nested ones, each of which doubles the
// combinations at least.
const maxRule = maxKeys + 7

// and adds a member of the object, or an $or of it. Members beyond the limits are counted and not kept.
func (r *parsedRule) and(alternatives []rule, combinations int) {
	r.combinations = min(r.combinations*combinations, maxCombinations+1)
	var rules []rule
	for _, one := range r.rules {
		for _, other := range alternatives {
			if len(one)+len(other) > maxRule {
				r.combinations = maxCombinations + 1
			}
			if r.combinations > maxCombinations {
				r.rules = nil
				return
			}
			rules = append(rules, slices.Concat(one, other))
		}
	}
	r.rules = rules
}

func (r *parsedRule) checkLimits() error {
	switch {
	case r.keys > maxKeys:
		return overLimit("Filter policy can not have more than 5 keys")
	case r.combinations > maxCombinations:
		return overLimit("Filter policy is too complex")
	}
	return nil
}

// fail makes an error about the place that AWS's parser has reached when it detects the mistake: behind the token, but
// behind the opening quote of a string, which it reads later. Behind a name it has read on, to the beginning of the
// value.
func (p *parser) fail(format string, args ...any) error {
	at := int(p.decoder.InputOffset())
	if _, isText := p.token.(string); isText {
		if at < len(p.source) && p.source[at] == ':' {
			at = p.valueBegins(at + 1)
		} else {
			at = p.start + 1
		}
	}
	return errorAt(p.source, at, format, args...)
}

// failBehind is fail for a string that AWS's parser has read whole.
func (p *parser) failBehind(format string, args ...any) error {
	return errorAt(p.source, int(p.decoder.InputOffset()), format, args...)
}

// valueBegins returns the end of the delimiter or quote at an offset, or of the number or keyword there.
func (p *parser) valueBegins(at int) int {
	if at < len(p.source) && strings.IndexByte(`{["`, p.source[at]) >= 0 {
		return at + 1
	}
	for at < len(p.source) && !ends(p.source[at]) {
		at++
	}
	return at
}

// read takes the next token: a json.Delim, string, json.Number, bool or nil.
func (p *parser) read() error {
	p.start = int(p.decoder.InputOffset())
	for p.start < len(p.source) && (p.source[p.start] == ',' || p.source[p.start] == ':') {
		p.start++
	}
	token, err := p.decoder.Token()
	if err != nil { // not of a text that json.Compact takes
		return p.failBehind("failed to parse JSON. %v", err)
	}
	p.token = token
	return nil
}

// is reports whether the last token is that delimiter.
func (p *parser) is(d json.Delim) bool { return p.token == d }

func (p *parser) document() (*parsedRule, error) {
	if err := p.read(); err != nil {
		return nil, err
	}
	if !p.is('{') {
		return nil, p.fail("Filter is not an object")
	}
	root := &parsedRule{combinations: 1} // a policy without keys lets everything through
	if p.decoder.More() {
		var err error
		if root, err = p.object("", 1); err != nil {
			return nil, err
		}
	} else if err := p.read(); err != nil {
		return nil, err
	}
	return root, nil
}

// object reads the members of an object, whose brace has been read, and its end. under is the prefix of their paths.
func (p *parser) object(under string, depth int) (*parsedRule, error) {
	if depth > maxDepth {
		return nil, overLimit("Filter policy is too complex")
	}
	r := newRule()
	for names := map[string]bool{}; ; {
		if err := p.read(); err != nil {
			return nil, err
		}
		if p.is('}') {
			if len(names) == 0 {
				return nil, p.fail("Empty objects are not allowed")
			}
			return r, nil
		}
		name := p.token.(string)
		if names[name] {
			return nil, p.fail("Path `%s` cannot be allowed multiple times", shorten(under+name))
		}
		names[name] = true
		if err := p.member(r, under, name, depth); err != nil {
			return nil, err
		}
	}
}

// member reads the value behind a name.
func (p *parser) member(r *parsedRule, under, name string, depth int) error {
	if err := p.read(); err != nil {
		return err
	}
	if name == "$or" && p.isOr() {
		return p.or(r, under, depth)
	}
	switch {
	case p.is('['):
		k := &key{path: under + name}
		p.values = 0
		if err := p.conditions(k); err != nil {
			return err
		}
		r.and([]rule{{k}}, p.values*depth)
	case p.is('{'):
		p.nested = true
		nested, err := p.object(under+name+".", depth+1)
		if err != nil {
			return err
		}
		r.and(nested.rules, nested.combinations)
	default:
		return p.fail(`"%s" must be an object or an array`, shorten(name))
	}
	r.keys++
	return nil
}

// or reads the alternatives of $or, whose bracket has been read.
func (p *parser) or(r *parsedRule, under string, depth int) error {
	var rules []rule
	count, keys, combinations := 0, 0, 0
	for ; ; count++ {
		if err := p.read(); err != nil {
			return err
		}
		if p.is(']') {
			break
		}
		if !p.is('{') {
			return p.fail("Only JSON object is allowed in array of $or relationship.")
		}
		a, err := p.object(under, depth)
		if err != nil {
			return err
		}
		rules = append(rules, a.rules...)
		keys = max(keys, a.keys)
		combinations = min(combinations+a.combinations, maxCombinations+1)
	}
	if count < 2 {
		return p.fail("There must have at least 2 Objects in $or relationship.")
	}
	r.and(rules, combinations)
	r.keys += keys
	return nil
}

// conditions reads the list of a key, whose bracket has been read, and counts its values.
func (p *parser) conditions(k *key) error {
	for {
		if err := p.read(); err != nil {
			return err
		}
		if p.is(']') {
			if p.values == 0 {
				return p.fail("Empty arrays are not allowed")
			}
			return nil
		}
		p.values++
		if p.is('{') {
			if err := p.expression(k); err != nil {
				return err
			}
			continue
		}
		c, ok := p.literal()
		if !ok {
			return p.fail("Match value must be String, number, true, false, or null")
		}
		k.conditions = append(k.conditions, c)
	}
}

// literal returns the condition of a scalar that was just read.
func (p *parser) literal() (*exact, bool) {
	var v scalar
	switch t := p.token.(type) {
	case string:
		v = newScalar(text, t)
	case json.Number:
		v = newScalar(number, t.String())
	case bool:
		v = newScalar(keyword, "false")
		if t {
			v.text = "true"
		}
	case nil:
		v = newScalar(keyword, "null")
	default:
		return nil, false
	}
	return (*exact)(&v), true
}

// expression reads a condition with an operator, whose brace has been read, and its end.
func (p *parser) expression(k *key) error {
	if err := p.read(); err != nil {
		return err
	}
	operator, ok := p.token.(string)
	if !ok {
		return p.fail("Match expression name not found")
	}
	c, err := p.operand(k, operator)
	if err != nil {
		return err
	}
	if c != nil {
		k.conditions = append(k.conditions, c)
	}
	if _, isPattern := c.(noneOf); operator == "numeric" || operator == "anything-but" && !isPattern {
		return p.end("Too many elements in numeric expression") // as AWS says of both
	}
	return p.end(onlyOne)
}

// onlyOne refuses a second operator in an expression.
const onlyOne = "Only one key allowed in match expression"

// end reads the brace behind an operand. otherwise is the mistake if there is something else.
func (p *parser) end(otherwise string) error {
	if err := p.read(); err != nil {
		return err
	}
	if !p.is('}') {
		return p.fail("%s", otherwise)
	}
	return nil
}

// word returns the last token for an error.
func (p *parser) word() string {
	switch t := p.token.(type) {
	case json.Delim:
		return t.String()
	case string:
		return shorten(t)
	}
	c, _ := p.literal()
	return shorten(c.text)
}

// shorten returns the part of a policy's text that an error repeats.
func shorten(s string) string { return excerpt.Of(s, 100) }
