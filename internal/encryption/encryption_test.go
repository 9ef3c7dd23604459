package encryption

import (
	"crypto/md5"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/queue"
)

var start = time.Date(2026, 11, 23, 16, 0, 0, 0, time.UTC)

// rig is a cipher with a clock.
type rig struct {
	*Cipher
	ring *keyring.Ring
	now  time.Time
	keys int // unwrapped
}

func newRig(ring *keyring.Ring) *rig {
	r := &rig{ring: ring, now: start}
	r.Cipher = New(ring, func() time.Time { return r.now })
	r.Cipher.unwrapped = func() { r.keys++ }
	r.Use(ring.Keys(), nil)
	return r
}

var attributes = []queue.Attribute{
	{Name: "a", Type: "String", Value: "confidential value"}, {Name: "b", Type: "Binary", Value: "\x00\x01"},
}

func text(body string) queue.Outgoing {
	return queue.Outgoing{
		ID: queue.MessageID(uuid.New()), Sender: "sender", Group: "group",
		Body: body, BodyMD5: md5.Sum([]byte(body)), Attributes: attributes,
	}
}

// stored returns o as a queue stores it.
func stored(o *queue.Outgoing) *queue.Message {
	return &queue.Message{
		ID: o.ID, Sender: o.Sender, Group: o.Group, Body: o.Body, BodyMD5: o.BodyMD5, Attributes: o.Attributes,
	}
}

// Encrypt returns the messages as they are stored.
func (r *rig) Encrypt(s Setting, messages []queue.Outgoing) ([]queue.Outgoing, error) {
	out, err := r.Cipher.Encrypt(s, messages)
	if err != nil {
		return nil, err
	}
	return out.Messages, nil
}

func (r *rig) encrypt(t *testing.T, s Setting, o queue.Outgoing) *queue.Message {
	t.Helper()
	out, err := r.Encrypt(s, []queue.Outgoing{o})
	if err != nil {
		t.Fatal(err)
	}
	m := stored(&out[0])
	if !m.IsEncrypted() || strings.Contains(m.Body, "confidential") || m.BodyMD5 != [16]byte{} {
		t.Fatalf("%+v", m)
	}
	return m
}

func (r *rig) readable(t *testing.T, m *queue.Message, want queue.Outgoing) {
	t.Helper()
	got := *m
	err := r.Decrypt(&got)
	if err != nil || got.Body != want.Body || got.BodyMD5 != want.BodyMD5 ||
		!slices.Equal(got.Attributes, want.Attributes) {
		t.Errorf("%+v, %v", got, err)
	}
}

func (r *rig) unreadable(t *testing.T, what string, m queue.Message) {
	t.Helper()
	before := m.Body
	if err := r.Decrypt(&m); !errors.Is(err, ErrUnreadable) || m.Body != before {
		t.Errorf("%s: %q, %v", what, m.Body, err)
	}
}

var setting = Setting{Queue: 7, Period: time.Minute}

func TestMessages(t *testing.T) {
	r := newRig(keyring.New(start))
	for _, body := range []string{"confidential", "x", strings.Repeat("confidential", 90_000)} {
		o := text(body)
		m := r.encrypt(t, setting, o)
		r.readable(t, m, o)
		if m.Size() != stored(&o).Size() {
			t.Errorf("the size is %d, not %d", m.Size(), stored(&o).Size())
		}
		if more := len(m.Body) - len(body); more > 180 {
			t.Errorf("it takes %d additional bytes", more)
		}
	}
	o := text("confidential")
	o.Attributes = nil
	r.readable(t, r.encrypt(t, setting, o), o)
	if r.keys != 0 {
		t.Errorf("%d data keys of this process were unwrapped", r.keys)
	}
	later := newRig(r.ring)
	for range 2 {
		later.readable(t, r.encrypt(t, setting, o), o)
	}
	if later.keys != 1 {
		t.Errorf("%d data keys were unwrapped", later.keys)
	}
}

// While the keys are suspended, data keys in memory encrypt until their period ends, and decrypt for five minutes. No
// others are created or unwrapped.
func TestSuspension(t *testing.T) {
	r := newRig(keyring.New(start))
	o := text("confidential")
	long := Setting{Queue: 7, Period: 2 * decryptsFor}
	m := r.encrypt(t, long, o)
	foreign := newRig(r.ring).encrypt(t, long, o)
	suspended := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrSuspended) || !errors.Is(err, keyring.ErrDenied) || errors.Is(err, ErrUnreadable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	r.Suspend(keyring.ErrNoAnswer)
	r.now = r.now.Add(time.Minute)
	r.Suspend(keyring.ErrDenied)
	_, err := r.Encrypt(Setting{Queue: 8, Period: time.Minute}, []queue.Outgoing{o})
	suspended("a new data key", err)
	suspended("another process's data key", r.Decrypt(foreign))
	r.readable(t, r.encrypt(t, long, o), o)

	r.now = start.Add(decryptsFor)
	suspended("after five minutes", r.Decrypt(m))
	r.encrypt(t, long, o)
	r.now = start.Add(long.Period)
	_, err = r.Encrypt(long, []queue.Outgoing{o})
	suspended("at the end of the period", err)
	suspended("an edited message", r.EncryptLike(stored(&o), m.Body))

	r.Resume()
	r.readable(t, m, o)
	r.readable(t, foreign, o)
}

func TestCiphertextHasItsPlace(t *testing.T) {
	r := newRig(keyring.New(start))
	m := r.encrypt(t, setting, text("confidential"))
	other := r.encrypt(t, setting, text("confidential"))
	moved := *other
	moved.Body = m.Body
	r.unreadable(t, "another message", moved)
	for i := range m.Body {
		changed := *m
		b := []byte(m.Body)
		b[i] ^= 1
		changed.Body = string(b)
		r.unreadable(t, "changed", changed)
	}
	for n := range m.Body {
		short := *m
		short.Body = m.Body[:n]
		r.unreadable(t, "truncated", short)
	}
	twice := *m
	twice.Body += m.Body
	r.unreadable(t, "twice", twice)
	newRig(keyring.New(start)).unreadable(t, "another ring", *m)
}

// A message that a task moves has a new id, and stays readable.
func TestMovedMessages(t *testing.T) {
	r := newRig(keyring.New(start))
	o := text("confidential")
	out, err := r.Encrypt(setting, []queue.Outgoing{o})
	if err != nil {
		t.Fatal(err)
	}
	was := out[0].ID
	out[0].Encrypted(out[0].Body, &was)
	out[0].ID = queue.MessageID(uuid.New())
	r.readable(t, stored(&out[0]), o)
}

func TestKeysAreRenewed(t *testing.T) {
	r := newRig(keyring.New(start))
	keyOf := func(s Setting) string {
		t.Helper()
		var wrapped string
		if err := queue.Parts(r.encrypt(t, s, text("confidential")).Body, func(p queue.Part[string], _ bool) error {
			part, err := takeApart([]byte(p.Bytes))
			wrapped = string(part.wrapped[:])
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return wrapped
	}
	first := keyOf(setting)
	r.now = start.Add(time.Minute - 1)
	if keyOf(setting) != first {
		t.Error("the data key was renewed before its time")
	}
	if keyOf(Setting{Queue: 8, Period: time.Minute}) == first {
		t.Error("two queues have the same data key")
	}
	r.now = start.Add(time.Minute)
	second := keyOf(setting)
	if second == first {
		t.Error("the data key was not renewed")
	}
	d, _ := r.encrypts.get(purpose{7, r.ring.First().Short()})
	d.used.Store(mostUses)
	if keyOf(setting) == second {
		t.Error("the data key was used too often")
	}
}

// Nonces never repeat, however many goroutines encrypt and take each other's places.
func TestNoncesAreNew(t *testing.T) {
	r := newRig(keyring.New(start))
	var mu sync.Mutex
	seen := make(map[string]bool)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 500 {
				period := time.Minute
				if i%50 == g {
					period = 0 // renews
				}
				out, err := r.Encrypt(Setting{Queue: queue.ID(1 + i%3), Period: period}, []queue.Outgoing{text("x")})
				if err != nil {
					t.Error(err)
					return
				}
				_ = queue.Parts(out[0].Body, func(p queue.Part[string], _ bool) error {
					part, err := takeApart([]byte(p.Bytes))
					nonce := nonceOf(part.counter)
					use := string(part.wrapped[:]) + string(nonce[:])
					mu.Lock()
					defer mu.Unlock()
					if seen[use] || err != nil {
						t.Error("a nonce repeats", err)
					}
					seen[use] = true
					return nil
				})
			}
		})
	}
	all.Wait()
}

func TestNamesOfKeys(t *testing.T) {
	ring := keyring.New(start)
	old := ring.First()
	ring, err := ring.Rotate(start)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(ring)
	for name, want := range map[string]*keyring.Key{
		"": ring.First(), "alias/aws/sqs": ring.First(),
		"arn:aws:kms:us-east-1:000000000000:alias/aws/sqs": ring.First(),
		old.ID(): old, "arn:aws:kms:us-east-1:000000000000:key/" + old.ID(): old,
		"alias/other": nil, "arn:aws:kms": nil, "arn:aws:sqs:us-east-1:000000000000:" + old.ID(): nil, "x": nil,
	} {
		k, err := r.key(name)
		if k != want || (err == nil) != (want != nil) || err != nil && !errors.Is(err, keyring.ErrNoKey) {
			t.Errorf("%q: %v", name, err)
		}
	}
	o := text("confidential")
	m := r.encrypt(t, Setting{Queue: 7, Key: old.ID(), Period: time.Minute}, o)
	r.readable(t, m, o)
	if _, err := r.Encrypt(Setting{Key: "x"}, []queue.Outgoing{o}); !errors.Is(err, keyring.ErrNoKey) {
		t.Error(err)
	}
	r.Use([]*keyring.Key{old}, nil)
	if k, err := r.key(""); k != old {
		t.Error(err)
	}
	if err := r.Check(ring.First().ID()); !errors.Is(err, keyring.ErrNoKey) || !r.Encrypts() {
		t.Error(err)
	}
	r.Use(nil, nil)
	if err := r.Check(""); !errors.Is(err, keyring.ErrNoKey) || r.Encrypts() {
		t.Error(err)
	}
	r.readable(t, m, o)
}

// A rotated ring reads earlier messages, and encrypts under its new key.
func TestRotatedRing(t *testing.T) {
	ring := keyring.New(start)
	o := text("confidential")
	m := newRig(ring).encrypt(t, setting, o)
	rotated, err := ring.Rotate(start)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(rotated)
	r.readable(t, m, o)
	newRig(ring).unreadable(t, "a ring without the new key", *r.encrypt(t, setting, o))
}

func TestPublications(t *testing.T) {
	r := newRig(keyring.New(start))
	const digits = "00000000000000000000"
	head := "confidential head " + digits + " confidential rest"
	one := func(q queue.ID, body, tail string, at int) queue.Copy {
		o := text(body)
		if tail != "" {
			o.Attributes = nil
		}
		return queue.Copy{Queue: q, Message: o, Tail: tail, SequenceAt: at}
	}
	p := queue.Publication{ID: queue.MessageID(uuid.New()), Copies: []queue.Copy{
		one(1, "confidential raw", "", 0), one(2, "confidential raw", "", 0), one(9, "confidential raw", "", 0),
		one(3, head, "confidential tail", 18), one(4, head, "confidential other", 18),
		one(5, "confidential", "tail", 0),
	}}
	p.Copies[3].Message.Attributes = nil
	got, err := r.EncryptPublication(p, func(q queue.ID) (string, bool) { return "", q != 9 })
	if err != nil {
		t.Fatal(err)
	}
	if p.Copies[0].Message.IsEncrypted() || got.Copies[2].Message.IsEncrypted() {
		t.Error("a copy was encrypted without need")
	}
	if got.Copies[0].Message.Body != got.Copies[1].Message.Body ||
		got.Copies[3].Message.Body != got.Copies[4].Message.Body {
		t.Error("beginnings are not shared")
	}
	if again, err := queue.DecodePublication(got.Encode()); err != nil || len(again.Copies) != len(p.Copies) {
		t.Error(err)
	}
	const sequence = "12345678901234567890"
	for i, want := range p.Copies {
		c := got.Copies[i]
		m := stored(&c.Message)
		m.ID = c.Message.ID
		m.Body += c.Tail
		body := want.Message.Body + want.Tail
		if want.SequenceAt > 0 {
			m.Body = m.Body[:c.SequenceAt] + sequence + m.Body[c.SequenceAt+len(sequence):]
			body = strings.Replace(body, digits, sequence, 1)
		}
		if !m.IsEncrypted() {
			continue
		}
		if strings.Contains(m.Body, "confidential") {
			t.Errorf("copy %d is not encrypted", i)
		}
		want.Message.Body, want.Message.BodyMD5 = body, md5.Sum([]byte(body))
		r.readable(t, m, want.Message)
		plain := stored(&want.Message)
		if m.Size() != plain.Size() {
			t.Errorf("copy %d: the size is %d, not %d", i, m.Size(), plain.Size())
		}
		forged := *m
		forged.Body = string(queue.AppendPart(nil, queue.Part[string]{Literal: true, Bytes: sequence})) + c.Tail
		r.unreadable(t, "with another beginning", forged)
	}
	without := stored(&got.Copies[3].Message)
	r.unreadable(t, "without its tail", *without)
	if _, err := r.EncryptPublication(p, func(queue.ID) (string, bool) { return "x", true }); !errors.Is(err,
		keyring.ErrNoKey) {
		t.Error(err)
	}
}

func TestEdits(t *testing.T) {
	r := newRig(keyring.New(start))
	body := "confidential"
	for _, e := range []*queue.Edit{
		{Body: &body, BodyMD5: md5.Sum([]byte(body)), Set: attributes, Remove: []string{"confidential name"},
			MaxSize: 9, MaxAttributes: 3},
		{Remove: []string{"x"}}, {Set: attributes},
	} {
		sealed, err := r.EncryptEdit(setting, e)
		if err != nil || !sealed.IsEncrypted() || strings.Contains(*sealed.Body, "confidential") ||
			len(sealed.Remove) > 0 || e.IsEncrypted() {
			t.Fatalf("%+v, %v", sealed, err)
		}
		got, err := r.DecryptEdit(sealed)
		if err != nil || (got.Body == nil) != (e.Body == nil) || got.Body != nil && *got.Body != body ||
			got.BodyMD5 != e.BodyMD5 ||
			!slices.Equal(got.Set, e.Set) || !slices.Equal(got.Remove, e.Remove) ||
			got.MaxSize != e.MaxSize || got.MaxAttributes != e.MaxAttributes {
			t.Errorf("%+v, %v", got, err)
		}
		m := &queue.Message{ID: sealed.EncryptedFor(), Body: *sealed.Body, Attributes: sealed.Set}
		r.unreadable(t, "an edit as a message", *m)
		m = &queue.Message{ID: queue.MessageID(uuid.New()), Body: body, Attributes: attributes}
		want := text(body)
		if err := r.EncryptLike(m, *sealed.Body); err != nil || !m.IsEncrypted() {
			t.Error(err)
		}
		want.BodyMD5 = [16]byte{}
		r.readable(t, m, want)
	}
}

func FuzzDecrypt(f *testing.F) {
	r := newRig(keyring.New(start))
	o := text("confidential")
	out, err := r.Encrypt(setting, []queue.Outgoing{o})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(out[0].Body, "")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, body, id string) {
		m := queue.Message{ID: o.ID, Body: body, Attributes: out[0].Attributes}
		if err := r.Decrypt(&m); err == nil && m.Body != o.Body {
			t.Errorf("%q opens as %q", body, m.Body)
		}
		var e queue.Edit
		_ = decodeEdit([]byte(body), &e)
		_, _ = parseContent([]byte(body))
	})
}

func BenchmarkEncrypt(b *testing.B) {
	benchmark(b, func(r *rig, m []queue.Outgoing, _ *queue.Message) {
		out, err := r.Cipher.Encrypt(setting, m)
		if err != nil {
			b.Fatal(err)
		}
		out.Release()
	})
}

func BenchmarkOpen(b *testing.B) {
	var body []byte
	benchmark(b, func(r *rig, _ []queue.Outgoing, m *queue.Message) {
		c := *m
		body = append(body[:0], m.Body...)
		if err := r.Open(&c, body); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkAESGCM measures the share of AES-GCM in the other benchmarks.
func BenchmarkAESGCM(b *testing.B) {
	aead, nonce, out := newGCM(make([]byte, keyring.KeySize)), make([]byte, 12), make([]byte, 0, 2048)
	text := make([]byte, 1024)
	b.SetBytes(1024)
	for b.Loop() {
		out = aead.Seal(out[:0], nonce, text, nil)
	}
}

func benchmark(b *testing.B, f func(*rig, []queue.Outgoing, *queue.Message)) {
	r := newRig(keyring.New(start))
	o := text(strings.Repeat("x", 1024))
	o.Attributes = nil
	out, err := r.Encrypt(setting, []queue.Outgoing{o})
	if err != nil {
		b.Fatal(err)
	}
	m := stored(&out[0])
	b.ReportAllocs()
	b.SetBytes(1024)
	for b.Loop() {
		f(r, []queue.Outgoing{o}, m)
	}
}
