package store

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
)

// Pebble's write-ahead logs and MANIFEST are sequences of records. The file is
// divided into blocks of 32 KiB, a record into chunks that do not cross the end
// of a block; the rest of a block is zero. A chunk is, in little endian:
//
//	manifest   | checksum 4 | length 2 | type 1 |                                  | payload |
//	log        | checksum 4 | length 2 | type 1 | log number 4 |                   | payload |
//	log, new   | checksum 4 | length 2 | type 1 | log number 4 | synced up to 8    | payload |
//
// The checksum is over all that follows the length. The type determines which
// of the three forms the chunk has, and whether it is a whole record or the
// first, a middle or the last chunk of one. A log that was closed properly ends
// with an empty header: checksum and length 0, the type of a full chunk, and
// the number of the log plus one.
const (
	blockSize      = 32 << 10
	manifestHeader = 7
	logHeader      = manifestHeader + 4
	syncHeader     = logHeader + 8
)

// The role of a chunk in its record: its type modulo 4.
const (
	chunkLast   = 0
	chunkFull   = 1
	chunkFirst  = 2
	chunkMiddle = 3
)

// trailerType is the type in the header that ends a log.
const trailerType = 5

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is Pebble's checksum: a CRC that is mixed, because data may contain CRCs.
func checksum(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// chunk is a valid chunk.
type chunk struct {
	place   int
	payload []byte
	end     int // in the block
}

func (c *chunk) begins() bool { return c.place == chunkFull || c.place == chunkFirst }

// headLength is how much of a record is kept to identify it: enough for a batch's header, and for the first fields of
// an edit of a manifest.
const headLength = 128

// batchHeader is the length of the header of a log record: 8 bytes for the
// sequence number, which counts all changes ever made, and 4 bytes for the
// number of changes that follow.
const batchHeader = 12

// scanner reads a file of records and finds the end of its valid part. It needs the memory of one block.
type scanner struct {
	file   io.Reader
	isLog  bool
	number uint32 // of the log
	next   uint64 // sequence number that the next record of the log should have; 0: unknown
	record func(head []byte)

	block  [blockSize]byte
	n      int   // bytes in block
	offset int64 // of block in the file
	read   int64
}

// ending is the end of a file.
type ending struct {
	records int
	closed  bool  // a log that was closed properly
	bad     int64 // end of the valid part; -1: the end of the file
	// vouched reports that something behind bad was written after the data at bad was durable.
	vouched bool
}

// scan reads the file up to its end or to the first invalid part.
func (s *scanner) scan() (e ending, err error) {
	e.bad = -1
	var head []byte
	inside := false // of a record
	begun := int64(0)
	for {
		if more, err := s.nextBlock(); err != nil {
			return e, err
		} else if !more {
			if inside {
				e.bad = begun // cut short at the end of a block
			}
			return e, nil
		}
		for i := 0; !s.padding(i); {
			if i == s.n && !inside {
				return e, nil
			}
			c, ok := s.chunkAt(i)
			if !ok && !inside && s.trailerAt(i) {
				e.closed = true
				return e, nil
			}
			if ok && !inside == c.begins() {
				if c.begins() {
					head, begun = head[:0], s.offset+int64(i)
				}
				head = append(head, c.payload[:min(len(c.payload), headLength-len(head))]...)
				inside = c.place == chunkFirst || c.place == chunkMiddle
				ok = inside || s.complete(head)
			} else {
				ok = false
			}
			if !ok {
				e.bad = s.offset + int64(i)
				e.vouched, err = s.vouched(i)
				return e, err
			}
			if !inside {
				e.records++
			}
			i = c.end
		}
	}
}

// complete records that a record is complete. In a log it must continue the previous one.
func (s *scanner) complete(head []byte) bool {
	if s.isLog {
		if len(head) < batchHeader || binary.LittleEndian.Uint64(head) < s.next {
			return false
		}
		s.next = binary.LittleEndian.Uint64(head) + uint64(binary.LittleEndian.Uint32(head[8:]))
	}
	if s.record != nil {
		s.record(head)
	}
	return true
}

func (s *scanner) nextBlock() (bool, error) {
	s.offset = s.read
	n, err := io.ReadFull(s.file, s.block[:])
	s.n = n
	s.read += int64(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF { // ReadFull returns them as they are
		err = nil
	}
	return n > 0, err
}

// padding reports whether only zeros follow in a full block, where no chunk fits any more.
func (s *scanner) padding(i int) bool {
	least := manifestHeader
	if s.isLog {
		least = syncHeader
	}
	return s.n == blockSize && blockSize-i < least && bytes.Count(s.block[i:], []byte{0}) == blockSize-i
}

// chunkAt returns the chunk at i of the block, if it is valid.
func (s *scanner) chunkAt(i int) (c chunk, ok bool) {
	end, header, ok := s.extent(i)
	if !ok || end > s.n || binary.LittleEndian.Uint32(s.block[i:]) != checksum(s.block[i+6:end]) {
		return chunk{}, false
	}
	return chunk{place: int(s.block[i+6]) % 4, payload: s.block[i+header : end], end: end}, true
}

// extent returns the end of the chunk at i and the length of its header, if the header may be valid.
func (s *scanner) extent(i int) (end, header int, ok bool) {
	if i+manifestHeader > s.n {
		return 0, 0, false
	}
	switch kind := s.block[i+6]; {
	case !s.isLog && 1 <= kind && kind <= 4:
		header = manifestHeader
	case s.isLog && 5 <= kind && kind <= 8:
		header = logHeader
	case s.isLog && 9 <= kind && kind <= 12:
		header = syncHeader
	default:
		return 0, 0, false
	}
	if i+header > s.n || s.isLog && binary.LittleEndian.Uint32(s.block[i+7:]) != s.number {
		return 0, 0, false
	}
	return i + header + int(binary.LittleEndian.Uint16(s.block[i+4:])), header, true
}

// trailerAt reports whether a log ends at i of the block.
func (s *scanner) trailerAt(i int) bool {
	if !s.isLog || i+logHeader > s.n {
		return false
	}
	b := s.block[i:]
	return binary.LittleEndian.Uint32(b) == 0 && binary.LittleEndian.Uint16(b[4:]) == 0 &&
		b[6] == trailerType && binary.LittleEndian.Uint32(b[7:]) == s.number+1
}

// vouched searches behind the invalid data at bad in the block for data that
// was written only after the data at bad was durable: the beginning of a later
// record, or the end of a log that was closed.
//
// Chunks in the middle of a record prove nothing. A power cut in the middle of
// a commit may leave its later blocks and not its first.
//
// A chunk starts at the start of a block, and behind each valid chunk of the block. Elsewhere, vouched tries every
// byte. Bytes that look like a chunk could then be the content of a message, put there on purpose, so they must fit
// into the sequence of changes; an apparent end of the log must be the end of the file.
func (s *scanner) vouched(bad int) (bool, error) {
	start := s.offset + int64(bad)
	if end, _, ok := s.extent(bad); ok && s.trailerAt(end) {
		return true, nil
	}
	i, sure := s.candidate(bad+1), false
	for {
		for i < s.n {
			c, ok := s.chunkAt(i)
			switch {
			case ok && c.begins() && s.later(c.payload, s.offset+int64(i)-start):
				return true, nil
			case s.trailerAt(i) && (sure || s.endsAt(i+logHeader)):
				return true, nil
			case ok && sure:
				i = c.end
			default:
				sure = false
				i = s.candidate(i + 1)
			}
		}
		if more, err := s.nextBlock(); err != nil || !more {
			return false, err
		}
		i, sure = 0, true
	}
}

// candidate returns the first offset from i on at which a chunk could begin: where a chunk's header would contain the
// number of the log, or where the trailer would be if the file ended with one.
func (s *scanner) candidate(i int) int {
	const before = manifestHeader // the number of the log
	if !s.isLog || i+before >= s.n {
		return i
	}
	number := binary.LittleEndian.AppendUint32(nil, s.number)
	at := s.n
	if n := bytes.Index(s.block[i+before:s.n], number); n >= 0 {
		at = i + n
	}
	if trailer := s.n - logHeader; i <= trailer {
		at = min(at, trailer)
	}
	return at
}

// endsAt reports whether the file ends at i of the block, unless it ends there because only some sectors of a write
// have reached the disk.
func (s *scanner) endsAt(i int) bool {
	const sector = 512
	return i == s.n && s.n%sector != 0
}

// later reports whether a record that begins with payload comes after the
// record that should be the given number of bytes in front of it. A change
// takes at least two bytes.
func (s *scanner) later(payload []byte, distance int64) bool {
	if !s.isLog {
		return true
	}
	if len(payload) < batchHeader || binary.LittleEndian.Uint32(payload[8:]) == 0 {
		return false
	}
	most := uint64(math.MaxUint64)
	if s.next != 0 {
		most = s.next + uint64(distance)/2
	}
	number := binary.LittleEndian.Uint64(payload)
	return s.next < number && number <= most
}
