package command_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/keyring"
)

// A retired key stays in the file until the server knows that no message needs it. A key that encrypts new messages
// cannot be retired.
func TestKeyRetire(t *testing.T) {
	dir := t.TempDir()
	keys := filepath.Join(dir, "keys")
	flags := []string{"--data", filepath.Join(dir, "data"), "--encryption-key-file", keys}
	if err := serve(t, flags...).stop(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t, "key", "rotate", keys); err != nil {
		t.Fatal(err)
	}
	ring, err := keyring.Load(keys)
	if err != nil {
		t.Fatal(err)
	}
	as(t, serve(t, flags...).exports, "")
	first, old := ring.Keys()[0].ID(), ring.Keys()[1].ID()
	for id, says := range map[string]string{first: "rotate first", "x": "there is no key x"} {
		if _, _, err := run(t, "key", "retire", keys, id); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", id, err)
		}
	}
	for range 2 {
		out, _, err := run(t, "key", "retire", keys, old)
		if err != nil || !strings.Contains(out, old+" is retired; call again later") {
			t.Errorf("%v, printed %q", err, out)
		}
	}
	if again, err := keyring.Load(keys); err != nil || len(again.Keys()) != 2 {
		t.Errorf("the file has %v, %v", again, err)
	}
}
