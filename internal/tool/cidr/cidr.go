// Package cidr reads networks of IP addresses.
package cidr

import (
	"fmt"
	"net/netip"
)

// mappedBits is how many bits come before the IPv4 address in an IPv4-mapped one.
const mappedBits = 96

// Parse reads a network in CIDR notation, and keeps the host bits as written. A network of IPv4-mapped addresses
// becomes the IPv4 network that it represents: addresses are compared without the mapping. One that is wider than all
// of IPv4 is refused.
func Parse(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil || !p.Addr().Is4In6() {
		return p, err
	}
	if p.Bits() < mappedBits {
		return netip.Prefix{}, fmt.Errorf("a network of IPv4-mapped addresses has at least %d bits", mappedBits)
	}
	return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mappedBits), nil
}
