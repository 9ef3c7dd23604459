package pki

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"time"

	"github.com/sluicemq/sluice/internal/tool/durable"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// A shared secret stands in for certificates: every node derives the key of the same
// authority from it, and signs a certificate for itself at each start. The
// secret itself is never sent, so a process that listens at the address of a
// node that is down learns nothing.

const (
	// leastSecret is the minimum length of a secret. A client that connects to a node sees a certificate derived from
	// the secret, and can test guesses with it.
	leastSecret = 26
	// longestSecret is how much of a file is read.
	longestSecret = 1024
	// secretName is the name in the certificates of all nodes with the secret.
	secretName = "node.sluice.internal"
	// secretPurpose is the purpose of the derived key. Changing it separates old nodes from new ones.
	secretPurpose = "sluice cluster authority 1"
	// secretInterval is the time between two checks for a file that another node creates.
	secretInterval = 200 * time.Millisecond
)

// MakeSecret writes a new secret to a file that only its owner can read, unless the file exists.
func MakeSecret(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := durable.Create(path, []byte(rand.Text()+rand.Text()+"\n"))
	if errors.Is(err, fs.ErrExist) { // another process has created it meanwhile
		return nil
	}
	return err
}

// AwaitSecret waits until a file with a secret exists and returns the secret. It calls waiting before it waits.
func AwaitSecret(ctx context.Context, path string, waiting func()) ([]byte, error) {
	for said := false; ; said = true {
		secret, err := readSecret(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return secret, err
		}
		if !said {
			waiting()
		}
		if err := wait.For(ctx, secretInterval); err != nil {
			return nil, err
		}
	}
}

func readSecret(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	secret, err := io.ReadAll(io.LimitReader(f, longestSecret+1))
	info, statErr := f.Stat()
	if err := errors.Join(err, statErr, f.Close()); err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (mode %04o); run chmod 600 on it", path, mode)
	}
	secret = bytes.TrimSpace(secret)
	if len(secret) < leastSecret || len(secret) > longestSecret {
		return nil, fmt.Errorf(
			"the secret in %s has %d bytes; want %d to %d, as openssl rand -base64 32 makes them",
			path,
			len(secret),
			leastSecret,
			longestSecret,
		)
	}
	return secret, nil
}

// FromSecret returns a configuration for both ends of connections between nodes that
// have the same secret.
func FromSecret(secret []byte, now time.Time) (*tls.Config, error) {
	seed, err := hkdf.Key(sha256.New, secret, nil, secretPurpose, ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	authorityKey := ed25519.NewKeyFromSeed(seed)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "Sluice cluster secret"},
		NotBefore:             time.Unix(0, 0),
		NotAfter:              now.AddDate(100, 0, 0),
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	authority, err := sign(template, template, authorityKey.Public(), authorityKey)
	if err != nil {
		return nil, err
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	own, err := sign(&x509.Certificate{
		Subject:               pkix.Name{CommonName: secretName},
		DNSNames:              []string{secretName},
		NotBefore:             time.Unix(0, 0), // clocks may differ, and the secret does not expire
		NotAfter:              authority.NotAfter,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
	}, authority, key.Public(), authorityKey)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(authority)
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{{Certificate: [][]byte{own.Raw}, PrivateKey: key, Leaf: own}},
		RootCAs:      pool,
		ClientCAs:    pool,
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ServerName:   secretName, // independent of the host's name
	}, nil
}

func sign(template, parent *x509.Certificate, public, key any) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}
