package openid

import (
	"context"
	"crypto/sha1" // thumbprints are what they are on AWS
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// CertificateError reports that neither the system nor a thumbprint trusts the certificate of a provider.
type CertificateError struct{ reason error }

func (e *CertificateError) Error() string {
	return "the certificate of the provider is not trusted: " + brief(e.reason.Error())
}

func (e *CertificateError) Unwrap() error { return e.reason }

// trust decides which certificates a provider may have: those that the system trusts, and those of a chain in which a
// certificate has one of the thumbprints.
type trust struct {
	dial        Dialer
	thumbprints []string
}

// dialTLS connects to a provider and verifies its certificate. It has the signature that http.Transport expects.
func (t *trust) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	conn, err := t.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := tls.Client(conn, &tls.Config{
		ServerName: host, MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection does it, and knows the thumbprints
		VerifyConnection:   func(s tls.ConnectionState) error { return t.verify(host, s.PeerCertificates) },
	})
	if err := c.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

func (t *trust) verify(host string, chain []*x509.Certificate) error {
	if len(chain) == 0 {
		return &CertificateError{errors.New("there is none")}
	}
	o := x509.VerifyOptions{DNSName: host, Intermediates: x509.NewCertPool()}
	for _, c := range chain[1:] {
		o.Intermediates.AddCert(c)
	}
	_, err := chain[0].Verify(o)
	if err == nil {
		return nil
	}
	for _, c := range chain {
		if !t.has(c) {
			continue
		}
		o.Roots = x509.NewCertPool()
		o.Roots.AddCert(c)
		if _, err = chain[0].Verify(o); err == nil {
			return nil
		}
	}
	return &CertificateError{fmt.Errorf("%s: %w", host, err)}
}

func (t *trust) has(c *x509.Certificate) bool {
	sum := sha1.Sum(c.Raw)
	print := hex.EncodeToString(sum[:])
	return slices.ContainsFunc(t.thumbprints, func(one string) bool { return strings.EqualFold(one, print) })
}
