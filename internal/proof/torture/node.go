package torture

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/proof/netns"
)

// node is one server of the cluster: its directory, its process while it runs, and the ways to and from it.
type node struct {
	name   string
	dir    string // of the data and the log
	data   string
	disk   *disk          // of its own, or nil
	listen string         // address for clients
	peer   string         // address for other nodes, without what is between them
	front  *link          // between it and clients
	ways   map[string]way // from it to each other node, by name
	space  *netns.Space   // where its process runs, or nil

	command  func() *exec.Cmd
	surprise func(n *node, how string) // is called when the process ends by itself

	mu      sync.Mutex
	process *process
	prepare func(pid int) error // is called with each process while a fault lasts; see attend
}

// process is a run of the server.
type process struct {
	cmd      *exec.Cmd
	done     chan struct{} // closed when it has ended
	expected bool          // its end is
	endpoint string        // set when it serves
}

// start starts the server and keeps it running until it is stopped: one that ends by itself is started again, as a
// supervisor would. It does not wait until the server serves.
func (n *node) start() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.startLocked()
}

func (n *node) startLocked() error {
	log, err := os.OpenFile(filepath.Join(n.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own
	cmd := n.command()
	cmd.Stderr = log
	apart(cmd)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	n.process = p
	go n.watch(p, stdout)
	if n.prepare != nil {
		return n.prepare(cmd.Process.Pid)
	}
	return nil
}

// watch follows a process to its end.
func (n *node) watch(p *process, stdout io.Reader) {
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if url, ok := strings.CutPrefix(lines.Text(), "export AWS_ENDPOINT_URL_SQS="); ok {
			n.mu.Lock()
			p.endpoint = url
			n.mu.Unlock()
			n.front.lead(strings.TrimPrefix(url, "http://"))
		}
	}
	how := p.cmd.Wait()
	n.front.lead("")
	n.mu.Lock()
	expected := p.expected
	n.mu.Unlock()
	close(p.done)
	if expected {
		return
	}
	n.surprise(n, fmt.Sprint(how))
	time.Sleep(time.Second)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process == p && !p.expected {
		if err := n.startLocked(); err != nil {
			n.surprise(n, fmt.Sprint("it cannot be started again: ", err))
		}
	}
}

// end makes the process end by f, and waits until it has, or ctx ends.
func (n *node) end(ctx context.Context, f func(*os.Process) error) error {
	n.mu.Lock()
	p := n.process
	p.expected = true
	n.mu.Unlock()
	if err := f(p.cmd.Process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("node %s does not stop: %w", n.name, ctx.Err())
	}
}

// kill ends the process at an arbitrary moment.
func (n *node) kill() error { return n.end(context.Background(), (*os.Process).Kill) }

// stop sends SIGTERM to the process. If it does not end within a minute, it is killed, which is an error.
func (n *node) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := n.end(ctx, func(p *os.Process) error { return p.Signal(terminate) }); err != nil {
		return errors.Join(err, n.kill())
	}
	return nil
}

// pid returns the process that runs now.
func (n *node) pid() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.process.cmd.Process.Pid
}

// attend calls f with the process that runs now, and has f called with each later one. nil ends that.
func (n *node) attend(f func(pid int) error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.prepare = f
	if f == nil {
		return nil
	}
	return f(n.process.cmd.Process.Pid)
}

// ready returns an error unless the server reports that it is ready.
func (n *node) ready(ctx context.Context, c *http.Client) error {
	n.mu.Lock()
	endpoint := n.process.endpoint
	n.mu.Unlock()
	if endpoint == "" {
		return fmt.Errorf("node %s does not serve yet", n.name)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"/readyz", nil)
	if err != nil {
		return err
	}
	answer, err := c.Do(r)
	if err != nil {
		return fmt.Errorf("node %s: %w", n.name, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1000))
	if err != nil {
		return fmt.Errorf("node %s: %w", n.name, err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("node %s is not ready: %s", n.name, bytes.TrimSpace(text))
	}
	return nil
}
