package identity_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/sluicemq/sluice/internal/auth/identity"
)

// FuzzCredentials loads any file. An accepted file has a key for each requested account, and gives the same keys when
// it is loaded again, after missing keys have been added.
func FuzzCredentials(f *testing.F) {
	const first, second = "000000000000", "111111111111"
	const section = "[" + first + "]\naws_access_key_id = AKIA\naws_secret_access_key = a-secret-of-ours"
	for _, seed := range []string{
		"", section, section + "\n",
		"# a comment\n" + section + "\n[" + second + "]\naws_access_key_id=a\naws_secret_access_key=another-secret-0",
		section + "\n[" + first + "-previous]\naws_access_key_id = OLD\naws_secret_access_key = a-secret-of-ours",
		"[" + first + "]", "aws_access_key_id = a", "[x]\n", section + "\r\n", section + "\n" + section,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(t.TempDir(), "credentials")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		accounts := []string{first, second}
		creds, err := identity.LoadCredentials(file, accounts)
		if err != nil {
			return
		}
		again, err := identity.LoadCredentials(file, accounts)
		if err != nil {
			t.Fatalf("it cannot be loaded again: %v", err)
		}
		for _, account := range accounts {
			root, ok := creds.Root(account)
			now, _ := again.Root(account)
			if !ok || root.Secret == "" || !reflect.DeepEqual(root, now) {
				t.Fatalf("the key of %s was %+v and is %+v", account, root, now)
			}
			if found, ok := again.Lookup(root.AccessKeyID); !ok || !reflect.DeepEqual(found, root) {
				t.Fatalf("%s has the key %+v, which is %+v", account, root, found)
			}
		}
	})
}
