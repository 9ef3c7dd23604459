package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/internal/proof/netns"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/scripts/program"
)

// names are the names of the nodes.
var names = []string{"a", "b", "c"}

// cluster is three nodes on this machine.
type cluster struct {
	binary, dir string
	flags       []string
	peers       string
	listen      []string      // where clients reach each node
	bridge      *netns.Bridge // the network of the nodes, or nil: this machine's
	spaces      []netns.Space // of the nodes, with a bridge
	clients     []*workload.Client

	mu      sync.Mutex
	running []*exec.Cmd // nil: it is down
	apart   int         // a node that clients do not use, or -1; see restart
}

// start starts the nodes. If apart, each has a network namespace, so that part can separate them.
func start(ctx context.Context, binary, dir string, flags []string, apart bool) (*cluster, error) {
	c := &cluster{binary: binary, dir: dir, flags: flags, running: make([]*exec.Cmd, len(names)), apart: -1}
	find := findPorts
	if apart {
		find = c.findSpaces
	}
	addresses, err := find()
	if err != nil {
		return nil, errors.Join(err, c.end())
	}
	var peers []string
	for i, name := range names {
		peers = append(peers, name+"="+addresses[i])
		c.listen = append(c.listen, addresses[len(names)+i])
		c.clients = append(c.clients, workload.NewClient("http://"+c.listen[i]))
	}
	c.peers = strings.Join(peers, ",")
	for i := range names {
		if err := c.launch(i); err != nil {
			return nil, errors.Join(err, c.end())
		}
	}
	return c, nil
}

// findPorts returns the addresses of the nodes for each other, and then those for clients.
func findPorts() ([]string, error) { return freeport.Take(2 * len(names)) }

// findSpaces gives each node a network namespace, and returns addresses as findPorts does.
func (c *cluster) findSpaces() ([]string, error) {
	var err error
	if c.bridge, err = netns.New(); err != nil {
		return nil, err
	}
	peers, clients := []string(nil), []string(nil)
	for _, name := range names {
		space, err := c.bridge.Add(name)
		if err != nil {
			return nil, err
		}
		c.spaces = append(c.spaces, space)
		peers, clients = append(peers, space.IP+":6222"), append(clients, space.IP+":9324")
	}
	return append(peers, clients...), nil
}

// part decides what happens to the packets between a node and the others.
func (c *cluster) part(node int, fate netns.Fate) (err error) {
	for other := range names {
		if other != node {
			err = errors.Join(
				err, netns.Set(c.spaces[node], c.spaces[other], fate), netns.Set(c.spaces[other], c.spaces[node], fate),
			)
		}
	}
	return err
}

// launch starts a node.
func (c *cluster) launch(i int) error {
	cmd := exec.Command(c.binary, append([]string{
		"serve", "--data", filepath.Join(c.dir, names[i]), "--listen", c.listen[i], "--insecure",
		"--root-access-key-id", workload.Root.AccessKeyID, "--root-secret-access-key", workload.Root.Secret,
		"--no-cool-downs",
		"--node", names[i], "--cluster", c.peers, "--cluster-secret-file", filepath.Join(c.dir, "secret"),
	}, c.flags...)...)
	if c.bridge != nil {
		cmd = c.spaces[i].Wrap(cmd)
	}
	log, err := os.OpenFile(filepath.Join(c.dir, names[i]+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[i] = cmd
	return nil
}

// through returns the client of the node that is called n-th.
func (c *cluster) through(n int) *workload.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n%len(names) == c.apart {
		n++
	}
	return c.clients[n%len(names)]
}

// setApart makes clients use all nodes but one, or all if that is -1.
func (c *cluster) setApart(node int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.apart = node
}

// process returns the process of a node, or nil while it is down.
func (c *cluster) process(i int) *exec.Cmd {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running[i]
}

// signal ends a node by a signal, and waits until it has ended.
func (c *cluster) signal(i int, s os.Signal) error {
	cmd := c.process(i)
	if err := cmd.Process.Signal(s); err != nil {
		return err
	}
	_ = cmd.Wait() // a killed process says so
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[i] = nil
	return nil
}

func (c *cluster) end() error {
	for i := range names {
		if c.process(i) != nil {
			_ = c.signal(i, syscall.SIGKILL)
		}
	}
	if c.bridge == nil {
		return nil
	}
	return c.bridge.Close()
}

// status returns the cluster as a node sees it.
func (c *cluster) status(ctx context.Context, i int) (s status.Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err = c.clients[i].Administer(ctx, "DescribeCluster", workload.Object{}, &s)
	return s, err
}

// well waits until no node reports a problem.
func (c *cluster) well(ctx context.Context) error {
	err := errors.New("no node was asked")
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); {
		if err = c.ill(ctx); err == nil {
			return nil
		}
		if !pause(ctx, 200*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("the cluster does not get well: %w", err)
}

func (c *cluster) ill(ctx context.Context) error {
	for i := range names {
		s, err := c.status(ctx, i)
		if err != nil {
			return fmt.Errorf("node %s: %w", names[i], err)
		}
		if len(s.Shards) == 0 || len(s.Nodes) < len(names) {
			return errors.New("it is not complete yet")
		}
		for _, p := range s.Problems() {
			return errors.New(p.Problem)
		}
	}
	return nil
}

// idle prints what each node uses without requests.
func (c *cluster) idle(ctx context.Context, d time.Duration, stdout io.Writer) error {
	if !pause(ctx, 20*time.Second) { // what a start leaves behind
		return context.Cause(ctx)
	}
	before := c.use()
	if !pause(ctx, d) {
		return context.Cause(ctx)
	}
	for i, after := range c.use() {
		cpu := 100 * (after.CPU - before[i].CPU).Seconds() / d.Seconds()
		fmt.Fprintf(stdout, "idle node %s: %.2f%% of a processor, %d MiB\n", names[i], cpu, after.Memory>>20)
	}
	return nil
}

func (c *cluster) use() (all []program.Use) {
	for i := range names {
		all = append(all, program.UseOf(c.process(i).Process.Pid))
	}
	return all
}

// beBusy starts a process that keeps a processor busy, and returns a function that ends it.
func beBusy(ctx context.Context) (stop func(), err error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}, nil
}

// pause waits, and reports false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
