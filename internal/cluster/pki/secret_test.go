package pki_test

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/pki"
)

// holder returns the TLS configurations of a node with a secret.
func holder(t *testing.T, secret string, now time.Time) *tls.Config {
	t.Helper()
	c, err := pki.FromSecret([]byte(secret), now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNodesWithTheSecretKnowEachOther(t *testing.T) {
	now := time.Now()
	a, b := holder(t, "the secret of this cluster", now), holder(t, "the secret of this cluster", now.AddDate(3, 0, 0))
	if c, s := meet(t, b, a, a.ServerName); c != nil || s != nil {
		t.Errorf("the client returns %v, the server %v", c, s)
	}
	stranger := holder(t, "the secret of another one", now)
	if _, s := meet(t, stranger, a, a.ServerName); s == nil {
		t.Error("a stranger gets in")
	}
	if c, _ := meet(t, a, stranger, a.ServerName); c == nil {
		t.Error("a stranger is trusted")
	}
	certified := node(t, t.TempDir(), a.ServerName)
	if _, s := meet(t, certified, a, a.ServerName); s == nil {
		t.Error("a node with a certificate of another authority gets in")
	}
}

func TestSecretIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	waited := make(chan struct{})
	secrets := make([]string, 8)
	var all sync.WaitGroup
	for i := range secrets {
		all.Go(func() {
			secret, err := pki.AwaitSecret(t.Context(), path, sync.OnceFunc(func() {
				if i == 0 {
					close(waited)
				}
			}))
			if err != nil {
				t.Error(err)
			}
			secrets[i] = string(secret)
		})
	}
	<-waited
	var makers sync.WaitGroup
	for range 8 {
		makers.Go(func() {
			if err := pki.MakeSecret(path); err != nil {
				t.Error(err)
			}
		})
	}
	makers.Wait()
	all.Wait()
	for _, s := range secrets {
		if s == "" || s != secrets[0] {
			t.Fatalf("different nodes have read %q", secrets)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want mode 0600", info.Mode(), err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("files are left behind: %v", left)
	}
}

func TestSecretsThatAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	for _, tt := range []struct {
		name, text string
		mode       os.FileMode
		want       string
	}{
		{"others can read it", strings.Repeat("x", 40), 0o644, "chmod 600"},
		{"short", "  changeme\n", 0o600, "has 8 bytes"},
		{"empty", "", 0o600, "has 0 bytes"},
		{"endless", strings.Repeat("x", 5000), 0o600, "26 to 1024"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := errors.Join(os.WriteFile(path, []byte(tt.text), tt.mode), os.Chmod(path, tt.mode)); err != nil {
				t.Fatal(err)
			}
			if _, err := pki.AwaitSecret(t.Context(), path, func() {}); err == nil ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := pki.AwaitSecret(ctx, path+".not-there", cancel)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}
