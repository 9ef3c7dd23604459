package front

import (
	"crypto/tls"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// Only a proxy's headers count, and of these only the parts that it or another proxy has added.
func TestForwarded(t *testing.T) {
	t.Parallel()
	proxies, err := ParseProxies([]string{"10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "::ffff:172.16.0.0/108",
		"::ffff:192.0.2.2"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		peer      string
		forwarded []string
		proto     string
		client    string
		encrypted bool
	}{
		{"203.0.113.9:1", nil, "", "203.0.113.9", false},
		{"203.0.113.9:1", []string{"198.51.100.7"}, "https", "203.0.113.9", false},
		{"10.0.0.1:1", nil, "", "10.0.0.1", false},
		{"10.0.0.1:1", []string{"198.51.100.7"}, "https", "198.51.100.7", true},
		{"10.0.0.1:1", []string{"198.51.100.7"}, "http", "198.51.100.7", false},
		{"[::ffff:10.0.0.1]:1", []string{"::ffff:198.51.100.7"}, "HTTPS", "198.51.100.7", true},
		{"172.31.0.1:1", []string{"198.51.100.7"}, "", "198.51.100.7", false},
		{"192.0.2.2:1", []string{"198.51.100.7"}, "", "198.51.100.7", false},
		// the first is what the client says
		{"10.0.0.1:1", []string{"192.168.0.1, 198.51.100.7"}, "", "198.51.100.7", false},
		{"10.0.0.1:1", []string{"192.168.0.1, 198.51.100.7, 192.0.2.1 ,10.1.1.1"}, "", "198.51.100.7", false},
		{"10.0.0.1:1", []string{"192.168.0.1", "198.51.100.7", "10.2.2.2"}, "", "198.51.100.7", false},
		{"10.0.0.1:1", []string{"10.3.3.3, 10.2.2.2"}, "", "10.3.3.3", false},
		{"10.0.0.1:1", []string{"192.168.0.1, unknown"}, "", "10.0.0.1", false},
		{"10.0.0.1:1", []string{"198.51.100.7:4711"}, "", "198.51.100.7", false},
		{"[2001:db8::1]:1", []string{"[2001:db9::7]:4711, 2001:db8::2"}, "", "2001:db9::7", false},
		{"10.0.0.1:1", []string{""}, "", "10.0.0.1", false},
		{"@", []string{"198.51.100.7"}, "https", "@", false},
	} {
		r := &http.Request{
			RemoteAddr: tc.peer, Header: http.Header{"X-Forwarded-For": tc.forwarded, "X-Forwarded-Proto": {tc.proto}},
		}
		if got := proxies.client(r); got != tc.client {
			t.Errorf("%s, %q: client %s, want %s", tc.peer, tc.forwarded, got, tc.client)
		}
		if got := proxies.encrypted(r); got != tc.encrypted {
			t.Errorf("%s, %s: encrypted %v", tc.peer, tc.proto, got)
		}
		if r.TLS = new(tls.ConnectionState); !proxies.encrypted(r) {
			t.Errorf("%s: not encrypted over TLS", tc.peer)
		}
	}
	r := &http.Request{
		RemoteAddr: "10.0.0.1:1",
		Header:     http.Header{"X-Forwarded-For": {"198.51.100.7"}, "X-Forwarded-Proto": {"https"}},
	}
	if none := proxies[:0]; none.client(r) != "10.0.0.1" || none.encrypted(r) {
		t.Error("without proxies, a client's header counts")
	}
}

// Headers of a client cost nothing before the part that a trusted proxy has added.
func TestForwardedCostsLittle(t *testing.T) {
	proxies, err := ParseProxies([]string{"10.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat(",", MaxHeader)
	for peer, want := range map[string]string{"192.0.2.1": "192.0.2.1", "10.0.0.1": "198.51.100.7"} {
		r := &http.Request{
			RemoteAddr: peer + ":1", Header: http.Header{"X-Forwarded-For": {long, long + "198.51.100.7, 10.0.0.2"}},
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := proxies.client(r)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; got != want || n > MaxHeader/4 {
			t.Errorf("from %s: %s, %d bytes", peer, got, n)
		}
	}
}
