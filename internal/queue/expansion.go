package queue

import (
	"crypto/md5"
	"fmt"
	"hash"
)

// SequenceDigits is the length of a sequence number in a body.
const SequenceDigits = 20

// expansion is a publication whose copies are being made.
type expansion struct {
	*Publication
	sequence uint64

	// The beginning of the newest body, which other copies may share: the original, the bytes with the sequence number,
	// and their digest.
	body   string
	at     int
	begins string
	digest hash.Cloner
}

// message returns a copy as it is sent.
func (x *expansion) message(c *Copy) *Outgoing {
	m := c.Message
	m.Delay = nil
	if c.Tail == "" && c.SequenceAt == 0 {
		return &m
	}
	if x.digest == nil || x.body != m.Body || x.at != c.SequenceAt {
		x.begin(m.Body, c.SequenceAt)
	}
	m.Body = x.begins + c.Tail
	m.BodyMD5 = x.sum(c.Tail)
	return &m
}

// begin stores the beginning of a body, and writes the sequence number into it if its placeholder is there.
func (x *expansion) begin(body string, at int) {
	x.body, x.at, x.begins = body, at, body
	if end := at + SequenceDigits; at > 0 && end <= len(body) {
		x.begins = fmt.Sprintf("%s%0*d%s", body[:at], SequenceDigits, x.sequence, body[end:])
	}
	x.digest = md5.New().(hash.Cloner)
	_, _ = x.digest.Write([]byte(x.begins))
}

// sum returns the digest of the beginning followed by tail.
func (x *expansion) sum(tail string) (sum [md5.Size]byte) {
	d, err := x.digest.Clone()
	if err != nil { // digests of the standard library never fail
		panic(err)
	}
	_, _ = d.Write([]byte(tail))
	d.Sum(sum[:0])
	return sum
}
