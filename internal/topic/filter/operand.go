package filter

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/tool/cidr"
)

func (p *parser) operand(k *key, operator string) (condition, error) {
	switch operator {
	case "exists":
		return p.exists(k)
	case "numeric":
		return p.numeric()
	case "anything-but":
		return p.anythingBut()
	}
	if _, known := textOperators[operator]; !known {
		return nil, p.fail("Unrecognized match type %s", shorten(operator))
	}
	if err := p.read(); err != nil {
		return nil, err
	}
	return p.textCondition(operator)
}

// textOperators are the operators whose operand is a string, and whether anything-but accepts them too.
var textOperators = map[string]bool{
	"prefix": true, "suffix": true, "equals-ignore-case": true, "wildcard": true, "cidr": false,
}

// textCondition makes a condition of the string that was just read.
func (p *parser) textCondition(operator string) (condition, error) {
	s, ok := p.token.(string)
	if !ok {
		if operator == "cidr" {
			operator = "prefix" // so AWS says
		}
		return nil, p.fail("%s match pattern must be a string", operator)
	}
	switch operator {
	case "prefix":
		return prefix(s), nil
	case "suffix":
		return suffix(s), nil
	case "equals-ignore-case":
		return equalsIgnoreCase(s), nil
	case "cidr":
		return parseCIDR(s)
	}
	return p.wildcard(s)
}

// parseCIDR reads a network. AWS refuses an invalid one without giving the place in the policy.
func parseCIDR(s string) (condition, error) {
	refuse := func(format string, args ...any) (condition, error) {
		return nil, &Error{Reason: "FilterPolicy: " + fmt.Sprintf(format, args...)}
	}
	if network, err := cidr.Parse(s); err == nil {
		return inNetwork(network.Masked()), nil
	}
	address, bits, ok := strings.Cut(s, "/")
	if !ok || strings.Contains(bits, "/") {
		return refuse("Malformed CIDR, one '/' required")
	}
	most := 128
	ip, err := netip.ParseAddr(address)
	if ip.Is4() {
		most = 32
	}
	switch n, bad := strconv.Atoi(bits); {
	case bad != nil:
		return refuse("Malformed CIDR, mask bits must be an integer")
	case n < 0:
		return refuse("Malformed CIDR, mask bits must not be negative")
	case err != nil, n <= most: // the second is wider than all IPv4-mapped addresses
		return refuse("Nonstandard IP address: %s", shorten(address))
	}
	return refuse("IPv%d mask bits must be < %d", map[int]int{32: 4, 128: 6}[most], most)
}

// wildcard cuts a pattern at its stars; a backslash escapes a star or a backslash.
func (p *parser) wildcard(s string) (condition, error) {
	var pieces wildcard
	var piece strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '*':
			if i > 0 && s[i-1] == '*' && piece.Len() == 0 && len(pieces) > 0 {
				return nil, p.fail("Consecutive wildcard characters at pos %d", i-1)
			}
			pieces = append(pieces, piece.String())
			piece.Reset()
		case '\\':
			if i++; i == len(s) || s[i] != '*' && s[i] != '\\' {
				return nil, p.fail("Invalid escape character at pos %d", i-1)
			}
			piece.WriteByte(s[i])
		default:
			piece.WriteByte(c)
		}
	}
	if pieces == nil {
		return (*exact)(&scalar{form: text, text: piece.String()}), nil
	}
	return append(pieces, piece.String()), nil
}

// exists returns a condition for a value that must be there. Absence is a property of the key.
func (p *parser) exists(k *key) (condition, error) {
	if err := p.read(); err != nil {
		return nil, err
	}
	wanted, ok := p.token.(bool)
	switch {
	case !ok:
		return nil, p.fail("exists match pattern must be either true or false.")
	case wanted:
		return nonEmpty{}, nil
	}
	k.absent = true
	return nil, nil
}

// numeric reads ["=", n], or one or two bounds. Errors in a number are reported when the list has ended.
func (p *parser) numeric() (condition, error) {
	if err := p.read(); err != nil {
		return nil, err
	}
	if !p.is('[') {
		return nil, p.fail("Value of numeric must be an array.")
	}
	if err := p.read(); err != nil {
		return nil, err
	}
	operator, ok := p.token.(string)
	if !ok {
		return nil, p.fail("Invalid member in numeric match: %s", p.word())
	}
	c := &numeric{from: -maxDecimal, to: maxDecimal}
	inBounds, err := p.bound(c, operator)
	if err != nil {
		return nil, err
	}
	if err := p.read(); err != nil {
		return nil, err
	}
	if !p.is(']') {
		if operator[0] != '>' {
			return nil, p.fail("Too many elements in numeric expression")
		}
		return c, p.upperBound(c, inBounds)
	}
	return c, p.checkBounds(inBounds)
}

// upperBound reads the second bound, the operator of which has been read, and the end of the list.
func (p *parser) upperBound(c *numeric, inBounds bool) error {
	operator, ok := p.token.(string)
	if !ok {
		return p.fail("Bad value in numeric range: %s", p.word())
	}
	if operator != "<" && operator != "<=" {
		return p.failBehind("Bad numeric range operator: %s", p.word())
	}
	topInBounds, err := p.bound(c, operator)
	if err != nil {
		return err
	}
	if err := p.read(); err != nil {
		return err
	}
	switch {
	case !p.is(']'):
		return p.fail("Too many terms in numeric range expression")
	case inBounds && topInBounds && c.from >= c.to:
		return p.fail("Bottom must be less than top")
	}
	return p.checkBounds(inBounds && topInBounds)
}

func (p *parser) checkBounds(ok bool) error {
	if !ok {
		return p.fail("Value must be between -1.0E9 and 1.0E9, inclusive")
	}
	return nil
}

var numericOperators = []string{"=", "<", "<=", ">", ">="}

// bound reads the number behind an operator and reports whether it can be compared.
func (p *parser) bound(c *numeric, operator string) (inBounds bool, err error) {
	if err := p.read(); err != nil {
		return false, err
	}
	if !slices.Contains(numericOperators, operator) {
		return false, p.fail("Unrecognized numeric range operator: %s", shorten(operator))
	}
	n, ok := p.token.(json.Number)
	if !ok {
		if operator == "=" {
			operator = "equals"
		}
		return false, p.fail("Value of %s must be numeric", operator)
	}
	d, ok := parseDecimal(n.String())
	switch operator {
	case "=":
		c.from, c.to = d, d
	case ">", ">=":
		c.from, c.fromOpen = d, operator == ">"
	case "<", "<=":
		c.to, c.toOpen = d, operator == "<"
	}
	return ok, nil
}

func (p *parser) decimal(n json.Number) (decimal, error) {
	d, ok := parseDecimal(n.String())
	if !ok {
		return 0, p.checkBounds(false)
	}
	return d, nil
}

// anythingBut reads a value, a list of them, or an object with an operator on strings.
func (p *parser) anythingBut() (condition, error) {
	if err := p.read(); err != nil {
		return nil, err
	}
	c := &anythingBut{texts: make(map[string]bool), decimals: make(map[decimal]bool)}
	switch {
	case p.is('{'):
		return p.anythingButOperator()
	case p.is('['):
		return c, p.anythingButList(c)
	}
	return c, p.exclude(c, "Value of anything-but must be an array or single string/number value.")
}

func (p *parser) anythingButList(c *anythingBut) error {
	for {
		if err := p.read(); err != nil {
			return err
		}
		if p.is(']') {
			break
		}
		if err := p.exclude(c, "Inside anything but list, start|null|boolean is not supported."); err != nil {
			return err
		}
	}
	if (len(c.texts) == 0) == (len(c.decimals) == 0) {
		return p.fail("Inside anything but list, either all values are number or string, mixed type is not supported")
	}
	return nil
}

// exclude adds the value that was just read.
func (p *parser) exclude(c *anythingBut, otherwise string) error {
	switch t := p.token.(type) {
	case string:
		c.texts[t] = true
	case json.Number:
		d, err := p.decimal(t)
		if err != nil {
			return err
		}
		c.decimals[d] = true
	default:
		return p.fail("%s", otherwise)
	}
	return nil
}

// anythingButOperator reads {"prefix": "a"} or {"prefix": ["a", "b"]}, whose brace has been read, and its end.
func (p *parser) anythingButOperator() (condition, error) {
	if err := p.read(); err != nil {
		return nil, err
	}
	operator, ok := p.token.(string)
	if !ok {
		return nil, p.fail("Anything-But expression name not found")
	}
	if !textOperators[operator] {
		return nil, p.fail("Unsupported anything-but pattern: %s", shorten(operator))
	}
	if err := p.read(); err != nil {
		return nil, err
	}
	var list noneOf
	isList := p.is('[')
	for {
		if isList {
			if err := p.read(); err != nil {
				return nil, err
			}
			if p.is(']') {
				break
			}
		}
		if p.token == "" {
			return nil, p.failBehind("Null prefix/suffix not allowed")
		}
		c, err := p.textCondition(operator)
		if err != nil {
			return nil, err
		}
		if list = append(list, c); !isList {
			break
		}
		p.values++
	}
	if list == nil {
		return nil, p.fail("Empty arrays are not allowed")
	}
	return list, p.end(onlyOne)
}
