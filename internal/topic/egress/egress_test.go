package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
)

func mustParse(t testing.TB, list ...string) *Rules {
	t.Helper()
	r, err := Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The addresses that must be closed, in each form that a resolver or a client may use.
var closedAddresses = []string{
	"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
	"172.31.255.255", "192.0.0.1", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1",
	"240.0.0.1", "255.255.255.255",
	"::", "::1", "100::1", "2001::1", "2001:db8::1", "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0",
	"fec0::1", "ff02::1", "4000::1", "64:ff9b:1::1",
	"::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::ffff:0:10.0.0.1",
	"64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::1", "2002:a9fe:a9fe::1", "2002:c0a8:101::",
	"2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:127.0.0.1",
}

func TestClosedAddresses(t *testing.T) {
	r := mustParse(t)
	for _, s := range closedAddresses {
		err := r.check("hooks.example", netip.MustParseAddr(s))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), "--egress-allow") ||
			!strings.Contains(err.Error(), "hooks.example") {
			t.Errorf("%s: %v", s, err)
		}
		if err := r.CheckHost(s); err == nil {
			t.Errorf("%s is an endpoint", s)
		}
	}
	for _, s := range []string{"localhost", "LocalHost.", "a.localhost", "[::1]"} {
		if err := r.CheckHost(s); err == nil {
			t.Errorf("%s is an endpoint", s)
		}
	}
}

func TestOpenAddresses(t *testing.T) {
	r := mustParse(t)
	for _, s := range []string{
		"1.1.1.1", "9.255.255.255", "172.15.0.1", "172.32.0.1", "192.167.1.1", "2606:4700::1111", "2a00::1",
		"::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1",
	} {
		if err := r.check("x", netip.MustParseAddr(s)); err != nil {
			t.Error(err)
		}
	}
	for _, s := range []string{"hooks.example", "1.1.1.1"} {
		if err := r.CheckHost(s); err != nil {
			t.Error(err)
		}
	}
}

func TestRules(t *testing.T) {
	r := mustParse(t, "10.1.0.0/16", "127.0.0.1", "[fd00::1]", "::ffff:192.168.0.0/120", "Hooks.Internal.")
	for s, open := range map[string]bool{
		"10.1.2.3": true, "10.2.0.1": false, "127.0.0.1": true, "127.0.0.2": false, "fd00::1": true, "fd00::2": false,
		"192.168.0.9": true, "192.168.1.9": false, "::ffff:10.1.2.3": true, "64:ff9b::10.1.2.3": true,
		"2002:a01:203::1": true,
		"2002:a02:203::1": false,
	} {
		if err := r.check("x", netip.MustParseAddr(s)); (err == nil) != open {
			t.Errorf("%s: %v", s, err)
		}
	}
	if !r.named("hooks.internal") || !r.named("HOOKS.internal.") || r.named("x.hooks.internal") {
		t.Error("names are not compared as in DNS")
	}
	if err := r.CheckHost("hooks.internal"); err != nil {
		t.Error(err)
	}
	for _, s := range []string{"", "10.0.0.0/33", "10.0.0", "a b", "*.internal", "http://x", "x/y", "-x", "1.2.3.4.5"} {
		if _, err := Parse([]string{s}); err == nil || !strings.Contains(err.Error(), "--egress-allow") {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// The connection itself is checked: a name that resolves to this machine does not get there, however it is written, and
// no packet is sent.
func TestDial(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	accepted := make(chan struct{}, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- struct{}{}
			_ = c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, host := range []string{"127.0.0.1", "localhost", "::ffff:127.0.0.1", "0.0.0.0"} {
		conn, err := mustParse(t, "192.168.0.0/16").DialContext(context.Background(), "tcp",
			net.JoinHostPort(host, port))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", host, err)
		}
		if conn != nil {
			_ = conn.Close()
		}
	}
	select {
	case <-accepted:
		t.Error("a connection was made")
	default:
	}
	for _, rule := range []string{"127.0.0.0/8", "127.0.0.1", "localhost"} {
		conn, err := mustParse(t, rule, "::1").DialContext(context.Background(), "tcp", "localhost:"+port)
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		_ = conn.Close()
		<-accepted
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range append(closedAddresses, "10.0.0.0/8", "::/0", "a.b") {
		f.Add(s)
	}
	r := mustParse(f)
	f.Fuzz(func(t *testing.T, s string) {
		_, _ = Parse([]string{s})
		_ = r.CheckHost(s)
		if a, err := netip.ParseAddr(s); err == nil {
			std := a.Unmap()
			private := std.IsPrivate() || std.IsLoopback() || std.IsLinkLocalUnicast() || std.IsMulticast() ||
				std.IsUnspecified()
			if private && r.check("", a) == nil {
				t.Errorf("%s is open", s)
			}
		}
	})
}
