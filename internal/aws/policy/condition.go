package policy

import (
	"net/netip"
	"strings"
	"time"
)

// condition is one operator with one key, and the values that the key is
// compared with. A statement applies if all its conditions are met.
type condition struct {
	written  string // the operator, with its prefix and suffix
	operator *operator
	quantity quantity
	ifExists bool
	key      key
	values   []operand
	pos      int
}

// quantity is how many of a key's values must satisfy the operator.
type quantity uint8

const (
	theValue quantity = iota // the one that there is; a list satisfies nothing
	allValues
	anyValue
)

// operand is a value of a condition, read as its operator needs it.
type operand struct {
	written string
	pos     int
	ok      bool // could be read; an operand that could not matches nothing
	pattern pattern
	arn     arnPattern
	number  float64
	time    time.Time
	prefix  netip.Prefix
	truth   bool
	binary  string
}

// operator is a comparison. A negated one is satisfied by what none of the
// operands matches.
type operator struct {
	family  family
	negated bool
	order   func(compared int) bool // of numbers and dates
}

// family is the common part of operators of one type.
type family uint8

const (
	exactTexts family = iota
	foldTexts         // ignoring case
	likeTexts         // with wildcards
	numbers
	dates
	truths
	binaries
	addresses
	arns
	presence // the operator Null
)

// wants describes the operands of a family.
func (f family) wants() string {
	return [...]string{
		"a string", "a string", "a string", "a decimal number",
		"a date such as 2009-06-30T12:00:00Z or seconds since 1970",
		"true or false", "base64", "an address or a range of them such as 10.1.2.0/24", "an ARN", "true or false",
	}[f]
}

// newOperand reads a value of a condition. The error is about variables; a
// value that cannot be read otherwise is not ok.
func newOperand(f family, written string, variables syntax) (o operand, err error) {
	o.written, o.ok = written, true
	switch f {
	case exactTexts, foldTexts:
		o.pattern, err = newPattern(written, variables)
	case likeTexts:
		o.pattern, err = newPattern(written, wildcards|variables)
	case numbers:
		o.number, o.ok = readNumber(written)
	case dates:
		o.time, o.ok = readTime(written)
	case truths, presence:
		o.truth, o.ok = readTruth(written)
	case binaries:
		o.binary, o.ok = readBinary(written)
	case addresses:
		o.prefix, o.ok = readPrefix(written)
	case arns:
		o.arn, err = newARNPattern(written, wildcards|variables)
	}
	return o, err
}

// matches compares a value of the request with one of the condition. It returns false if either cannot be parsed for
// the operator.
func (op *operator) matches(e *evaluation, o *operand, v *Value) bool {
	if !o.ok || !e.spend(operandSteps) {
		return false
	}
	switch op.family {
	case exactTexts, likeTexts:
		return o.pattern.matches(e, v.String())
	case foldTexts:
		s := v.String()
		return e.spend(len(s)) && o.pattern.matchesFold(e, s)
	case numbers:
		n, ok := v.asNumber()
		return ok && op.order(compare(n, o.number))
	case dates:
		t, ok := v.asTime()
		return ok && op.order(t.Compare(o.time))
	case truths:
		truth, ok := v.asTruth()
		return ok && truth == o.truth
	case binaries:
		s := v.String()
		if !e.spend(len(s)) {
			return false
		}
		b, ok := readBinary(s)
		return ok && b == o.binary
	case addresses:
		a, ok := v.asAddr()
		return ok && o.prefix.Contains(a)
	case arns:
		a := cutARN(v.String())
		return o.arn.matches(e, &a)
	}
	return false
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func equal(c int) bool   { return c == 0 }
func less(c int) bool    { return c < 0 }
func atMost(c int) bool  { return c <= 0 }
func greater(c int) bool { return c > 0 }
func atLeast(c int) bool { return c >= 0 }

// operators has every operator without prefix and suffix. Names keep their case.
var operators = map[string]*operator{
	"StringEquals":              {family: exactTexts},
	"StringNotEquals":           {family: exactTexts, negated: true},
	"StringEqualsIgnoreCase":    {family: foldTexts},
	"StringNotEqualsIgnoreCase": {family: foldTexts, negated: true},
	"StringLike":                {family: likeTexts},
	"StringNotLike":             {family: likeTexts, negated: true},
	"NumericEquals":             {family: numbers, order: equal},
	"NumericNotEquals":          {family: numbers, negated: true, order: equal},
	"NumericLessThan":           {family: numbers, order: less},
	"NumericLessThanEquals":     {family: numbers, order: atMost},
	"NumericGreaterThan":        {family: numbers, order: greater},
	"NumericGreaterThanEquals":  {family: numbers, order: atLeast},
	"DateEquals":                {family: dates, order: equal},
	"DateNotEquals":             {family: dates, negated: true, order: equal},
	"DateLessThan":              {family: dates, order: less},
	"DateLessThanEquals":        {family: dates, order: atMost},
	"DateGreaterThan":           {family: dates, order: greater},
	"DateGreaterThanEquals":     {family: dates, order: atLeast},
	"Bool":                      {family: truths},
	"BinaryEquals":              {family: binaries},
	"IpAddress":                 {family: addresses},
	"NotIpAddress":              {family: addresses, negated: true},
	"ArnEquals":                 {family: arns},
	"ArnLike":                   {family: arns},
	"ArnNotEquals":              {family: arns, negated: true},
	"ArnNotLike":                {family: arns, negated: true},
	"Null":                      {family: presence},
}

// newCondition reads the name of an operator.
func newCondition(written string) (condition, bool) {
	c := condition{written: written}
	name := written
	if rest, ok := strings.CutPrefix(name, "ForAllValues:"); ok {
		c.quantity, name = allValues, rest
	} else if rest, ok := strings.CutPrefix(name, "ForAnyValue:"); ok {
		c.quantity, name = anyValue, rest
	}
	name, c.ifExists = strings.CutSuffix(name, "IfExists")
	c.operator = operators[name]
	if c.operator == nil || c.operator.family == presence && name != written {
		return c, false
	}
	return c, true
}

// met reports whether the request satisfies c.
func (c *condition) met(e *evaluation) bool {
	var v Value
	present := e.lookup(&c.key, &v)
	switch {
	case c.operator.family == presence:
		return c.null(!present)
	case !present && c.ifExists:
		return true
	case !present && c.quantity != theValue:
		return c.quantity == allValues
	case !present:
		return c.operator.negated
	case !e.bounded(&v):
		return false
	case c.quantity == theValue:
		return v.kind != listValue && c.satisfied(e, &v)
	case v.kind != listValue:
		return c.satisfied(e, &v)
	}
	for _, s := range v.list {
		one := Text(s)
		satisfied := c.satisfied(e, &one)
		if e.unknown {
			return false
		}
		if satisfied != (c.quantity == allValues) {
			return c.quantity == anyValue
		}
	}
	return c.quantity == allValues
}

// satisfied reports whether one value satisfies the operator: whether any of
// the operands matches it or, for a negated operator, none.
func (c *condition) satisfied(e *evaluation, v *Value) bool {
	for i := range c.values {
		if c.operator.matches(e, &c.values[i], v) {
			return !c.operator.negated
		}
		if e.unknown {
			return false
		}
	}
	return c.operator.negated
}

// null is the operator Null: the key is absent for true, there for false.
func (c *condition) null(absent bool) bool {
	for i := range c.values {
		if o := &c.values[i]; o.ok && o.truth == absent {
			return true
		}
	}
	return false
}
