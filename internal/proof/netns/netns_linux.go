package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Missing explains what the process lacks for namespaces. It returns "" if it lacks nothing.
func Missing() string {
	if os.Geteuid() != 0 {
		return "network namespaces take root"
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return "network namespaces take the program ip"
	}
	return ""
}

// Bridge is the network between spaces. Their names and its own begin with "slt".
type Bridge struct {
	name   string
	subnet string // its first three numbers
	spaces []Space
}

// New creates a network without spaces. Close removes it.
func New() (*Bridge, error) {
	id := os.Getpid() % 1_000_000
	b := &Bridge{name: fmt.Sprintf("slt%d", id), subnet: fmt.Sprintf("10.%d.%d", 128+id/256%128, id%256)}
	err := ip(
		[]string{"link", "add", b.name, "type", "bridge"},
		[]string{"addr", "add", b.subnet + ".254/24", "dev", b.name},
		[]string{"link", "set", b.name, "up"},
	)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Add makes a space, whose short name differs from those of the others.
func (b *Bridge) Add(short string) (Space, error) {
	s := Space{Name: b.name + short, IP: fmt.Sprintf("%s.%d", b.subnet, len(b.spaces)+1)}
	b.spaces = append(b.spaces, s)
	return s, ip(
		[]string{"netns", "add", s.Name},
		[]string{"link", "add", s.Name, "type", "veth", "peer", "name", "eth0", "netns", s.Name},
		[]string{"link", "set", s.Name, "master", b.name, "up"},
		[]string{"-n", s.Name, "addr", "add", s.IP + "/24", "dev", "eth0"},
		[]string{"-n", s.Name, "link", "set", "eth0", "up"},
		[]string{"-n", s.Name, "link", "set", "lo", "up"},
		// The rule by which a space accepts its own packets moves behind those of Set.
		[]string{"-n", s.Name, "rule", "add", "pref", "10", "lookup", "local"},
		[]string{"-n", s.Name, "rule", "del", "pref", "0"},
	)
}

// Close removes the network and its spaces.
func (b *Bridge) Close() (err error) {
	for _, s := range b.spaces {
		_ = ip([]string{"link", "del", s.Name}) // the end of the space removes it, too, but later
		err = errors.Join(err, ip([]string{"netns", "del", s.Name}))
	}
	return errors.Join(err, ip([]string{"link", "del", b.name}))
}

// Set decides the fate of the packets from one space to another. Answers to them go the other way.
func Set(from, to Space, fate Fate) error {
	rule := func(do string, more ...string) []string {
		return append([]string{"-n", to.Name, "rule", do, "pref", "5", "from", from.IP}, more...)
	}
	_ = ip(rule("del")) // there may be none
	switch fate {
	case Refuse:
		return ip(rule("add", "unreachable"))
	case Drop:
		return ip(rule("add", "blackhole"))
	default:
		return nil
	}
}

// ip runs the program ip with each list of arguments.
func ip(commands ...[]string) error {
	for _, args := range commands {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %v: %w: %s", args, err, out)
		}
	}
	return nil
}
