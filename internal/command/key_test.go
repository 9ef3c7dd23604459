package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/keyring"
)

// The commands change the file in one step, and never show a key.
func TestKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	uses := func() (all string) {
		t.Helper()
		r, err := keyring.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range newRingFile(path, r).Keys {
			all += k.Use + " "
		}
		return strings.TrimSpace(all)
	}
	do := func(want string, args ...string) string {
		t.Helper()
		root, _ := newRoot()
		var out strings.Builder
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetArgs(append([]string{"key"}, args...))
		err := root.ExecuteContext(t.Context())
		if want == "" && err == nil {
			t.Errorf("%v: no error", args)
		}
		if want != "" && (err != nil || uses() != want) {
			t.Errorf("%v: %v, %s", args, err, uses())
		}
		return out.String()
	}
	do("", "ls", path)
	do("encrypts", "create", path)
	do("", "create", path)
	do("encrypts decrypts", "rotate", path)
	do("encrypts decrypts prepared", "rotate", "--prepare", path)
	do("", "rotate", "--prepare", path)
	shown := do("encrypts decrypts decrypts", "rotate", path)
	shown += do("encrypts decrypts decrypts", "ls", "--json", path)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 4 && fields[0] == "key" {
			if !strings.Contains(shown, fields[1]) || strings.Contains(shown, fields[3]) {
				t.Errorf("%s is not shown, or its value is", fields[1])
			}
		}
	}
}
