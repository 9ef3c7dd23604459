package bench

import (
	"errors"
	"fmt"
	"time"
)

// Config is one load.
type Config struct {
	Target    Target
	Queue     string // name; empty makes one and deletes it afterwards
	Producers int    // connections that send
	Consumers int    // connections that receive and delete
	Batch     int    // messages in a call, 1 to 10; 1 uses the calls for single messages
	Size      int    // bytes of a body
	Duration  time.Duration
	FIFO      bool
	Groups    int // FIFO: message groups
	Backlog   int // messages to send before the measurement begins
	Rate      int // messages to send a second, at even intervals; 0: as many as the server takes

	// ServerPID is the server's process on this machine, or 0. Run reports its processor time, RunPollers its memory.
	ServerPID int

	// For RunPollers, which makes its own queues, and of the fields above uses only Target, Size, Duration and
	// ServerPID.
	Pollers int // connections with a long poll each
	Queues  int // that they poll
}

// Presets are the three configurations of the guide's Appendix A, with the threads of its hosts as connections.
var Presets = map[string]Config{
	"single":  {Producers: 16, Consumers: 32, Batch: 1},
	"double":  {Producers: 32, Consumers: 64, Batch: 1},
	"batched": {Producers: 12, Consumers: 20, Batch: 10},
}

// minSize is the room for the name and the group of a message in its body.
const minSize = 48

// Validate returns one clear sentence about the first mistake.
func (c *Config) Validate() error {
	switch {
	case c.Pollers < 0 || c.Pollers > 50_000:
		return fmt.Errorf("--pollers %d: want 0 to 50000", c.Pollers)
	case c.Pollers == 0 && c.Queues != 0:
		return errors.New("--queues is for --pollers")
	case c.Pollers > 0 && (c.Queues < 1 || c.Queues > c.Pollers):
		return fmt.Errorf("--queues %d: want at least 1, and not more than pollers", c.Queues)
	case c.Producers < 0 || c.Consumers < 0 || c.Producers+c.Consumers == 0:
		return errors.New("--producers and --consumers: at least one of them must work")
	case c.Producers > 10_000 || c.Consumers > 10_000:
		return errors.New("--producers and --consumers: at most 10000 of each")
	case c.Rate < 0 || c.Rate > 1_000_000:
		return fmt.Errorf("--rate %d: want 0 to 1000000", c.Rate)
	case c.Rate > 0 && c.Producers == 0:
		return errors.New("--rate needs --producers, and there are none")
	case c.Batch < 1 || c.Batch > 10:
		return fmt.Errorf("--batch %d: want 1 to 10", c.Batch)
	case c.Size < minSize || c.Size > 1_048_576:
		return fmt.Errorf("--size %d: want %d to 1048576 bytes", c.Size, minSize)
	case c.Duration <= 0:
		return fmt.Errorf("--duration %s: want more", c.Duration)
	case c.Groups < 1:
		return fmt.Errorf("--groups %d: want at least 1", c.Groups)
	case c.Backlog < 0:
		return fmt.Errorf("--backlog %d: want 0 or more", c.Backlog)
	}
	return nil
}
