package front

import (
	"net/http"
	"strings"

	"github.com/sluicemq/sluice/console"
)

// consolePath returns the part of a request's path below the console's path. The console exists with and without the
// prefix of the public URL: a person on the server's machine does not come through the proxy.
func (f *Front) consolePath(path string) (rest string, ok bool) {
	if f.Console == nil {
		return "", false
	}
	if rest, ok = strings.CutPrefix(path, f.prefix+console.Path); ok {
		return rest, true
	}
	return strings.CutPrefix(path, console.Path)
}

// leadsToConsole reports whether a browser that requests a path wants the console, and where the console is.
func (f *Front) leadsToConsole(r *http.Request) (target string, ok bool) {
	if f.Console == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return "", false
	}
	bare := strings.TrimSuffix(console.Path, "/")
	switch {
	case r.URL.Path == f.prefix+bare:
		return f.prefix + console.Path, true
	case r.URL.Path == bare:
		return console.Path, true
	case !isVisit(r, f.prefix):
		return "", false
	case r.URL.Path == "/":
		return console.Path, true
	}
	return f.prefix + console.Path, true
}

// serveConsole answers a request for the console and returns true. It returns false for any other request.
func (f *Front) serveConsole(w http.ResponseWriter, r *http.Request) bool {
	if target, ok := f.leadsToConsole(r); ok {
		console.SetHeaders(w.Header())
		w.Header().Set("Cache-Control", "no-store") // the console may be turned off
		http.Redirect(w, r, target, http.StatusFound)
		return true
	}
	name, ok := f.consolePath(r.URL.Path)
	if !ok {
		return false
	}
	if name, ok := strings.CutPrefix(name, signInPath); ok {
		x := f.newRequest(f.arrive(w, r))
		x.page = name
		x.run(x.serveSignIn)
		return true
	}
	f.serveFile(w, r, name)
	return true
}

// serveFile answers a request for one of the console's files, which takes a place among those of strangers: it may last
// as long as the client takes to read the answer.
func (f *Front) serveFile(w http.ResponseWriter, r *http.Request, name string) {
	address := network(f.Proxies.client(r))
	place := claim{n: 1, rank: growing, by: sender{address, address}}
	if !f.strangers.tryFor(&place) {
		console.SetHeaders(w.Header())
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Retry-After", "1")
		http.Error(w, "The server is busy. Try again in a moment.", http.StatusServiceUnavailable)
		return
	}
	defer f.strangers.giveOf(place.by, place.n)
	f.Console.Serve(w, r, name)
}
