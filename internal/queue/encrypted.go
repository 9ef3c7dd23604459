package queue

import (
	"errors"

	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/tool/varint"
)

// An encrypted message has ciphertext in place of its body, its attributes and its digest. The engine stores and moves
// it as it does any other, and never sees its text: callers encrypt before they send and decrypt what they have
// received. In records and between nodes it has the form of any message:
//
//   - Attributes has one entry of type encryptedType and without a name, which no client can send. Its Value is the id
//     under which the message was encrypted, or empty if that is still its id.
//
//   - BodyMD5 is zero, or the digest of the ciphertext. It reveals nothing about the text.
//
//   - Body is a sequence of parts:
//
//     kind | size | length | that many bytes
//
// The text is the concatenation of the parts. Size is what a part contributes to the message's size as SQS counts it. A
// literal part holds plain text: the sequence number of a publication, which the engine writes. Only the encryptor
// interprets the bytes of an encrypted part.
//
// So the common beginning of a publication's copies is encrypted once, and each tail is a separate part.
const encryptedType = "sluice:encrypted"

// The kinds of parts. They are stored: numbers are never reused.
const (
	partEncrypted = 1
	partLiteral   = 2
)

// ErrEncrypted reports that a message is encrypted and that no key can decrypt it.
var ErrEncrypted = errors.New("the message is encrypted, and this server has no encryption keys")

// ErrSuspended reports that a Cipher must not use its keys for the moment. The caller can try again.
var ErrSuspended = errors.New("the encryption keys are suspended")

// errParts reports that the body of an encrypted message is not a sequence of parts.
var errParts = errors.New("the body of an encrypted message is malformed")

// Content is the part of a message that is encrypted.
type Content struct {
	Body       string
	BodyMD5    [16]byte
	Attributes []Attribute
}

// Size returns the bytes of a text as SQS counts them.
func (c Content) Size() int {
	n := len(c.Body)
	for _, a := range c.Attributes {
		n += len(a.Name) + len(a.Type) + len(a.Value)
	}
	return n
}

// Part is a part of the body of an encrypted message.
type Part[T string | []byte] struct {
	Literal bool
	Size    int // see Message.Size; without the overhead of encryption
	Bytes   T
}

// AppendPart appends a part to a body.
func AppendPart(b []byte, p Part[string]) []byte {
	kind := byte(partEncrypted)
	if p.Literal {
		kind = partLiteral
	}
	return append(beginPart(b, kind, p.Size, len(p.Bytes)), p.Bytes...)
}

// BeginPart appends the header of an encrypted part. The caller then appends the length bytes of the part.
func BeginPart(b []byte, size, length int) []byte { return beginPart(b, partEncrypted, size, length) }

func beginPart(b []byte, kind byte, size, length int) []byte {
	w := varint.Writer(append(b, kind))
	w.Uint(uint64(size))
	w.Uint(uint64(length))
	return w
}

// Parts calls f for each part of the body of an encrypted message, in order, until f returns an error.
func Parts[T string | []byte](body T, f func(p Part[T], last bool) error) error {
	r := varint.NewReader(body)
	for r.Left() > 0 {
		kind := r.Byte()
		size := r.Uint()
		bytes := r.Raw(r.Uint())
		if r.Failed() || kind != partEncrypted && kind != partLiteral || size > uint64(len(body)) {
			return errParts
		}
		if err := f(Part[T]{Literal: kind == partLiteral, Size: int(size), Bytes: bytes}, r.Left() == 0); err != nil {
			return err
		}
	}
	return nil
}

// Encrypted turns o into an encrypted message with the given body, a sequence of parts. id is the id under which the
// parts were encrypted, if it is not the id of o.
func (o *Outgoing) Encrypted(body string, id *MessageID) {
	o.Body, o.BodyMD5, o.Attributes = body, [16]byte{}, encryptedMark(id)
}

// ownMark marks messages that were encrypted under their own ids. Nearly all encrypted messages share it, so it must
// not be modified.
var ownMark = []Attribute{{Type: encryptedType}}

// Encrypted turns m into an encrypted message with the given body, which was encrypted under the id of m.
func (m *Message) Encrypted(body string) {
	m.SetContent(Content{Body: body, Attributes: encryptedMark(nil)})
}

func encryptedMark(id *MessageID) []Attribute {
	if id == nil {
		return ownMark
	}
	return []Attribute{{Type: encryptedType, Value: string(id[:])}}
}

// mark accepts a single attribute if it equals ownMark's.
func (r *reader) mark() bool {
	at := *r
	if len(at.Raw(at.Uint())) > 0 || string(at.Raw(at.Uint())) != encryptedType || at.Uint() > 0 || at.Failed() {
		return false
	}
	*r = at
	return true
}

func isEncrypted(list []Attribute) bool {
	return len(list) == 1 && list[0].Name == "" && list[0].Type == encryptedType
}

// IsEncrypted reports whether o holds only ciphertext.
func (o *Outgoing) IsEncrypted() bool { return isEncrypted(o.Attributes) }

// IsEncrypted reports whether m holds only ciphertext.
func (m *Message) IsEncrypted() bool { return isEncrypted(m.Attributes) }

// EncryptedFor returns the id under which the encrypted message m was encrypted.
func (m *Message) EncryptedFor() MessageID {
	if v := m.Attributes[0].Value; len(v) == len(m.ID) {
		return MessageID([]byte(v))
	}
	return m.ID
}

// Content returns the encrypted part of m, or its ciphertext.
func (m *Message) Content() Content {
	return Content{Body: m.Body, BodyMD5: m.BodyMD5, Attributes: m.Attributes}
}

// SetContent replaces the text or the ciphertext of m.
func (m *Message) SetContent(c Content) {
	m.Body, m.BodyMD5, m.Attributes = c.Body, c.BodyMD5, c.Attributes
}

// rename changes the id of m. An encrypted message keeps the id under which it was encrypted.
func (m *Message) rename(id MessageID) {
	if m.IsEncrypted() {
		was := m.EncryptedFor()
		m.Attributes = encryptedMark(&was)
	}
	m.ID = id
}

// textSize returns the size of a body and attributes as SQS counts it, in bytes, even if they are encrypted.
func textSize(body string, list []Attribute) int {
	n := 0
	if isEncrypted(list) {
		// a malformed body counts up to the error
		_ = Parts(body, func(p Part[string], _ bool) error { n += p.Size; return nil })
		return n
	}
	return Content{Body: body, Attributes: list}.Size()
}

// needsFor raises Format for a message with these attributes.
func (t *transaction) needsFor(list []Attribute) {
	if isEncrypted(list) {
		t.needs(formats.Encrypted)
	}
}

// Cipher encrypts and decrypts for receives, peeks and searches, outside the goroutine that owns the engine. Its errors
// may be ErrSuspended.
type Cipher interface {
	// Open decrypts an encrypted message. Its body is not in m but in body, which is valid only during the call. After
	// an error, m is unchanged.
	Open(m *Message, body []byte) error
	// EncryptLike reverses Open, for the queue and with the key of like, an encrypted body.
	EncryptLike(m *Message, like string) error
	// DecryptEdit returns an encrypted edit in its original form.
	DecryptEdit(e *Edit) (*Edit, error)
}

// NoCipher is a Cipher without keys. It fails with ErrEncrypted.
var NoCipher Cipher = noCipher{}

type noCipher struct{}

func (noCipher) Open(*Message, []byte) error        { return ErrEncrypted }
func (noCipher) EncryptLike(*Message, string) error { return ErrEncrypted }
func (noCipher) DecryptEdit(*Edit) (*Edit, error)   { return nil, ErrEncrypted }

func orNone(c Cipher) Cipher {
	if c == nil {
		return NoCipher
	}
	return c
}
