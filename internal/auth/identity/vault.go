package identity

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/sluicemq/sluice/internal/tool/durable"
)

// Vault encrypts stored secrets under a master key. On a single node, the master key is not in the database. The vault
// also issues temporary keys.
type Vault struct {
	master   []byte
	secrets  cipher.AEAD
	tokens   cipher.AEAD
	keyID    []byte // authenticates the ids of temporary keys
	keyValue []byte // their secrets are derived from it
}

const masterKeySize = 32

// ErrNoMasterKey reports that there is no file with a master key.
var ErrNoMasterKey = errors.New("the master key is missing")

// NewVault returns a vault with its own key, which ends with the process.
func NewVault() *Vault {
	master := make([]byte, masterKeySize)
	rand.Read(master)
	return newVault(master)
}

// OpenVault reads the master key from the file at path: 64 hexadecimal digits. Without the file the error is
// ErrNoMasterKey. It refuses a file that others can read.
func OpenVault(path string) (*Vault, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrNoMasterKey)
	}
	if err != nil {
		return nil, fmt.Errorf("read master key: %w", err)
	}
	if err := checkPrivate(path); err != nil {
		return nil, err
	}
	v, err := parseMaster(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

func parseMaster(text string) (*Vault, error) {
	master, err := hex.DecodeString(text)
	if err != nil || len(master) != masterKeySize {
		return nil, fmt.Errorf("a master key is %d hexadecimal digits", 2*masterKeySize)
	}
	return newVault(master), nil
}

// Same reports whether two vaults have the same master key.
func (v *Vault) Same(other *Vault) bool { return hmac.Equal(v.master, other.master) }

// CreateVault generates a master key and writes it to path.
func CreateVault(path string) (*Vault, error) {
	master := make([]byte, masterKeySize)
	rand.Read(master)
	if err := durable.Replace(path, []byte(hex.EncodeToString(master)+"\n")); err != nil {
		return nil, fmt.Errorf("write master key: %w", err)
	}
	return newVault(master), nil
}

// newVault derives a key for each purpose.
func newVault(master []byte) *Vault {
	derive := func(purpose string) []byte {
		key, err := hkdf.Key(sha256.New, master, nil, "sluice "+purpose, 32)
		if err != nil {
			panic(err) // only for lengths that cannot be derived
		}
		return key
	}
	return &Vault{
		master:  master,
		secrets: newAEAD(derive("secrets 1")), tokens: newAEAD(derive("session tokens 1")),
		keyID: derive("temporary key ids 1"), keyValue: derive("temporary secrets 1"),
	}
}

func newAEAD(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return aead
}

// Seal encrypts a secret for the place called name; it can be decrypted only for that place.
//
//	12 bytes  nonce
//	n bytes   AES-256-GCM of the secret, with the name as additional data
//	16 bytes  tag
func (v *Vault) Seal(name, secret string) []byte {
	return v.secrets.Seal(nil, nil, []byte(secret), []byte(name))
}

// Open decrypts the result of Seal for name.
func (v *Vault) Open(name string, sealed []byte) (string, error) {
	secret, err := v.secrets.Open(nil, nil, sealed, []byte(name))
	if err != nil {
		return "", fmt.Errorf(
			"the secret of %s cannot be decrypted: it is damaged, or the master key is not the one it was encrypted with",
			name,
		)
	}
	return string(secret), nil
}
