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
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/topic/signing"
)

// openKeys reads the keys of the installation, and creates the missing ones, unless another node has to.
func (a *accounts) openKeys() error {
	if a.storage.node.SharesKeys() {
		return a.joinKeys()
	}
	if err := a.ownKeys(); err != nil {
		return err
	}
	return a.storage.control.Change(context.Background(), catalog.Initialise)
}

// ownKeys reads the keys of a single node from its data directory.
func (a *accounts) ownKeys() (err error) {
	if a.config.InMemory {
		a.vault = identity.NewVault()
		a.credentials, err = identity.Generate(a.config.Accounts)
	} else {
		a.credentials, err = identity.LoadCredentials(filepath.Join(a.config.Data, CredentialsFile), a.config.Accounts)
		if err == nil {
			a.vault, err = a.openVault()
		}
	}
	if err != nil {
		return err
	}
	if made := a.credentials.Made(); len(made) > 0 {
		a.log.Info("made root keys", "accounts", made, "file", filepath.Join(a.config.Data, CredentialsFile))
	}
	return a.overrideRoot()
}

// overrideRoot sets the root key of the first account to the operator's choice.
func (a *accounts) overrideRoot() error {
	if a.config.RootKeyID == "" {
		return nil
	}
	if len(a.config.RootSecret) < identity.LeastSecret {
		a.log.Warn(
			"the root's secret is short enough to be guessed; only programs on this machine can try",
			"characters",
			len(a.config.RootSecret),
		)
	}
	if err := a.credentials.Override(a.config.Accounts[0], a.config.RootKeyID, a.config.RootSecret); err != nil {
		return fmt.Errorf("--root-access-key-id and --root-secret-access-key: %w", err)
	}
	return nil
}

// openVault reads the master key, or creates one.
func (a *accounts) openVault() (*identity.Vault, error) {
	path := filepath.Join(a.config.Data, MasterKeyFile)
	v, err := identity.OpenVault(path)
	if !errors.Is(err, identity.ErrNoMasterKey) {
		return v, err
	}
	if err := mayMakeMasterKey(a.storage.control.Store(), err); err != nil {
		return nil, err
	}
	v, err = identity.CreateVault(path)
	if err == nil {
		a.log.Info("created a master key, which encrypts secrets of users", "file", path)
	}
	return v, err
}

// mayMakeMasterKey returns an error if data was encrypted under a master key that is missing.
func mayMakeMasterKey(s *store.Store, missing error) error {
	users, err := directory.HoldsSecrets(s)
	if users || err != nil {
		return errors.Join(
			err,
			fmt.Errorf("%w; without it the secrets of the users' access keys cannot be decrypted: restore it from a backup", missing),
		)
	}
	digests, err := trails.Held(s)
	if digests || err != nil {
		return errors.Join(
			err,
			fmt.Errorf("%w; without it the keys that sign the digests of trails cannot be decrypted: restore it from a backup", missing),
		)
	}
	factors, err := login.HoldsSecrets(s)
	if factors || err != nil {
		return errors.Join(
			err,
			fmt.Errorf("%w; without it the second factors of users cannot be decrypted: restore it from a backup", missing),
		)
	}
	topics, err := signing.Held(s)
	if topics || err != nil {
		return errors.Join(
			err,
			fmt.Errorf("%w; without it the key that signs the messages of topics cannot be decrypted: restore it from a backup", missing),
		)
	}
	return nil
}

// joinKeys reads the installation's keys from the control store. It never replaces different keys in the data
// directory: data that was encrypted and signed with them depends on them.
func (a *accounts) joinKeys() (err error) {
	if a.credentials, a.vault, err = identity.OpenShared(a.storage.control); err != nil {
		return err
	}
	if !a.config.InMemory {
		if err := a.compareKeys(); err != nil {
			return fmt.Errorf(
				"%w; the data directory belongs to another installation: start this node with an empty one, or move its keys away if nothing depends on them",
				err,
			)
		}
		if err := a.credentials.Save(filepath.Join(a.config.Data, CredentialsFile), a.config.Accounts); err != nil {
			return err
		}
	}
	if err := a.overrideRoot(); err != nil || a.config.InMemory {
		return err
	}
	return a.credentials.LoadPrevious(filepath.Join(a.config.Data, CredentialsFile))
}

// compareKeys returns an error if the data directory has keys that are not the installation's.
func (a *accounts) compareKeys() error {
	if err := a.credentials.Agree(filepath.Join(a.config.Data, CredentialsFile)); err != nil {
		return err
	}
	path := filepath.Join(a.config.Data, MasterKeyFile)
	own, err := identity.OpenVault(path)
	switch {
	case errors.Is(err, identity.ErrNoMasterKey):
		return nil
	case err == nil && !own.Same(a.vault):
		return fmt.Errorf("%s is not the cluster's master key", path)
	}
	return err
}
