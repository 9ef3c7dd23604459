package crash

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/workload"
)

// process is a running server.
type process struct {
	cmd      *exec.Cmd
	endpoint chan string // closed if the server ends without an address
	ended    chan error
	log      bytes.Buffer // read it only after the end

	goroutines chan int // answers of a child; closed when the server ends
}

// serve returns the arguments of a server on data.
func serve(data string) []string {
	return []string{
		"serve", "--data", data, "--listen", "127.0.0.1:0",
		"--root-access-key-id", workload.Root.AccessKeyID, "--root-secret-access-key", workload.Root.Secret,
	}
}

// launch starts a server on data.
func launch(t *testing.T, binary, data string, flags ...string) *process {
	t.Helper()
	return begin(t, exec.CommandContext(t.Context(), binary, append(serve(data), flags...)...))
}

// begin starts a server and reads its output.
func begin(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, endpoint: make(chan string, 1), ended: make(chan error, 1), goroutines: make(chan int, 1)}
	p.cmd.Stderr = &p.log
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if url, ok := strings.CutPrefix(lines.Text(), "export AWS_ENDPOINT_URL_SQS="); ok {
				p.endpoint <- url
			}
			var n int
			if _, err := fmt.Sscanf(lines.Text(), "goroutines %d", &n); err == nil {
				p.goroutines <- n
			}
		}
		close(p.endpoint)
		close(p.goroutines)
		p.ended <- p.cmd.Wait()
		close(p.ended)
	}()
	return p
}

// ready waits until the server listens.
func (p *process) ready(t *testing.T) *workload.Client {
	t.Helper()
	endpoint, ok := <-p.endpoint
	if !ok {
		err := <-p.ended
		t.Fatalf("the server does not start: %v\n%s", err, p.log.String())
	}
	return workload.NewClient(endpoint)
}

// kill ends the server at an arbitrary moment.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	err := <-p.ended
	if p.cmd.ProcessState.Exited() {
		t.Errorf("the server had already ended: %v\n%s", err, p.log.String())
	}
	p.checkLog(t)
}

// stop stops the server gracefully, and checks that it logged no problem.
func (p *process) stop(t *testing.T) {
	t.Helper()
	p.end(t)
	p.checkLog(t)
}

// end stops the server gracefully.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-p.ended; err != nil {
		t.Errorf("the server stopped with %v\n%s", err, p.log.String())
	}
}

// checkLog checks that the server logged no problem.
func (p *process) checkLog(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(p.log.String()) {
		if !strings.Contains(line, "level=INFO") && !strings.Contains(line, "level=WARN") {
			t.Errorf("the server logs: %s", line)
		}
	}
}
