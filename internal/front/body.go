package front

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/aws/signature"
)

// The whole body must be in memory for its verification. The memory grows with the received bytes, not with the
// announced length, and comes from the budget that all requests share.

const (
	// firstBuffer is the initial size of a request's buffer.
	firstBuffer = 4 << 10
	// pooledBuffer is the largest buffer that is reused. A larger request must not be an obvious forgery.
	pooledBuffer = 64 << 10
	bufferGrowth = 4 // growth from one size of reused buffers to the next
)

// buffers holds the buffers of finished requests: 4, 16 and 64 KiB. The elements are *[]byte, because storing a slice
// would allocate memory.
var buffers [3]sync.Pool

// pool returns the pool of buffers of a size, or nil.
func pool(size int) *sync.Pool {
	of := firstBuffer
	for i := range buffers {
		if size == of {
			return &buffers[i]
		}
		of *= bufferGrowth
	}
	return nil
}

// intake is the received part of a request, and its share of the budget.
type intake struct {
	of     *request
	broken error   // why the body could not be read
	buffer []byte  // the received part of the body
	memory *[]byte // of the buffer
	taken  int64   // before the sender was known
	owned  int64   // taken by the sender
	sender sender  // zero unless the request names a known access key
	keyID  string  // that the request named, for the checks
	unread bool    // the client may still be sending the body
	judged bool    // whether it is known if the request names a key
	named  bool    // the request names a known access key
	large  bool    // its buffer is larger than a reused one
}

// read reads the whole body.
func (m *intake) read() ([]byte, error) {
	if m.of.r.ContentLength == 0 {
		return nil, nil
	}
	m.unread = true
	if m.of.r.ContentLength > MaxBody {
		return nil, protocol.RequestEntityTooLarge(MaxBody)
	}
	err := m.fill(http.MaxBytesReader(m.of.w, m.of.r.Body, MaxBody))
	if err == nil {
		m.unread = false
		return m.buffer, nil
	}
	m.release()
	if _, ok := errors.AsType[*protocol.Error](err); ok {
		return nil, err
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, protocol.RequestEntityTooLarge(MaxBody)
	}
	m.unread = false
	m.broken = fmt.Errorf("read body: %w", err)
	return nil, protocol.InvalidRequest("The body of the request could not be read: it ended early or came too slowly.")
}

func (m *intake) fill(from io.Reader) error {
	if err := m.reserve(headerSize(m.of.r.Header) + firstBuffer); err != nil {
		return err
	}
	m.memory = takeBuffer(firstBuffer)
	m.buffer = *m.memory
	for {
		if len(m.buffer) == cap(m.buffer) {
			if err := m.grow(); err != nil {
				return err
			}
		}
		n, err := from.Read(m.buffer[len(m.buffer):cap(m.buffer)])
		m.buffer = m.buffer[:len(m.buffer)+n]
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// grow enlarges the buffer, and takes the memory from the budget.
func (m *intake) grow() error {
	have := cap(m.buffer)
	size := have * bufferGrowth
	if have >= pooledBuffer {
		if err := m.judge(); err != nil {
			return err
		}
		size = min(2*have, MaxBody+1) // one more, to see the end
		if announced := int(m.of.r.ContentLength); announced >= have {
			size = min(size, announced+1)
		}
	}
	if err := m.reserve(int64(size - have)); err != nil {
		return err
	}
	larger := takeBuffer(size)
	m.buffer = append(*larger, m.buffer...)
	giveBuffer(m.memory)
	m.memory = larger
	return nil
}

// judge refuses an obvious forgery, and finds out whether the request names a known access key.
func (m *intake) judge() error {
	if m.judged {
		return nil
	}
	named := false
	err := m.of.front.retryIfBehind(&m.of.arrival, false, func() (err error) {
		named, err = signature.Foresee(signature.FromHTTP(m.of.r, nil), m.of.began, m.lookup)
		if err != nil {
			return signatureError(err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.judged, m.named = true, named
	if named {
		m.sender, m.named = m.senderOf()
	}
	return nil
}

// lookup returns the secret of the access key that the request names.
func (m *intake) lookup(keyID string) (secret string, ok bool) {
	m.keyID = keyID
	cred, ok := m.of.front.Keys.Lookup(keyID)
	return cred.Secret, ok
}

// senderOf returns the sender that a request names with a known access key: false, if it is a temporary key without its
// token.
func (m *intake) senderOf() (s sender, ok bool) {
	keys := &m.of.front.Keys
	cred, ok := keys.Lookup(m.keyID)
	id := cred.Identity
	if ok && identity.IsTemporary(m.keyID) {
		var err error
		id, _, err = keys.Sessions.Redeem(m.keyID, m.of.r.Header.Get("X-Amz-Security-Token"))
		ok = err == nil
	}
	if !ok {
		return sender{}, false
	}
	return sender{id.Account, network(m.of.sourceIP)}, true
}

// network returns the address of a client, or the network of one with many: of IPv6, a client has at least a /64.
func network(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || a.Unmap().Is4() {
		return address
	}
	return networkOf(a).String()
}

// networkOf returns the network of a client.
func networkOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(a, bits).Masked()
}

// reserve takes n bytes from the shared budget. The sender matters only when little is left: then requests that name a
// known access key come first, and among them the small ones, and those that have begun to grow.
func (m *intake) reserve(n int64) error {
	if !m.judged && m.of.front.memory.try(n, unverified) {
		m.taken += n
		return nil
	}
	if err := m.judge(); err != nil {
		return err
	}
	large := cap(m.buffer)+int(n) > pooledBuffer
	r := growing
	switch {
	case !m.named:
		r = unverified
	case large && !m.large:
		r = started
	}
	ctx, cancel := context.WithTimeout(m.of.r.Context(), m.of.front.limits.Wait)
	defer cancel()
	if err := m.of.front.memory.takeFor(ctx, &claim{n: n, rank: r, by: m.sender, large: large}); err != nil {
		return errors.Join(
			protocol.ServiceUnavailable(), errOverload, fmt.Errorf("wait for memory for the body: %w", err),
		)
	}
	m.owned += n
	m.large = large
	return nil
}

// release returns the buffer, which decoding no longer uses. A long poll, whose request is short, keeps no memory while
// it waits; a longer request keeps its share until it ends, because it includes a decoded copy of the body.
func (m *intake) release() {
	short := cap(m.buffer) <= firstBuffer
	giveBuffer(m.memory)
	m.memory, m.buffer = nil, nil
	if short {
		m.giveBack()
	}
}

// takeBuffer returns an empty buffer of that size. It stays empty: its user appends to a copy of the slice.
func takeBuffer(size int) *[]byte {
	if p := pool(size); p != nil {
		if b, ok := p.Get().(*[]byte); ok {
			return b
		}
	}
	b := make([]byte, 0, size)
	return &b
}

// giveBuffer keeps a buffer for another request. It ignores nil.
func giveBuffer(b *[]byte) {
	if b == nil {
		return
	}
	if p := pool(cap(*b)); p != nil {
		p.Put(b)
	}
}

// giveBack returns all memory to the budget.
func (m *intake) giveBack() {
	if m.taken > 0 {
		m.of.front.memory.give(m.taken)
		m.taken = 0
	}
	if m.owned > 0 {
		m.of.front.memory.giveOf(m.sender, m.owned)
		m.owned = 0
	}
}

// headerSize returns the approximate memory of a header.
func headerSize(h http.Header) (n int64) {
	const each = 64 // the map entry, the list, the strings' own headers
	for name, values := range h {
		n += each + int64(len(name))
		for _, v := range values {
			n += int64(len(v))
		}
	}
	return n
}

const (
	// After an early refusal, the server reads and discards what the client continues to send, so that the client reads
	// the answer instead of a broken connection. Size and time are limited.
	maxDrained = 32 << 20
	drainTime  = 5 * time.Second
)

// answer lets write answer the client, which may still be sending.
func (m *intake) answer(write func() error) error {
	if m.unread {
		return m.refuseEarly(write)
	}
	return write()
}

// refuseEarly lets write answer a client that may still be sending. HTTP/2 can stop the client, and a client that has
// sent Expect: 100-continue waits for the answer.
func (m *intake) refuseEarly(write func() error) error {
	if m.of.r.ProtoMajor != 1 || m.of.r.Header.Get("Expect") != "" {
		return write()
	}
	m.giveBack()
	control := http.NewResponseController(m.of.w)
	if err := control.EnableFullDuplex(); err != nil { // otherwise net/http reads first
		return write()
	}
	m.of.w.Header().Set("Connection", "close")
	if err := errors.Join(write(), control.Flush(), control.SetReadDeadline(time.Now().Add(drainTime))); err != nil {
		return err
	}
	_, _ = io.CopyN(io.Discard, m.of.r.Body, maxDrained) // the connection ends in any case
	return nil
}
