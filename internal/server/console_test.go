package server

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// browse asks as a browser does, and follows nothing.
func browse(t *testing.T, method, url string) (res *http.Response, body string) {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html,*/*")
	res, err = http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

// A person who opens the server's address comes to the console, at the root and behind a proxy that adds a path.
func TestVisitorsComeToTheConsole(t *testing.T) {
	t.Parallel()
	behind := inMemory()
	behind.PublicURL = "https://example.com/ops/sluice/"
	proxied, _ := start(t, behind)
	for _, c := range []struct {
		server       *Server
		path, target string
	}{
		{shared, "/", "/console/"},
		{shared, "/console", "/console/"},
		{proxied, "/", "/console/"},
		{proxied, "/console", "/console/"},
		{proxied, "/ops/sluice", "/ops/sluice/console/"},
		{proxied, "/ops/sluice/", "/ops/sluice/console/"},
		{proxied, "/ops/sluice/console", "/ops/sluice/console/"},
	} {
		at := "http://" + c.server.listener.Addr().String()
		res, _ := browse(t, "GET", at+c.path)
		if target := res.Header.Get("Location"); res.StatusCode != http.StatusFound || target != c.target {
			t.Errorf("%s: %d, to %q; want %q", c.path, res.StatusCode, target, c.target)
		}
		res, body := browse(t, "GET", at+c.target)
		if res.StatusCode != http.StatusOK || !strings.Contains(body, "<title>Sluice</title>") || res.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d %v", c.target, res.StatusCode, res.Header)
		}
		if res, body := browse(t, "GET", at+c.target+"nothing"); res.StatusCode != http.StatusNotFound || strings.Contains(body, "<title>") {
			t.Errorf("%snothing: %d", c.target, res.StatusCode)
		}
	}
}

func TestConsoleCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	config := inMemory()
	config.Console = false
	s, _ := start(t, config)
	if res, body := browse(t, "GET", s.Endpoint()+"/"); res.StatusCode != http.StatusOK || !strings.Contains(body, "speaks Amazon SQS") {
		t.Errorf("/: %d %s", res.StatusCode, body)
	}
	for _, path := range []string{"/console", "/console/", "/console/index.html"} {
		if res, _ := browse(t, "GET", s.Endpoint()+path); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
}
