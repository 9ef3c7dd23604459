package pki

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// pair is a certificate and its key in files, which are read again when they have
// changed. So a node takes a new certificate without a restart.
type pair struct {
	certificate, key string

	mu     sync.Mutex
	loaded *tls.Certificate
	stamps [2]stamp
}

// stamp says whether a file has changed.
type stamp struct {
	modified time.Time
	size     int64
}

func openPair(certificate, key string) (*pair, error) {
	p := &pair{certificate: certificate, key: key}
	_, err := p.current()
	return p, err
}

// current returns what is in the files. While they do not fit together, because one of
// them is being replaced, that is what was in them before.
func (p *pair) current() (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stamps, err := p.stampsNow()
	if err == nil && p.loaded != nil && stamps == p.stamps {
		return p.loaded, nil
	}
	var loaded tls.Certificate
	if err == nil {
		loaded, err = tls.LoadX509KeyPair(p.certificate, p.key)
	}
	switch {
	case err == nil:
		p.loaded, p.stamps = &loaded, stamps
	case p.loaded == nil:
		return nil, fmt.Errorf("%s with %s: %w", p.certificate, p.key, err)
	}
	return p.loaded, nil
}

func (p *pair) stampsNow() (stamps [2]stamp, err error) {
	for i, name := range []string{p.certificate, p.key} {
		info, err := os.Stat(name)
		if err != nil {
			return stamps, err
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	return stamps, nil
}
