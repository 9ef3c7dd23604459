package signing_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/topic/signing"
)

var now = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)

// fixture is a control store with keys.
type fixture struct {
	store   *store.Store
	control *control.Control
	vault   *identity.Vault
	keys    *signing.Keys
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s, err := store.Open("", store.Options{Disk: store.NewMemoryDisk(nil)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	f := &fixture{store: s, vault: identity.NewVault()}
	f.open(t)
	return f
}

// open reads the store again, as a starting node does.
func (f *fixture) open(t *testing.T) {
	t.Helper()
	f.control = control.New(control.Options{Store: f.store})
	var err error
	if f.keys, err = signing.Open(f.control, f.vault); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) ensure(t *testing.T) {
	t.Helper()
	if err := f.control.Change(t.Context(), func(tx *control.Tx) error { return f.keys.Ensure(tx, now) }); err != nil {
		t.Fatal(err)
	}
}

// A subscriber verifies with the certificate that is served at the URL in the message.
func TestSignaturesVerify(t *testing.T) {
	f := newFixture(t)
	if _, err := f.keys.Signer(signing.SHA1, "", now); !errors.Is(err, signing.ErrNone) {
		t.Fatal(err)
	}
	f.ensure(t)
	text := []byte("Message\nhello\n")
	sum1, sum256 := sha1.Sum(text), sha256.Sum256(text)
	for version, c := range map[string]struct {
		hash   crypto.Hash
		digest []byte
	}{"1": {crypto.SHA1, sum1[:]}, "2": {crypto.SHA256, sum256[:]}, "": {crypto.SHA1, sum1[:]}} {
		s, err := f.keys.Signer(version, "https://sluice.example/aws", now)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := s.Sign(text)
		if err != nil {
			t.Fatal(err)
		}
		if want := max(version, "1"); s.Version() != want {
			t.Errorf("version %q signs as %q", version, s.Version())
		}
		path, ok := strings.CutPrefix(s.CertURL(), "https://sluice.example/aws")
		if !ok {
			t.Fatal(s.CertURL())
		}
		key := publicKey(t, f.keys, path)
		raw, err := base64.StdEncoding.DecodeString(signature)
		if err != nil {
			t.Fatal(err)
		}
		if err := rsa.VerifyPKCS1v15(key, c.hash, c.digest, raw); err != nil {
			t.Errorf("version %q: %v", version, err)
		}
	}
}

func publicKey(t *testing.T, keys *signing.Keys, path string) *rsa.PublicKey {
	t.Helper()
	id, ok := signing.IDOf(path)
	if !ok {
		t.Fatal(path)
	}
	block, rest := pem.Decode(keys.Certificate(id))
	if block == nil || len(rest) > 0 {
		t.Fatal("no PEM")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if !cert.NotBefore.Before(now) || cert.NotAfter.Before(now.Add(395*day)) {
		t.Errorf("valid from %s to %s", cert.NotBefore, cert.NotAfter)
	}
	key, ok := cert.PublicKey.(*rsa.PublicKey)
	if !ok || key.Size() != 256 {
		t.Fatalf("%T", cert.PublicKey)
	}
	return key
}

// The key is created once, is the same after a restart, and is nowhere in plaintext.
func TestOneKey(t *testing.T) {
	f := newFixture(t)
	if held, err := signing.Held(f.store); held || err != nil {
		t.Fatal(held, err)
	}
	f.ensure(t)
	f.ensure(t)
	url := certURL(t, f.keys)
	f.open(t)
	if got := certURL(t, f.keys); got != url {
		t.Errorf("%s was %s", got, url)
	}
	n, problems, err := signing.Check(f.store, f.vault)
	if n != 1 || len(problems) > 0 || err != nil {
		t.Error(n, problems, err)
	}
	if held, err := signing.Held(f.store); !held || err != nil {
		t.Error(held, err)
	}
	_, problems, err = signing.Check(f.store, identity.NewVault())
	if len(problems) != 1 || !strings.Contains(problems[0], "cannot be decrypted") || err != nil {
		t.Error(problems, err)
	}
	if n, problems, err := signing.Check(f.store, nil); n != 1 || len(problems) > 0 || err != nil {
		t.Error(n, problems, err)
	}
}

func certURL(t *testing.T, keys *signing.Keys) string {
	t.Helper()
	s, err := keys.Signer("1", "", now)
	if err != nil {
		t.Fatal(err)
	}
	return s.CertURL()
}

// Damaged records, and records under another name, are refused.
func TestBadRecords(t *testing.T) {
	f := newFixture(t)
	f.ensure(t)
	var good []byte
	err := control.Records(f.store, signing.Prefix, func(_ string, v []byte) bool {
		good = bytes.Clone(v)
		return false
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range [][]byte{[]byte("{"), []byte("{}"), good} {
		f := newFixture(t)
		err := f.control.Change(t.Context(), func(tx *control.Tx) error {
			tx.Put(signing.Prefix+strings.Repeat("0", 32), value)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), signing.Prefix) {
			t.Errorf("%.20s: %v", value, err)
		}
	}
}

func TestIDOf(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	for path, want := range map[string]string{
		"/SimpleNotificationService-" + id + ".pem": id,
		"/SimpleNotificationService-" + id:          "",
		"/SimpleNotificationService-.pem":           "",
		"/x-" + id + ".pem":                         "",
		"/":                                         "",
	} {
		if got, ok := signing.IDOf(path); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func BenchmarkSign(b *testing.B) {
	s, err := store.Open("", store.Options{Disk: store.NewMemoryDisk(nil)})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	c := control.New(control.Options{Store: s})
	keys, err := signing.Open(c, identity.NewVault())
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Change(context.Background(), func(tx *control.Tx) error { return keys.Ensure(tx, now) }); err != nil {
		b.Fatal(err)
	}
	for _, version := range []string{signing.SHA1, signing.SHA256} {
		b.Run("version "+version, func(b *testing.B) {
			signer, err := keys.Signer(version, "", now)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := signer.Sign([]byte("Message\nhello\n")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
