package console

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

func pages(t *testing.T) *Pages {
	t.Helper()
	p, err := load(fstest.MapFS{
		"index.html.gz":          {Data: zipped("<!doctype html>")},
		"assets/main-1a2b.js.gz": {Data: zipped("let plain")},
		"favicon.svg.gz":         {Data: zipped("<svg/>")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func zipped(content string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, content)
	_ = w.Close()
	return b.Bytes()
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

func unzipped(t *testing.T, content string) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

func TestFilesAreServed(t *testing.T) {
	p := pages(t)
	for _, c := range []struct {
		name, encoding, kind, cache, content, packed string
	}{
		{"", "gzip, br", "text/html; charset=utf-8", "no-cache", "<!doctype html>", "gzip"},
		{"index.html", "", "text/html; charset=utf-8", "no-cache", "<!doctype html>", ""},
		{"assets/main-1a2b.js", "", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable",
			"let plain", ""},
		{"assets/main-1a2b.js", "gzip, deflate, br, zstd", "text/javascript; charset=utf-8",
			"public, max-age=31536000, immutable", "let plain", "gzip"},
		{"assets/main-1a2b.js", "gzip;q=0", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable",
			"let plain", ""},
		{"assets/main-1a2b.js", "br, GZIP; q=0.3", "text/javascript; charset=utf-8",
			"public, max-age=31536000, immutable", "let plain", "gzip"},
		{"favicon.svg", "br", "image/svg+xml", "no-cache", "<svg/>", ""},
	} {
		res := get(p, http.MethodGet, c.name, "Accept-Encoding", c.encoding)
		content := body(t, res)
		if res.Header.Get("Content-Length") != strconv.Itoa(len(content)) {
			t.Errorf("%q, %q: length %s of %d bytes", c.name, c.encoding, res.Header.Get("Content-Length"),
				len(content))
		}
		if c.packed != "" {
			content = unzipped(t, content)
		}
		if res.StatusCode != http.StatusOK || content != c.content || res.Header.Get("Content-Type") != c.kind ||
			res.Header.Get("Cache-Control") != c.cache || res.Header.Get("Content-Encoding") != c.packed {
			t.Errorf("%q, %q: %d %v", c.name, c.encoding, res.StatusCode, res.Header)
		}
		tag := res.Header.Get("ETag")
		again := get(p, http.MethodGet, c.name, "Accept-Encoding", c.encoding, "If-None-Match", `"other", W/`+tag)
		if again.StatusCode != http.StatusNotModified || body(t, again) != "" || again.Header.Get("ETag") != tag {
			t.Errorf("%q, %q: asked again: %d %v", c.name, c.encoding, again.StatusCode, again.Header)
		}
		head := get(p, http.MethodHead, c.name, "Accept-Encoding", c.encoding)
		if head.StatusCode != http.StatusOK || body(t, head) != "" ||
			head.Header.Get("Content-Length") != res.Header.Get("Content-Length") {
			t.Errorf("%q: HEAD: %d %v", c.name, head.StatusCode, head.Header)
		}
	}
	plain, packed := get(p, "GET", "assets/main-1a2b.js"),
		get(p, "GET", "assets/main-1a2b.js", "Accept-Encoding", "gzip")
	if plain.Header.Get("ETag") == packed.Header.Get("ETag") || plain.Header.Get("Vary") != "Accept-Encoding" {
		t.Error("a cache could give the compressed file to a client that cannot read it")
	}
}

func TestWhatIsNotThereIsMissing(t *testing.T) {
	p := pages(t)
	for _, name := range []string{"assets/", "assets", "queues", "assets/main-1a2b.js.gz", "../go.mod", "index.html/",
		"assets/../index.html", "."} {
		res := get(p, http.MethodGet, name)
		if res.StatusCode != http.StatusNotFound || res.Header.Get("Cache-Control") != "no-store" ||
			strings.Contains(body(t, res), "<!doctype") {
			t.Errorf("%q: %d", name, res.StatusCode)
		}
	}
	if res := get(p, http.MethodPost, ""); res.StatusCode != http.StatusMethodNotAllowed ||
		res.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", res.StatusCode)
	}
}

func TestEveryAnswerHasTheHeaders(t *testing.T) {
	p := pages(t)
	for _, c := range [][2]string{{"GET", ""}, {"GET", "assets/main-1a2b.js"}, {"GET", "missing"}, {"POST", ""},
		{"HEAD", ""}} {
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
		"no index":       {"favicon.svg.gz": {Data: zipped("")}},
		"no such kind":   {"index.html.gz": {Data: zipped("")}, "a.exe.gz": {Data: zipped("")}},
		"nothing packed": {"index.html.gz": {Data: zipped("")}, "a.js.gz": {}},
		"not packed":     {"index.html.gz": {Data: zipped("")}, "a.js": {}},
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
	read := func(f *file) []byte {
		packed, err := fs.ReadFile(f.from, f.stored)
		if err = errors.Join(err, f.measure()); err != nil {
			t.Fatal(err)
		}
		return packed
	}
	page := unzipped(t, string(read(p.files[index])))
	for _, inline := range []string{"<style", "style=", "javascript:", "onload=", "http://", "https://"} {
		if strings.Contains(page, inline) {
			t.Errorf("index.html contains %s", inline)
		}
	}
	for part := range strings.SplitSeq(page, "<script") {
		if tag, _, _ := strings.Cut(part, ">"); part != page && !strings.HasPrefix(part, "<!") &&
			!strings.Contains(tag, "src=") {
			t.Errorf("index.html has a script within: %.60s", part)
		}
	}
	for name, f := range p.files {
		packed := read(f)
		if plain := unzipped(t, string(packed)); len(plain) != f.length {
			t.Errorf("%s: %d bytes, not %d", name, len(plain), f.length)
		} else if strings.HasPrefix(name, hashed) && len(plain) > 4096 && len(packed) > len(plain)/2 {
			t.Errorf("%s is not compressed", name)
		}
	}
}

// A client that requests a file and does not read it occupies little memory.
func TestFilesTakeLittleMemory(t *testing.T) {
	const size, most = 1 << 20, 128 << 10
	random := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	p, err := load(fstest.MapFS{
		"index.html.gz": {Data: zipped("")}, "assets/main-1a2b.js.gz": {Data: zipped(string(random))},
	})
	if err != nil {
		t.Fatal(err)
	}
	get(p, http.MethodHead, "assets/main-1a2b.js")
	for _, encoding := range []string{"gzip", "identity"} {
		r := httptest.NewRequest(http.MethodGet, "http://example.com/console/", nil)
		r.Header.Set("Accept-Encoding", encoding)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w := &counter{header: make(http.Header)}
		p.Serve(w, r, "assets/main-1a2b.js")
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > most || w.n < size {
			t.Errorf("%s: %d bytes of memory for %d bytes of answer", encoding, n, w.n)
		}
	}
}

// counter counts the bytes of an answer.
type counter struct {
	header http.Header
	n      int
}

func (c *counter) Header() http.Header { return c.header }
func (c *counter) WriteHeader(int)     {}
func (c *counter) Write(b []byte) (int, error) {
	c.n += len(b)
	return len(b), nil
}
