package front

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/tool/cidr"
)

// Proxies are the networks of trusted proxies. The headers of other addresses are ignored: any client can send the
// headers that proxies use.
type Proxies []netip.Prefix

// ParseProxies parses networks, such as 10.0.0.0/8, and addresses.
func ParseProxies(list []string) (Proxies, error) {
	var out Proxies
	for _, text := range list {
		network, err := cidr.Parse(text)
		if addr, addrErr := netip.ParseAddr(text); addrErr == nil {
			addr = addr.Unmap()
			network, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil || network != network.Masked() {
			return nil, fmt.Errorf("--trusted-proxy %q: want an address or a network such as 10.0.0.0/8", text)
		}
		out = append(out, network)
	}
	return out, nil
}

func (p Proxies) trust(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(a) })
}

// client returns the address of a request's sender: the peer or, if that is a proxy, the one before it, and so on. A
// proxy that names no address stands for its client itself.
func (p Proxies) client(r *http.Request) string {
	peer := peerIP(r)
	if len(p) == 0 {
		return peer
	}
	at, err := netip.ParseAddr(peer)
	lists := r.Header.Values("X-Forwarded-For")
	for i := len(lists) - 1; err == nil && i >= 0; i-- {
		list, more := lists[i], true
		for more && p.trust(at) {
			var hop string
			list, hop, more = cutLast(list)
			before, ok := parseHop(strings.TrimSpace(hop))
			if !ok {
				return peer
			}
			at, peer = before, before.String()
		}
		if more {
			return peer
		}
	}
	return peer
}

// cutLast cuts the last part off a list. Clients may send long ones, of which the beginning does not matter.
func cutLast(list string) (rest, last string, more bool) {
	i := strings.LastIndexByte(list, ',')
	if i < 0 {
		return "", list, false
	}
	return list[:i], list[i+1:], true
}

// parseHop parses an address as proxies write it, possibly with a port.
func parseHop(s string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return a.Unmap(), true
	}
	a, err := netip.ParseAddrPort(s)
	return a.Addr().Unmap(), err == nil
}

// encrypted reports whether a request came over TLS: to this server, or to a proxy.
func (p Proxies) encrypted(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	if len(p) == 0 || !strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		return false
	}
	peer, err := netip.ParseAddr(peerIP(r))
	return err == nil && p.trust(peer)
}

// peerIP returns the address of the connection's other end.
func peerIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
