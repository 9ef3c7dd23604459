package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// dialTimeout is how long making a connection may take.
const dialTimeout = 10 * time.Second

// DialContext connects to host:port if the address is open. It has the signature that http.Transport expects.
func (r *Rules) DialContext(ctx context.Context, network, hostPort string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: dialTimeout}
	if !r.named(host) {
		// It is called for each address of the name, before a packet is sent there.
		d.Control = func(_, address string, _ syscall.RawConn) error { return r.checkDialled(host, address) }
	}
	return d.DialContext(ctx, network, hostPort)
}

func (r *Rules) checkDialled(host, address string) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%s has the address %q, which cannot be checked: %w", host, address, err)
	}
	return r.check(host, a.Addr())
}
