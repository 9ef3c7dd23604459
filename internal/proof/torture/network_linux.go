package torture

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// noSpaces says why there can be no network namespaces.
func noSpaces() string {
	if os.Geteuid() != 0 {
		return "network namespaces take root"
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return "network namespaces take the program ip"
	}
	return ""
}

// spaces is a network of a namespace for each node, and a bridge between them that this machine is on too. It does not
// depend on the nodes' knowledge of each other: packets get through or they do not.
type spaces struct {
	bridge string
	subnet string // its first three numbers
	names  []string
}

func newSpaces() (*spaces, error) {
	id := os.Getpid() % 1_000_000
	s := &spaces{bridge: fmt.Sprintf("slt%d", id), subnet: fmt.Sprintf("10.%d.%d", 128+id/256%128, id%256)}
	for _, args := range [][]string{
		{"link", "add", s.bridge, "type", "bridge"},
		{"addr", "add", s.subnet + ".254/24", "dev", s.bridge},
		{"link", "set", s.bridge, "up"},
	} {
		if err := run("ip", args...); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// The port of the nodes for each other, and that for clients.
const (
	peerPort   = 6222
	clientPort = 9324
)

func (s *spaces) place(i int, n *node) error {
	space := s.bridge + n.name // also the name of its link, at this end
	ip := fmt.Sprintf("%s.%d", s.subnet, i+1)
	s.names = append(s.names, space)
	for _, args := range [][]string{
		{"netns", "add", space},
		{"link", "add", space, "type", "veth", "peer", "name", "eth0", "netns", space},
		{"link", "set", space, "master", s.bridge, "up"},
		{"-n", space, "addr", "add", ip + "/24", "dev", "eth0"},
		{"-n", space, "link", "set", "eth0", "up"},
		{"-n", space, "link", "set", "lo", "up"},
		// Room in front of the rule by which a node takes what is for it.
		{"-n", space, "rule", "add", "pref", "10", "lookup", "local"},
		{"-n", space, "rule", "del", "pref", "0"},
	} {
		if err := run("ip", args...); err != nil {
			return err
		}
	}
	n.ip, n.space = ip, space
	n.peer = fmt.Sprintf("%s:%d", ip, peerPort)
	n.listen = fmt.Sprintf("%s:%d", ip, clientPort)
	n.wrap = func(cmd *exec.Cmd) *exec.Cmd {
		inside := exec.Command("ip", append([]string{"netns", "exec", space}, cmd.Args...)...)
		inside.Env = cmd.Env
		return inside
	}
	return nil
}

func (s *spaces) lay(from, to *node) (way, error) { return &route{from, to}, nil }

func (s *spaces) close() (err error) {
	for _, name := range s.names {
		// The namespace would take its link away, but some time later.
		_ = run("ip", "link", "del", name)
		err = errors.Join(err, run("ip", "netns", "del", name))
	}
	return errors.Join(err, run("ip", "link", "del", s.bridge))
}

// route is the way of packets from one node to another. Answers go the other route.
type route struct{ from, to *node }

func (r *route) addr() string { return r.to.peer }

// set has the one who is to receive the packets drop them. Cut says so to the
// sender.
func (r *route) set(w weather) error {
	rule := []string{"-n", r.to.space, "rule", "del", "pref", "5", "from", r.from.ip}
	_ = run("ip", rule...) // there need not be one
	rule[2+1] = "add"
	switch {
	case w.Cut:
		return run("ip", append(rule, "unreachable")...)
	case w.There:
		return run("ip", append(rule, "blackhole")...)
	}
	return nil
}

func (r *route) close() error { return nil }
