package front

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"github.com/sluicemq/sluice/console"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// signInPath is where, below the console's path, the requests are that know cookies.
const signInPath = "api/"

// SignIn answers the requests of the console about signing in.
type SignIn interface {
	// MaxBody is the longest body that a request has, in bytes.
	MaxBody() int64
	// Changes reports whether a request may change the control store, and has to be answered where that is owned. name
	// is SignInRequest.Name.
	Changes(r *http.Request, name string) bool
	// Serve answers a request, of which only the length of the body was checked before.
	Serve(ctx context.Context, r *SignInRequest) *SignInAnswer
	// TooLarge answers a request whose body has more than MaxBody bytes, and was not read.
	TooLarge() *SignInAnswer
	// Failed answers a request with an error.
	Failed(name string, err error) *SignInAnswer
}

// SignInRequest is a request of a browser.
type SignInRequest struct {
	HTTP      *http.Request // whose body was read
	Name      string        // what follows signInPath in its path
	Body      []byte
	ID        string // as the log has it
	SourceIP  string // of the client, which may be behind proxies
	Encrypted bool   // it came by TLS, to this server or to a proxy that it trusts
	At        time.Time
}

// SignInAnswer is what a browser gets.
type SignInAnswer struct {
	Status int
	Header http.Header
	Body   any // is written as JSON; nil: there is none
}

// serveSignIn answers a request of the console about signing in. One that changes something is answered by the node
// that owns the control store.
func (x *request) serveSignIn() {
	f := x.front
	console.SetHeaders(x.w.Header())
	if x.r.ContentLength < 0 || x.r.ContentLength > f.SignIn.MaxBody() {
		x.intake.unread = true
		x.writePage(f.SignIn.TooLarge())
		return
	}
	body, err := x.intake.read()
	if err != nil {
		x.failSignIn(x.intake.broken, err)
		return
	}
	if err := f.Node.Current(); err != nil && !x.relayed {
		x.failSignIn(err, protocol.ServiceUnavailable())
		return
	}
	if f.SignIn.Changes(x.r, x.page) && f.Store.Elsewhere() && !x.relayed {
		if err := x.relay(body); err != nil {
			x.failSignIn(err, err)
		}
		return
	}
	x.writePage(x.askSignIn(body))
}

// failSignIn answers with an error. The log says why.
func (x *request) failSignIn(why, err error) {
	x.result.cause = why
	x.writePage(x.front.SignIn.Failed(x.page, err))
}

// askSignIn has the sign-in answer. As in retryIfBehind, it asks again after a refusal if this node lags: the session
// may have begun at another node a moment ago.
func (x *request) askSignIn(body []byte) *SignInAnswer {
	f := x.front
	in := &SignInRequest{
		HTTP: x.r, Name: x.page, Body: body, ID: x.id, SourceIP: x.sourceIP, Encrypted: x.encrypted, At: x.began,
	}
	before := f.Store.Version()
	a := f.SignIn.Serve(x.r.Context(), in)
	if a.Status != http.StatusUnauthorized || x.relayed || !f.Store.Elsewhere() {
		return a
	}
	if f.catchUp(x.r.Context(), false) != nil || f.Store.Version() == before {
		return a
	}
	return f.SignIn.Serve(x.r.Context(), in)
}

// writePage answers the console's page.
func (x *request) writePage(a *SignInAnswer) {
	x.result.answered = a.Status
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
	x.result.gone = x.intake.answer(write) != nil
}
