package front

import (
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/tool/heap"
)

// maxWaiting is how many connections wait for places. Each takes an open file.
const maxWaiting = 64

// crowd is the connections of a listener, by address. One address may have all places. When there are no more, the
// address with the most connections makes room for an address that has fewer: it loses its oldest connection without a
// request in progress, or else its newest. A connection of the address with the most waits until it loses an idle one,
// or any connection ends.
//
// Trusted proxies count as one address, and lose only idle connections: each may carry requests of many clients.
//
// It needs the lock of its listener.
type crowd struct {
	limit   *ConnLimit
	places  int
	taken   int // places, including those of connections that are leaving
	leaving int // connections that make room, and are not closed yet
	groups  map[netip.Prefix]*group
	most    heap.Heap[*group] // those that can make room, except proxies
	waiting []*limitedConn    // in the order of arrival
	ready   []*limitedConn    // for Accept
	closed  bool
}

// group is the connections of an address, or of all proxies.
type group struct {
	crowd          *crowd
	network        netip.Prefix // zero: of proxies
	oldest, newest *limitedConn // with places
	open           int          // connections with places that are not leaving
	waiting        int
	place          int // in crowd.most
}

func newCrowd(l *ConnLimit, places int) crowd {
	return crowd{
		limit: l, places: places, groups: make(map[netip.Prefix]*group),
		most: heap.New(func(a, b *group) bool { return a.open > b.open }, func(g *group) *int { return &g.place }),
	}
}

// add adds a connection. It gets a place or waits.
func (w *crowd) add(conn *net.TCPConn, now time.Time) *limitedConn {
	g := w.groupOf(conn)
	c := &limitedConn{TCPConn: conn, of: g, accepted: now.UnixNano()}
	w.waiting = append(w.waiting, c)
	g.waiting++
	if !w.closed {
		w.admit()
	}
	return c
}

// groupOf returns the group of a connection, which may be new.
func (w *crowd) groupOf(conn net.Conn) *group {
	var network netip.Prefix
	if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok && !w.limit.proxies.trust(a.AddrPort().Addr()) {
		network = networkOf(a.AddrPort().Addr())
	}
	g := w.groups[network]
	if g == nil {
		g = &group{crowd: w, network: network}
		w.groups[network] = g
	}
	return g
}

// admit gives free places to the connections that wait: first to the address with the fewest, in the order of arrival.
func (w *crowd) admit() {
	for w.taken < w.places && len(w.waiting) > 0 {
		c := slices.MinFunc(w.waiting, byConnections)
		w.stopWaiting(c)
		w.taken++
		c.place = open
		c.of.link(c)
		w.ready = append(w.ready, c)
	}
}

// byConnections orders connections that wait: those of addresses with the fewest connections come first.
func byConnections(a, b *limitedConn) int { return a.of.open - b.of.open }

// concernsAccept reports whether Accept has something to do.
func (w *crowd) concernsAccept() bool { return len(w.ready) > 0 || len(w.waiting) > 0 }

func (w *crowd) nextReady() *limitedConn {
	if len(w.ready) == 0 {
		return nil
	}
	c := w.ready[0]
	w.ready = slices.Delete(w.ready, 0, 1)
	return c
}

// largest returns the group with the most connections, except proxies, or nil.
func (w *crowd) largest() *group {
	if w.most.Len() == 0 {
		return nil
	}
	return w.most.First()
}

// leaver is a connection that the limit ends.
type leaver struct {
	*limitedConn
	busy bool
}

// makeRoomFor chooses connections that end because another one waits.
func (w *crowd) makeRoomFor(c *limitedConn, now time.Time) (out []leaver) {
	switch {
	case w.closed:
		return []leaver{{c, false}}
	case len(w.waiting) > maxWaiting:
		out = append(out, leaver{w.refuse(), false})
	}
	if c.place != waits || len(w.waiting) <= w.leaving {
		return out
	}
	if l, ok := w.giveWay(c.of, now); ok {
		w.retire(l.limitedConn)
		out = append(out, l)
	}
	return out
}

// refuse removes the newest connection that waits, of the address with the most.
func (w *crowd) refuse() *limitedConn {
	refused := w.waiting[0]
	for _, c := range w.waiting[1:] {
		if c.of.open+c.of.waiting >= refused.of.open+refused.of.waiting {
			refused = c
		}
	}
	w.stopWaiting(refused)
	refused.place = none
	return refused
}

// giveWay returns the connection that ends so that another one, of g, gets its place.
func (w *crowd) giveWay(g *group, now time.Time) (l leaver, ok bool) {
	wanted := g.open + g.waiting
	if most := w.largest(); most != nil && most.open > wanted {
		if c := most.idle(now); c != nil {
			return leaver{c, false}, true
		}
		return leaver{most.newest, true}, true
	}
	c := g.idle(now)
	if proxies := w.groups[netip.Prefix{}]; c == nil && proxies != nil && proxies.open > wanted {
		c = proxies.idle(now)
	}
	return leaver{c, false}, c != nil
}

// lacksRoom reports whether a connection waits that no address makes room for, although its own address has no more
// than its share. Then all connections have to end after their requests.
func (w *crowd) lacksRoom() bool {
	if len(w.waiting) <= w.leaving {
		return false
	}
	next := slices.SortedStableFunc(slices.Values(w.waiting), byConnections)[w.leaving]
	return next.of.open <= w.places/len(w.groups)
}

// retire takes a connection from its group. Its place is free when it is closed.
func (w *crowd) retire(c *limitedConn) {
	c.place = leaves
	w.leaving++
	c.of.unlink(c)
}

// remove removes a connection that is closed.
func (w *crowd) remove(c *limitedConn) {
	switch c.place {
	case waits:
		w.stopWaiting(c)
	case open:
		w.taken--
		c.of.unlink(c)
	case leaves:
		w.taken--
		w.leaving--
	}
	c.place = none
	if !w.closed {
		w.admit()
	}
}

func (w *crowd) stopWaiting(c *limitedConn) {
	i := slices.Index(w.waiting, c)
	w.waiting = slices.Delete(w.waiting, i, i+1)
	c.of.waiting--
	c.of.forget()
}

// close returns the connections that Accept has not returned. There are no further ones.
func (w *crowd) close() (out []leaver) {
	w.closed = true
	for _, c := range slices.Concat(w.waiting, w.ready) {
		out = append(out, leaver{c, false})
	}
	w.ready = nil
	return out
}

// idle returns the oldest connection without a request in progress, or nil. No request may begin on it any more.
func (g *group) idle(now time.Time) *limitedConn {
	for c := g.oldest; c != nil; c = c.after {
		if c.retire(now) {
			return c
		}
	}
	return nil
}

func (g *group) link(c *limitedConn) {
	g.crowd.groups[g.network] = g // it may have been forgotten
	if c.before = g.newest; c.before == nil {
		g.oldest = c
	} else {
		c.before.after = c
	}
	g.newest = c
	g.open++
	g.sort()
}

func (g *group) unlink(c *limitedConn) {
	if c.before == nil {
		g.oldest = c.after
	} else {
		c.before.after = c.after
	}
	if c.after == nil {
		g.newest = c.before
	} else {
		c.after.before = c.before
	}
	c.before, c.after = nil, nil
	g.open--
	g.sort()
	g.forget()
}

// sort moves the group to its place among others.
func (g *group) sort() {
	switch {
	case !g.network.IsValid():
	case g.open == 0:
		g.crowd.most.Remove(g)
	default:
		g.crowd.most.Set(g)
	}
}

// forget removes the group if it has no connections.
func (g *group) forget() {
	if g.open == 0 && g.waiting == 0 {
		delete(g.crowd.groups, g.network)
	}
}
