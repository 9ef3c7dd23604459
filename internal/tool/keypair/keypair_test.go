package keypair_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/tool/keypair"
)

// write writes a new certificate with that serial number, and its key, to files.
func write(t *testing.T, certificate, key string, serial int64, names ...string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), DNSNames: names, NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		certificate: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		// File systems with coarse times must not hide the change.
		when := time.Unix(1_700_000_000+serial, 0)
		if err := os.Chtimes(file, when, when); err != nil {
			t.Fatal(err)
		}
	}
}

// A replaced certificate takes effect with the next connection. One that cannot be read does not, and the log reports
// it once.
func TestReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	if _, err := keypair.Open(certificate, key, log); err == nil || !strings.Contains(err.Error(), certificate) {
		t.Fatalf("opened without files: %v", err)
	}
	write(t, certificate, key, 1)
	p, err := keypair.Open(certificate, key, log)
	if err != nil {
		t.Fatal(err)
	}
	serial := func(want int64, lines int) {
		t.Helper()
		if got := p.Current().Leaf.SerialNumber.Int64(); got != want {
			t.Errorf("the certificate is number %d, want %d", got, want)
		}
		if n := strings.Count(out.String(), "\n"); n != lines {
			t.Errorf("the log has %d lines, want %d:\n%s", n, lines, out.String())
		}
	}
	serial(1, 0)
	serial(1, 0)
	write(t, certificate, key, 2)
	serial(2, 1)
	serial(2, 1)

	if err := os.WriteFile(certificate, []byte("half of"), 0o600); err != nil {
		t.Fatal(err)
	}
	serial(2, 2)
	serial(2, 2) // which was already reported
	if !strings.Contains(out.String(), "level=ERROR") {
		t.Errorf("no error is logged:\n%s", out.String())
	}
	p.Reload() // as operators want to see
	serial(2, 3)
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	serial(2, 4)
	write(t, certificate, key, 3)
	serial(3, 5)
	p.Reload()
	serial(3, 6)
}

// Clients call a server that listens on all addresses by a name in its certificate.
func TestHostOr(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for want, names := range map[string][]string{
		"local.example": {"local.example", "sqs.example"},
		"sqs.example":   {"*.example", "sqs.example"},
		"127.0.0.1":     nil,
	} {
		write(t, certificate, key, 1, names...)
		p, err := keypair.Open(certificate, key, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.HostOr("127.0.0.1"); got != want {
			t.Errorf("with the names %q: %s, want %s", names, got, want)
		}
	}
}
