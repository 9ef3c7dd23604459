package command_test

import (
	"crypto/x509"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/cluster/pki"

	"github.com/sluicemq/sluice/internal/datadir"
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
		c, err := pki.Load(filepath.Join(dir, "ca.crt"), base+".crt", base+".key", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := pki.Own(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := certificate.Verify(x509.VerifyOptions{Roots: c.RootCAs}); err != nil {
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

// Nodes that cannot know each other do not start, even on one machine.
func TestOpenClustersAreRefused(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, tt := range []struct{ name, want, args string }{
		{"no secret, on this machine", "--cluster-secret-file", "--cluster a=127.0.0.1:1,b=127.0.0.1:2"},
		{"no secret, on several", "--cluster-secret-file", "--cluster a=10.0.0.1:1,b=10.0.0.2:2"},
		{"a secret, and none", "--cluster-insecure",
			"--cluster a=127.0.0.1:1,b=127.0.0.1:2 --cluster-secret-file s --cluster-insecure"},
		{"a NATS cluster elsewhere", "unencrypted",
			"--cluster a=x:1,b=y:2 --nats nats://127.0.0.1:4222,nats://192.0.2.1:4222"},
		{"the same without a scheme", "tls://192.0.2.1:4222", "--cluster a=x:1,b=y:2 --nats 192.0.2.1:4222"},
	} {
		args := append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data, "--node", "a"},
			strings.Fields(tt.args)...)
		if _, _, err := run(t, args...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %q in it", tt.name, err, tt.want)
		}
		if there, _ := filepath.Glob(filepath.Join(data, datadir.NodeFile)); len(there) > 0 {
			t.Errorf("%s: the directory now belongs to a node", tt.name)
		}
	}
}

// A node with another node's certificate could connect to the others, but they could not connect to it.
func TestCertificateOfAnotherNodeIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certs")
	if _, _, err := run(t, "cluster", "certs", "--out", dir, "a.example"); err != nil {
		t.Fatal(err)
	}
	_, _, err := run(t, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"),
		"--node", "b", "--cluster", "a.example,b.example", "--cluster-ca", filepath.Join(dir, "ca.crt"),
		"--cluster-cert", filepath.Join(dir, "a.example.crt"), "--cluster-key", filepath.Join(dir, "a.example.key"))
	if err == nil || !strings.Contains(err.Error(), "does not name b.example") {
		t.Errorf("got %v", err)
	}
}
