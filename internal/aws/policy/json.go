package policy

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The bounds of Parse. IAM takes documents of 131,072 characters, white space included; the deepest that a policy can
// nest is 6.
const (
	maxTextBytes = 131_072
	maxDepth     = 16
	maxMembers   = 256
)

// form is what kind of JSON value a node is.
type form uint8

const (
	object form = iota
	array
	text
	number
	boolean
	null
)

func (f form) String() string {
	return [...]string{"an object", "a list", "a string", "a number", "true or false", "null"}[f]
}

// node is a JSON value and its position in the text.
type node struct {
	form    form
	pos     int // byte offsets: of the first byte and behind the last
	end     int
	text    string   // a string's value, or a number or boolean as written
	list    []node   // of an array
	members []member // of an object, as written
}

type member struct {
	name  string
	pos   int
	value node
}

// member returns the member of that name, or nil.
func (n *node) member(name string) *member {
	for i := range n.members {
		if n.members[i].name == name {
			return &n.members[i]
		}
	}
	return nil
}

// place names a value in errors: the document, a member's value, or an element of such a value.
type place struct {
	name    string // of the member; empty for the document
	element bool
}

func (p place) String() string {
	switch {
	case p.name == "":
		return "the document"
	case p.element:
		return fmt.Sprintf("an element of %q", p.name)
	}
	return fmt.Sprintf("the value of %q", p.name)
}

// reader takes a JSON text apart, strictly by RFC 8259, without duplicate names.
type reader struct {
	src   string
	pos   int
	depth int
}

// fault makes an Error about the place at byte offset pos.
func (r *reader) fault(f Fault, pos int, format string, args ...any) *Error {
	line, column := position(r.src, pos)
	return &Error{Fault: f, Line: line, Column: column, Reason: fmt.Sprintf(format, quoteAll(args)...)}
}

// position returns the line and the column, in characters, of a byte offset.
func position(src string, offset int) (line, column int) {
	p := placeCounter{src: src}
	at := p.at(offset)
	return at.Line, at.Column
}

// placeCounter finds the positions of byte offsets that grow, so that all of them
// together cost one way through the text.
type placeCounter struct {
	src      string
	offset   int
	newlines int
	column   int // characters of it up to offset
}

func (c *placeCounter) at(offset int) Position {
	part := c.src[c.offset:min(offset, len(c.src))]
	if i := strings.LastIndexByte(part, '\n'); i >= 0 {
		c.newlines += strings.Count(part, "\n")
		c.column = 0
		part = part[i+1:]
	}
	c.column += utf8.RuneCountInString(part)
	c.offset = min(offset, len(c.src))
	return Position{c.newlines + 1, c.column + 1}
}

// document reads the whole text as one value.
func (r *reader) document() (node, error) {
	if len(r.src) > maxTextBytes {
		return node{}, fault(OverLimit, "the document has %d bytes; at most %d are read", len(r.src), maxTextBytes)
	}
	if !utf8.ValidString(r.src) {
		return node{}, r.fault(Syntax, invalidUTF8(r.src), "the text is not UTF-8")
	}
	n, err := r.value(place{})
	if err != nil {
		return node{}, err
	}
	if r.space(); r.pos < len(r.src) {
		return node{}, r.fault(Syntax, r.pos, "the document has ended, but %s follows", r.here())
	}
	return n, nil
}

func invalidUTF8(s string) int {
	for i, c := range s {
		if c == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return len(s)
}

func (r *reader) space() {
	for r.pos < len(r.src) {
		switch r.src[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}

// here describes the text at the current position.
func (r *reader) here() string {
	if r.pos >= len(r.src) {
		return "the end of the text"
	}
	c, _ := utf8.DecodeRuneInString(r.src[r.pos:])
	switch c {
	case '\'', '‘', '’', '“', '”':
		return fmt.Sprintf("%c (JSON's quotes are straight double ones)", c)
	case '\ufeff':
		return "a byte order mark"
	}
	if c == '\n' || c == '\r' {
		return "the end of the line"
	}
	if c < ' ' || c == 0x7f {
		return fmt.Sprintf("the control character U+%04X", c)
	}
	return string(c)
}

// at consumes c if it comes next after white space.
func (r *reader) at(c byte) bool {
	if r.space(); r.pos < len(r.src) && r.src[r.pos] == c {
		r.pos++
		return true
	}
	return false
}

// value reads the value that is to be what.
func (r *reader) value(what place) (node, error) {
	r.space()
	start := r.pos
	if start == len(r.src) {
		return node{}, r.fault(Syntax, start, "the text ends where %s should begin", what)
	}
	n := node{pos: start}
	var err error
	switch c := r.src[start]; {
	case c == '{':
		n.form = object
		n.members, err = r.object()
	case c == '[':
		n.form = array
		n.list, err = r.array(what)
	case c == '"':
		n.form = text
		n.text, err = r.string()
	case c == '-', '0' <= c && c <= '9':
		n.form = number
		n.text, err = r.number()
	default:
		word := r.word()
		switch word {
		case "true", "false":
			n.form, n.text = boolean, word
		case "null":
			n.form = null
		default:
			return node{}, r.fault(Syntax, start, "%s should begin here, not %s", what, r.here())
		}
		r.pos += len(word)
	}
	n.end = r.pos
	return n, err
}

func (r *reader) word() string {
	end := r.pos
	for end < len(r.src) && 'a' <= r.src[end] && r.src[end] <= 'z' {
		end++
	}
	return r.src[r.pos:end]
}

// enter consumes an opening bracket or brace.
func (r *reader) enter() error {
	if r.depth++; r.depth > maxDepth {
		return r.fault(Syntax, r.pos, "the document nests more than %d levels deep", maxDepth)
	}
	r.pos++
	return nil
}

// another consumes the separator between two elements, or the end. It reports whether another element must follow.
func (r *reader) another(last place, end byte) (bool, error) {
	if r.at(end) {
		r.depth--
		return false, nil
	}
	comma := r.pos
	if !r.at(',') {
		return false, r.fault(Syntax, r.pos, "a comma or %c should follow %s, not %s", end, last, r.here())
	}
	if r.at(end) {
		return false, r.fault(Syntax, comma, "the comma after %s is not allowed, because nothing but %c follows it", last, end)
	}
	return true, nil
}

func (r *reader) object() ([]member, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	members := []member{}
	if r.at('}') {
		r.depth--
		return members, nil
	}
	for {
		r.space()
		m := member{pos: r.pos}
		if r.pos == len(r.src) || r.src[r.pos] != '"' {
			return nil, r.fault(Syntax, r.pos, "a name in double quotes should begin here, not %s", r.here())
		}
		var err error
		if m.name, err = r.string(); err != nil {
			return nil, err
		}
		if len(members) == maxMembers {
			return nil, r.fault(Grammar, m.pos, "the object has more than %d members", maxMembers)
		}
		for _, other := range members {
			if other.name == m.name {
				line, _ := position(r.src, other.pos)
				return nil, r.fault(
					Grammar, m.pos, "%q appears twice in one object; the first is in line %d", m.name, line,
				)
			}
		}
		if !r.at(':') {
			return nil, r.fault(Syntax, r.pos, "a colon should follow the name %q, not %s", m.name, r.here())
		}
		what := place{name: m.name}
		if m.value, err = r.value(what); err != nil {
			return nil, err
		}
		members = append(members, m)
		if more, err := r.another(what, '}'); err != nil || !more {
			return members, err
		}
	}
}

func (r *reader) array(what place) ([]node, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	list := []node{}
	what.element = true
	if r.at(']') {
		r.depth--
		return list, nil
	}
	for {
		n, err := r.value(what)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		if more, err := r.another(what, ']'); err != nil || !more {
			return list, err
		}
	}
}

// string reads a string in double quotes.
func (r *reader) string() (string, error) {
	start := r.pos
	r.pos++
	var b strings.Builder
	for plain := r.pos; ; {
		if r.pos == len(r.src) {
			return "", r.fault(Syntax, start, "the string that begins here does not end")
		}
		switch c := r.src[r.pos]; {
		case c == '"':
			b.WriteString(r.src[plain:r.pos])
			r.pos++
			return b.String(), nil
		case c == '\\':
			b.WriteString(r.src[plain:r.pos])
			char, err := r.escape()
			if err != nil {
				return "", err
			}
			b.WriteRune(char)
			plain = r.pos
		case c < ' ':
			return "", r.fault(
				Syntax,
				r.pos,
				"%s stands within the string that begins in front of it; it is written as an escape",
				r.here(),
			)
		default:
			r.pos++
		}
	}
}

// escape reads the rest of an escape after its backslash.
func (r *reader) escape() (rune, error) {
	start := r.pos
	if r.pos++; r.pos == len(r.src) {
		return 0, r.fault(Syntax, start, "the text ends in a backslash")
	}
	c := r.src[r.pos]
	if c != 'u' {
		i := strings.IndexByte(`"\/bfnrt`, c)
		if i < 0 {
			return 0, r.fault(Syntax, start, `\%s is not an escape of JSON; a backslash itself is written \\`, r.here())
		}
		r.pos++
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	char, ok := r.unit()
	if ok && 0xd800 <= char && char < 0xdc00 && strings.HasPrefix(r.src[r.pos:], `\u`) {
		r.pos++
		var low rune
		if low, ok = r.unit(); ok && 0xdc00 <= low && low < 0xe000 {
			return 0x10000 + (char-0xd800)<<10 + (low - 0xdc00), nil
		}
		ok = false
	}
	if !ok || 0xd800 <= char && char < 0xe000 {
		return 0, r.fault(Syntax, start, `\u is not followed by the four hexadecimal digits of a character`)
	}
	return char, nil
}

// unit reads uXXXX.
func (r *reader) unit() (rune, bool) {
	digits := r.src[r.pos+1 : min(r.pos+5, len(r.src))]
	if len(digits) < 4 {
		return 0, false
	}
	var char rune
	for _, c := range []byte(digits) {
		i := strings.IndexByte("0123456789abcdef", c|0x20)
		if c < '0' || i < 0 {
			return 0, false
		}
		char = char<<4 | rune(i)
	}
	r.pos += 5
	return char, true
}

// number reads a number and returns it as written.
func (r *reader) number() (string, error) {
	end := numberEnd(r.src[r.pos:])
	n := r.src[r.pos : r.pos+end]
	if rest := r.src[r.pos+end:]; end == 0 || rest != "" && strings.ContainsRune("0123456789.eE+-", rune(rest[0])) {
		return "", r.fault(Syntax, r.pos, "this is not how JSON writes a number; an account or a date goes into double quotes")
	}
	r.pos += end
	return n, nil
}

// numberEnd returns how many bytes at the beginning of s are a JSON number.
func numberEnd(s string) int {
	i := 0
	digits := func() bool {
		from := i
		for i < len(s) && '0' <= s[i] && s[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if !digits() {
		return 0
	}
	if i < len(s) && s[i] == '.' {
		if i++; !digits() {
			return 0
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return 0
		}
	}
	return i
}

// compact returns a JSON text that was read without the white space between
// its tokens.
func compact(src string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case quoted && c == '\\':
			b.WriteByte(c)
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			continue
		}
		b.WriteByte(src[i])
	}
	return b.String()
}
