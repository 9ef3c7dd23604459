//go:build unix

package crash

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/test/program"
)

// said is the output of a program, for a concurrent reader.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await waits for output that matches the pattern, and returns its group.
func (s *said) await(t *testing.T, pattern string) string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	var found []string
	eventually.Succeeds(t, func() error {
		if found = re.FindStringSubmatch(s.String()); found == nil {
			return fmt.Errorf("the output does not match %s:\n%s", pattern, s)
		}
		return nil
	})
	return found[len(found)-1]
}

// threePorts returns the first of three consecutive free ports.
func threePorts(t *testing.T) int {
	t.Helper()
	for range 100 {
		addresses, err := freeport.Take(1)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := net.SplitHostPort(addresses[0])
		first, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		if isFree(first+1) && isFree(first+2) {
			return first
		}
	}
	t.Fatal("there are no three free ports in a row")
	return 0
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// TestClusterLocal starts a cluster with scripts/cluster-local, uses its output, kills a node, and restarts it as the
// script explains.
func TestClusterLocal(t *testing.T) {
	program.Long(t)
	t.Parallel()
	binary, bin, dir := program.Build(t), t.TempDir(), filepath.Join(t.TempDir(), "cluster")
	// The script would build the program. Here it is already built.
	stub := fmt.Sprintf("#!/bin/sh\n# go build -o FILE PACKAGE\ncp %q \"$3\"\n", binary)
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(stub), 0o700); err != nil {
		t.Fatal(err)
	}
	var out, log said
	start := func(out *said, name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH")), out, &log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait() // it was asked to end
		})
		return cmd
	}
	start(&out, "../../scripts/cluster-local", "--port", fmt.Sprint(threePorts(t)), "--cluster-port",
		fmt.Sprint(threePorts(t)), dir)
	out.await(t, `# console, for ten minutes: (http://127\.0\.0\.1:\d+/console/#k=\S+)\n`)
	for _, service := range []string{"SQS", "SNS", "CLOUDWATCH", "CLOUDTRAIL", "IAM", "STS"} {
		out.await(t, `(?m)^export AWS_ENDPOINT_URL_`+service+`=http://127\.0\.0\.1:\d+$`)
	}
	sluice := func(args string) {
		t.Helper()
		if text, err := exec.Command("sh", "-c",
			". "+dir+"/exports && "+dir+"/sluice "+args).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s\n%s", args, err, text, log.String())
		}
	}
	sluice("topic create news")
	sluice("cluster status --wait --timeout 2m")

	pid, err := strconv.Atoi(log.await(t, `node b: \S+ process (\d+),`))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	again := strings.Fields(log.await(t, `to start it again: (.*)\n`))
	start(new(said), again[0], again[1:]...)
	sluice("cluster status --wait --node b --timeout 2m")
}
