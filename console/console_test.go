package console

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func pages(t *testing.T) *Pages {
	t.Helper()
	p, err := load(fstest.MapFS{
		"index.html":             {Data: []byte("<!doctype html>")},
		"assets/main-1a2b.js":    {Data: []byte("let plain")},
		"assets/main-1a2b.js.br": {Data: []byte("packed")},
		"favicon.svg":            {Data: []byte("<svg/>")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func get(p *Pages, method, name string, header ...string) *http.Response {
	r := httptest.NewRequest(method, "http://example.com/console/"+name, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	p.Serve(w, r, name)
	return w.Result()
}

func body(t *testing.T, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFilesAreServed(t *testing.T) {
	p := pages(t)
	for _, c := range []struct {
		name, encoding, kind, cache, content string
	}{
		{"", "gzip, br", "text/html; charset=utf-8", "no-cache", "<!doctype html>"},
		{"index.html", "", "text/html; charset=utf-8", "no-cache", "<!doctype html>"},
		{"assets/main-1a2b.js", "", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable", "let plain"},
		{"assets/main-1a2b.js", "gzip, deflate, br, zstd", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable", "packed"},
		{"assets/main-1a2b.js", "br;q=0", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable", "let plain"},
		{"assets/main-1a2b.js", "gzip, BR; q=0.3", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable", "packed"},
		{"favicon.svg", "br", "image/svg+xml", "no-cache", "<svg/>"},
	} {
		res := get(p, http.MethodGet, c.name, "Accept-Encoding", c.encoding)
		packed := ""
		if c.content == "packed" {
			packed = "br"
		}
		if res.StatusCode != http.StatusOK || body(t, res) != c.content || res.Header.Get("Content-Type") != c.kind ||
			res.Header.Get("Cache-Control") != c.cache || res.Header.Get("Content-Encoding") != packed {
			t.Errorf("%q, %q: %d %v", c.name, c.encoding, res.StatusCode, res.Header)
		}
		tag := res.Header.Get("ETag")
		again := get(p, http.MethodGet, c.name, "Accept-Encoding", c.encoding, "If-None-Match", `"other", W/`+tag)
		if again.StatusCode != http.StatusNotModified || body(t, again) != "" || again.Header.Get("ETag") != tag {
			t.Errorf("%q, %q: asked again: %d %v", c.name, c.encoding, again.StatusCode, again.Header)
		}
		head := get(p, http.MethodHead, c.name, "Accept-Encoding", c.encoding)
		if head.StatusCode != http.StatusOK || body(t, head) != "" || head.Header.Get("Content-Length") != res.Header.Get("Content-Length") {
			t.Errorf("%q: HEAD: %d %v", c.name, head.StatusCode, head.Header)
		}
	}
	if plain, packed := get(p, "GET", "assets/main-1a2b.js"), get(p, "GET", "assets/main-1a2b.js", "Accept-Encoding", "br"); plain.Header.Get("ETag") == packed.Header.Get("ETag") ||
		plain.Header.Get("Vary") != "Accept-Encoding" {
		t.Error("a cache could give the compressed file to a client that cannot read it")
	}
}

func TestWhatIsNotThereIsMissing(t *testing.T) {
	p := pages(t)
	for _, name := range []string{"assets/", "assets", "queues", "assets/main-1a2b.js.br", "../go.mod", "index.html/", "assets/../index.html", "."} {
		res := get(p, http.MethodGet, name)
		if res.StatusCode != http.StatusNotFound || res.Header.Get("Cache-Control") != "no-store" || strings.Contains(body(t, res), "<!doctype") {
			t.Errorf("%q: %d", name, res.StatusCode)
		}
	}
	if res := get(p, http.MethodPost, ""); res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", res.StatusCode)
	}
}

func TestEveryAnswerHasTheHeaders(t *testing.T) {
	p := pages(t)
	for _, c := range [][2]string{{"GET", ""}, {"GET", "assets/main-1a2b.js"}, {"GET", "missing"}, {"POST", ""}, {"HEAD", ""}} {
		res := get(p, c[0], c[1])
		for name, value := range headers {
			if res.Header.Get(name) != value {
				t.Errorf("%v: %s: %q", c, name, res.Header.Get(name))
			}
		}
	}
}

func TestBrokenBuildsAreNoticed(t *testing.T) {
	for why, files := range map[string]fstest.MapFS{
		"no index":       {"favicon.svg": {}},
		"no such kind":   {"index.html": {}, "a.exe": {}},
		"nothing packed": {"index.html": {}, "a.js.br": {}},
	} {
		if _, err := load(files); err == nil {
			t.Errorf("%s: accepted", why)
		}
	}
}

// The files that are part of the program are what the console's policy allows: the page loads its code and its looks
// from files, and from nowhere else.
func TestBuiltPage(t *testing.T) {
	p := New()
	page := string(p.files[index].content)
	for _, inline := range []string{"<style", "style=", "javascript:", "onload=", "http://", "https://"} {
		if strings.Contains(page, inline) {
			t.Errorf("index.html contains %s", inline)
		}
	}
	for part := range strings.SplitSeq(page, "<script") {
		if tag, _, _ := strings.Cut(part, ">"); part != page && !strings.HasPrefix(part, "<!") && !strings.Contains(tag, "src=") {
			t.Errorf("index.html has a script within: %.60s", part)
		}
	}
	for name, f := range p.files {
		if strings.HasPrefix(name, hashed) && f.brotli == nil && len(f.content) > 4096 && f.kind != types[".woff2"] && f.kind != types[".png"] {
			t.Errorf("%s is not compressed", name)
		}
	}
}
