package torture

import (
	"context"
	"fmt"
	"os"
	"time"
)

// patienceToServe is how long a step of a fault waits for a node to be ready. The end of the episode waits longer.
const patienceToServe = time.Minute

// kill kills nodes.
type kill struct {
	nodes []int
	again int           // how often they are killed again while they start
	delay time.Duration // before each of these kills
}

func (f *kill) String() string {
	return fmt.Sprintf("%s, %d times while starting", namesOf(f.nodes, " "), f.again)
}

func (f *kill) inject(c *cluster) error { return atOnce(c.some(f.nodes), (*node).kill) }

func (f *kill) heal(c *cluster) error {
	for range f.again {
		if err := atOnce(c.some(f.nodes), (*node).start); err != nil {
			return err
		}
		time.Sleep(f.delay)
		if err := atOnce(c.some(f.nodes), (*node).kill); err != nil {
			return err
		}
	}
	return atOnce(c.some(f.nodes), (*node).start)
}

// pause stops a node's process for a while.
type pause struct {
	node    int
	stopped int // process
}

func (f *pause) String() string { return nameOf(f.node) }

func (f *pause) inject(c *cluster) error {
	f.stopped = c.nodes[f.node].pid()
	return pauseProcess(f.stopped)
}

func (f *pause) heal(*cluster) error { return resumeProcess(f.stopped) }

// restart stops and starts the nodes one after the other: the next node is stopped only when the one before is back.
type restart struct{ order []int }

func (f *restart) String() string { return namesOf(f.order, ", then ") }

func (f *restart) inject(c *cluster) error {
	for _, i := range f.order {
		n := c.nodes[i]
		if err := n.stop(); err != nil {
			return err
		}
		if err := n.start(); err != nil {
			return err
		}
		_ = c.healthy(context.Background(), patienceToServe) // the end of the episode finds a node that is not
	}
	return nil
}

func (f *restart) heal(*cluster) error { return nil }

// wipe removes a node's data.
type wipe struct{ node int }

func (f *wipe) String() string { return nameOf(f.node) }

func (f *wipe) inject(c *cluster) error {
	n := c.nodes[f.node]
	if err := n.kill(); err != nil {
		return err
	}
	return os.RemoveAll(n.data)
}

func (f *wipe) heal(c *cluster) error { return c.nodes[f.node].start() }
