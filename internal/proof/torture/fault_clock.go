package torture

import (
	"debug/buildinfo"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// mostJump is how far a clock is set ahead or back.
const mostJump = 5 * time.Second

// faultsTag is the build tag of servers whose clock can be set and whose logs can be short. The environment variable
// clockFile names the file from which they read by how much their clock is off.
const (
	faultsTag = "faults"
	clockFile = "SLUICE_CLOCK_FAULTS"
)

// ownClocks returns why nodes cannot have clocks of their own, or "". A released server has the machine's clock. One
// that is built with faultsTag has a clock that is off by what a file says.
func ownClocks(c *Config) string {
	info, err := buildinfo.ReadFile(c.Bin)
	if err == nil {
		for _, s := range info.Settings {
			if s.Key == "-tags" && slices.Contains(strings.Split(s.Value, ","), faultsTag) {
				return ""
			}
		}
	}
	return "it takes a --bin that was built with -tags " + faultsTag
}

func (n *node) clockFile() string { return filepath.Join(n.dir, "clock") }

// env returns the variables that a node's server has besides those of this process.
func (n *node) env() []string { return []string{clockFile + "=" + n.clockFile(), shortLogs} }

// jump sets a node's clock ahead or back, and then corrects it.
type jump struct {
	node int
	by   time.Duration
}

func newJump(rng *rand.Rand, nodes int) fault {
	by := upTo(rng, 200*time.Millisecond, mostJump)
	if rng.IntN(2) == 0 {
		by = -by
	}
	return &jump{node: rng.IntN(nodes), by: by}
}

func (f *jump) String() string {
	return fmt.Sprintf("%s by %v", nameOf(f.node), f.by.Round(time.Millisecond))
}

func (f *jump) set(c *cluster, by time.Duration) error {
	// Write the file aside and rename it, so that the server never reads half of it.
	file := c.nodes[f.node].clockFile()
	if err := os.WriteFile(file+".new", []byte(by.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func (f *jump) inject(c *cluster) error { return f.set(c, f.by) }
func (f *jump) heal(c *cluster) error   { return f.set(c, 0) }
