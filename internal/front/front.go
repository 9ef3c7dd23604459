package front

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/console"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/session"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/aws/signature"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
	"github.com/sluicemq/sluice/internal/observe/prom"
	"github.com/sluicemq/sluice/internal/observe/spans"
	"github.com/sluicemq/sluice/internal/tenant"
	"github.com/sluicemq/sluice/internal/tool/throttle"
	"github.com/sluicemq/sluice/internal/topic/signing"
)

// Options configures a front.
type Options struct {
	Services []*protocol.Service // the first is the default
	Streams  []Stream
	// Certificate returns a certificate that signs messages of topics, in PEM, or nil.
	Certificate func(id string) []byte
	Console     *console.Pages // nil: there is no console
	SignIn      SignIn         // answers the console's sign-in requests
	Keys        Keys
	Store       Store
	Node        Node

	Region    string // of requests that do not name one
	PublicURL string // of the server behind its proxy; empty: it has none
	Proxies   Proxies
	Now       func() time.Time
	Limits    Limits

	Tenants *tenant.Tenants // the limits of accounts and users; nil: none

	NoSignatureV2 bool // refuse requests signed with Signature Version 2

	Trail *trail.Trail // nil: calls are not recorded
	// NoteFiles records the trail files that another node has delivered.
	NoteFiles   func(context.Context, []trails.File) error
	Health      Health
	Metrics     *prom.Requests
	Spans       *spans.Tracer // nil: requests have no spans
	Log         *slog.Logger
	LogRequests bool
	Version     string // of the program
}

// Keys finds the owner of an access key, and the session of a session token.
type Keys struct {
	Roots     *identity.Credentials
	Sessions  *identity.Vault
	Directory *directory.Directory
	Browsers  *session.Sessions // of console users
}

// Store is this machine's copy of the control store.
type Store interface {
	// Elsewhere reports whether another node owns the control store.
	Elsewhere() bool
	// Version grows with every change that the copy has received.
	Version() uint64
}

// Node is the front's view of the node that it runs on.
type Node interface {
	// Forward passes payload to ServeForwarded on the node that owns the control store. It returns the answer when this
	// node's copy of the control store has caught up with that node.
	Forward(ctx context.Context, payload []byte) (answer []byte, err error)
	// CatchUp returns when this node's copy has all changes made before the call.
	CatchUp(ctx context.Context) error
	// CatchUpPause is the minimum time between two calls of CatchUp for unverified callers: each call reads the control
	// log, and any client can send an unknown access key.
	CatchUpPause() time.Duration
	// Current returns an error if the copy may be out of date.
	Current() error
}

// Front is the HTTP handler of the server.
type Front struct {
	Options
	limits   Limits
	verifier signature.Verifier
	prefix   string // of paths, from the public URL

	memory    *budget         // for the received parts of the requests in progress
	strangers *budget         // of requests whose signature is not verified, by address
	requests  *budget         // of other requests in progress, by account
	overload  throttle.Minute // log lines about it
	catchUps  *paced          // for unverified callers
	ready     probe
	logged    atomic.Bool // whether requests are logged
}

// New returns a front.
func New(o Options) *Front {
	f := &Front{
		Options: o, limits: o.Limits,
		memory: newBudget(o.Limits.Memory), strangers: newBudget(placesForStrangers(&o.Limits)),
		requests: newBudget(placesForAccounts(&o.Limits)),
		catchUps: newPaced(o.Node.CatchUp, o.Node.CatchUpPause()),
	}
	f.verifier.NoVersion2 = o.NoSignatureV2
	f.logged.Store(o.LogRequests)
	f.ready.check, f.ready.log = o.Health.Ready, o.Log
	if u, err := url.Parse(o.PublicURL); err == nil && u.Host != "" {
		// Clients sign the address that they use, even if a proxy changes it.
		f.verifier.Hosts = []string{u.Host}
		f.prefix = strings.TrimRight(u.Path, "/")
	}
	return f
}

// LogRequests sets whether requests that begin after the call are logged.
func (f *Front) LogRequests(on bool) { f.logged.Store(on) }

// MemoryInUse returns how many bytes of Limits.Memory the requests in progress hold.
func (f *Front) MemoryInUse() int64 { return f.memory.used() }

// RequestsInProgress returns how many requests hold a place.
func (f *Front) RequestsInProgress() int64 { return f.strangers.used() + f.requests.used() }

// ServeHTTP answers a request.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if fieldsOf(r.Header) > maxFields {
		refuseFields(w)
		return
	}
	if f.serveConsole(w, r) || f.answerPlainly(w, r) {
		return
	}
	x := f.newRequest(f.arrive(w, r))
	if r.Method == http.MethodGet {
		for i := range f.Streams {
			if r.URL.Path == f.prefix+f.Streams[i].Path {
				x.run(func() { x.serveStream(&f.Streams[i]) })
				return
			}
		}
	}
	x.run(x.serve)
}

// TakesPlain reports whether http1 may read requests for a path: those for services, whose answers are short and state
// their length. Requests for the console are left to net/http.
func (f *Front) TakesPlain(path string) bool {
	_, console := f.consolePath(path)
	return !console
}

// answerPlainly answers requests that are not for a service, with a plain text.
func (f *Front) answerPlainly(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	switch {
	case r.URL.Path == "/healthz":
		f.healthz(w)
	case r.URL.Path == "/readyz":
		f.readyz(w, r)
	case isVisit(r, f.prefix):
		f.welcome(w)
	default:
		id, ok := signing.IDOf(strings.TrimPrefix(r.URL.Path, f.prefix))
		if !ok {
			return false
		}
		f.certificate(w, r, id)
	}
	return true
}

// NewServer returns an HTTP server that limits how long a client can occupy it.
func NewServer(h http.Handler, l Limits, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: l.Header,
		ReadTimeout:       l.Read,
		WriteTimeout:      l.Write,
		IdleTimeout:       l.Idle,
		MaxHeaderBytes:    MaxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          maxStreams,
			MaxReceiveBufferPerConnection: maxUnreadConn,
			MaxReceiveBufferPerStream:     maxUnreadStream,
		},
	}
}
