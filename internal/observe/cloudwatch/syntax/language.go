package syntax

import (
	"strings"
	"unicode/utf8"
)

// Language defines the tokens of a language.
type Language struct {
	Space   func(rune) bool       // what separates tokens
	Number  func(rest string) int // how many bytes of a text are the number that it begins with; nil: there are none
	Marks   string                // quotation marks
	Escapes bool                  // in a quotation, a backslash takes the meaning from the mark or backslash behind it
	Signs   []string              // those of two characters before those of one
	Word    func(rune) bool       // what words consist of; spaces, marks and signs end them in any case
	AnyCase bool                  // whether a parser accepts words in any case
	Stray   string                // the error of a character that begins no token, with %q for it; "": unexpected %q
	AWS     string                // what AWS says of a text that is not of the language, if that is known
	Within  string                // what errors add to a position, if a text is part of another: "of the search"
}

// Blank reports whether a character separates tokens in most languages.
func Blank(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' }

// Read divides a text into tokens.
func (l *Language) Read(text string) Cursor {
	var tokens []Token
	at := 0
	for rest := text; ; {
		trimmed := strings.TrimLeftFunc(rest, l.Space)
		at += utf8.RuneCountInString(rest[:len(rest)-len(trimmed)])
		rest = trimmed
		t, n := l.first(rest)
		t.At = at
		tokens = append(tokens, t)
		if t.Kind == End || t.Kind == Stray || t.Kind == Unclosed {
			return Cursor{language: l, tokens: tokens}
		}
		at += utf8.RuneCountInString(rest[:n])
		rest = rest[n:]
	}
}

// first returns the token that a text begins with, and how many bytes of the text it is.
func (l *Language) first(rest string) (Token, int) {
	if rest == "" {
		return Token{}, 0
	}
	if l.Number != nil {
		if n := l.Number(rest); n > 0 {
			return Token{Kind: Number, Text: rest[:n]}, n
		}
	}
	if strings.IndexByte(l.Marks, rest[0]) >= 0 {
		return l.quotation(rest)
	}
	if s := l.sign(rest); s != "" {
		return Token{Kind: Sign, Text: s}, len(s)
	}
	if n := l.word(rest); n > 0 {
		return Token{Kind: Word, Text: rest[:n]}, n
	}
	_, n := utf8.DecodeRuneInString(rest)
	return Token{Kind: Stray, Text: rest[:n]}, n
}

// sign returns the sign that a text begins with, or "".
func (l *Language) sign(rest string) string {
	for _, s := range l.Signs {
		if strings.HasPrefix(rest, s) {
			return s
		}
	}
	return ""
}

// word returns how many bytes of a text are the word that it begins with.
func (l *Language) word(rest string) int {
	for i, r := range rest {
		if !l.Word(r) || l.Space(r) || strings.ContainsRune(l.Marks, r) || l.sign(rest[i:]) != "" {
			return i
		}
	}
	return len(rest)
}

// quotation returns the quotation that a text begins with, and how many bytes it has.
func (l *Language) quotation(rest string) (Token, int) {
	mark := rest[0]
	var text strings.Builder
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == mark:
			return Token{Kind: Quoted, Text: text.String(), Mark: mark}, i + 1
		case c == '\\' && l.Escapes && i+1 < len(rest) && (rest[i+1] == mark || rest[i+1] == '\\'):
			i++
			text.WriteByte(rest[i])
		default:
			text.WriteByte(c)
		}
	}
	return Token{Kind: Unclosed, Text: rest[:1]}, 1
}
