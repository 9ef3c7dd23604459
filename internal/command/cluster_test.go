package command_test

import (
	"crypto/x509"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/cluster/pki"
)

func TestClusterCerts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certs")
	out, _, err := run(t, "cluster", "certs", "--out", dir, "a.example", "b.example,10.0.0.2")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 3 {
		t.Errorf("it prints %q", out)
	}
	if _, _, err := run(t, "cluster", "certs", "--out", dir, "c.example"); err != nil {
		t.Errorf("a node is not added: %v", err)
	}
	for _, node := range []string{"a.example", "b.example", "c.example"} {
		base := filepath.Join(dir, node)
		c, err := pki.Load(filepath.Join(dir, "ca.crt"), base+".crt", base+".key")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Certificates[0].Leaf.Verify(x509.VerifyOptions{Roots: c.RootCAs}); err != nil {
			t.Errorf("%s: %v", node, err)
		}
	}
	for name, args := range map[string][]string{
		"a node that is there":   {"--out", dir, "a.example"},
		"no directory":           {"d.example"},
		"no node":                {"--out", dir},
		"no time":                {"--out", dir, "--days", "0", "d.example"},
		"something else as host": {"--out", dir, "d.example:6222"},
	} {
		if _, _, err := run(t, append([]string{"cluster", "certs"}, args...)...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
