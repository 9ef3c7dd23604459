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

// signInPath is the path below the console's path of the requests with cookies.
const signInPath = "api/"

// SignIn answers the console's sign-in requests.
type SignIn interface {
	// MaxBody is the maximum size of a request's body in bytes.
	MaxBody() int64
	// Changes reports whether a request may change the control store and so must be answered by its owner. name is
	// SignInRequest.Name.
	Changes(r *http.Request, name string) bool
	// Serve answers a request. Only the length of its body was checked before.
	Serve(ctx context.Context, r *SignInRequest) *SignInAnswer
	// TooLarge answers a request whose body exceeds MaxBody bytes and was not read.
	TooLarge() *SignInAnswer
	// Failed answers a request with an error.
	Failed(name string, err error) *SignInAnswer
}

// SignInRequest is a request of a browser.
type SignInRequest struct {
	HTTP      *http.Request // whose body was read
	Name      string        // the part of its path after signInPath
	Body      []byte
	ID        string // in its form for the log
	SourceIP  string // of the client, which may be behind proxies
	Encrypted bool   // it came over TLS, to this server or to a trusted proxy
	At        time.Time
}

// SignInAnswer is the answer to a browser.
type SignInAnswer struct {
	Status int
	Header http.Header
	Body   any // written as JSON; nil: none
}

// serveSignIn answers a sign-in request of the console. The node that owns the control store answers requests that
// change something.
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

// failSignIn answers with an error, and logs the cause.
func (x *request) failSignIn(why, err error) {
	x.result.cause = why
	x.writePage(x.front.SignIn.Failed(x.page, err))
}

// askSignIn passes the request to the sign-in. Like retryIfBehind, it repeats a refused request if this node lags: the
// session may have begun on another node a moment ago.
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
	x.result.answered = int32(a.Status)
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
