package server

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/observe/trails"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/topic/signing"
)

// openKeys takes the keys of the installation from where they are, and makes those
// that are missing, unless that is for others to do.
func (s *Server) openKeys() error {
	if s.node.SharesKeys() {
		return s.joinKeys()
	}
	if err := s.ownKeys(); err != nil {
		return err
	}
	return s.control.Change(context.Background(), catalog.Initialise)
}

// ownKeys takes the keys of a single node from its data directory.
func (s *Server) ownKeys() (err error) {
	if s.config.InMemory {
		s.vault = identity.NewVault()
		s.credentials, err = identity.Generate(s.config.Accounts)
	} else {
		s.credentials, err = identity.LoadCredentials(filepath.Join(s.config.Data, CredentialsFile), s.config.Accounts)
		if err == nil {
			s.vault, err = s.openVault()
		}
	}
	if err != nil {
		return err
	}
	if made := s.credentials.Made(); len(made) > 0 {
		s.log.Info("made root keys", "accounts", made, "file", filepath.Join(s.config.Data, CredentialsFile))
	}
	return s.overrideRoot()
}

// overrideRoot gives the first account the key that the operator has chosen.
func (s *Server) overrideRoot() error {
	if s.config.RootKeyID == "" {
		return nil
	}
	if len(s.config.RootSecret) < identity.LeastSecret {
		s.log.Warn("the root's secret is short enough to be guessed; only programs on this machine can try", "characters", len(s.config.RootSecret))
	}
	if err := s.credentials.Override(s.config.Accounts[0], s.config.RootKeyID, s.config.RootSecret); err != nil {
		return fmt.Errorf("--root-access-key-id and --root-secret-access-key: %w", err)
	}
	return nil
}

// openVault reads the master key, or makes one.
func (s *Server) openVault() (*identity.Vault, error) {
	path := filepath.Join(s.config.Data, MasterKeyFile)
	v, err := identity.OpenVault(path)
	if !errors.Is(err, identity.ErrNoMasterKey) {
		return v, err
	}
	if err := mayMakeMasterKey(s.control.Store(), err); err != nil {
		return nil, err
	}
	v, err = identity.CreateVault(path)
	if err == nil {
		s.log.Info("made a master key, under which secrets of users are encrypted", "file", path)
	}
	return v, err
}

// mayMakeMasterKey returns an error if something was encrypted under a master key,
// which is missing.
func mayMakeMasterKey(s *store.Store, missing error) error {
	users, err := directory.HoldsSecrets(s)
	if users || err != nil {
		return errors.Join(err, fmt.Errorf("%w; without it the secrets of the users' access keys cannot be decrypted: restore it from a backup", missing))
	}
	digests, err := trails.Held(s)
	if digests || err != nil {
		return errors.Join(err, fmt.Errorf("%w; without it the keys that sign the digests of trails cannot be decrypted: restore it from a backup", missing))
	}
	factors, err := login.HoldsSecrets(s)
	if factors || err != nil {
		return errors.Join(err, fmt.Errorf("%w; without it the second factors of users cannot be decrypted: restore it from a backup", missing))
	}
	topics, err := signing.Held(s)
	if topics || err != nil {
		return errors.Join(err, fmt.Errorf("%w; without it the key that signs the messages of topics cannot be decrypted: restore it from a backup", missing))
	}
	return nil
}
