package identity_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

func newControl(t *testing.T) (*control.Control, *store.Store) {
	t.Helper()
	s := storetest.Memory(t)
	return control.New(control.Options{Store: s}), s
}

func initialise(t *testing.T, c *control.Control, v *identity.Vault, roots *identity.Credentials, accounts ...string) {
	t.Helper()
	if err := c.Change(t.Context(),
		func(tx *control.Tx) error { return identity.Initialise(tx, v, roots, accounts) }); err != nil {
		t.Fatal(err)
	}
}

// An installation has the keys of the first node that initialized it, and keeps them.
func TestSharedKeys(t *testing.T) {
	t.Parallel()
	c, s := newControl(t)
	if _, _, err := identity.OpenShared(c); !errors.Is(err, identity.ErrUninitialised) {
		t.Errorf("without keys: %v", err)
	}
	own, err := identity.Generate([]string{first})
	if err != nil {
		t.Fatal(err)
	}
	others, err := identity.Generate([]string{first, second})
	if err != nil {
		t.Fatal(err)
	}
	v := identity.NewVault()
	initialise(t, c, v, own)
	initialise(t, c, identity.NewVault(), others, first, second)
	roots, vault, err := identity.OpenShared(c)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := own.Root(first)
	if got, _ := roots.Root(first); !reflect.DeepEqual(got, want) || !vault.Same(v) {
		t.Errorf("the root is %v", got)
	}
	two, ok := roots.Root(second)
	if strange, _ := others.Root(second); !ok || reflect.DeepEqual(two, strange) || len(two.Secret) != 40 {
		t.Errorf("the second account's root is %v, %t", two, ok)
	}

	// One node creates an account, the others learn of it; one has a root key that its operator has chosen, which
	// nothing replaces.
	follower := control.New(control.Options{Store: s})
	copied, _, err := identity.OpenShared(follower)
	if err != nil {
		t.Fatal(err)
	}
	if err := copied.Override(first, "chosen", "a-secret-of-ours"); err != nil {
		t.Fatal(err)
	}
	made, err := roots.Create(t.Context(), "222222222222")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := roots.Create(t.Context(), "222222222222"); !errors.Is(err, identity.ErrAccountExists) {
		t.Errorf("created twice: %v", err)
	}
	if _, err := copied.Create(t.Context(), "222222222222"); !errors.Is(err, identity.ErrAccountExists) {
		t.Errorf("created by a node that has not learnt of it: %v", err)
	}
	if err := follower.Reload(s); err != nil {
		t.Fatal(err)
	}
	if got, _ := copied.Lookup(made.AccessKeyID); !reflect.DeepEqual(got, made) {
		t.Errorf("the other finds %v", got)
	}
	if chosen, _ := copied.Root(first); chosen.AccessKeyID != "chosen" {
		t.Errorf("the operator's choice has become %v", chosen)
	}
	if all := copied.Accounts(); !slices.Equal(all, []string{first, second, "222222222222"}) {
		t.Errorf("accounts %v", all)
	}

	// An account that one node deletes is gone on all nodes.
	if _, err := roots.Create(t.Context(), "333333333333"); err != nil {
		t.Fatal(err)
	}
	if err := roots.Delete(t.Context(), "333333333333"); err != nil {
		t.Fatal(err)
	}
	if err := roots.Delete(t.Context(), "333333333333"); !errors.Is(err, identity.ErrNoAccount) {
		t.Errorf("deleted twice: %v", err)
	}
	if err := follower.Reload(s); err != nil {
		t.Fatal(err)
	}
	if _, ok := copied.Root("333333333333"); ok {
		t.Error("a deleted account still exists")
	}

	// Secrets are encrypted in the store.
	checked, vault, problems, err := identity.Check(s)
	if err != nil || len(problems) > 0 || !vault.Same(v) || len(checked.Accounts()) != 3 {
		t.Errorf("check: %v, %v, %v", checked.Accounts(), problems, err)
	}
	if err := control.Records(s, "", func(k string, value []byte) bool {
		if strings.Contains(string(value), want.Secret) || strings.Contains(string(value), made.Secret) {
			t.Errorf("%s has a secret in it", k)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
}

// Inconsistent records are refused rather than used.
func TestSharedKeysThatAreWrong(t *testing.T) {
	t.Parallel()
	for what, write := range map[string]func(tx *control.Tx){
		"another master key": func(tx *control.Tx) {
			tx.Put("identity/master-key",
				[]byte(`"`+strings.Repeat("0", 64)+`"`))
		},
		"no master key": func(tx *control.Tx) { tx.Put("identity/master-key", []byte(`"x"`)) },
		"no JSON":       func(tx *control.Tx) { tx.Put("identity/root/"+first, []byte(`{`)) },
		"another's secret": func(tx *control.Tx) {
			tx.Put("identity/root/"+first,
				[]byte(`{"ID":"AKIA","Sealed":"AAAA"}`))
		},
		"a newer program's": func(tx *control.Tx) { tx.Put("identity/new", nil) },
		"a removal":         func(tx *control.Tx) { tx.Delete("identity/master-key") },
	} {
		c, s := newControl(t)
		none, err := identity.Generate(nil)
		if err != nil {
			t.Fatal(err)
		}
		initialise(t, c, nil, none, first)
		if _, _, problems, err := identity.Check(s); err != nil || len(problems) > 0 {
			t.Errorf("%s: before: %v, %v", what, problems, err)
		}
		if _, _, err := identity.OpenShared(c); err != nil {
			t.Fatal(err)
		}
		if err := c.Change(t.Context(), func(tx *control.Tx) error { write(tx); return nil }); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// A consistent file is not changed; it is created only where there is none.
func TestSavedKeys(t *testing.T) {
	t.Parallel()
	roots, err := identity.Generate([]string{first, second})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "credentials")
	for range 2 {
		if err := roots.Agree(path); err != nil {
			t.Errorf("it disagrees: %v", err)
		}
		if err := roots.Save(path, []string{first}); err != nil {
			t.Fatal(err)
		}
	}
	read, err := identity.LoadCredentials(path, nil)
	if err != nil || !slices.Equal(read.Accounts(), []string{first}) {
		t.Errorf("saved %v, %v", read, err)
	}
	others, err := identity.Generate([]string{first})
	if err != nil {
		t.Fatal(err)
	}
	if err := others.Agree(path); err == nil || !strings.Contains(err.Error(), first) {
		t.Errorf("others: %v", err)
	}
	before, _ := os.ReadFile(path)
	if err := others.Save(path, []string{first}); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.ReadFile(path); string(before) != string(after) {
		t.Error("the file was replaced")
	}
}
