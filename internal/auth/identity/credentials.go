package identity

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/sluicemq/sluice/internal/tool/durable"
)

// Credential is an access key and its owner.
type Credential struct {
	Identity
	Secret string
}

// String omits the secret, as does GoString.
func (c Credential) String() string   { return c.AccessKeyID + " of " + c.ARN }
func (c Credential) GoString() string { return c.String() }

// Credentials holds the root keys of the accounts, by their id. Its methods are safe for concurrent use.
type Credentials struct {
	// keep makes a new key durable. Nil keeps keys in memory only.
	keep func(ctx context.Context, account, keyID, secret string) error
	// drop removes an account's key permanently. Nil keeps keys in memory only.
	drop func(ctx context.Context, account string) error

	changing sync.Mutex // held during the creation or deletion of an account

	made []string // accounts whose keys were generated with c

	mu         sync.RWMutex
	byKey      map[string]Credential
	roots      map[string]Credential // by account
	previous   map[string]Credential // by key: the keys that are being replaced
	overridden string                // the account whose key the operator has chosen
}

func newCredentials() *Credentials {
	return &Credentials{
		byKey: make(map[string]Credential), roots: make(map[string]Credential), previous: make(map[string]Credential),
	}
}

// Made returns the accounts for which LoadCredentials has generated root keys, because the file had none.
func (c *Credentials) Made() []string { return c.made }

// Lookup returns the credential of an access key.
func (c *Credentials) Lookup(accessKeyID string) (Credential, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	found, ok := c.byKey[accessKeyID]
	if !ok {
		found, ok = c.previous[accessKeyID]
	}
	return found, ok
}

// Root returns the root credential of an account.
func (c *Credentials) Root(account string) (Credential, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	found, ok := c.roots[account]
	return found, ok
}

// Accounts returns the accounts, each of which has a root credential, in order.
func (c *Credentials) Accounts() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Sorted(maps.Keys(c.roots))
}

// The reasons why an account was not created or deleted.
var (
	ErrAccountExists = errors.New("the account exists")
	ErrNoAccount     = errors.New("the account does not exist")
)

// Create creates an account with a durable root key.
func (c *Credentials) Create(ctx context.Context, account string) (Credential, error) {
	if !IsAccount(account) {
		return Credential{}, fmt.Errorf("%q is not an account's 12 digits", account)
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	if _, ok := c.Root(account); ok {
		return Credential{}, ErrAccountExists
	}
	keyID, secret := NewKeyID(), NewSecret()
	if c.keep != nil {
		if err := c.keep(ctx, account, keyID, secret); err != nil {
			return Credential{}, err
		}
	}
	if err := c.learn(account, keyID, secret); err != nil {
		return Credential{}, err
	}
	root, _ := c.Root(account)
	return root, nil
}

// Delete removes an account and its root key permanently. The caller must check whether the account still owns
// anything.
func (c *Credentials) Delete(ctx context.Context, account string) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	if _, ok := c.Root(account); !ok {
		return ErrNoAccount
	}
	if c.drop != nil {
		if err := c.drop(ctx, account); err != nil {
			return err
		}
	}
	c.forget(account)
	return nil
}

// forget removes a key that is no longer stored, unless the operator has chosen it.
func (c *Credentials) forget(account string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.previous, func(_ string, old Credential) bool { return old.Account == account })
	if account == c.overridden {
		return
	}
	delete(c.byKey, c.roots[account].AccessKeyID)
	delete(c.roots, account)
}

// learn adds a stored key, if it is unknown.
func (c *Credentials) learn(account, keyID, secret string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if account == c.overridden {
		return nil
	}
	return c.add(account, keyID, secret)
}

// replace replaces c's keys with those of other, except an overridden one.
func (c *Credentials) replace(other *Credentials) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if chosen, ok := c.roots[c.overridden]; ok {
		_ = other.add(chosen.Account, chosen.AccessKeyID, chosen.Secret)
	}
	c.byKey, c.roots = other.byKey, other.roots
}

func (c *Credentials) add(account, keyID, secret string) error {
	if old, ok := c.byKey[keyID]; ok && old.Account != account {
		return fmt.Errorf("the access key %s belongs to two accounts, %s and %s", keyID, old.Account, account)
	}
	if old, ok := c.roots[account]; ok {
		delete(c.byKey, old.AccessKeyID)
	}
	cred := Credential{Identity: Root(account, keyID), Secret: secret}
	c.byKey[keyID] = cred
	c.roots[account] = cred
	return nil
}

// addPrevious adds a second key of an account's root. Its caller holds mu, or is the only one with access to c.
func (c *Credentials) addPrevious(account, keyID, secret string) error {
	if other, ok := c.byKey[keyID]; ok {
		if other.Account != account {
			return fmt.Errorf("the access key %s belongs to two accounts, %s and %s", keyID, other.Account, account)
		}
		return nil // it is the root's only one
	}
	c.previous[keyID] = Credential{Identity: Root(account, keyID), Secret: secret}
	return nil
}

// LoadPrevious loads the previous keys of existing accounts from the file at path, if it exists. It is for nodes of a
// cluster, whose other keys are not in files.
func (c *Credentials) LoadPrevious(path string) error {
	own, err := LoadCredentials(path, nil)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for keyID, old := range own.previous {
		if _, ok := c.roots[old.Account]; !ok {
			return fmt.Errorf("%s has a previous key of the account %s, which does not exist here", path, old.Account)
		}
		if err := c.addPrevious(old.Account, keyID, old.Secret); err != nil {
			return err
		}
	}
	return nil
}

// Override sets the root key of an account to the operator's choice, which is never stored: it is passed at every
// start, and to all nodes of a cluster. Its caller checks LeastSecret.
func (c *Credentials) Override(account, keyID, secret string) error {
	if err := checkKey(keyID, secret); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.add(account, keyID, secret); err != nil {
		return err
	}
	c.overridden = account
	return nil
}

// Agree returns an error if the file at path exists and has keys that are not among c's: they are then those of another
// installation.
func (c *Credentials) Agree(path string) error {
	own, err := LoadCredentials(path, nil)
	if err != nil {
		return err
	}
	for _, account := range own.Accounts() {
		here, _ := own.Root(account)
		there, known := c.Root(account)
		switch {
		case !known:
			return fmt.Errorf(
				"%s has the account %s, which does not exist here; if it was deleted, take its profile out of the file",
				path,
				account,
			)
		case here.AccessKeyID != there.AccessKeyID || here.Secret != there.Secret:
			return fmt.Errorf(
				"%s has another root key for the account %s; "+
					"if the account was deleted and created again, remove its profile from the file",
				path,
				account,
			)
		}
	}
	return nil
}

// Save writes the keys of accounts to a file at path if it does not exist, for the operator to read.
func (c *Credentials) Save(path string, accounts []string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var text []byte
	for _, account := range accounts {
		if root, ok := c.Root(account); ok {
			text = appendProfile(text, account, root.AccessKeyID, root.Secret)
		}
	}
	if err := durable.Replace(path, text); err != nil {
		return fmt.Errorf("write root keys: %w", err)
	}
	return nil
}

// LeastSecret is the minimum length of a secret that an operator chooses, unless only this machine can reach the
// server.
const LeastSecret = 16

// checkSecret returns an error if a secret is easy to guess.
func checkSecret(secret string) error {
	if len(secret) < LeastSecret {
		return fmt.Errorf(
			"the secret of an access key has at least %d characters: an attacker who guesses it has all that the account has",
			LeastSecret,
		)
	}
	return nil
}

func checkKey(keyID, secret string) error {
	switch {
	case keyID == "" || secret == "":
		return errors.New("an access key needs both an id and a secret")
	case len(keyID) > 128 || len(secret) > 256:
		return errors.New("an access key id has at most 128 characters, its secret at most 256")
	case strings.ContainsAny(keyID, "/, =\t\r\n"):
		return errors.New("an access key id must not contain spaces, slashes, commas or equals signs")
	}
	return nil
}

// Generate generates root keys for the accounts, which end with the process.
func Generate(accounts []string) (*Credentials, error) {
	c := newCredentials()
	for _, account := range accounts {
		if err := c.add(account, NewKeyID(), NewSecret()); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// LoadCredentials reads root keys from the file at path, in the format of the AWS credentials file with an account's
// number for each profile, and generates and writes those that are missing; Made returns which. The file is readable by
// its owner only; a file that others can read is refused.
//
// A profile whose name is an account with the suffix "-previous" has a second key of the account's root, which works
// until the profile is removed: in between, clients can change from one key to the other.
func LoadCredentials(path string, accounts []string) (*Credentials, error) {
	c := newCredentials()
	c.keep = func(_ context.Context, account, keyID, secret string) error {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read root keys: %w", err)
		}
		if err := durable.Replace(path, appendProfile(text, account, keyID, secret)); err != nil {
			return fmt.Errorf("write root keys: %w", err)
		}
		return nil
	}
	c.drop = func(_ context.Context, account string) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read root keys: %w", err)
		}
		if err := durable.Replace(path, removeProfile(text, account)); err != nil {
			return fmt.Errorf("write root keys: %w", err)
		}
		return nil
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("read root keys: %w", err)
	default:
		if err := checkPrivate(path); err != nil {
			return nil, err
		}
		if err := c.parse(text); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, account := range accounts {
		if _, ok := c.roots[account]; ok {
			continue
		}
		c.made = append(c.made, account)
		keyID, secret := NewKeyID(), NewSecret()
		if err := c.add(account, keyID, secret); err != nil {
			return nil, err
		}
		text = appendProfile(text, account, keyID, secret)
	}
	if len(c.made) > 0 {
		if err := durable.Replace(path, text); err != nil {
			return nil, fmt.Errorf("write root keys: %w", err)
		}
	}
	return c, nil
}

func appendProfile(text []byte, account, keyID, secret string) []byte {
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n') // an editor has left the last line open
	}
	return fmt.Appendf(text, "[%s]\naws_access_key_id = %s\naws_secret_access_key = %s\n\n", account, keyID, secret)
}

// removeProfile returns text without the profiles of an account. Comments and all other lines stay.
func removeProfile(text []byte, account string) []byte {
	var kept []byte
	inside := false
	for line := range bytes.Lines(text) {
		trimmed := bytes.TrimSpace(line)
		isComment := len(trimmed) > 0 && (trimmed[0] == '#' || trimmed[0] == ';')
		if bytes.HasPrefix(trimmed, []byte("[")) {
			inside = string(trimmed) == "["+account+"]" || string(trimmed) == "["+account+previousProfile+"]"
		}
		if !inside || isComment {
			kept = append(kept, line...)
		}
	}
	return kept
}

// previousProfile is the suffix of the account in the name of the profile with its previous key.
const previousProfile = "-previous"

func (c *Credentials) parse(text []byte) error {
	type previousKey struct{ account, keyID, secret string }
	var account, keyID, secret string
	var isPrevious bool
	var previous []previousKey
	finish := func() error {
		if account == "" {
			return nil
		}
		err := checkKey(keyID, secret)
		if err == nil {
			err = checkSecret(secret)
		}
		if err != nil {
			return fmt.Errorf("account %s: %w", account, err)
		}
		if isPrevious {
			previous = append(previous, previousKey{account, keyID, secret})
			return nil
		}
		return c.add(account, keyID, secret)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		name, isSection := strings.CutPrefix(line, "[")
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case isSection:
			if err := finish(); err != nil {
				return err
			}
			profile := strings.TrimSuffix(name, "]")
			account, isPrevious = strings.CutSuffix(profile, previousProfile)
			keyID, secret = "", ""
			if !IsAccount(account) {
				return fmt.Errorf("line %d: the profile %q is not an account's 12 digits, with or without %s", n, profile, previousProfile)
			}
		default:
			key, value, ok := strings.Cut(line, "=")
			if !ok || account == "" {
				return fmt.Errorf("line %d: want [account] or name = value", n)
			}
			switch strings.TrimSpace(key) {
			case "aws_access_key_id":
				keyID = strings.TrimSpace(value)
			case "aws_secret_access_key":
				secret = strings.TrimSpace(value)
			default:
				return fmt.Errorf("line %d: unknown name %q", n, strings.TrimSpace(key))
			}
		}
	}
	if err := errors.Join(lines.Err(), finish()); err != nil {
		return err
	}
	for _, old := range previous { // when the accounts' own keys are known
		if err := c.addPrevious(old.account, old.keyID, old.secret); err != nil {
			return err
		}
	}
	return nil
}
