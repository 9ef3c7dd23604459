package protocol

import "math/bits"

// scanner takes a JSON document apart, strictly by RFC 8259. The part that it has passed is valid JSON.
type scanner struct {
	data  []byte
	pos   int
	depth int
}

// maxDepth is how deep a document may nest. Nothing that we decode goes deeper than ten; the bound keeps what we skip
// from exhausting the stack.
const maxDepth = 100

// next skips white space and returns the byte that follows without consuming it, 0 at the end of the document.
func (s *scanner) next() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// enter consumes the bracket or brace that opens an array or object.
func (s *scanner) enter() error {
	if s.depth++; s.depth > maxDepth {
		return Serialization("The request body nests more than %d levels deep.", maxDepth)
	}
	s.pos++
	return nil
}

// more reports whether another element follows in the array or object that end closes. It consumes the comma before the
// element, or else the end.
func (s *scanner) more(first bool, end byte) (bool, error) {
	switch c := s.next(); {
	case c == end:
		s.pos++
		s.depth--
		return false, nil
	case first:
		return true, nil
	case c == ',':
		s.pos++
		return true, nil
	}
	return false, s.unexpected()
}

// name consumes the name of an object's member and the colon.
func (s *scanner) name() (quoted, error) {
	if s.next() != '"' {
		return quoted{}, s.unexpected()
	}
	q, err := s.quoted()
	if err != nil {
		return quoted{}, err
	}
	if s.next() != ':' {
		return quoted{}, s.unexpected()
	}
	s.pos++
	return q, nil
}

// skip consumes a value of any type.
func (s *scanner) skip() error {
	switch c := s.next(); c {
	case '{', '[':
		end := c + 2 // in ASCII, a closing bracket or brace is two after its opening one
		if err := s.enter(); err != nil {
			return err
		}
		for first := true; ; first = false {
			more, err := s.more(first, end)
			if err != nil || !more {
				return err
			}
			if c == '{' {
				if _, err := s.name(); err != nil {
					return err
				}
			}
			if err := s.skip(); err != nil {
				return err
			}
		}
	case '"':
		_, err := s.quoted()
		return err
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		_, _, err := s.number()
		return err
	}
}

// end refuses anything but white space.
func (s *scanner) end() error {
	if s.next() != 0 || s.pos < len(s.data) {
		return s.unexpected()
	}
	return nil
}

// literal consumes one of the three words of JSON.
func (s *scanner) literal(word string) error {
	for i := range len(word) {
		if s.pos == len(s.data) || s.data[s.pos] != word[i] {
			return s.unexpected()
		}
		s.pos++
	}
	return nil
}

// number consumes a number and tells whether it is written without fraction and exponent.
func (s *scanner) number() (text []byte, integral bool, err error) {
	start := s.pos
	s.accept('-')
	if !s.accept('0') {
		if err := s.digits(); err != nil {
			return nil, false, err
		}
	}
	integral = true
	if s.accept('.') {
		integral = false
		if err := s.digits(); err != nil {
			return nil, false, err
		}
	}
	if s.accept('e') || s.accept('E') {
		integral = false
		if !s.accept('-') {
			s.accept('+')
		}
		if err := s.digits(); err != nil {
			return nil, false, err
		}
	}
	return s.data[start:s.pos], integral, nil
}

// digits consumes one or more digits.
func (s *scanner) digits() error {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos]-'0' <= 9 {
		s.pos++
	}
	if s.pos == start {
		return s.unexpected()
	}
	return nil
}

func (s *scanner) accept(c byte) bool {
	if s.pos < len(s.data) && s.data[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// quoted consumes a string, which starts at s.pos.
func (s *scanner) quoted() (quoted, error) {
	s.pos++
	start, escaped := s.pos, false
	for {
		s.pos = indexSpecial(s.data, s.pos)
		if s.pos == len(s.data) {
			return quoted{}, s.unexpected()
		}
		switch s.data[s.pos] {
		case '"':
			q := quoted{raw: s.data[start:s.pos], escaped: escaped}
			s.pos++
			return q, nil
		case '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return quoted{}, err
			}
		default:
			return quoted{}, s.unexpected()
		}
	}
}

// escape consumes an escape sequence, which starts at s.pos.
func (s *scanner) escape() error {
	s.pos++
	if s.pos == len(s.data) {
		return s.unexpected()
	}
	switch s.data[s.pos] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
		s.pos++
		for range 4 {
			if s.pos == len(s.data) || hexDigit(s.data[s.pos]) > 15 {
				return s.unexpected()
			}
			s.pos++
		}
		return nil
	}
	return s.unexpected()
}

// unexpected reports that the document is invalid at s.pos.
func (s *scanner) unexpected() *Error {
	if s.pos >= len(s.data) {
		return Serialization("The request body is not valid: it ends after %d bytes.", len(s.data))
	}
	return Serialization("The request body is not valid: unexpected %q at byte %d.", rune(s.data[s.pos]), s.pos)
}

// indexSpecial returns the index, from i on, of the first byte that cannot stand for itself in a JSON string, and
// len(s) if there is none. It looks at eight bytes at a time, since most of what we read and write is message bodies.
func indexSpecial[T string | []byte](s T, i int) int {
	for ; i+8 <= len(s); i += 8 {
		b := s[i : i+8]
		// The compiler makes a single load of this.
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		if m := specials(w); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' || c < 0x20 {
			return i
		}
	}
	return i
}

// specials sets the high bit of every byte of w that is a quote, a backslash or a control character. Bits above the
// lowest one set may be wrong, for the subtractions borrow.
func specials(w uint64) uint64 {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	quote := w ^ '"'*ones
	slash := w ^ '\\'*ones
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-0x20*ones)&^w) & highs
}

// hexDigit returns the value of a hexadecimal digit, and more than 15 for other bytes.
func hexDigit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 0xff
}
