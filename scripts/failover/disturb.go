package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/sluicemq/sluice/internal/proof/netns"
)

// kinds are the faults.
var kinds = []string{"kill", "control", "stop", "stall", "restart", partition}

// partition is the fault for which each node needs a network namespace.
const partition = "partition"

// result is the effect of one fault.
type result struct {
	node      string
	at        time.Time
	queues    time.Duration // the slowest of those on one shard, or of creating one
	spread    time.Duration // the queue on all shards
	takeovers int           // shards that have changed their owner
	failed    failures
}

// disturb disturbs a node while the traffic continues, and then restores the node.
func (c *cluster) disturb(
	ctx context.Context, t *traffic, kind string, round int, stall time.Duration,
) (r result, err error) {
	before, err := c.status(ctx, 0)
	if err != nil {
		return r, err
	}
	node := round % len(names)
	for _, s := range before.Shards {
		for i, name := range names {
			if kind == "control" && s.Name == "control" && s.Owner == name {
				node = i
			}
		}
	}
	t.forget()
	pause(ctx, time.Second)
	t.countFailures()
	at := time.Now()
	if err := c.do(ctx, kind, node, stall); err != nil {
		return r, err
	}
	r = result{node: names[node], at: at}
	if err := t.recovered(ctx, at); err != nil {
		return r, err
	}
	pause(ctx, time.Second)
	r.queues, r.spread = t.figures(kind, at)
	r.failed = t.failures()
	if kind == partition {
		if err := c.part(node, netns.Pass); err != nil {
			return r, err
		}
	}
	if c.process(node) == nil {
		if err := c.launch(node); err != nil {
			return r, err
		}
	}
	if err := c.well(ctx); err != nil {
		return r, err
	}
	if kind == "stall" {
		after, err := c.status(ctx, 0)
		if err != nil {
			return r, err
		}
		for i, s := range after.Shards {
			if was := before.Shards[i]; was.Epoch > 0 {
				r.takeovers += int(s.Epoch - was.Epoch)
			}
		}
	}
	return r, nil
}

// do does it.
func (c *cluster) do(ctx context.Context, kind string, node int, stall time.Duration) error {
	switch kind {
	case "restart":
		return c.restart(ctx, node)
	case "stop":
		return c.signal(node, syscall.SIGTERM)
	case "stall":
		return hang(ctx, c.process(node).Process, stall)
	case partition:
		return c.part(node, netns.Drop)
	default:
		return c.signal(node, syscall.SIGKILL)
	}
}

// restart restarts the nodes one after the other, each when all is well, beginning with one of them. Clients use a node
// until its process has ended, and again when all is well, as through a load balancer that asks nodes whether they are
// ready.
func (c *cluster) restart(ctx context.Context, first int) error {
	defer c.setApart(-1)
	for n := range names {
		node := (first + n) % len(names)
		c.setApart(-1)
		if err := c.signal(node, syscall.SIGTERM); err != nil {
			return err
		}
		c.setApart(node)
		if err := c.launch(node); err != nil {
			return err
		}
		if err := c.well(ctx); err != nil {
			return err
		}
	}
	return nil
}

// recovered waits until each request has been answered that was begun after a moment.
func (t *traffic) recovered(ctx context.Context, after time.Time) error {
	for end := time.Now().Add(time.Minute); ; {
		name := t.unserved(after)
		switch {
		case name == "":
			return nil
		case time.Now().After(end):
			return fmt.Errorf("%s is not served after a minute", name)
		case !pause(ctx, every):
			return context.Cause(ctx)
		}
	}
}

// figures returns the slowest of the queues on one shard, and the queue on all shards.
func (t *traffic) figures(kind string, at time.Time) (queues, spread time.Duration) {
	if kind == "control" {
		queues, _ = t.probes["create"].first(at)
		return queues, t.probes[spreadQueue].gap()
	}
	for name, p := range t.probes {
		took := p.gap()
		if kind == "kill" || kind == partition {
			took, _ = p.first(at)
		}
		if name != spreadQueue && name != "create" {
			queues = max(queues, took)
		}
	}
	return queues, t.probes[spreadQueue].gap()
}
