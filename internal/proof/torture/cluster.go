package torture

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/proof/workload"
)

// cluster is the cluster that is tortured.
type cluster struct {
	config   *Config
	nodes    []*node
	clients  []*workload.Client // one for each node
	surprise func(n *node, how string)
	undo     []func() error // removes what was set up; runs in reverse order
}

// arguments returns the arguments of a node's server. No other code here depends on how a cluster is started.
func (c *cluster) arguments(n *node) []string {
	args := []string{
		"serve", "--listen", n.listen, "--no-cool-downs", // names are used again at once
		"--root-access-key-id", workload.Root.AccessKeyID, "--root-secret-access-key", workload.Root.Secret,
	}
	if !slices.Contains(c.config.Serve, "--in-memory") { // which excludes --data
		args = append(args, "--data", n.data)
	}
	if n.space != nil {
		args = append(args, "--insecure") // the server cannot know that only this machine reaches the address
	}
	if len(c.nodes) > 1 {
		args = append(args, "--node", n.name, "--cluster", strings.Join(c.peersOf(n), ","),
			"--cluster-secret-file", filepath.Join(c.config.Dir, "secret"))
	}
	return append(args, c.config.Serve...)
}

// peersOf returns the members of the cluster for n: n itself at its own address, and the others at the near ends of the
// links to them.
func (c *cluster) peersOf(n *node) []string {
	var out []string
	for _, m := range c.nodes {
		addr := m.peer
		if m != n {
			addr = n.ways[m.name].addr()
		}
		out = append(out, m.name+"="+addr)
	}
	return out
}

// newCluster prepares the nodes without starting them.
func newCluster(config *Config, surprise func(n *node, how string)) (_ *cluster, err error) {
	c := &cluster{config: config, surprise: surprise}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	for i := range config.Nodes {
		if err := c.add(nameOf(i)); err != nil {
			return nil, err
		}
	}
	if err := c.connect(); err != nil {
		return nil, err
	}
	return c, nil
}

// add prepares one node.
func (c *cluster) add(name string) (err error) {
	n := &node{
		name: name, dir: filepath.Join(c.config.Dir, name), listen: "127.0.0.1:0", ways: make(map[string]way),
		surprise: c.surprise,
	}
	n.data = filepath.Join(n.dir, "data")
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return err
	}
	if needsDisk(c.config) {
		if n.disk, err = newDisk(filepath.Join(n.dir, "disk")); err != nil {
			return fmt.Errorf("a disk for node %s: %w", name, err)
		}
		c.undo = append(c.undo, n.disk.remove)
		n.data = filepath.Join(n.disk.dir, "data")
	}
	if n.front, err = newLink(); err != nil {
		return err
	}
	n.command = func() *exec.Cmd {
		cmd := exec.Command(c.config.Bin, c.arguments(n)...)
		cmd.Env = append(
			slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "SLUICE_") }), n.env()...,
		)
		if n.space != nil {
			cmd = n.space.Wrap(cmd)
		}
		return cmd
	}
	c.nodes = append(c.nodes, n)
	client := workload.NewClient("http://" + n.front.addr())
	client.HTTP.Timeout = c.config.Timeout
	client.Shards = c.config.Shards
	c.clients = append(c.clients, client)
	return nil
}

// start starts all nodes.
func (c *cluster) start() error {
	for _, n := range c.nodes {
		if err := n.start(); err != nil {
			return fmt.Errorf("node %s: %w", n.name, err)
		}
	}
	return nil
}

// healthy waits until all nodes report that they are ready.
func (c *cluster) healthy(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		var all []error
		for _, n := range c.nodes {
			all = append(all, n.ready(ctx, client))
		}
		err := errors.Join(all...)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// whole waits until all nodes are ready and report no problem of the cluster. It could then lose another node.
func (c *cluster) whole(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := c.healthy(ctx, patience); err != nil || len(c.nodes) == 1 {
		return err
	}
	for {
		var wrong []string
		for i, client := range c.clients {
			var s status.Status
			switch err := client.Administer(ctx, "DescribeCluster", workload.Object{}, &s); {
			case err != nil && strings.Contains(err.Error(), "NoClusterException"):
			case err != nil:
				wrong = append(wrong, fmt.Sprintf("node %s: %v", nameOf(i), err))
			}
			for _, p := range s.Problems() {
				wrong = append(wrong, p.Problem)
			}
		}
		if len(wrong) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New(strings.Join(wrong, " "))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// stop stops all nodes at the same time, by SIGTERM.
func (c *cluster) stop() error { return atOnce(c.nodes, (*node).stop) }

// some returns the nodes with these numbers.
func (c *cluster) some(numbers []int) []*node {
	var out []*node
	for _, i := range numbers {
		out = append(out, c.nodes[i])
	}
	return out
}

// atOnce does something to several nodes at the same time.
func atOnce(nodes []*node, do func(*node) error) error {
	errs := make(chan error)
	for _, n := range nodes {
		go func() { errs <- do(n) }()
	}
	var err error
	for range nodes {
		err = errors.Join(err, <-errs)
	}
	return err
}

// close kills the nodes that still run, and removes everything but the directory.
func (c *cluster) close() (err error) {
	for _, n := range c.nodes {
		if n.process != nil {
			err = errors.Join(err, n.kill())
		}
		err = errors.Join(err, n.front.close())
		for _, w := range n.ways {
			err = errors.Join(err, w.close())
		}
	}
	for _, client := range c.clients {
		client.Close()
	}
	for _, undo := range slices.Backward(c.undo) {
		err = errors.Join(err, undo())
	}
	return err
}
