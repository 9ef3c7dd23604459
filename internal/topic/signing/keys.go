package signing

import (
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// Prefix begins the keys of this package's records in the control store.
const Prefix = "signing/"

// ErrNone reports that the installation has no key: it has never had a topic.
var ErrNone = errors.New("the installation has no key to sign messages of topics with")

var table = control.Table[string, Key]{Prefix: Prefix, Key: control.Text}

// Keys holds the keys of an installation. Its methods are safe for concurrent use.
type Keys struct {
	vault   Vault
	records *control.Set[records]
}

// records holds the records of the store.
type records struct{ keys map[string]*Key } // by name

// recordsOf returns a function that creates records whose keys the vault opens. Without a vault they stay encrypted.
func recordsOf(v Vault) func() (*records, control.Kinds) {
	return func() (*records, control.Kinds) {
		r := new(records)
		return r, control.Kinds{table.Into(&r.keys, func(name string, _, is *Key) error {
			if is == nil {
				return nil
			}
			return is.open(name, v)
		})}
	}
}

// Open reads the keys from the control store and follows their changes.
func Open(c *control.Control, v Vault) (*Keys, error) {
	k := &Keys{vault: v}
	k.records = control.NewSet(control.SetOptions[records]{Control: c, Prefix: Prefix, New: recordsOf(v)})
	return k, k.records.Register()
}

// Ensure creates a key if there is none, as part of a change that needs one.
func (k *Keys) Ensure(tx *control.Tx, now time.Time) error {
	if k.newest() != nil {
		return nil
	}
	key, err := makeKey(k.vault, now)
	if err != nil {
		return fmt.Errorf("make a key to sign messages of topics: %w", err)
	}
	table.Put(tx, key.name, key)
	return nil
}

// Signer returns a signer with the key that signs at a time, see Rotation: in version SHA256, or in SHA1 if version is
// anything else. Certificates are served below the URL base.
func (k *Keys) Signer(version, base string, now time.Time) (*Signer, error) {
	if version != SHA256 {
		version = SHA1
	}
	key := k.signing(now)
	if key == nil {
		return nil, ErrNone
	}
	return &Signer{key, version, base}, nil
}

func (k *Keys) newest() *Key {
	all := k.byAge()
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// Certificate returns a certificate in PEM, or nil if there is none of that id.
func (k *Keys) Certificate(id string) []byte {
	r := k.records.RLock()
	defer k.records.RUnlock()
	if key := r.keys[id]; key != nil {
		return key.pem
	}
	return nil
}

// Held reports whether a store has keys, which are encrypted under the master key.
func Held(s *store.Store) (bool, error) { return table.Any(s) }

// Check reads the keys in a store without changing anything. It returns their number and a list of inconsistencies.
// Without a vault it does not check the private keys. An error means that the store cannot be read.
func Check(s *store.Store, v Vault) (n int, problems []string, err error) {
	r, err := control.Check(s, Prefix, recordsOf(v), func(_ string, bad error) {
		problems = append(problems, "record "+bad.Error())
	})
	if err != nil {
		err = fmt.Errorf("check the keys that sign messages of topics: %w", err)
	}
	return len(r.keys), problems, err
}
