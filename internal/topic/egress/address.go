package egress

import (
	"encoding/binary"
	"net/netip"
)

// ranges are the closed addresses and what they are: those of the registries of special-purpose addresses (RFC 6890 and
// what has been added) that are not on the Internet.
var ranges = []struct {
	network netip.Prefix
	kind    string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "an unspecified address"},
	{netip.MustParsePrefix("10.0.0.0/8"), "a private address"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a private address of a provider's network"},
	{netip.MustParsePrefix("127.0.0.0/8"), "a loopback address"},
	{netip.MustParsePrefix("169.254.0.0/16"), "a link-local address"},
	{netip.MustParsePrefix("172.16.0.0/12"), "a private address"},
	{netip.MustParsePrefix("192.0.0.0/24"), "a reserved address"},
	{netip.MustParsePrefix("192.0.2.0/24"), "an address for documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a reserved address"},
	{netip.MustParsePrefix("192.168.0.0/16"), "a private address"},
	{netip.MustParsePrefix("198.18.0.0/15"), "a private address for benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "an address for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "an address for documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "a multicast address"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved address"},

	{netip.MustParsePrefix("::/128"), "an unspecified address"},
	{netip.MustParsePrefix("::1/128"), "a loopback address"},
	{netip.MustParsePrefix("100::/64"), "a reserved address"},
	{netip.MustParsePrefix("2001::/23"), "a reserved address"}, // Teredo too, which hides an IPv4 address
	{netip.MustParsePrefix("2001:db8::/32"), "an address for documentation"},
	{netip.MustParsePrefix("3fff::/20"), "an address for documentation"},
	{netip.MustParsePrefix("5f00::/16"), "a reserved address"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "a private address"},
	{netip.MustParsePrefix("fc00::/7"), "a private address"},
	{netip.MustParsePrefix("fe80::/10"), "a link-local address"},
	{netip.MustParsePrefix("fec0::/10"), "a private address"},
	{netip.MustParsePrefix("ff00::/8"), "a multicast address"},
}

// public contains all unicast addresses of IPv6 on the Internet.
var public = netip.MustParsePrefix("2000::/3")

// closed returns the kind of a closed address, or "" if it is open.
func closed(a netip.Addr) string {
	for i := range ranges {
		if ranges[i].network.Contains(a) {
			return ranges[i].kind
		}
	}
	if a.Is6() && !public.Contains(a) && len(carried(a)) == 0 {
		return "a reserved address"
	}
	return ""
}

// The prefixes of IPv6 addresses that carry IPv4, and the byte at which the IPv4 address begins.
var carriers = []struct {
	network netip.Prefix
	at      int
}{
	{netip.MustParsePrefix("::ffff:0:0/96"), 12},   // mapped
	{netip.MustParsePrefix("::/96"), 12},           // compatible, deprecated
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // translated
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4
}

// isatap stands in the second half of an address of an ISATAP tunnel before the IPv4 address.
const isatap = 0x0000_5efe

// carried returns the IPv4 addresses that an IPv6 address stands for.
func carried(a netip.Addr) (out []netip.Addr) {
	if !a.Is6() {
		return nil
	}
	b := a.As16()
	for _, c := range carriers {
		if c.network.Contains(a) {
			out = append(out, netip.AddrFrom4([4]byte(b[c.at:c.at+4])))
		}
	}
	if binary.BigEndian.Uint32(b[8:12])&^0x0300_0000 == isatap {
		out = append(out, netip.AddrFrom4([4]byte(b[12:16])))
	}
	return out
}
