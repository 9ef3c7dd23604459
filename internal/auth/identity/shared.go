package identity

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// The nodes of one installation have the same keys. The keys are in the control store, where all nodes read them, and
// not in files:
//
//	identity/master-key      as in the file
//	identity/root/<account>  the account's root key, its secret encrypted
//
// Anyone who can read a node's data directory can read the keys, as on a single node.
const (
	Prefix    = "identity/" // of all keys of the store
	keyMaster = Prefix + "master-key"
	keyRoot   = Prefix + "root/"
)

// ErrUninitialised reports that there are no keys in the control store; see Initialise.
var ErrUninitialised = errors.New("the installation has no keys yet")

// rootKey is the record of an account's root key.
type rootKey struct {
	ID     string
	Sealed []byte // the secret, encrypted under the key's id
}

func (r rootKey) open(v *Vault) (secret string, err error) { return v.Open(r.ID, r.Sealed) }

// Initialise adds the keys of an installation to the control store, unless it has some: those of the vault, or of a new
// one if vault is nil, and the root keys. It generates root keys for the given accounts without one. The owner of the
// control store calls it, because it is a change.
func Initialise(tx *control.Tx, vault *Vault, roots *Credentials, accounts []string) error {
	text, err := tx.Get(keyMaster)
	if err != nil {
		return err
	}
	if text != nil {
		if vault, err = readMaster(text); err != nil {
			return err
		}
	} else {
		if vault == nil {
			vault = NewVault()
		}
		tx.Put(keyMaster, encode(hex.EncodeToString(vault.master)))
		for _, account := range roots.Accounts() {
			root, _ := roots.Root(account)
			putRoot(tx, vault, account, root.AccessKeyID, root.Secret)
		}
	}
	for _, account := range accounts {
		switch v, err := tx.Get(keyRoot + account); {
		case err != nil:
			return err
		case v == nil:
			putRoot(tx, vault, account, NewKeyID(), NewSecret())
		}
	}
	return nil
}

func putRoot(tx *control.Tx, v *Vault, account, keyID, secret string) {
	tx.Put(keyRoot+account, encode(rootKey{keyID, v.Seal(keyID, secret)}))
}

// OpenShared reads the keys of an installation from the control store and follows their changes; it stores the keys of
// new accounts there. Without keys, the error is ErrUninitialised.
func OpenShared(c *control.Control) (*Credentials, *Vault, error) {
	r := &shared{roots: newCredentials()}
	r.roots.keep = func(ctx context.Context, account, keyID, secret string) error {
		return c.Change(ctx, func(tx *control.Tx) error {
			if v, err := tx.Get(keyRoot + account); err != nil {
				return err
			} else if v != nil {
				return ErrAccountExists
			}
			putRoot(tx, r.vault, account, keyID, secret)
			return nil
		})
	}
	r.roots.drop = func(ctx context.Context, account string) error {
		return c.Change(ctx, func(tx *control.Tx) error {
			if v, err := tx.Get(keyRoot + account); err != nil {
				return err
			} else if v == nil {
				return ErrNoAccount
			}
			tx.Delete(keyRoot + account)
			return nil
		})
	}
	if err := c.Register(Prefix, r); err != nil {
		return nil, nil, err
	}
	return r.roots, r.vault, nil
}

// shared loads keys from the control store.
type shared struct {
	roots *Credentials
	vault *Vault // never changes
}

// Load implements control.Reader.
func (r *shared) Load(records iter.Seq2[string, []byte]) error {
	fresh := newCredentials()
	vault := r.vault
	for k, v := range records {
		if err := put(k, v, &vault, fresh); err != nil {
			return err
		}
	}
	if vault == nil {
		return ErrUninitialised
	}
	r.vault = vault
	r.roots.replace(fresh)
	return nil
}

// Apply implements control.Reader.
func (r *shared) Apply(changes []control.Change) error {
	for _, ch := range changes {
		if ch.Removed {
			account, isRoot := strings.CutPrefix(ch.Key, keyRoot)
			if !isRoot {
				return fmt.Errorf("%s: only the keys of roots are removed", ch.Key)
			}
			r.roots.forget(account)
			continue
		}
		if err := put(ch.Key, ch.Value, &r.vault, r.roots); err != nil {
			return err
		}
	}
	return nil
}

// put adds a record. The vault comes before the records that it has encrypted, and stays.
func put(k string, value []byte, vault **Vault, roots *Credentials) error {
	account, isRoot := strings.CutPrefix(k, keyRoot)
	switch {
	case k == keyMaster:
		v, err := readMaster(value)
		if err == nil && *vault != nil && !v.Same(*vault) {
			err = errors.New("it is another installation's")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
		if *vault == nil {
			*vault = v
		}
		return nil
	case isRoot && *vault != nil:
		var root rootKey
		var secret string
		err := json.Unmarshal(value, &root)
		if err == nil {
			secret, err = root.open(*vault)
		}
		if err == nil {
			err = roots.learn(account, root.ID, secret)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
		return nil
	case isRoot:
		return fmt.Errorf("%s: %w", k, ErrNoMasterKey)
	}
	return fmt.Errorf("unknown key %q, written by a newer program", k)
}

// readMaster reads the record of the master key.
func readMaster(value []byte) (*Vault, error) {
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return nil, err
	}
	return parseMaster(text)
}

// Check reads the keys in a store without changing anything. It returns them and a list of inconsistencies. Without
// keys, as on a single node, the vault is nil. An error means that the store cannot be read.
func Check(s *store.Store) (roots *Credentials, vault *Vault, problems []string, err error) {
	roots = newCredentials()
	err = control.Records(s, Prefix, func(k string, v []byte) bool {
		if err := put(k, v, &vault, roots); err != nil {
			problems = append(problems, "record "+err.Error())
		}
		return true
	})
	return roots, vault, problems, err
}

// encode encodes values of this package, all of which have a JSON form.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
