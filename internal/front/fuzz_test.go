package front

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"
	"unicode/utf8"
)

// Bytes from another node are parsed or refused, and encoded values are parsed again.
func FuzzUnframe(f *testing.F) {
	f.Add(frame(nil, relayed{ID: "a", Began: time.Unix(1, 0), Header: http.Header{"X": {"\xff"}}}, []byte("body")))
	f.Add(frame(nil, reply{Status: 200}, nil))
	f.Add([]byte{200, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		var in relayed
		body, err := unframe(b, &in)
		if err != nil {
			return
		}
		var again relayed
		rest, err := unframe(frame(nil, in, body), &again)
		if err != nil || string(rest) != string(body) || again.ID != in.ID || again.URI != in.URI {
			t.Errorf("%+v with %q became %+v with %q: %v", in, body, again, rest, err)
		}
	})
}

// For all headers of a proxy, the client's address is an address, and an untrusted peer gets its own.
func FuzzProxies(f *testing.F) {
	proxies, err := ParseProxies([]string{"10.0.0.0/8"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("198.51.100.7, 10.0.0.2", "10.0.0.1:1")
	f.Add("[2001:db8::1]:80", "10.0.0.1:1")
	f.Add("fe80::1%eth0,,unknown", "192.0.2.1:1")
	f.Fuzz(func(t *testing.T, header, peer string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = peer
		r.Header["X-Forwarded-For"] = []string{header}
		at, err := netip.ParseAddrPort(peer)
		if err != nil {
			return
		}
		client := proxies.client(r)
		if _, err := netip.ParseAddr(client); err != nil {
			t.Errorf("the client of %s is %q", peer, client)
		}
		if !proxies.trust(at.Addr()) && client != peerIP(r) {
			t.Errorf("the client of %s is %s, as an untrusted peer claims", peer, client)
		}
	})
}

// The logged part of an error is text, and bounded.
func FuzzLoggable(f *testing.F) {
	f.Add("Value x for parameter y is invalid.")
	f.Add("\xffValue for parameter ")
	f.Fuzz(func(t *testing.T, message string) {
		if got := loggable(message); !utf8.ValidString(got) || len(got) > 3*maxLoggedError+3 {
			t.Errorf("%q is logged as %q", message, got)
		}
	})
}
