// Package keypair loads a TLS certificate and its key from files, and keeps them up to date: when the files change, the
// next connection gets the new certificate, without a restart.
package keypair

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// Pair is a certificate and its key. It is safe for concurrent use.
type Pair struct {
	certificate, key string
	log              *slog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate
	stamps [2]stamp
	failed string // why the files cannot be read, so that the log says it once; "" if they can
}

// stamp shows whether a file has changed.
type stamp struct {
	modified time.Time
	size     int64
}

// Open reads a certificate and its key, both PEM.
func Open(certificate, key string, log *slog.Logger) (*Pair, error) {
	p := &Pair{certificate: certificate, key: key, log: log}
	if err := p.read(); err != nil {
		return nil, err
	}
	return p, nil
}

// Current returns the certificate that the files hold. While the files cannot be read, or do not match because one of
// them is being replaced, it returns the previous one, and logs the error.
func (p *Pair) Current() *tls.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	stamps, err := p.stampsNow()
	if err == nil && stamps == p.stamps {
		return p.loaded
	}
	p.readAgain()
	return p.loaded
}

// HostOr returns host if the certificate is valid for it, and otherwise the first host that the certificate names.
func (p *Pair) HostOr(host string) string {
	leaf := p.Current().Leaf
	if leaf.VerifyHostname(host) == nil {
		return host
	}
	for _, name := range leaf.DNSNames {
		if !strings.Contains(name, "*") {
			return name
		}
	}
	for _, ip := range leaf.IPAddresses {
		return ip.String()
	}
	return host
}

// Reload reads the files again, even if they seem unchanged.
func (p *Pair) Reload() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = ""
	p.readAgain()
}

func (p *Pair) readAgain() {
	err := p.read()
	switch {
	case err == nil:
		p.failed = ""
		p.log.Info("read the TLS certificate again", "file", p.certificate, "not_after", p.loaded.Leaf.NotAfter)
	case err.Error() != p.failed:
		p.failed = err.Error()
		p.log.Error(
			"the TLS certificate cannot be read again; the one from before is still used",
			"error",
			err,
			"not_after",
			p.loaded.Leaf.NotAfter,
		)
	}
}

func (p *Pair) read() error {
	stamps, err := p.stampsNow()
	var loaded tls.Certificate
	if err == nil {
		loaded, err = tls.LoadX509KeyPair(p.certificate, p.key)
	}
	if err != nil {
		return fmt.Errorf("%s with %s: %w", p.certificate, p.key, err)
	}
	p.loaded, p.stamps = &loaded, stamps
	return nil
}

func (p *Pair) stampsNow() (stamps [2]stamp, err error) {
	for i, name := range []string{p.certificate, p.key} {
		info, err := os.Stat(name)
		if err != nil {
			return stamps, err
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	return stamps, nil
}
