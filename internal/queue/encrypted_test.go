package queue

import (
	"errors"
	"slices"
	"testing"

	"github.com/sluicemq/sluice/internal/formats"
)

// secret returns an encrypted message of a size, with meaningless ciphertext.
func secret(id byte, size int) Outgoing {
	o := Outgoing{ID: MessageID{id}}
	o.Encrypted(string(AppendPart(nil, Part[string]{Size: size, Bytes: "ciphertext"})), nil)
	return o
}

// An encrypted message raises the format before it is stored, and counts with the size of its plaintext.
func TestEncryptedMessage(t *testing.T) {
	r := newRig(t)
	defer r.close()
	r.configs = []Config{{ID: 1, ARN: "arn:aws:sqs:us-east-1:000000000000:q", Retention: 1 << 50}}
	r.reload()
	if r.engine.Format() >= formats.Encrypted {
		t.Error("the format is raised too early")
	}
	if err := r.do(func(e *Engine) error {
		_, err := e.Send(1, []Outgoing{secret(1, 7)})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if got := r.engine.Format(); got != formats.Encrypted {
		t.Errorf("the format is %d", got)
	}
	b := secret(1, 7)
	m := b.message(1)
	if m.bodySize() != 7 || !m.IsEncrypted() || m.EncryptedFor() != m.ID {
		t.Errorf("%+v", m)
	}
}

// A message that is moved twice keeps the id under which it was encrypted.
func TestRenamedMessages(t *testing.T) {
	o := secret(1, 7)
	m := o.message(1)
	m.rename(MessageID{2})
	m.rename(MessageID{3})
	if m.ID != (MessageID{3}) || m.EncryptedFor() != (MessageID{1}) || !m.IsEncrypted() {
		t.Errorf("%+v", m)
	}
	plain := &Message{ID: MessageID{1}, Attributes: []Attribute{{Name: "a", Type: encryptedType}}}
	if plain.rename(MessageID{2}); plain.IsEncrypted() || plain.Attributes[0].Value != "" {
		t.Errorf("%+v", plain)
	}
}

func TestParts(t *testing.T) {
	parts := []Part[string]{{Size: 3, Bytes: "abc"}, {Literal: true, Size: 20, Bytes: "12345678901234567890"},
		{Size: 0, Bytes: ""}}
	var body []byte
	for _, p := range parts {
		body = AppendPart(body, p)
	}
	n := 0
	if err := Parts(string(body), func(p Part[string], last bool) error {
		if p != parts[n] || last != (n == len(parts)-1) {
			t.Errorf("part %d is %+v, %v", n, p, last)
		}
		n++
		return nil
	}); err != nil || n != len(parts) {
		t.Error(n, err)
	}
	whole := map[int]bool{0: true, 6: true, 29: true}
	for i := range body {
		err := Parts(string(body[:i]), func(Part[string], bool) error { return nil })
		if (err == nil) != whole[i] {
			t.Errorf("%d bytes: %v", i, err)
		}
	}
	if err := Parts("\x03\x00\x00", func(Part[string], bool) error { return nil }); !errors.Is(err, errParts) {
		t.Error(err)
	}
}

func FuzzParts(f *testing.F) {
	f.Add(string(AppendPart(nil, Part[string]{Size: 3, Bytes: "abc"})))
	f.Fuzz(func(t *testing.T, body string) {
		n := 0
		_ = Parts(body, func(p Part[string], _ bool) error { n += len(p.Bytes); return nil })
		if n > len(body) {
			t.Error("parts are longer than their body")
		}
	})
}

// reversing is a Cipher whose ciphertext is the plaintext with its bytes in reverse order.
type reversing struct{ noCipher }

func (reversing) Open(m *Message, body []byte) error {
	if len(body) == 0 {
		return ErrEncrypted
	}
	text := slices.Clone(body)
	slices.Reverse(text)
	m.SetContent(Content{Body: string(text)})
	return nil
}

// A record can be read with or without keys. Marks differ from the attributes of clients.
func TestOpenMessage(t *testing.T) {
	was := MessageID{9}
	for _, c := range []struct {
		body       string
		attributes []Attribute
		opened     string
	}{
		{"cba", encryptedMark(nil), "abc"}, {"cba", encryptedMark(&was), "abc"}, {"", encryptedMark(nil), ""},
		{"cba", []Attribute{{Name: "a", Type: encryptedType}}, "cba"},
		{"cba", []Attribute{{Name: "a", Type: "String", Value: "b"}}, "cba"},
		{"cba", nil, "cba"},
	} {
		m := Message{ID: MessageID{1}, Body: c.body, Attributes: c.attributes}
		record := m.encode(nil)
		get := func([]byte) ([]byte, error) { return record, nil }
		got, err := ReadMessage(get, 1, 1)
		if err != nil || got.Body != c.body || !slices.Equal(got.Attributes, c.attributes) {
			t.Errorf("%+v is read as %+v, %v", m, got, err)
		}
		r := MessageReader{Keys: reversing{}}
		got = new(Message)
		found, err := r.Read(got, get, 1, 1)
		if !found || err != nil || got.Body != c.opened || got.IsEncrypted() != (m.IsEncrypted() && c.body == "") {
			t.Errorf("%+v is opened as %+v, %v", m, got, err)
		}
	}
}
