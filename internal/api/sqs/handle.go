package sqs

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"sync"

	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/queue"
)

// A receipt handle is, in base64:
//
//	version 1 | queue 8 | position 8 | receipt 8 | MAC 16   (bytes, big-endian)
//
// The alphabet is the standard one, with padding, as on AWS: extended clients wrap a handle in their own, and split at
// hyphens. Handles of earlier versions have the alphabet for URLs and no padding. They stay valid, and the service
// still makes them while a node of the cluster may not know the new ones.
//
// The MAC is HMAC-SHA256 over the bytes before it, truncated to 16 bytes, under
// a key that only this service has. So the service recognises invented handles,
// and handles of another queue, without a table.
//
// A handle names the receive, as SQS's do. In a FIFO queue its receipt must be the
// message's newest; in a standard queue any handle of the message deletes it, however
// late.
const (
	handleVersion = 1
	handlePlain   = 1 + 3*8
	handleMAC     = 16
	handleLength  = handlePlain + handleMAC
	longestHandle = (handleLength + 2) / 3 * 4 // in base64
)

// sealer makes receipt handles and checks them.
type sealer struct {
	macs    sync.Pool
	earlier func() bool // whether a node of the cluster may not know handles in standard base64
}

// mac computes MACs, with memory for one of them.
type mac struct {
	hash.Hash
	text [handlePlain]byte
	sum  [sha256.Size]byte
}

// newSealer returns a sealer with a key. A nil earlier means that all nodes know handles in standard base64.
func newSealer(secret []byte, earlier func() bool) *sealer {
	if earlier == nil {
		earlier = func() bool { return false }
	}
	return &sealer{
		macs: sync.Pool{New: func() any { return &mac{Hash: hmac.New(sha256.New, secret)} }}, earlier: earlier,
	}
}

// mac returns the MAC of the beginning of a handle.
func (s *sealer) mac(handle *[handleLength]byte) (sum [handleMAC]byte) {
	m := s.macs.Get().(*mac)
	m.Reset()
	copy(m.text[:], handle[:])
	m.Write(m.text[:])
	copy(sum[:], m.Sum(m.sum[:0]))
	s.macs.Put(m)
	return sum
}

// Alphabets of receipt handles. Strict means that each handle can be written in one way only.
var (
	handles        = base64.StdEncoding.Strict()
	earlierHandles = base64.RawURLEncoding.Strict()
)

// alphabet returns the encoding of new receipt handles.
func (s *sealer) alphabet() *base64.Encoding {
	if s.earlier() {
		return earlierHandles
	}
	return handles
}

// seal returns the handle of a receipt.
func (s *sealer) seal(q queue.ID, r queue.Receipt, alphabet *base64.Encoding) string {
	b := [handleLength]byte{handleVersion}
	binary.BigEndian.PutUint64(b[1:], uint64(q))
	binary.BigEndian.PutUint64(b[9:], uint64(r.Position))
	binary.BigEndian.PutUint64(b[17:], r.Number)
	sum := s.mac(&b)
	copy(b[handlePlain:], sum[:])
	return string(alphabet.AppendEncode(make([]byte, 0, longestHandle), b[:]))
}

// open returns the receipt of a handle of queue q.
func (s *sealer) open(q queue.ID, handle string) (queue.Receipt, bool) {
	b, ok := decodeHandle(handle)
	if !ok || b[0] != handleVersion {
		return queue.Receipt{}, false
	}
	if sum := s.mac(&b); subtle.ConstantTimeCompare(sum[:], b[handlePlain:]) != 1 {
		return queue.Receipt{}, false
	}
	if queue.ID(binary.BigEndian.Uint64(b[1:])) != q {
		return queue.Receipt{}, false
	}
	return queue.Receipt{
		Position: queue.Position(binary.BigEndian.Uint64(b[9:])),
		Number:   binary.BigEndian.Uint64(b[17:]),
	}, true
}

// decodeHandle returns the bytes of a handle in either alphabet. The length determines the alphabet.
func decodeHandle(handle string) (b [handleLength]byte, ok bool) {
	var alphabet *base64.Encoding
	switch len(handle) {
	case handles.EncodedLen(handleLength):
		alphabet = handles
	case earlierHandles.EncodedLen(handleLength):
		alphabet = earlierHandles
	default:
		return b, false
	}
	var text, bytes [longestHandle]byte // Decode may need more room than its result
	n, err := alphabet.Decode(bytes[:], text[:copy(text[:], handle)])
	return [handleLength]byte(bytes[:]), err == nil && n == handleLength
}

// receipt opens a receipt handle. parameter returns the name of its parameter for the error if there is no handle.
func (s *sealer) receipt(q queue.ID, handle string, parameter func() string) (queue.Receipt, error) {
	if handle == "" {
		return queue.Receipt{}, protocol.MissingParameter(parameter())
	}
	receipt, ok := s.open(q, handle)
	if !ok {
		return receipt, errReceiptHandle(handle)
	}
	return receipt, nil
}
