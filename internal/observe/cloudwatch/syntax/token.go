package syntax

import "strconv"

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	End Kind = iota
	Word
	Number
	Quoted
	Sign     // an operator, a bracket or a comma
	Stray    // a character that begins no token; there are no tokens behind it
	Unclosed // a quotation mark that begins what does not end; there are no tokens behind it
)

// Token is a piece of a text. The zero token is the end of an empty text.
type Token struct {
	Kind Kind
	Text string // of a quotation what is between the marks, without backslashes
	Mark byte   // the mark around a quotation
	At   int    // the number of characters before it
}

// String returns how an error describes a token.
func (t Token) String() string {
	if t.Kind == End {
		return "the end"
	}
	return strconv.Quote(t.Text)
}

// Is reports whether a token is that word or sign.
func (t Token) Is(what string) bool { return (t.Kind == Word || t.Kind == Sign) && t.Text == what }
