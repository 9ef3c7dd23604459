package signing

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // what version 1 of SNS's signatures is made with
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

const (
	bits     = 2048
	validity = 2 * signsFor // which is past the last message that is signed, and the time for which it is verified
)

// Key is a private key with its certificate. Its exported fields are stored, as JSON, under its name.
type Key struct {
	Made        time.Time
	Certificate []byte // DER
	Sealed      []byte // the private key, PKCS #8, encrypted under the record's key

	name    string
	pem     []byte          // the certificate
	private *rsa.PrivateKey // nil without a vault
}

// Vault encrypts the private key.
type Vault interface {
	Seal(name, secret string) []byte
	Open(name string, sealed []byte) (string, error)
}

// makeKey creates a key and a certificate.
func makeKey(v Vault, now time.Time) (*Key, error) {
	private, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return nil, err
	}
	serial := make([]byte, 16)
	rand.Read(serial)
	serial[0] &= 0x7f // it is a positive number
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial),
		Subject:      pkix.Name{CommonName: "Sluice topics"},
		NotBefore:    now.Add(-time.Hour), // a subscriber's clock may be late
		NotAfter:     now.Add(validity),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	name := nameOf(der)
	return &Key{Made: now.UTC(), Certificate: der, Sealed: v.Seal(table.KeyOf(name), string(secret)), name: name}, nil
}

// nameOf returns the name of a certificate.
func nameOf(der []byte) string {
	digest := sha256.Sum256(der)
	return hex.EncodeToString(digest[:nameDigits/2])
}

// open makes a loaded key usable for signatures. Without a vault the private key stays encrypted.
func (k *Key) open(name string, v Vault) error {
	if nameOf(k.Certificate) != name {
		return errors.New("it is under another certificate's name")
	}
	k.name, k.pem = name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: k.Certificate})
	if v == nil {
		return nil
	}
	secret, err := v.Open(table.KeyOf(name), k.Sealed)
	if err != nil {
		return err
	}
	private, err := x509.ParsePKCS8PrivateKey([]byte(secret))
	if err != nil {
		return err
	}
	var ok bool
	if k.private, ok = private.(*rsa.PrivateKey); !ok {
		return fmt.Errorf("the private key is a %T", private)
	}
	return nil
}

// Names of certificates, as paths.
const (
	pathPrefix = "/SimpleNotificationService-"
	pathSuffix = ".pem"
	nameDigits = 32
)

// IDOf returns the id of the certificate at a path, and whether the path is one of a certificate.
func IDOf(path string) (id string, ok bool) {
	id, ok = strings.CutPrefix(path, pathPrefix)
	if !ok {
		return "", false
	}
	id, ok = strings.CutSuffix(id, pathSuffix)
	return id, ok && len(id) == nameDigits
}

// The versions of signatures.
const (
	SHA1   = "1"
	SHA256 = "2"
)

// Signer signs with a key, in one of the versions. It implements envelope.Signer.
type Signer struct {
	key     *Key
	version string
	base    string
}

// Sign implements envelope.Signer.
func (s *Signer) Sign(text []byte) (string, error) {
	hash, digest := crypto.SHA1, []byte(nil)
	if s.version == SHA256 {
		sum := sha256.Sum256(text)
		hash, digest = crypto.SHA256, sum[:]
	} else {
		sum := sha1.Sum(text) //nolint:gosec // see above
		digest = sum[:]
	}
	signature, err := rsa.SignPKCS1v15(nil, s.key.private, hash, digest)
	if err != nil {
		return "", fmt.Errorf("sign a message: %w", err)
	}
	return base64.StdEncoding.EncodeToString(signature), nil
}

// Version implements envelope.Signer.
func (s *Signer) Version() string { return s.version }

// CertURL implements envelope.Signer.
func (s *Signer) CertURL() string { return s.base + pathPrefix + s.key.name + pathSuffix }
