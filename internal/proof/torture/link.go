package torture

import (
	"errors"
	"net"
	"sync"
	"time"
)

// link is a path to a server: a proxy on which connections can be disturbed.
type link struct {
	listener net.Listener

	mu      sync.Mutex
	target  string // where it leads; empty if there is no node
	weather weather
	changed chan struct{} // closed when the weather changes
	pipes   map[*pipe]struct{}
	closed  bool
	all     sync.WaitGroup
}

// weather is how a link treats connections. The zero value lets all bytes through at once.
type weather struct {
	Cut   bool          // connections break, and there are no new ones
	There bool          // nothing gets to the server, though connections stay
	Back  bool          // nothing comes back from it
	Delay time.Duration // each way
}

// pipe is a connection through a link.
type pipe struct{ client, server net.Conn }

func (p *pipe) close() {
	// The connections are given up; errors do not matter.
	_ = p.client.Close()
	_ = p.server.Close()
}

// newLink returns a link that leads nowhere yet.
func newLink() (*link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &link{listener: listener, changed: make(chan struct{}), pipes: make(map[*pipe]struct{})}
	l.all.Go(l.accept)
	return l, nil
}

func (l *link) addr() string { return l.listener.Addr().String() }

// lead makes the link lead to target from now on.
func (l *link) lead(target string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.target = target
}

// set changes the weather. Bytes that were held are sent once they may be, like packets that are retransmitted until
// they arrive.
func (l *link) set(w weather) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.weather = w
	close(l.changed)
	l.changed = make(chan struct{})
	if w.Cut {
		for p := range l.pipes {
			p.close()
		}
	}
	return nil
}

// close ends the link and all connections.
func (l *link) close() error {
	_ = l.listener.Close() // accept ends
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	err := l.set(weather{Cut: true})
	l.all.Wait()
	return err
}

func (l *link) accept() {
	for {
		client, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // no file descriptor is free, for example; later one may be
			continue
		}
		l.all.Go(func() { l.serve(client) })
	}
}

func (l *link) serve(client net.Conn) {
	defer func() { _ = client.Close() }() // which may have been done
	l.mu.Lock()
	target, cut := l.target, l.weather.Cut
	l.mu.Unlock()
	if cut || target == "" {
		reset(client)
		return
	}
	server, err := net.DialTimeout("tcp", target, 5*time.Second)
	if err != nil {
		reset(client)
		return
	}
	p := &pipe{client, server}
	defer p.close()
	l.mu.Lock()
	cut = l.weather.Cut // meanwhile
	if !cut {
		l.pipes[p] = struct{}{}
	}
	l.mu.Unlock()
	if cut {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { l.copy(p, server, client, func(w weather) bool { return w.There }) })
	both.Go(func() { l.copy(p, client, server, func(w weather) bool { return w.Back }) })
	both.Wait()
	l.mu.Lock()
	delete(l.pipes, p)
	l.mu.Unlock()
}

// reset closes a connection so that the other side sees an error.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it, it is closed in the usual way
	}
	_ = c.Close()
}

// parcel is a number of bytes on their way.
type parcel struct {
	bytes []byte
	sent  time.Time
}

// copy copies bytes from one side of p to the other, except while held reports that nothing gets through. The end of
// one side ends the other.
func (l *link) copy(p *pipe, to, from net.Conn, held func(weather) bool) {
	parcels := make(chan parcel, 64)
	l.all.Go(func() {
		defer close(parcels)
		for {
			b := make([]byte, 32<<10)
			n, err := from.Read(b)
			if n > 0 {
				parcels <- parcel{b[:n], time.Now()}
			}
			if err != nil {
				return
			}
		}
	})
	broken := false
	for x := range parcels {
		if broken || !l.pass(x.sent, held) {
			broken = true // the rest is read only to let the reader end
			continue
		}
		if _, err := to.Write(x.bytes); err != nil {
			broken = true
			p.close()
		}
	}
	if tcp, ok := to.(*net.TCPConn); ok && !broken && l.pass(time.Now(), held) {
		_ = tcp.CloseWrite() // because from has ended; it may be closed already
		return
	}
	p.close()
}

// pass waits until bytes that were sent at a moment may arrive, and reports whether they do.
func (l *link) pass(sent time.Time, held func(weather) bool) bool {
	for {
		l.mu.Lock()
		w, changed, closed := l.weather, l.changed, l.closed
		l.mu.Unlock()
		if closed || w.Cut {
			return false
		}
		if held(w) {
			<-changed
			continue
		}
		wait := time.Until(sent.Add(w.Delay))
		if wait <= 0 {
			return true
		}
		select {
		case <-time.After(wait):
		case <-changed:
		}
	}
}
