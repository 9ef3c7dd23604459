// Package pki is a private certificate authority in a directory, by which the nodes of a cluster identify each other.
// It guarantees that only their owner can read keys, and that it overwrites no existing file.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/tool/keypair"
)

// Names of an authority's files. A node's are its first name with .crt and .key.
const (
	AuthorityCertificate = "ca.crt"
	AuthorityKey         = "ca.key" // only needed to create certificates
)

// authorityDays is how long an authority is valid.
const authorityDays = 3650

// skew is the tolerated difference of clocks when a certificate is new.
const skew = time.Hour

// An Authority signs certificates.
type Authority struct {
	dir         string
	certificate *x509.Certificate
	key         crypto.Signer
}

// Open returns the authority in a directory, and creates both if necessary. isNew reports a new authority.
func Open(dir string, now time.Time) (a *Authority, isNew bool, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { // certificates are public, keys are 0600
		return nil, false, err
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, AuthorityCertificate), filepath.Join(dir, AuthorityKey))
	if errors.Is(err, fs.ErrNotExist) {
		a, err = create(dir, now)
		return a, err == nil, err
	}
	if err != nil {
		return nil, false, fmt.Errorf("the authority in %s: %w", dir, err)
	}
	key, isSigner := pair.PrivateKey.(crypto.Signer)
	if !isSigner || !pair.Leaf.IsCA {
		return nil, false, fmt.Errorf(
			"the certificate in %s is not that of an authority", filepath.Join(dir, AuthorityCertificate),
		)
	}
	return &Authority{dir: dir, certificate: pair.Leaf, key: key}, false, nil
}

func create(dir string, now time.Time) (*Authority, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "Sluice cluster authority"},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.AddDate(0, 0, authorityDays),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	a := &Authority{dir: dir, certificate: template}
	der, err := a.write(strings.TrimSuffix(AuthorityCertificate, ".crt"), template)
	if err != nil {
		return nil, err
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	return a, nil
}

var hostname = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`)

// Issue creates a certificate for a node, valid for the given number of days, for its names and addresses as a server,
// and as a client. It returns the files of the certificate and the key.
func (a *Authority) Issue(names []string, days int, now time.Time) (certificate, key string, err error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: names[0]},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.AddDate(0, 0, days),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
	}
	if template.NotAfter.After(a.certificate.NotAfter) {
		return "", "", fmt.Errorf(
			"the authority ends on %s, before the certificate would", a.certificate.NotAfter.Format(time.DateOnly),
		)
	}
	for _, name := range names {
		ip := net.ParseIP(name)
		switch {
		case ip != nil:
			template.IPAddresses = append(template.IPAddresses, ip)
		case hostname.MatchString(name):
			template.DNSNames = append(template.DNSNames, name)
		default:
			return "", "", fmt.Errorf("%q is neither a host name nor an IP address", name)
		}
	}
	base := strings.ReplaceAll(names[0], ":", "-") // an IPv6 address
	if _, err := a.write(base, template); err != nil {
		return "", "", err
	}
	base = filepath.Join(a.dir, base)
	return base + ".crt", base + ".key", nil
}

// write creates a key, signs a certificate for it and writes both. An authority without a key signs with that one.
func (a *Authority) write(base string, template *x509.Certificate) (der []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if a.key == nil {
		a.key = key
	}
	der, err = x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	base = filepath.Join(a.dir, base)
	if _, err := os.Lstat(base + ".crt"); err == nil {
		return nil, &fs.PathError{Op: "write", Path: base + ".crt", Err: fs.ErrExist}
	}
	if err := writeNew(base+".key", "PRIVATE KEY", secret, 0o600); err != nil {
		return nil, err
	}
	return der, writeNew(base+".crt", "CERTIFICATE", der, 0o644)
}

func writeNew(name, kind string, der []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = pem.Encode(f, &pem.Block{Type: kind, Bytes: der})
	return errors.Join(err, f.Close())
}

// LoadPool reads the certificates of authorities.
func LoadPool(file string) (*x509.CertPool, error) {
	roots, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(roots) {
		return nil, fmt.Errorf("%s holds no certificate", file)
	}
	return pool, nil
}

// Load reads a node's certificate and key, and the certificates of the authorities that must have signed those of the
// others, into a configuration for both ends of a connection. A replaced certificate takes effect with the next
// connection.
func Load(authority, certificate, key string, log *slog.Logger) (*tls.Config, error) {
	pool, err := LoadPool(authority)
	if err != nil {
		return nil, err
	}
	p, err := keypair.Open(certificate, key, log)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:           tls.VersionTLS13,
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.Current(), nil },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return p.Current(), nil },
		RootCAs:              pool,
		ClientCAs:            pool,
		ClientAuth:           tls.RequireAndVerifyClientCert,
	}, nil
}

// Own returns the certificate that a configuration of Load currently shows.
func Own(c *tls.Config) (*x509.Certificate, error) {
	shown, err := c.GetCertificate(nil)
	if err != nil {
		return nil, err
	}
	return shown.Leaf, nil
}
