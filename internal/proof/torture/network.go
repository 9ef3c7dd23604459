package torture

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/internal/proof/netns"
)

// ground is the kind of network between the nodes: proxies or namespaces.
type ground interface {
	// place gives a node its addresses.
	place(n *node) error
	// lay creates the way from one node to another.
	lay(from, to *node) (way, error)
	close() error
}

// way is the network from one node to another.
type way interface {
	addr() string // where the first node reaches the second
	set(weather) error
	close() error
}

// proxies is a network of links. It needs no privilege, but nodes that learn each other's own addresses get around it.
type proxies struct{}

func (p *proxies) place(n *node) error {
	addresses, err := freeport.Take(1)
	if err != nil {
		return err
	}
	n.peer = addresses[0]
	return nil
}

func (p *proxies) lay(_, to *node) (way, error) {
	l, err := newLink()
	if err != nil {
		return nil, err
	}
	l.lead(to.peer)
	return l, nil
}

func (p *proxies) close() error { return nil }

// spaces is a network of namespaces.
type spaces struct{ bridge *netns.Bridge }

// The ports of each node for other nodes and for clients.
const (
	peerPort   = "6222"
	clientPort = "9324"
)

func (s *spaces) place(n *node) error {
	space, err := s.bridge.Add(n.name)
	if err != nil {
		return err
	}
	n.space, n.peer, n.listen = &space, space.IP+":"+peerPort, space.IP+":"+clientPort
	return nil
}

func (s *spaces) lay(from, to *node) (way, error) { return &route{from, to}, nil }

func (s *spaces) close() error { return s.bridge.Close() }

// route is the way of packets from one node to another. Answers go the other route.
type route struct{ from, to *node }

func (r *route) addr() string { return r.to.peer }

func (r *route) set(w weather) error {
	fate := netns.Pass
	switch {
	case w.Cut:
		fate = netns.Refuse
	case w.There:
		fate = netns.Drop
	}
	return netns.Set(*r.from.space, *r.to.space, fate)
}

func (r *route) close() error { return nil }

// connect gives the nodes addresses and creates the ways between them.
func (c *cluster) connect() error {
	if len(c.nodes) == 1 {
		return nil
	}
	var on ground = new(proxies)
	if c.config.Namespaces {
		bridge, err := netns.New()
		if err != nil {
			return fmt.Errorf("network namespaces: %w", err)
		}
		on = &spaces{bridge}
	}
	c.undo = append(c.undo, on.close)
	for _, n := range c.nodes {
		if err := on.place(n); err != nil {
			return fmt.Errorf("a place in the network for node %s: %w", n.name, err)
		}
	}
	for _, n := range c.nodes {
		for _, m := range c.nodes {
			if m == n {
				continue
			}
			w, err := on.lay(n, m)
			if err != nil {
				return fmt.Errorf("a way from node %s to %s: %w", n.name, m.name, err)
			}
			n.ways[m.name] = w
		}
	}
	return nil
}
