package front

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"

	"github.com/sluicemq/sluice/console"
	"github.com/sluicemq/sluice/internal/api/signin"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// consolePath returns where below the console's path a request is. The console is there with and without the prefix of
// the public URL: a person on the server's machine does not come through the proxy.
func (f *Front) consolePath(path string) (rest string, ok bool) {
	if f.Console == nil {
		return "", false
	}
	if rest, ok = strings.CutPrefix(path, f.prefix+console.Path); ok {
		return rest, true
	}
	return strings.CutPrefix(path, console.Path)
}

// leadsToConsole reports whether a browser that asks for a path wants the console, and where that is.
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

// serveConsole answers a request for the console and returns true, or returns false if the request is for something else.
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
		x := f.newRequest(w, r)
		x.page = name
		x.run(x.serveSignIn)
		return true
	}
	f.Console.Serve(w, r, name)
	return true
}

// signInPath is where, below the console's path, the requests are that know cookies.
const signInPath = "api/"

// serveSignIn answers a request of the console about signing in. One that changes something is answered by the node that
// owns the control store.
func (x *request) serveSignIn() {
	console.SetHeaders(x.w.Header())
	if x.r.ContentLength < 0 || x.r.ContentLength > signin.MaxBody {
		x.unread = true
		x.writePage(x.front.SignIn.TooLarge())
		return
	}
	body, err := x.readBody()
	if err != nil {
		x.writePage(x.front.SignIn.Failed(x.page, err))
		return
	}
	if err := x.front.Node.Current(); err != nil && !x.relayed {
		x.cause = err
		x.writePage(x.front.SignIn.Failed(x.page, protocol.ServiceUnavailable()))
		return
	}
	if x.front.SignIn.Changes(x.r, x.page) && x.front.Store.Elsewhere() && !x.relayed {
		if err := x.relay(body); err != nil {
			x.cause = err
			x.writePage(x.front.SignIn.Failed(x.page, err))
		}
		return
	}
	ask := func() *signin.Answer {
		return x.front.SignIn.Serve(x.r.Context(), &signin.Request{
			HTTP: x.r, Name: x.page, Body: body, ID: x.id, SourceIP: x.sourceIP, Encrypted: x.encrypted, At: x.began,
		})
	}
	before := x.front.Store.Version()
	a := ask()
	// As in retryIfBehind: the session may have begun at another node a moment ago.
	if a.Status == http.StatusUnauthorized && !x.relayed && x.front.Store.Elsewhere() && x.catchUp() == nil && x.front.Store.Version() != before {
		a = ask()
	}
	x.writePage(a)
}

// writePage answers the console's page.
func (x *request) writePage(a *signin.Answer) {
	x.answered = a.Status
	write := func() error {
		maps.Copy(x.w.Header(), a.Header)
		if a.Body == nil {
			x.w.WriteHeader(a.Status)
			return nil
		}
		body, err := json.Marshal(a.Body)
		if err != nil {
			return err
		}
		x.w.Header().Set("Content-Type", "application/json")
		x.w.WriteHeader(a.Status)
		_, err = x.w.Write(body)
		return err
	}
	if x.unread {
		x.gone = x.refuseEarly(write) != nil
	} else {
		x.gone = write() != nil
	}
}
