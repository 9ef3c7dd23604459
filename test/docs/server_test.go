//go:build unix

package docs

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/freeport"
)

// server is the server of a page.
type server struct {
	address, data string
	script, dir   string // its command and directory
	env           []string

	process *exec.Cmd
	log     bytes.Buffer // read it only after the end
}

// newServer prepares the server of a page, whose directory is dir.
func newServer(t *testing.T, dir string, env []string) *server {
	t.Helper()
	s := &server{
		address: freeAddress(t), data: filepath.Join(dir, "sluice-data"), script: "exec sluice serve", dir: dir,
	}
	s.env = append(env, "SLUICE_LISTEN="+s.address, "SLUICE_DATA="+s.data)
	t.Cleanup(func() { s.stop(t) })
	return s
}

// freeAddress returns an address on which no program listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	addresses, err := freeport.Take(1)
	if err != nil {
		t.Fatal(err)
	}
	return addresses[0]
}

// start starts the server and waits until it can be used.
func (s *server) start(t *testing.T) {
	t.Helper()
	cmd := exec.Command("bash", "-c", s.script)
	cmd.Dir, cmd.Env, cmd.Stderr = s.dir, s.env, &s.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.process = cmd
	ready := false
	defer func() {
		if !ready {
			s.stop(t)
			t.Logf("the server does not start:\n%s", s.log.String())
		}
	}()
	eventually.True(t, "ready", s.ready)
	ready = true
}

func (s *server) ready() bool {
	answer, err := http.Get("http://" + s.address + "/readyz")
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// stop stops the server gracefully, if it runs.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if s.process == nil {
		return
	}
	// The whole group: go run does not pass the signal on.
	if err := syscall.Kill(-s.process.Process.Pid, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := s.process.Wait(); err != nil && s.script == "exec sluice serve" {
		t.Errorf("the server stopped with %v:\n%s", err, s.log.String())
	}
	s.process = nil
}

// key returns the root's key from the server's file of credentials, or the one in its command.
var (
	key    = regexp.MustCompile(`aws_access_key_id *= *(\S+)\naws_secret_access_key *= *(\S+)`)
	chosen = regexp.MustCompile(`--root-access-key-id (\S+) --root-secret-access-key (\S+)`)
)

// exports are the lines that the server prints for its users.
func (s *server) exports(t *testing.T) string {
	t.Helper()
	root := chosen.FindStringSubmatch(s.script)
	if root == nil {
		credentials, err := os.ReadFile(filepath.Join(s.data, "credentials"))
		if err != nil {
			t.Fatal(err)
		}
		if root = key.FindStringSubmatch(string(credentials)); root == nil {
			t.Fatal("the server's file credentials has no key")
		}
	}
	lines := ""
	for _, service := range []string{"SQS", "SNS", "CLOUDWATCH", "IAM", "STS"} {
		lines += fmt.Sprintf("export AWS_ENDPOINT_URL_%s=http://%s\n", service, s.address)
	}
	return lines + fmt.Sprintf("export AWS_ACCESS_KEY_ID=%s AWS_SECRET_ACCESS_KEY=%s\n", root[1], root[2]) +
		"export AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1\n"
}
