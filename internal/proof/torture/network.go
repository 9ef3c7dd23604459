package torture

import (
	"fmt"
	"net"
)

// ground is what the network between the nodes is laid on.
type ground interface {
	// place gives the i-th node its addresses.
	place(i int, n *node) error
	// lay lays the way from one node to another.
	lay(from, to *node) (way, error)
	close() error
}

// way is the network from one node to another.
type way interface {
	addr() string // where the one finds the other
	set(weather) error
	close() error
}

// proxies is a network of links. It takes no privilege, but nodes that learn each
// other's own addresses get around it.
type proxies struct{ held []net.Listener }

func (p *proxies) place(_ int, n *node) error {
	// The port is free now. All ports are held until each node has one, so that no two nodes get the same.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.held = append(p.held, listener)
	n.peer = listener.Addr().String()
	return nil
}

func (p *proxies) lay(_, to *node) (way, error) {
	l, err := newLink()
	if err != nil {
		return nil, err
	}
	l.lead(to.peer)
	return l, p.close()
}

// close gives the ports to the nodes.
func (p *proxies) close() error {
	for _, listener := range p.held {
		_ = listener.Close() // it was never used
	}
	p.held = nil
	return nil
}

// connect gives the nodes addresses and lays the ways between them.
func (c *cluster) connect() error {
	if len(c.nodes) == 1 {
		return nil
	}
	var on ground = new(proxies)
	if c.config.Namespaces {
		spaces, err := newSpaces()
		if err != nil {
			return fmt.Errorf("network namespaces: %w", err)
		}
		on = spaces
	}
	c.undo = append(c.undo, on.close)
	for i, n := range c.nodes {
		if err := on.place(i, n); err != nil {
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
