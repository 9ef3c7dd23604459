package pki_test

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/pki"
)

// node issues a certificate and loads it.
func node(t *testing.T, dir string, names ...string) *tls.Config {
	t.Helper()
	a, _, err := pki.Open(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, err := a.Issue(names, 30, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	c, err := pki.Load(filepath.Join(dir, pki.AuthorityCertificate), certificate, key, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// meet performs a handshake of a client and a server, and returns both results.
func meet(t *testing.T, client, server *tls.Config, name string) (clientErr, serverErr error) {
	t.Helper()
	a, b := net.Pipe()
	defer func() { _, _ = a.Close(), b.Close() }()
	for _, c := range []net.Conn{a, b} {
		if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() {
		s := tls.Server(b, server)
		err := s.Handshake()
		if err == nil {
			_, err = s.Write([]byte("x"))
		}
		_ = b.Close()
		done <- err
	}()
	client = client.Clone()
	client.ServerName = name
	c := tls.Client(a, client)
	if clientErr = c.Handshake(); clientErr == nil {
		_, clientErr = c.Read(make([]byte, 1)) // a refusal comes after the handshake
	}
	_ = a.Close()
	return clientErr, <-done
}

func TestNodesKnowEachOther(t *testing.T) {
	dir := t.TempDir()
	a := node(t, dir, "a.example", "localhost", "127.0.0.1", "::1")
	b := node(t, dir, "b.example") // issued later, by the same authority
	stranger := node(t, t.TempDir(), "a.example")
	for _, name := range []string{"a.example", "localhost", "127.0.0.1", "::1"} {
		if c, s := meet(t, b, a, name); c != nil || s != nil {
			t.Errorf("as %s: the client returns %v, the server %v", name, c, s)
		}
	}
	if c, _ := meet(t, b, a, "c.example"); c == nil {
		t.Error("the certificate is valid for another host")
	}
	if _, s := meet(t, stranger, a, "a.example"); s == nil {
		t.Error("a stranger gets in")
	}
	if c, _ := meet(t, a, stranger, "a.example"); c == nil {
		t.Error("a stranger counts as a node")
	}
	unknown := a.Clone()
	unknown.Certificates = nil
	unknown.GetClientCertificate = nil
	if _, s := meet(t, unknown, a, "a.example"); s == nil {
		t.Error("a client without a certificate gets in")
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	a, isNew, err := pki.Open(dir, time.Now())
	if err != nil || !isNew {
		t.Fatal(isNew, err)
	}
	if _, _, err := a.Issue([]string{"a.example"}, 30, time.Now()); err != nil {
		t.Fatal(err)
	}
	before := make(map[string]string)
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		before[f.Name()] = string(text)
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(f.Name()) == ".key" && info.Mode() != 0o600 {
			t.Errorf("%s has mode %v", f.Name(), info.Mode())
		}
	}
	if a, isNew, err = pki.Open(dir, time.Now()); err != nil || isNew {
		t.Error(isNew, err)
	}
	if _, _, err := a.Issue([]string{"a.example"}, 30, time.Now()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second certificate for the same node: %v", err)
	}
	for name, text := range before {
		now, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(now) != text {
			t.Errorf("%s has changed, %v", name, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, pki.AuthorityKey)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := pki.Open(dir, time.Now()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an authority whose key is elsewhere is created again: %v", err)
	}
}

func TestRefusedNames(t *testing.T) {
	a, _, err := pki.Open(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "../a", "a b", "*.example", "a..b", "-a", "a:6222"} {
		if _, _, err := a.Issue([]string{name}, 30, time.Now()); err == nil {
			t.Errorf("%q is accepted as a host", name)
		}
	}
	if _, _, err := a.Issue([]string{"a"}, 36500, time.Now()); err == nil {
		t.Error("a certificate outlives its authority")
	}
}

func TestNewCertificateCountsWithoutRestart(t *testing.T) {
	dir := t.TempDir()
	a := node(t, dir, "a.example")
	first, err := pki.Own(a)
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	authority, _, err := pki.Open(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.example.crt", "a.example.key"} {
		move(filepath.Join(dir, name), filepath.Join(other, name))
	}
	if now, err := pki.Own(a); err != nil || !now.Equal(first) {
		t.Errorf("while the files are away: %v, %v", now, err)
	}
	if _, _, err := authority.Issue([]string{"a.example", "more.example"}, 30,
		time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if now, err := pki.Own(a); err != nil || now.Equal(first) || now.VerifyHostname("more.example") != nil {
		t.Errorf("with new files: %v, %v", now, err)
	}
	b := node(t, dir, "b.example")
	if c, s := meet(t, b, a, "more.example"); c != nil || s != nil {
		t.Errorf("the client returns %v, the server %v", c, s)
	}
}
