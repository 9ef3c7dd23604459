package protocol

import (
	"encoding/binary"
	"math"
)

// The major types of RFC 8949, which are the upper three bits of an item's first byte.
const (
	cborUnsigned = iota
	cborNegative
	cborBytes
	cborText
	cborArray
	cborMap
	cborTag
	cborSimple
)

// Items of the last major type.
const (
	cborFalse     = 20
	cborTrue      = 21
	cborNull      = 22
	cborUndefined = 23
	cborFloat16   = 25
	cborFloat32   = 26
	cborFloat64   = 27
)

const (
	cborIndefinite = 31   // in place of a length: the item continues until a break
	cborBreak      = 0xff // which is this byte
	cborEpoch      = 1    // the tag of a time in seconds since 1970
)

// item is the head of a CBOR item: all of a number, and of others what comes before their content.
type item struct {
	major byte
	info  byte   // the lower five bits of the first byte
	arg   uint64 // a number, a length, a tag or the bits of a float
}

func (it item) indefinite() bool { return it.info == cborIndefinite }

// null reports whether it stands for an absent value.
func (it item) null() bool {
	return it.major == cborSimple && (it.info == cborNull || it.info == cborUndefined)
}

// cborScanner takes a CBOR document apart. It reads only what its caller expects: a length that a document claims makes
// it take no memory before that many bytes have arrived.
type cborScanner struct {
	data  []byte
	pos   int
	depth int
}

// head consumes the head of an item.
func (s *cborScanner) head() (item, error) {
	if s.pos == len(s.data) {
		return item{}, s.short()
	}
	first := s.data[s.pos]
	it := item{major: first >> 5, info: first & 31}
	size := 0
	switch {
	case it.info < 24:
		it.arg = uint64(it.info)
	case it.info <= 27:
		size = 1 << (it.info - 24)
	case !it.indefinite() || it.major < cborBytes || it.major == cborTag || it.major == cborSimple:
		return item{}, s.unexpected()
	}
	if len(s.data)-s.pos-1 < size {
		return item{}, s.short()
	}
	if it.major == cborSimple && size == 1 && s.data[s.pos+1] < 32 { // which has a shorter form, and no other
		return item{}, s.unexpected()
	}
	at := s.data[s.pos+1:]
	switch size {
	case 1:
		it.arg = uint64(at[0])
	case 2:
		it.arg = uint64(binary.BigEndian.Uint16(at))
	case 4:
		it.arg = uint64(binary.BigEndian.Uint32(at))
	case 8:
		it.arg = binary.BigEndian.Uint64(at)
	}
	s.pos += 1 + size
	return it, nil
}

// more reports whether another element follows in the array or map that begins with it. n elements are read. more
// consumes the end of an array or map whose length is not announced.
func (s *cborScanner) more(it item, n int) (bool, error) {
	more := uint64(n) < it.arg
	if it.indefinite() {
		if s.pos == len(s.data) {
			return false, s.short()
		}
		if more = s.data[s.pos] != cborBreak; !more {
			s.pos++
		}
	}
	if !more {
		s.depth--
	}
	return more, nil
}

// enter records that an array, a map or a tag begins.
func (s *cborScanner) enter() error {
	if s.depth++; s.depth > maxDepth {
		return Serialization("The request body nests more than %d levels deep.", maxDepth)
	}
	return nil
}

// content consumes the content of the text or byte string that begins with the item. The result is part of the
// document, unless the string comes in several pieces.
func (s *cborScanner) content(it item) ([]byte, error) {
	if !it.indefinite() {
		return s.take(it.arg)
	}
	var all []byte
	for {
		if s.pos < len(s.data) && s.data[s.pos] == cborBreak {
			s.pos++
			return all, nil
		}
		start := s.pos
		part, err := s.head()
		if err != nil {
			return nil, err
		}
		if part.major != it.major || part.indefinite() {
			s.pos = start
			return nil, s.unexpected()
		}
		piece, err := s.take(part.arg)
		if err != nil {
			return nil, err
		}
		all = append(all, piece...)
	}
}

// take consumes n bytes.
func (s *cborScanner) take(n uint64) ([]byte, error) {
	if n > uint64(len(s.data)-s.pos) {
		s.pos = len(s.data)
		return nil, s.short()
	}
	b := s.data[s.pos : s.pos+int(n)]
	s.pos += int(n)
	return b, nil
}

// skip consumes the rest of an item of any type that begins with it.
func (s *cborScanner) skip(it item) error {
	switch it.major {
	case cborBytes, cborText:
		_, err := s.content(it)
		return err
	case cborTag:
		if err := s.enter(); err != nil {
			return err
		}
		defer func() { s.depth-- }()
		return s.skipItem()
	case cborArray, cborMap:
		if err := s.enter(); err != nil {
			return err
		}
		for n := 0; ; n++ {
			more, err := s.more(it, n)
			if err != nil || !more {
				return err
			}
			if it.major == cborMap {
				if err := s.skipItem(); err != nil {
					return err
				}
			}
			if err := s.skipItem(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *cborScanner) skipItem() error {
	it, err := s.head()
	if err != nil {
		return err
	}
	return s.skip(it)
}

// name consumes the key of a map's entry, which has to be text.
func (s *cborScanner) name() ([]byte, error) {
	start := s.pos
	it, err := s.head()
	if err != nil {
		return nil, err
	}
	if it.major != cborText {
		s.pos = start
		return nil, s.unexpected()
	}
	return s.content(it)
}

// end refuses anything that comes after the document.
func (s *cborScanner) end() error {
	if s.pos < len(s.data) {
		return s.unexpected()
	}
	return nil
}

func (s *cborScanner) short() *Error {
	return Serialization("The request body is not valid: it ends after %d bytes.", len(s.data))
}

// unexpected reports that the document is invalid at s.pos.
func (s *cborScanner) unexpected() *Error {
	if s.pos >= len(s.data) {
		return s.short()
	}
	return Serialization("The request body is not valid: unexpected 0x%02x at byte %d.", s.data[s.pos], s.pos)
}

// float returns the number that the item encodes, of any type.
func (it item) float() (float64, bool) {
	switch {
	case it.major == cborUnsigned:
		return float64(it.arg), true
	case it.major == cborNegative:
		return -1 - float64(it.arg), true
	case it.major != cborSimple:
		return 0, false
	}
	switch it.info {
	case cborFloat16:
		return float16(uint16(it.arg)), true
	case cborFloat32:
		return float64(math.Float32frombits(uint32(it.arg))), true
	case cborFloat64:
		return math.Float64frombits(it.arg), true
	}
	return 0, false
}

// float16 returns the value of a float of half precision: a sign, five bits of exponent, ten of fraction.
func float16(bits uint16) float64 {
	exponent, fraction := int(bits>>10&31), float64(bits&0x3ff)
	var n float64
	switch exponent {
	case 0:
		n = math.Ldexp(fraction, -24)
	case 31:
		n = math.Inf(1)
		if fraction != 0 {
			n = math.NaN()
		}
	default:
		n = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits>>15 == 1 {
		n = -n
	}
	return n
}
