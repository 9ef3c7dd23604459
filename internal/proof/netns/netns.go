// Package netns puts processes on a network of their own: a network namespace for each, and a bridge between them to
// which this machine is connected, too. Packets between two of them get through, are refused, or are dropped. The
// processes cannot get around this, because it does not depend on the addresses that they know. The package needs root
// on Linux, and the program ip.
package netns

import "os/exec"

// Fate is what happens to packets.
type Fate int

// The fates of packets.
const (
	Pass   Fate = iota
	Refuse      // the sender gets an ICMP message
	Drop
)

// Space is a network namespace.
type Space struct {
	Name string
	IP   string
}

// Wrap returns a command that runs cmd, which has not been started, in the space. It has the same environment.
func (s Space) Wrap(cmd *exec.Cmd) *exec.Cmd {
	inside := exec.Command("ip", append([]string{"netns", "exec", s.Name}, cmd.Args...)...)
	inside.Env = cmd.Env
	return inside
}
