package torture

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/proof/netns"
)

// Config is one run.
type Config struct {
	Bin        string   // the program whose servers are tortured
	Serve      []string // more arguments of its serve command
	Nodes      int
	Seed       uint64
	Duration   time.Duration // of all rounds, without the time in which queues are emptied
	Round      time.Duration
	Faults     []string // names of kinds, or "none"; empty: all that are possible here
	Dir        string   // for data, logs and histories
	Keep       bool     // keep data and the histories of rounds without violations in Dir
	Producers  int      // of each queue; 0: as many as nodes
	Consumers  int      // of each queue
	Queues     int      // sets of queues, one of each kind
	Shards     int      // of queues that can have several; 0: the server decides
	Namespaces bool     // the network between the nodes is one of namespaces, not of proxies
	Pause      time.Duration
	Longest    time.Duration // visibility timeout
	Timeout    time.Duration // of a call
	Margin     time.Duration // by which the nodes' clocks may differ
	Grace      time.Duration // after recovery, in which calls may still have no answer
	Patience   time.Duration // with a cluster without faults, until it is well or answers
}

// Default returns the configuration of a run on this machine.
func Default() Config {
	return Config{
		Nodes: 3, Duration: 2 * time.Minute, Round: 2 * time.Minute, Consumers: 1, Queues: 1,
		Pause: 20 * time.Millisecond, Longest: 15 * time.Second, Timeout: 8 * time.Second,
		Margin: 50 * time.Millisecond, Grace: 30 * time.Second, Patience: 3 * time.Minute,
	}
}

// Validate returns an error about the first value that is wrong.
func (c *Config) Validate() error {
	for _, d := range []struct {
		flag        string
		value, want time.Duration // at least
	}{
		{"duration", c.Duration, time.Second}, {"round", c.Round, time.Second}, {"timeout", c.Timeout, time.Second},
		{"pause", c.Pause, 0}, {"longest", c.Longest, 2 * time.Second}, {"margin", c.Margin, 0}, {"grace", c.Grace, 0},
		{"patience", c.Patience, time.Second},
	} {
		if d.value < d.want {
			return fmt.Errorf("--%s %s: want at least %s", d.flag, d.value, d.want)
		}
	}
	switch {
	case c.Nodes < 1 || c.Nodes > 9:
		return fmt.Errorf("--nodes %d: want 1 to 9", c.Nodes)
	case c.Producers < 0 || c.Consumers < 1 || c.Queues < 1:
		return errors.New("--producers, --consumers and --queues: want at least 1 of each")
	case c.Shards < 0:
		return fmt.Errorf("--shards %d: want 0 or more", c.Shards)
	case c.Namespaces && netns.Missing() != "":
		return errors.New("--namespaces: " + netns.Missing())
	case c.Bin == "" || c.Dir == "":
		return errors.New("--bin and --dir must name a program and a directory")
	}
	_, err := c.kinds()
	return err
}

// none is the name that stands for no faults.
const none = "none"

// kinds returns the requested kinds of faults.
func (c *Config) kinds() ([]kind, error) {
	if slices.Equal(c.Faults, []string{none}) {
		return nil, nil
	}
	var out []kind
	if len(c.Faults) == 0 {
		for _, k := range kinds {
			if k.impossible(c) == "" {
				out = append(out, k)
			}
		}
		return out, nil
	}
	for _, name := range c.Faults {
		i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
		if i < 0 {
			return nil, fmt.Errorf("--faults %s: want %s, or %s", name, strings.Join(Faults(), ", "), none)
		}
		if why := kinds[i].impossible(c); why != "" {
			return nil, fmt.Errorf("--faults %s: %s", name, why)
		}
		out = append(out, kinds[i])
	}
	return out, nil
}
