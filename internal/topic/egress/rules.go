package egress

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/tool/cidr"
)

// Flag is the server's option that opens addresses, named in refusals.
const Flag = "--egress-allow"

// Rules lists closed addresses that are open nevertheless. The zero value opens none.
type Rules struct {
	networks []netip.Prefix
	hosts    []string // in lower case
}

// Parse parses networks, addresses and host names. A host name opens all addresses of the host.
func Parse(list []string) (*Rules, error) {
	r := &Rules{}
	for _, s := range list {
		s = strings.TrimSpace(s)
		if address, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
			address = address.WithZone("").Unmap()
			r.networks = append(r.networks, netip.PrefixFrom(address, address.BitLen()))
			continue
		}
		if network, err := cidr.Parse(s); err == nil {
			r.networks = append(r.networks, network.Masked())
			continue
		}
		if !isHost(s) {
			return nil, fmt.Errorf("%s %q: want a network such as 10.0.0.0/8, an address or the name of a host", Flag, s)
		}
		r.hosts = append(r.hosts, canonical(s))
	}
	return r, nil
}

func canonical(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

// isHost reports whether s can be a host name. A name that ends in a number is a misspelt address.
func isHost(s string) bool {
	s = canonical(s)
	if s == "" || len(s) > 253 {
		return false
	}
	labels := strings.Split(s, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" ||
			label[0] == '-' {
			return false
		}
	}
	return strings.Trim(labels[len(labels)-1], "0123456789") != ""
}

// Error reports that an address is closed.
type Error struct {
	Host    string // the requested host or address
	Address netip.Addr
	Kind    string // of address
}

func (e *Error) Error() string {
	what := e.Address.String()
	if e.Host != "" && e.Host != what {
		what = e.Host + " has the address " + what + ", which"
	}
	return fmt.Sprintf("%s is %s; the server connects to such an address only if it was started with %s %s", what, e.Kind, Flag, e.Address)
}

// named reports whether a rule names a host.
func (r *Rules) named(host string) bool { return slices.Contains(r.hosts, canonical(host)) }

// check returns an *Error if an address of host is closed.
func (r *Rules) check(host string, address netip.Addr) error {
	address = address.WithZone("")
	forms := append([]netip.Addr{address}, carried(address)...)
	for _, a := range forms {
		if slices.ContainsFunc(r.networks, func(n netip.Prefix) bool { return n.Contains(a) }) {
			return nil
		}
	}
	for _, a := range forms {
		if kind := closed(a); kind != "" {
			if a != address {
				kind += " in another form"
			}
			return &Error{Host: host, Address: address, Kind: kind}
		}
	}
	return nil
}

// CheckHost returns an *Error if host is a closed address, or the name of this machine. Other names are checked when
// they are resolved.
func (r *Rules) CheckHost(host string) error {
	if r.named(host) {
		return nil
	}
	if address, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return r.check("", address)
	}
	if name := canonical(host); name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return r.check(host, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	return nil
}
