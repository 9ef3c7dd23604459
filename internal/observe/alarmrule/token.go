package alarmrule

import (
	"strings"
	"unicode"
)

// token is a word, a quoted name, or one of the signs ( ) and ,. The zero token is the end of the text.
type token struct {
	text   string // of a quoted name what is between the quotation marks
	quoted bool
	at     int // the number of characters before it
}

// tokens takes a text apart.
func tokens(text string) (out []token, err error) {
	runes := []rune(text)
	for i := 0; i < len(runes); {
		switch r := runes[i]; {
		case unicode.IsSpace(r):
			i++
		case strings.ContainsRune(signs, r):
			out = append(out, token{text: string(r), at: i})
			i++
		case r == '"':
			name, end, ok := quoted(runes, i)
			if !ok {
				return nil, failed(i, "Unterminated quotation mark")
			}
			out = append(out, token{text: name, quoted: true, at: i})
			i = end
		default:
			end := i + 1
			for end < len(runes) && !unicode.IsSpace(runes[end]) && !strings.ContainsRune(signs+`"`, runes[end]) {
				end++
			}
			out = append(out, token{text: string(runes[i:end]), at: i})
			i = end
		}
	}
	return append(out, token{at: len(runes)}), nil
}

// signs are tokens of one character.
const signs = "(),"

// quoted returns the name that begins with the quotation mark at from, and where it ends.
func quoted(runes []rune, from int) (name string, end int, ok bool) {
	var b strings.Builder
	for i := from + 1; i < len(runes); i++ {
		switch {
		case runes[i] == '"':
			return b.String(), i + 1, true
		case runes[i] == '\\' && i+1 < len(runes) && (runes[i+1] == '"' || runes[i+1] == '\\'):
			i++
			b.WriteRune(runes[i])
		default:
			b.WriteRune(runes[i])
		}
	}
	return "", 0, false
}
