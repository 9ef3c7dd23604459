package service

import (
	"errors"

	"github.com/sluicemq/sluice/internal/encryption"
	"github.com/sluicemq/sluice/internal/keyring"
)

// KeyError is the reason why a key of KMS cannot be used, in the words of AWS's services: each puts its own prefix
// before the kind.
type KeyError struct {
	Kind string // AccessDenied, Disabled, InvalidState, NotFound or Throttling
	Text string
}

// OfKey returns the reason if err means that a key cannot be used. name is the key's name, for people.
func OfKey(err error, name string) (e KeyError, ok bool) {
	switch {
	case errors.Is(err, keyring.ErrNoKey):
		return KeyError{"NotFound", "The key " + name + " does not exist."}, true
	case errors.Is(err, keyring.ErrDisabled):
		return KeyError{"Disabled", "The key " + name + " is disabled."}, true
	case errors.Is(err, keyring.ErrDenied):
		return KeyError{"AccessDenied", "The key service denies the use of the key " + name + "."}, true
	case errors.Is(err, keyring.ErrInvalidState):
		return KeyError{"InvalidState", "The state of the key " + name + " does not allow its use."}, true
	case errors.Is(err, encryption.ErrSuspended):
		return KeyError{"Throttling", "The key service does not answer. Try again later."}, true
	}
	return e, false
}
