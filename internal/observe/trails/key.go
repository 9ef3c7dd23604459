package trails

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	keyBits = 2048
	// keyValidity is how long a key is said to be good for.
	keyValidity = 20 * 365 * 24 * time.Hour
)

// Vault encrypts private keys.
type Vault interface {
	Seal(name, secret string) []byte
	Open(name string, sealed []byte) (string, error)
}

// Key is what the digests of a region are signed with.
type Key struct {
	Region      string
	Fingerprint string
	Made        time.Time
	Public      []byte // PKCS #1, DER

	private *rsa.PrivateKey
}

// Valid returns from when to when the key is good for.
func (k *Key) Valid() (from, to time.Time) { return k.Made.Add(-time.Hour), k.Made.Add(keyValidity) }

// keyRecord is how a Key is stored, in JSON, under its region and fingerprint.
type keyRecord struct {
	Made   time.Time
	Public []byte
	Sealed []byte // the private key, PKCS #8, encrypted under the key of the record
}

func fingerprintOf(public []byte) string {
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:16])
}

// makeKey makes a key and its record.
func makeKey(v Vault, region string, now time.Time) (key string, value []byte, err error) {
	private, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return "", nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", nil, err
	}
	public := x509.MarshalPKCS1PublicKey(&private.PublicKey)
	key = keyKey + region + "/" + fingerprintOf(public)
	return key, encode(keyRecord{Made: stamp(now), Public: public, Sealed: v.Seal(key, string(secret))}), nil
}

// readKey reads a key. Without a vault the private key stays shut.
func readKey(key string, value []byte, v Vault) (*Key, error) {
	region, fingerprint, ok := strings.Cut(key[len(keyKey):], "/")
	var r keyRecord
	if !ok {
		return nil, errUnknownKey
	}
	if err := json.Unmarshal(value, &r); err != nil {
		return nil, err
	}
	if fingerprintOf(r.Public) != fingerprint {
		return nil, errors.New("it is under another key's fingerprint")
	}
	k := &Key{Region: region, Fingerprint: fingerprint, Made: r.Made, Public: r.Public}
	if v == nil {
		return k, nil
	}
	secret, err := v.Open(key, r.Sealed)
	if err != nil {
		return nil, err
	}
	private, err := x509.ParsePKCS8PrivateKey([]byte(secret))
	if err != nil {
		return nil, err
	}
	if k.private, ok = private.(*rsa.PrivateKey); !ok {
		return nil, fmt.Errorf("the private key is a %T", private)
	}
	return k, nil
}

// Keys returns the keys of a region, the newest first.
func (t *Trails) Keys(region string) (out []*Key) {
	t.mu.RLock()
	for _, k := range t.keys {
		if k.Region == region {
			out = append(out, k)
		}
	}
	t.mu.RUnlock()
	slices.SortFunc(out, func(a, b *Key) int { return b.Made.Compare(a.Made) })
	return out
}

// signer returns the newest key of a region, and makes one if there is none. It is made before the change, which others
// would have to wait for.
func (t *Trails) signer(ctx context.Context, region string, now time.Time) (*Key, error) {
	if keys := t.Keys(region); len(keys) > 0 {
		return keys[0], nil
	}
	key, value, err := makeKey(t.vault, region, now)
	if err != nil {
		return nil, fmt.Errorf("make a key that signs digests: %w", err)
	}
	err = t.Change(ctx, func(tx *Tx) error {
		if len(t.Keys(region)) == 0 {
			tx.tx.Put(key, value)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t.Keys(region)[0], nil
}
