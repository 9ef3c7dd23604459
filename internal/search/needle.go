package search

import "bytes"

// needle is a text that can be anywhere in another one, in any case of ASCII.
//
// It is found by the algorithm of Knuth, Morris and Pratt, so the cost is linear in the text that is searched, for all
// needles and texts. Where no part of the needle has matched, the machine's fast search finds where one may begin.
type needle struct {
	text  []byte // in small letters, not empty
	upper byte   // the capital of the first letter
	// border[n] is how many bytes at the end of the first n+1 are also their beginning, not counting all of them.
	border []int
}

func newNeedle(text []byte) needle {
	text = lower(text)
	n := needle{text: text, upper: text[0], border: make([]int, len(text))}
	if 'a' <= n.upper && n.upper <= 'z' {
		n.upper -= 'a' - 'A'
	}
	for i, matched := 1, 0; i < len(text); i++ {
		matched = n.advance(matched, text[i])
		n.border[i] = matched
	}
	return n
}

// advance returns how much of the needle has matched after c, if so much had before, which is not all.
func (n *needle) advance(matched int, c byte) int {
	for matched > 0 && n.text[matched] != c {
		matched = n.border[matched-1]
	}
	if n.text[matched] == c {
		matched++
	}
	return matched
}

// in reports whether b contains the needle.
func (n *needle) in(b []byte) bool {
	first := firstOf{b: b, small: n.text[0], capital: n.upper}
	for i, matched := 0, 0; ; i++ {
		if matched == 0 {
			i = first.from(i)
		}
		if i+len(n.text)-matched > len(b) {
			return false
		}
		if matched = n.advance(matched, lowerByte(b[i])); matched == len(n.text) {
			return true
		}
	}
}

// firstOf finds a letter in either case. It looks at each byte once for each case.
type firstOf struct {
	b                  []byte
	small, capital     byte
	atSmall, atCapital int // where they are next; before a position that is asked for, they are looked for again
	begun              bool
}

// from returns where the letter is at or behind i, or the length of the text. It is called with ascending positions.
func (f *firstOf) from(i int) int {
	if !f.begun || f.atSmall < i {
		f.atSmall = f.next(i, f.small)
	}
	if !f.begun || f.atCapital < i {
		f.atCapital = f.next(i, f.capital)
	}
	f.begun = true
	return min(f.atSmall, f.atCapital)
}

func (f *firstOf) next(i int, c byte) int {
	if at := bytes.IndexByte(f.b[min(i, len(f.b)):], c); at >= 0 {
		return i + at
	}
	return len(f.b)
}
