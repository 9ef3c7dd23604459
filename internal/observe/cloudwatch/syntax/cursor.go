package syntax

import (
	"cmp"
	"strings"
)

// Cursor goes through the tokens of a text. A parser embeds it.
type Cursor struct {
	language *Language
	tokens   []Token // those that are left; the last one is the end, or no token
}

// Broken returns the character or quotation that is not a token, if the text has one.
func (c *Cursor) Broken() (Token, bool) {
	last := c.tokens[len(c.tokens)-1]
	return last, last.Kind != End
}

// Peek returns the next token.
func (c *Cursor) Peek() Token { return c.tokens[0] }

// Next takes the next token. The last one stays.
func (c *Cursor) Next() Token {
	t := c.tokens[0]
	if len(c.tokens) > 1 {
		c.tokens = c.tokens[1:]
	}
	return t
}

// Accept takes the next token if it is that word or sign.
func (c *Cursor) Accept(what string) bool {
	t := c.Peek()
	ok := t.Is(what) || c.language.AnyCase && t.Kind == Word && strings.EqualFold(t.Text, what)
	if ok {
		c.Next()
	}
	return ok
}

// Expect takes a sign that must be there.
func (c *Cursor) Expect(sign string) error {
	if t := c.Peek(); !c.Accept(sign) {
		return c.Fault(t, "expected %q, found %s", sign, t)
	}
	return nil
}

// Fault returns an error at a token. A character or quotation that is not a token has an error of its own.
func (c *Cursor) Fault(t Token, format string, args ...any) *Error {
	switch t.Kind {
	case Stray:
		format, args = cmp.Or(c.language.Stray, "unexpected %q"), []any{[]rune(t.Text)[0]}
	case Unclosed:
		format, args = "a text begins that does not end", nil
	}
	e := NewError(t.At+1, format, args...)
	e.AWS, e.within = c.language.AWS, c.language.Within
	return e
}
