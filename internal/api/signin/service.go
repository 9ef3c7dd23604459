package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/auth/openid"
	"github.com/sluicemq/sluice/internal/auth/session"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
)

// Options configures New.
type Options struct {
	Sessions  *session.Sessions
	Directory *directory.Directory
	Roots     *identity.Credentials // keys of the accounts
	Logins    *login.Logins         // passwords of users
	Trail     *trail.Trail          // nil: sign-ins are not recorded
	OpenID    *openid.Provider      // nil: there is no sign-in by an identity provider
	Log       *slog.Logger
	Accounts  []string // the first is the default
	Region    string
	PublicURL string        // of the server behind its proxy; empty: it has none
	Hosts     []string      // further names by which browsers may reach the server
	Idle      time.Duration // a session without keys for this long ends
	Version   string        // of the program
	Off       bool          // the console is turned off
	NoUndo    bool          // purges and deletions of queues are final at once
}

// Service answers the console's sign-in requests. For each way to sign in, it has a part.
type Service struct {
	*core
	links      links
	keys       *keys
	passwords  passwords
	federation federation
	browsers   browsers
}

// core is what the parts of the service share.
type core struct {
	o     Options
	guard *guard
}

// New returns the service.
func New(o Options) *Service {
	c := &core{o, newGuard(o.PublicURL, o.Hosts)}
	return &Service{
		core: c, links: links{c}, keys: newKeys(c), passwords: passwords{c}, federation: federation{c, o.OpenID},
		browsers: browsers{c},
	}
}

// Register adds CreateSignInLink to the service "sluice", with the authorizer of that service.
func (s *Service) Register(wire *protocol.Service, authorizer *service.Authorizer) {
	s.links.register(wire, authorizer)
}

// Link returns a URL with which the root of an account can sign in. It is for the server that has just made that root's
// key.
func (s *Service) Link(ctx context.Context, root identity.Identity, endpoint string, now time.Time) (string, error) {
	link, _, err := s.links.create(ctx, root, endpoint, now)
	return link, err
}

// Request is a request of a browser.
type Request struct {
	HTTP      *http.Request // whose body was read
	Name      string        // the part of its path after /console/api/
	Body      []byte
	ID        string // in its form for the log
	SourceIP  string // of the client, which may be behind proxies
	Encrypted bool   // it came over TLS, to this server or to a trusted proxy
	At        time.Time
}

// Answer is the answer to a browser.
type Answer struct {
	Status int
	Header http.Header
	Body   any // nil: it has none
}

// MaxBody is the maximum size of a request's body, in bytes.
const MaxBody = 32 << 10

// Guard is the header that distinguishes requests of the console's own page from requests that other sites can make a
// browser send.
const Guard = "X-Sluice-Console"

// Refusal is an error in the form for the page.
type Refusal struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

func refuse(status int, code, format string, args ...any) error {
	return &Refusal{status, code, fmt.Sprintf(format, args...)}
}

// operations are the requests by method and name. Names that end with a slash are followed by an id.
func (s *Service) operations() map[string]map[string]func(context.Context, *Request) (*Answer, error) {
	type methods = map[string]func(context.Context, *Request) (*Answer, error)
	b := &s.browsers
	return map[string]methods{
		"settings":     {http.MethodGet: s.settings},
		"session":      {http.MethodGet: b.show, http.MethodPost: s.signIn, http.MethodDelete: b.signOut},
		"credentials":  {http.MethodPost: b.credentials},
		"sessions":     {http.MethodGet: b.list},
		"sessions/":    {http.MethodDelete: b.end},
		openIDBegin:    {http.MethodGet: s.federation.begin},
		openIDCallback: {http.MethodGet: s.federation.finish},
	}
}

// Changes reports whether a request may change the control store, and so must be answered by its owner.
func (s *Service) Changes(r *http.Request, name string) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead || name == openIDCallback
}

// Serve answers a request. Only the length of its body was checked before.
func (s *Service) Serve(ctx context.Context, r *Request) *Answer {
	a, err := s.serve(ctx, r)
	if err != nil {
		a = s.Failed(r.Name, err)
	}
	if a.Header == nil {
		a.Header = make(http.Header)
	}
	a.Header.Set("Cache-Control", "no-store")
	return a
}

func (s *Service) serve(ctx context.Context, r *Request) (*Answer, error) {
	if err := s.guard.checkHost(r.HTTP); err != nil {
		return nil, err
	}
	name := r.Name
	if i := strings.IndexByte(name, '/'); i >= 0 && s.operations()[name] == nil {
		name = name[:i+1]
	}
	methods := s.operations()[name]
	if methods == nil {
		return nil, refuse(http.StatusNotFound, "NotFound", "There is nothing here.")
	}
	op := methods[r.HTTP.Method]
	if op == nil {
		var allowed []string
		for m := range methods {
			allowed = append(allowed, m)
		}
		slices.Sort(allowed)
		return nil, refuse(
			http.StatusMethodNotAllowed, "MethodNotAllowed", "Allowed here: %s.", strings.Join(allowed, ", "),
		)
	}
	if err := s.guard.checkOrigin(r); err != nil {
		return nil, err
	}
	return op(ctx, r)
}

// Failed returns the page's answer for an error. A browser that visits an address is redirected to the page instead.
func (s *Service) Failed(name string, err error) *Answer {
	a := s.failed(err)
	if isVisit(name) && a.Status >= http.StatusInternalServerError {
		return lead(name, codeUnavailable)
	}
	return a
}

// TooLarge answers a request whose body has more than MaxBody bytes, and was not read.
func (s *Service) TooLarge() *Answer {
	return s.failed(refuse(http.StatusRequestEntityTooLarge, "TooLarge", "The body has more than %d bytes.", MaxBody))
}

func (s *Service) failed(err error) *Answer {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return &Answer{Status: r.Status, Body: r}
	}
	if errors.Is(err, session.ErrNoPrincipal) {
		return &Answer{
			Status: http.StatusUnauthorized, Body: &Refusal{Code: "SignedOut", Message: "The session has ended."},
		}
	}
	if errors.Is(err, control.ErrElsewhere) || errors.Is(err, control.ErrUnavailable) || service.OfTheDisk(err) {
		return &Answer{
			Status: http.StatusServiceUnavailable,
			Body:   &Refusal{Code: "Unavailable", Message: "This cannot be done at the moment. Please try again."},
		}
	}
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return &Answer{Status: e.Status, Body: &Refusal{Code: e.Code, Message: e.Message}}
	}
	return &Answer{
		Status: http.StatusInternalServerError,
		Body:   &Refusal{Code: "InternalError", Message: "The server has failed at this."},
	}
}

// decode reads the body of a request.
func decode(r *Request, into any) error {
	if kind, _, err := mime.ParseMediaType(r.HTTP.Header.Get("Content-Type")); err != nil ||
		kind != "application/json" {
		return refuse(
			http.StatusUnsupportedMediaType, "UnsupportedMediaType", "The Content-Type has to be application/json.",
		)
	}
	d := json.NewDecoder(strings.NewReader(string(r.Body)))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.Decode(new(any)) != io.EOF {
		err = errors.New("something follows the object")
	}
	if err != nil {
		return refuse(http.StatusBadRequest, "BadRequest", "The body is not in the expected form: %.200s.", err)
	}
	return nil
}

// settings returns the settings that the page needs before sign-in.
func (s *Service) settings(_ context.Context, _ *Request) (*Answer, error) {
	path := ""
	if s.guard.public != nil {
		path = strings.TrimRight(s.guard.public.Path, "/")
	}
	return &Answer{Status: http.StatusOK, Body: struct {
		Version     string   `json:"version"`
		Region      string   `json:"region"`
		Partition   string   `json:"partition"`
		Account     string   `json:"account"`
		Prefix      string   `json:"prefix"` // of the paths of the API behind the proxy
		SignIn      []string `json:"signIn"`
		OIDC        *named   `json:"oidc,omitempty"`
		IdleMinutes int      `json:"idleMinutes"`
		NoUndo      bool     `json:"noUndo,omitempty"`
	}{
		s.o.Version, s.o.Region, "aws", s.o.Accounts[0], path, s.methods(), s.named(), int(s.o.Idle / time.Minute),
		s.o.NoUndo,
	}}, nil
}

func (s *Service) methods() []string {
	all := []string{string(session.ByLink), string(session.ByKeys), string(session.ByPassword)}
	if s.o.OpenID != nil {
		all = append(all, string(session.ByOpenID))
	}
	return all
}

// named is an identity provider in the form for the page.
type named struct {
	Name string `json:"name"`
}

func (s *Service) named() *named {
	if s.o.OpenID == nil {
		return nil
	}
	return &named{s.o.OpenID.Name()}
}
