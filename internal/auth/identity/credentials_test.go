package identity_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
)

const (
	first  = "000000000000"
	second = "111111111111"
)

func TestKeysAreMadeOnceAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "credentials")
	made, err := identity.LoadCredentials(path, []string{first})
	if err != nil {
		t.Fatal(err)
	}
	one, ok := made.Root(first)
	if !ok || one.ARN != "arn:aws:iam::000000000000:root" || !one.IsRoot() || one.UserID != first ||
		len(one.Secret) != 40 {
		t.Errorf("root: %+v", one)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}

	// A second account is added without changing the first.
	again, err := identity.LoadCredentials(path, []string{first, second})
	if err != nil {
		t.Fatal(err)
	}
	if kept, _ := again.Root(first); !reflect.DeepEqual(kept, one) {
		t.Errorf("the first account's key has changed")
	}
	two, ok := again.Root(second)
	if !ok || two.AccessKeyID == one.AccessKeyID {
		t.Errorf("second account: %v, %t", two, ok)
	}
	if found, ok := again.Lookup(two.AccessKeyID); !ok || !reflect.DeepEqual(found, two) {
		t.Errorf("lookup: %v, %t", found, ok)
	}
	if _, ok := again.Lookup("AKIAUNKNOWN"); ok {
		t.Error("an unknown key was found")
	}
}

// A deleted account is gone for good, and the rest of the file stays.
func TestDeletedAccount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "credentials")
	text := "# ours\n[000000000000]\naws_access_key_id = AKID1\naws_secret_access_key = a-secret-of-ours\n\n" +
		"[111111111111]\naws_access_key_id = AKID2\naws_secret_access_key = a-secret-of-ours\n; theirs\n" +
		"[222222222222]\naws_access_key_id = AKID3\naws_secret_access_key = a-secret-of-ours\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := identity.LoadCredentials(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), second); !errors.Is(err, identity.ErrNoAccount) {
		t.Errorf("deleted twice: %v", err)
	}
	if _, ok := c.Lookup("AKID2"); ok {
		t.Error("its key still works")
	}
	left := strings.Replace(text,
		"[111111111111]\naws_access_key_id = AKID2\naws_secret_access_key = a-secret-of-ours\n", "", 1)
	if after, err := os.ReadFile(path); err != nil || string(after) != left {
		t.Errorf("the file has become %q, %v", after, err)
	}
	again, err := identity.LoadCredentials(path, nil)
	if err != nil || !slices.Equal(again.Accounts(), []string{first, "222222222222"}) {
		t.Errorf("after a restart there are %v, %v", again.Accounts(), err)
	}
}

func TestFileThatOthersCanReadIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "credentials")
	if _, err := identity.LoadCredentials(path, []string{first}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := identity.LoadCredentials(path, []string{first}); err == nil ||
		!strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("got %v", err)
	}
}

func TestMistakesInTheFileAreNamed(t *testing.T) {
	tests := map[string]string{
		"[me]\n":                                  "12 digits",
		"aws_access_key_id = x\n":                 "want [account]",
		"[000000000000]\nnonsense\n":              "line 2",
		"[000000000000]\naws_secret = x\n":        "unknown name",
		"[000000000000]\naws_access_key_id = x\n": "both an id and a secret",
		"[000000000000]\naws_access_key_id = x\naws_secret_access_key = only15character\n": "at least 16 characters",
		"[000000000000-old]\n": "12 digits",
		"[000000000000]\naws_access_key_id=a/b\naws_secret_access_key=a-secret-of-ours\n":                                                                            "slashes",
		"[000000000000]\naws_access_key_id=k\naws_secret_access_key=a-secret-of-ours\n[111111111111]\naws_access_key_id=k\naws_secret_access_key=another-secret-0\n": "two accounts",
	}
	for text, want := range tests {
		path := filepath.Join(t.TempDir(), "credentials")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := identity.LoadCredentials(path, []string{first}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want a word about %s", text, err, want)
		}
	}
}

func TestOperatorsFileIsTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "credentials")
	text := "# ours\n[000000000000]\naws_access_key_id = AKIDOURS\naws_secret_access_key = a/secret+with=signs\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := identity.LoadCredentials(path, []string{first})
	if err != nil {
		t.Fatal(err)
	}
	if cred, ok := c.Lookup("AKIDOURS"); !ok || cred.Secret != "a/secret+with=signs" {
		t.Errorf("%v, %t", cred, ok)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != text {
		t.Errorf("the file was changed to %q, %v", after, err)
	}
}

func TestOverrideReplacesTheKey(t *testing.T) {
	c, err := identity.Generate([]string{first})
	if err != nil {
		t.Fatal(err)
	}
	old, _ := c.Root(first)
	if err := c.Override(first, "AKIDNEW", "a-secret-of-ours"); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Lookup(old.AccessKeyID); ok {
		t.Error("the generated key still works")
	}
	if err := c.Override(first, "has space", "a-secret-of-ours"); err == nil {
		t.Error("a malformed key was accepted")
	}
}

func TestCredentialDoesNotPrintItsSecret(t *testing.T) {
	c, err := identity.Generate([]string{first})
	if err != nil {
		t.Fatal(err)
	}
	cred, _ := c.Root(first)
	for _, format := range []string{"%v", "%+v", "%s", "%#v"} {
		if text := fmt.Sprintf(format, cred); strings.Contains(text, cred.Secret) {
			t.Errorf("%s prints the secret", format)
		}
	}
}

// While a root's key is replaced, both work; the newer one is the root's.
func TestPreviousKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "credentials")
	const previous = "[000000000000-previous]\naws_access_key_id = AKIDOLD\naws_secret_access_key = the-older-secret\n"
	if err := os.WriteFile(path,
		[]byte(previous+"[111111111111]\naws_access_key_id = AKID2\naws_secret_access_key = a-secret-of-ours\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	c, err := identity.LoadCredentials(path, []string{first, second})
	if err != nil {
		t.Fatal(err)
	}
	if made := c.Made(); !slices.Equal(made, []string{first}) {
		t.Errorf("keys were made for %v", made)
	}
	root, _ := c.Root(first)
	old, ok := c.Lookup("AKIDOLD")
	if !ok || !old.IsRoot() || old.Account != first || old.Secret != "the-older-secret" ||
		root.AccessKeyID == "AKIDOLD" {
		t.Errorf("the older key is %+v, the root's %+v", old, root)
	}
	if found, ok := c.Lookup(root.AccessKeyID); !ok || !reflect.DeepEqual(found, root) {
		t.Errorf("the newer key: %v, %t", found, ok)
	}
	if !slices.Equal(c.Accounts(), []string{first, second}) {
		t.Errorf("accounts %v", c.Accounts())
	}

	// A cluster's keys are in its control store; the older one is in the nodes' files.
	shared, err := identity.Generate([]string{first})
	if err != nil {
		t.Fatal(err)
	}
	if err := shared.LoadPrevious(path); err != nil {
		t.Fatal(err)
	}
	if _, ok := shared.Lookup("AKIDOLD"); !ok {
		t.Error("a node does not accept the older key")
	}
	if _, ok := shared.Lookup(root.AccessKeyID); ok {
		t.Error("a node accepts a key of another installation")
	}

	// Without the profile the older key is gone, and with the account both are.
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Lookup("AKIDOLD"); ok {
		t.Error("the older key outlives its account")
	}
	if left, err := os.ReadFile(path); err != nil || strings.Contains(string(left), first) {
		t.Errorf("the file has become %q, %v", left, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), previous, "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = identity.LoadCredentials(path, nil); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Lookup("AKIDOLD"); ok {
		t.Error("the older key still works")
	}
	if now, _ := c.Root(first); !reflect.DeepEqual(now, root) || len(c.Made()) > 0 {
		t.Errorf("the root's key is %+v, was %+v", now, root)
	}
}

// Programs treat arguments that begin with a hyphen as options.
func TestSecretsDoNotBeginWithAHyphen(t *testing.T) {
	v := identity.NewVault()
	for range 1000 {
		if s := identity.NewSecret(); s[0] == '-' {
			t.Fatal(s)
		}
		key, err := v.Issue(policy.User, first, "", new(identity.Session))
		if err != nil || key.Secret[0] == '-' {
			t.Fatal(key.Secret, err)
		}
	}
}
