package signin_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// Requests of other pages, other host names and strangers get nothing, even from a browser with a session.
func TestIntruders(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.signedIn(t, r.root)
	id := b.do(http.StatusOK, "GET", "sessions", "")["sessions"].([]any)[0].(object)["id"].(string)
	all := []struct{ method, name, body string }{
		{"GET", "session", ""}, {"POST", "session", `{"link":"x"}`}, {"DELETE", "session", ""},
		{"POST", "credentials", ""}, {"GET", "sessions", ""}, {"DELETE", "sessions/" + id, ""},
	}
	set := func(pairs ...string) func(*http.Request) {
		return func(r *http.Request) {
			for i := 0; i < len(pairs); i += 2 {
				if r.Header.Del(pairs[i]); pairs[i+1] != "" {
					r.Header.Set(pairs[i], pairs[i+1])
				}
			}
		}
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for why, c := range map[string]struct {
		change  func(*http.Request)
		status  int
		code    string
		changes bool // other pages may read these, which reveals nothing
	}{
		"another site": {set("Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"), 403,
			"CrossOrigin", true},
		"another port": {set("Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"), 403,
			"CrossOrigin", true},
		"an old browser": {set("Sec-Fetch-Site", "", "Origin", "https://evil.example"), 403,
			"CrossOrigin", true},
		"a page without an origin": {set("Sec-Fetch-Site", "", "Origin", "null"), 403, "CrossOrigin", true},
		"no page at all": {set("Sec-Fetch-Site", "", "Origin", "", "X-Sluice-Console", ""), 403,
			"NotFromConsole", false},
		"a form of this origin":         {set("X-Sluice-Console", ""), 403, "NotFromConsole", false},
		"a name of another":             {host("evil.example"), 421, "UnknownHost", false},
		"a name of another with a port": {host("evil.example:9324"), 421, "UnknownHost", false},
		"a name like ours":              {host("localhost.evil.example"), 421, "UnknownHost", false},
		"no address":                    {host("127.0.0.1.evil.example"), 421, "UnknownHost", false},
		"no name":                       {host("%00"), 421, "UnknownHost", false},
	} {
		for _, q := range all {
			if c.changes && q.method == "GET" {
				continue
			}
			cookie := b.cookie
			res, out := b.ask(q.method, q.name, q.body, c.change)
			if res.StatusCode != c.status && res.StatusCode != 400 ||
				res.StatusCode == c.status && out["code"] != c.code || len(res.Cookies()) > 0 {
				t.Errorf("%s: %s %s: %d %v", why, q.method, q.name, res.StatusCode, out)
			}
			if res.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s: %s %s: others may read the answer", why, q.method, q.name)
			}
			b.cookie = cookie
		}
	}
	for why, cookie := range map[string]string{
		"no cookie": "", "a wrong one": strings.SplitN(b.cookie, "=", 2)[0] + "=AAAA",
		"another name": "other=" + strings.SplitN(b.cookie, "=", 2)[1],
		"its hash":     strings.SplitN(b.cookie, "=", 2)[0] + "=" + id, "that of TLS": "__Host-" + b.cookie,
	} {
		for _, q := range all {
			stranger := &browser{t: t, url: b.url, cookie: cookie}
			want := http.StatusUnauthorized
			if q.method == "DELETE" && q.name == "session" {
				want = http.StatusNoContent // of nothing
			}
			if res, out := stranger.ask(q.method, q.name, q.body, nil); res.StatusCode != want {
				t.Errorf("%s: %s %s: %d %v", why, q.method, q.name, res.StatusCode, out)
			}
		}
	}
	// Names of this machine, and names that cannot be registered.
	for _, name := range []string{"localhost", "sluice.localhost:9324", "LOCALHOST:1", "10.0.0.1", "[::1]:9324"} {
		if res, out := b.ask("GET", "settings", "", host(name)); res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %v", name, res.StatusCode, out)
		}
	}
	b.do(http.StatusOK, "GET", "session", "") // it is still there
}

func TestRequestsHaveLimits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.browser(t)
	b.refused(http.StatusRequestEntityTooLarge, "TooLarge", "POST", "session",
		`{"link":"`+strings.Repeat("x", 40<<10)+`"}`)
	res, out := b.ask("POST", "session", "{}", func(r *http.Request) { r.ContentLength = -1 })
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a body of unknown length: %d %v", res.StatusCode, out)
	}
	res, out = b.ask("POST", "session", `{"link":"x"}`,
		func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
	if res.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("a form: %d %v", res.StatusCode, out)
	}
	b.refused(http.StatusNotFound, "NotFound", "GET", "secrets", "")
	b.refused(http.StatusNotFound, "NotFound", "GET", "", "")
	b.refused(http.StatusNotFound, "NotFound", "GET", "session/x", "")
	b.refused(http.StatusMethodNotAllowed, "MethodNotAllowed", "PUT", "session", "")
	b.refused(http.StatusMethodNotAllowed, "MethodNotAllowed", "GET", "credentials", "")
	b.refused(http.StatusMethodNotAllowed, "MethodNotAllowed", "OPTIONS", "session", "")
	for _, name := range []string{"settings", "session", "nothing"} {
		res, _ := b.ask("GET", name, "", nil)
		if res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("X-Content-Type-Options") != "nosniff" ||
			res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v", name, res.Header)
		}
	}
}

// Behind a proxy that terminates TLS, the cookie is sent over TLS only.
func TestCookieBehindAProxy(t *testing.T) {
	t.Parallel()
	addresses, err := freeport.Take(1)
	apitest.Must(t, addresses, err)
	c := servertest.InMemory()
	c.Listen = addresses[0]
	c.PublicURL = "https://example.com/ops/sluice"
	c.Console.Hosts = []string{"sluice.internal"}
	s, _ := servertest.Start(t, c)
	at := "http://" + c.Listen
	made, err := s.SignInLink(t.Context())
	if err != nil || !strings.HasPrefix(made, "https://example.com/ops/sluice/console/#k=") {
		t.Fatalf("the link is %s: %v", made, err)
	}
	b := &browser{t: t, url: at}
	_, token, _ := strings.Cut(made, "#k=")
	res, _ := b.ask("POST", "session", `{"link":"`+token+`"}`, func(r *http.Request) {
		r.Host = "example.com"
		r.URL.Path = "/ops/sluice/console/api/session"
		r.Header.Set("Origin", "https://example.com")
		r.Header.Del("Sec-Fetch-Site")
	})
	if c := b.set; res.StatusCode != http.StatusOK || c.Name != "__Host-sluice" || !c.Secure || c.Path != "/" ||
		c.Domain != "" {
		t.Errorf("%d, cookie %v", res.StatusCode, c)
	}
	res, out := b.ask("GET", "settings", "", func(r *http.Request) { r.Host = "sluice.internal:9324" })
	if res.StatusCode != http.StatusOK || out["prefix"] != "/ops/sluice" {
		t.Errorf("settings: %d %v", res.StatusCode, out)
	}
}
