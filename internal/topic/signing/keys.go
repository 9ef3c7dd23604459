package signing

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// Prefix begins the keys of this package's records in the control store.
const Prefix = "signing/"

// ErrNone says that the installation has no key: it has never had a topic.
var ErrNone = errors.New("the installation has no key to sign messages of topics with")

// Keys are the keys of an installation. Its methods may be called from any goroutine.
type Keys struct {
	vault Vault

	mu   sync.RWMutex
	keys map[string]*Key
}

// Open reads the keys from the control store and follows their changes.
func Open(c *control.Control, v Vault) (*Keys, error) {
	k := &Keys{vault: v}
	if err := c.Register(Prefix, reader{k}); err != nil {
		return nil, err
	}
	return k, nil
}

// Ensure makes a key, if there is none, in a change that needs one.
func (k *Keys) Ensure(tx *control.Tx, now time.Time) error {
	if k.newest() != nil {
		return nil
	}
	id, value, err := makeRecord(k.vault, now)
	if err != nil {
		return fmt.Errorf("make a key to sign messages of topics: %w", err)
	}
	tx.Put(Prefix+id, value)
	return nil
}

// Signer returns what signs with the key that signs at a time, see Rotation: in version SHA256, or in SHA1 if version is anything else. Certificates
// are served below the URL base.
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
	k.mu.RLock()
	defer k.mu.RUnlock()
	if key := k.keys[id]; key != nil {
		return key.certificate
	}
	return nil
}

// reader is how the keys are learnt from the control store.
type reader struct{ k *Keys }

// Load implements control.Reader.
func (r reader) Load(records iter.Seq2[string, []byte]) error {
	fresh := make(map[string]*Key)
	for name, value := range records {
		if err := put(fresh, name, value, r.k.vault); err != nil {
			return err
		}
	}
	r.k.mu.Lock()
	defer r.k.mu.Unlock()
	r.k.keys = fresh
	return nil
}

// Apply implements control.Reader.
func (r reader) Apply(changes []control.Change) error {
	fresh := maps.Clone(r.k.keys) // only this method and Load change it, one at a time
	for _, ch := range changes {
		if ch.Removed {
			delete(fresh, ch.Key[len(Prefix):])
		} else if err := put(fresh, ch.Key, ch.Value, r.k.vault); err != nil {
			return err
		}
	}
	r.k.mu.Lock()
	defer r.k.mu.Unlock()
	r.k.keys = fresh
	return nil
}

func put(keys map[string]*Key, name string, value []byte, v Vault) error {
	id := name[len(Prefix):]
	key, err := readRecord(id, value, v)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	keys[id] = key
	return nil
}

// Held reports whether a store has keys, which are encrypted under the master key.
func Held(s *store.Store) (bool, error) {
	held := false
	err := control.Records(s, Prefix, func(string, []byte) bool {
		held = true
		return false
	})
	return held, err
}

// Check reads the keys in a store without changing anything, and returns how many there are and what is not as it should
// be. Without a vault the private keys are not looked at. An error says that the store could not be read.
func Check(s *store.Store, v Vault) (n int, problems []string, err error) {
	keys := make(map[string]*Key)
	err = control.Records(s, Prefix, func(name string, value []byte) bool {
		if bad := put(keys, name, value, v); bad != nil {
			problems = append(problems, "record "+bad.Error())
		}
		return true
	})
	if err != nil {
		err = fmt.Errorf("check the keys that sign messages of topics: %w", err)
	}
	return len(keys), problems, err
}
