// Package console is Sluice's console: the built files of a page that runs in a browser, and the handler that serves
// them.
//
// The page is a client like any other. It signs its requests to the public API with the keys of the person who uses it,
// and has no rights of its own; how it gets these keys is the business of package signin. The files are the same for
// everyone and hold no secret.
//
// It guarantees that
//
//   - the page works without any other server: its policy lets the browser load and call nothing but this origin, run
//     no code but its files, and show it in no frame;
//   - a browser that was given a new index.html finds the files that it names: their names hold a hash of their
//     content, so they can be cached forever, while index.html is revalidated each time;
//   - what does not exist is answered with 404, never with the page.
//
// The sources are beside this file and built with Vite; scripts/dev console builds them. The built files are committed,
// so that Go alone is enough to build the program. Each is stored once, compressed by gzip: every browser accepts that,
// also without TLS, and Go decompresses it for the rare client that does not.
package console

import (
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed all:dist
var dist embed.FS

// Path is where the console is, below the prefix of the server's paths.
const Path = "/console/"

// Headers that go with every answer of the console, those about signing in included.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self' data:; " +
		"connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
}

// SetHeaders adds the headers that keep a browser from doing with an answer what the console does not want.
func SetHeaders(h http.Header) {
	for name, value := range headers {
		h.Set(name, value)
	}
}

// types are the kinds of files that the build makes. Those of the machine's own tables would differ from one to the
// next.
var types = map[string]string{
	".css":         "text/css; charset=utf-8",
	".html":        "text/html; charset=utf-8",
	".ico":         "image/x-icon",
	".js":          "text/javascript; charset=utf-8",
	".json":        "application/json",
	".png":         "image/png",
	".svg":         "image/svg+xml",
	".txt":         "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json",
	".woff2":       "font/woff2",
}

// hashed is the directory whose files have a hash of their content in their names.
const hashed = "assets/"

// packed ends the name of each built file: gzip compresses it.
const packed = ".gz"

// index is the page itself.
const index = "index.html"

// file is one of the built files. Its content is read when it is served, piece by piece: a client may take a piece and
// then no more, and anyone may request files.
type file struct {
	name   string
	kind   string // its media type
	from   fs.FS
	stored string // its name there

	measured       sync.Once
	length, packed int    // decompressed, and as stored
	hash           string // of the stored content
	err            error  // of reading that
}

// piece is how much of a file is in memory for a client.
const piece = 8 << 10

// Pages is the handler of the console's files.
type Pages struct{ files map[string]*file }

// New returns the handler of the files that the program was built with.
func New() *Pages {
	built, err := fs.Sub(dist, "dist")
	if err == nil {
		var p *Pages
		if p, err = load(built); err == nil {
			return p
		}
	}
	panic(err) // the files are part of the program
}

// load lists built files.
func load(from fs.FS) (*Pages, error) {
	p := &Pages{make(map[string]*file)}
	err := fs.WalkDir(from, ".", func(stored string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := find(from, stored, d)
		if err == nil {
			p.files[f.name] = f
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if p.files[index] == nil {
		return nil, fmt.Errorf("the console has no %s", index)
	}
	return p, nil
}

// shortest is the length of a file that gzip has made of nothing.
const shortest = 18

// find returns a built file.
func find(from fs.FS, stored string, d fs.DirEntry) (*file, error) {
	name, ok := strings.CutSuffix(stored, packed)
	if !ok {
		return nil, fmt.Errorf("the console has a file %s that is not compressed", stored)
	}
	kind, ok := types[path.Ext(name)]
	if !ok {
		return nil, fmt.Errorf("the console has a file %s of an unknown kind", stored)
	}
	info, err := d.Info()
	if err != nil {
		return nil, err
	}
	if info.Size() < shortest {
		return nil, fmt.Errorf("the console has a file %s without content", stored)
	}
	return &file{name: name, kind: kind, from: from, stored: stored}, nil
}

// measure sets the lengths and the hash of the content.
func (f *file) measure() error {
	f.measured.Do(func() {
		var content []byte
		if content, f.err = fs.ReadFile(f.from, f.stored); f.err != nil {
			return
		}
		sum := sha256.Sum256(content)
		f.hash, f.packed = hex.EncodeToString(sum[:12]), len(content)
		// gzip stores the length in the last four bytes.
		f.length = int(binary.LittleEndian.Uint32(content[len(content)-4:]))
	})
	return f.err
}

// Serve answers a request for a file, whose name is what follows Path.
func (p *Pages) Serve(w http.ResponseWriter, r *http.Request, name string) {
	SetHeaders(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "The console's files can only be read.")
		return
	}
	if name == "" {
		name = index
	}
	f := p.files[name]
	if f == nil {
		refuse(w, http.StatusNotFound, "The console has no such file.")
		return
	}
	if f.measure() != nil {
		refuse(w, http.StatusInternalServerError, "The console's file cannot be read.")
		return
	}
	f.serve(w, r)
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, text, status)
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	compressed := accepts(r.Header.Values("Accept-Encoding"), "gzip")
	length, tag := f.length, f.hash
	if compressed {
		length, tag = f.packed, tag+"-gzip" // the same file in other bytes
	}
	etag := `"` + tag + `"`
	h.Set("ETag", etag)
	if strings.HasPrefix(f.name, hashed) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache") // cached, and revalidated each time
	}
	if matches(r.Header.Values("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if compressed {
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", f.kind)
	h.Set("Content-Length", strconv.Itoa(length))
	if r.Method == http.MethodHead {
		return
	}
	_ = f.writeTo(w, compressed) // a client that has left needs no answer
}

// writeTo writes the content, decompressed on the way unless the client accepts it as it is.
func (f *file) writeTo(w io.Writer, compressed bool) error {
	stored, err := f.from.Open(f.stored)
	if err != nil {
		return err
	}
	defer func() { _ = stored.Close() }() // it is part of the program
	var content io.Reader = stored
	if !compressed {
		if content, err = gzip.NewReader(stored); err != nil {
			return err
		}
	}
	// The types hide methods that would choose a larger buffer.
	_, err = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{content}, make([]byte, piece))
	return err
}

// accepts reports whether a client takes an encoding by name.
func accepts(header []string, encoding string) bool {
	for _, list := range header {
		for item := range strings.SplitSeq(list, ",") {
			name, parameters, _ := strings.Cut(item, ";")
			if !strings.EqualFold(strings.TrimSpace(name), encoding) {
				continue
			}
			weight, given := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameters)), "q=")
			q, err := strconv.ParseFloat(weight, 64)
			return !given || err == nil && q > 0
		}
	}
	return false
}

// matches reports whether a client has a file already: one of the tags in its If-None-Match is the file's.
func matches(header []string, etag string) bool {
	for _, list := range header {
		for item := range strings.SplitSeq(list, ",") {
			item = strings.TrimSpace(item)
			if item == "*" || strings.TrimPrefix(item, "W/") == etag {
				return true
			}
		}
	}
	return false
}
