package trails

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/control"
)

const (
	keyBits = 2048
	// keyValidity is the stated validity of a key.
	keyValidity = 20 * 365 * 24 * time.Hour
)

// Vault encrypts private keys.
type Vault interface {
	Seal(name, secret string) []byte
	Open(name string, sealed []byte) (string, error)
}

// Key signs the digests of a region. It is stored, as JSON, under its region and fingerprint.
type Key struct {
	Region      string `json:"-"`
	Fingerprint string `json:"-"`
	Made        time.Time
	Public      []byte // PKCS #1, DER
	Sealed      []byte // the private key, PKCS #8, encrypted under the key of the record

	private *rsa.PrivateKey // nil without a vault
}

// Valid returns the period in which the key is valid.
func (k *Key) Valid() (from, to time.Time) { return k.Made.Add(-time.Hour), k.Made.Add(keyValidity) }

func fingerprintOf(public []byte) string {
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:16])
}

func (k *Key) name() string { return k.Region + "/" + k.Fingerprint }

// makeKey generates a key.
func makeKey(v Vault, region string, now time.Time) (*Key, error) {
	private, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	public := x509.MarshalPKCS1PublicKey(&private.PublicKey)
	k := &Key{Region: region, Fingerprint: fingerprintOf(public), Made: stamp(now), Public: public, private: private}
	k.Sealed = v.Seal(keyTable.KeyOf(k.name()), string(secret))
	return k, nil
}

// open makes a loaded key usable for signatures. Without a vault the private key stays encrypted.
func (k *Key) open(name string, v Vault) error {
	var ok bool
	if k.Region, k.Fingerprint, ok = strings.Cut(name, "/"); !ok {
		return control.ErrUnknown
	}
	if fingerprintOf(k.Public) != k.Fingerprint {
		return errors.New("it is under another key's fingerprint")
	}
	if v == nil {
		return nil
	}
	secret, err := v.Open(keyTable.KeyOf(name), k.Sealed)
	if err != nil {
		return err
	}
	private, err := x509.ParsePKCS8PrivateKey([]byte(secret))
	if err != nil {
		return err
	}
	if k.private, ok = private.(*rsa.PrivateKey); !ok {
		return fmt.Errorf("the private key is a %T", private)
	}
	return nil
}

// Keys returns the keys of a region, the newest first.
func (t *Trails) Keys(region string) []*Key {
	r := t.records.RLock()
	out := control.Where(r.keys, func(k *Key) bool { return k.Region == region })
	t.records.RUnlock()
	slices.SortFunc(out, func(a, b *Key) int { return b.Made.Compare(a.Made) })
	return out
}

// signer returns the newest key of a region, and generates one if there is none. It does so before the change, so that
// others need not wait.
func (t *Trails) signer(ctx context.Context, region string, now time.Time) (*Key, error) {
	if keys := t.Keys(region); len(keys) > 0 {
		return keys[0], nil
	}
	key, err := makeKey(t.vault, region, now)
	if err != nil {
		return nil, fmt.Errorf("make a key that signs digests: %w", err)
	}
	err = t.Change(ctx, func(tx *Tx) error {
		if len(t.Keys(region)) == 0 {
			keyTable.Put(tx.tx, key.name(), key)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t.Keys(region)[0], nil
}
