// Package fairshare divides a number of places fairly among names that want them: for example among accounts, and the
// places of an account among its endpoints.
//
//	places := fairshare.New(fairshare.Options{Places: 512, Reserve: true})
//	give, err := places.Take(ctx, account, host)
//	if err != nil {
//		return err
//	}
//	defer give()
//
// The names lead from the root of a tree to a leaf. At each branch, a free place goes to the name that holds the
// fewest; among several, to the one that has been served least (start-time fair queueing, Goyal et al., 1996); and
// among several of those, to the one that has waited longest. So a name that wants a thousand places does not delay one
// that wants a single place by more than the time for which a place is held.
//
// That time may be long if the holders of places wait for others. With Options.Reserve a name holds no more places than
// are free beside it (dynamic thresholds, Choudhury and Hahne, 1998): one alone takes half of them, two take a third
// each, and places remain for names that come later.
package fairshare

import (
	"context"
	"slices"
	"sync"
)

// Options configures Places.
type Options struct {
	Places int
	// Reserve keeps places free for names that come later, at the cost of those that no name uses.
	Reserve bool
	// Each limits the places of each of the first names. 0 is no limit.
	Each int
}

// Places is a set of places that are taken and given back. Its methods may be called from any goroutine.
type Places struct {
	o Options

	mu    sync.Mutex
	root  node
	taken uint64 // how many waiters there ever were
}

// node is a name that holds places or wants some. A node that does neither is forgotten.
type node struct {
	parent   *node
	name     string
	held     int
	wanting  int // waiters here and below
	children map[string]*node
	waiters  []*waiter // of a leaf, the first one first

	served uint64 // the virtual time of the next place that it gets
	now    uint64 // the virtual time of the children
}

// waiter wants one place.
type waiter struct {
	number uint64
	given  bool          // it has the place
	ready  chan struct{} // closed then
}

// New returns places that are all free.
func New(o Options) *Places { return &Places{o: o} }

// Take waits for a place for the last of the names, which belongs to those before it. It returns a function that gives
// the place back, which may be called several times, or the cause of ctx.
func (p *Places) Take(ctx context.Context, names ...string) (give func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p.mu.Lock()
	leaf := p.leaf(names)
	p.taken++
	w := &waiter{number: p.taken, ready: make(chan struct{})}
	leaf.waiters = append(leaf.waiters, w)
	leaf.count(0, 1)
	p.grant()
	p.mu.Unlock()
	select {
	case <-w.ready:
		return sync.OnceFunc(func() { p.give(leaf) }), nil
	case <-ctx.Done():
		p.leave(leaf, w)
		return nil, context.Cause(ctx)
	}
}

// Held returns how many places a name holds.
func (p *Places) Held(names ...string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := &p.root
	for _, name := range names {
		if n = n.children[name]; n == nil {
			return 0
		}
	}
	return n.held
}

// leaf returns the node that the names lead to, and creates it if necessary.
func (p *Places) leaf(names []string) *node {
	n := &p.root
	for _, name := range names {
		child := n.children[name]
		if child == nil {
			child = &node{parent: n, name: name, served: n.now}
			if n.children == nil {
				n.children = make(map[string]*node)
			}
			n.children[name] = child
		}
		n = child
	}
	return n
}

// count adds to the places that a node and those above it hold and want.
func (n *node) count(held, wanting int) {
	for ; n != nil; n = n.parent {
		n.held += held
		n.wanting += wanting
	}
}

// grant gives free places to waiters, as long as there are both.
func (p *Places) grant() {
	for leaf := p.next(&p.root, p.o.Places); leaf != nil; leaf = p.next(&p.root, p.o.Places) {
		w := leaf.waiters[0]
		leaf.waiters = leaf.waiters[1:]
		leaf.count(1, -1)
		for n := leaf; n.parent != nil; n = n.parent {
			n.parent.now = n.served
			n.served++
		}
		w.given = true
		close(w.ready)
	}
}

// next returns the leaf below n that gets the next place, or nil. n may hold that many places.
func (p *Places) next(n *node, most int) *node {
	free := most - n.held
	if free <= 0 || n.wanting == 0 {
		return nil
	}
	if len(n.waiters) > 0 {
		return n
	}
	var best, of *node // the leaf, and the child of n that it belongs to
	for _, child := range n.children {
		most := child.held + free
		if p.o.Reserve {
			most = free
		}
		if p.o.Each > 0 && n.parent == nil {
			most = min(most, p.o.Each)
		}
		if leaf := p.next(child, most); leaf != nil && (best == nil || child.before(of, leaf, best)) {
			best, of = leaf, child
		}
	}
	return best
}

// before reports whether the waiter of a child comes before that of another one.
func (n *node) before(other, leaf, otherLeaf *node) bool {
	switch {
	case n.held != other.held:
		return n.held < other.held
	case n.served != other.served:
		return n.served < other.served
	}
	return leaf.waiters[0].number < otherLeaf.waiters[0].number
}

// give frees a place.
func (p *Places) give(leaf *node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	leaf.count(-1, 0)
	p.prune(leaf)
	p.grant()
}

// leave forgets a waiter that no longer waits.
func (p *Places) leave(leaf *node, w *waiter) {
	if p.withdraw(leaf, w) {
		p.give(leaf) // it has arrived at the last moment
	}
}

// withdraw reports whether the waiter has a place already.
func (p *Places) withdraw(leaf *node, w *waiter) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.given {
		return true
	}
	leaf.waiters = slices.DeleteFunc(leaf.waiters, func(other *waiter) bool { return other == w })
	leaf.count(0, -1)
	p.prune(leaf)
	return false
}

// prune forgets nodes that are not in use.
func (p *Places) prune(n *node) {
	for ; n.parent != nil && n.held+n.wanting == 0; n = n.parent {
		delete(n.parent.children, n.name)
	}
}
