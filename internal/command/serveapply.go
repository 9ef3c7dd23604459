package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/sluicemq/sluice/internal/aws/signature"
	"github.com/sluicemq/sluice/internal/declared"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// applyAtStart applies files to a server before it serves clients.
type applyAtStart struct {
	files   []string
	keyFile string
	texts   [][]byte
}

// read reads and checks the files, before a server is started.
func (a *applyAtStart) read(c *server.Config) (err error) {
	if a.texts, err = readDeclared(a.files, bytes.NewReader(nil)); err != nil {
		return fmt.Errorf("--apply: %w", err)
	}
	var wrong []error
	for i, path := range a.files {
		if _, err := declared.Parse(a.texts[i], path, atHome(c)); err != nil {
			wrong = append(wrong, fmt.Errorf("--apply: %w", err))
		}
	}
	return errors.Join(wrong...)
}

// atHome is the account and region for files that name none.
func atHome(c *server.Config) declared.Scope {
	s := declared.Scope{Partition: "aws", Account: "-", Region: c.Region}
	if len(c.Accounts) > 0 {
		s.Account = c.Accounts[0]
	}
	return s
}

// applyPauses are the pauses between attempts: in a cluster, another node may apply the same file, or may not be ready
// yet.
var applyPauses = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}

// apply applies the files.
func (a *applyAtStart) apply(ctx context.Context, c *server.Config, s *server.Server) error {
	for i, path := range a.files {
		f, err := declared.Parse(a.texts[i], path, atHome(c))
		if err != nil {
			return fmt.Errorf("--apply: %w", err)
		}
		for attempt := 0; ; attempt++ {
			err := a.once(ctx, c, s, f)
			if err == nil {
				break
			}
			if attempt == len(applyPauses) || ctx.Err() != nil || errors.Is(err, declared.ErrRefused) {
				return fmt.Errorf("--apply %s: %w", path, err)
			}
			c.Logger.Warn("a file is not applied yet, and is tried again", "file", path, "error", err)
			_ = wait.For(ctx, applyPauses[attempt])
		}
	}
	return nil
}

func (a *applyAtStart) once(ctx context.Context, c *server.Config, s *server.Server, f *declared.File) error {
	session := declared.NewSession(f.Home, func(_ context.Context, scope declared.Scope) (declared.API, error) {
		return newInnerAPI(s, scope, c.Region)
	})
	if a.keyFile != "" {
		file, err := declared.OpenKeyFile(a.keyFile)
		if err != nil {
			return fmt.Errorf("--write-keys: %w", err)
		}
		session.Made = file.Add
	}
	session.Waiting = func(why string) { c.Logger.Info(why) }
	plan, err := session.Plan(ctx, f, false)
	if err != nil {
		return err
	}
	for _, note := range plan.Notes {
		c.Logger.Info(note)
	}
	return session.Apply(ctx, plan, func(step *declared.Step) { logStep(c.Logger, f, step) })
}

func logStep(log *slog.Logger, f *declared.File, step *declared.Step) {
	log.Info(
		"applied",
		"file",
		f.Name,
		"action",
		string(step.Action),
		"resource",
		step.String(),
		"account",
		step.Account,
		"region",
		step.Region,
	)
}

// newInnerAPI returns a client of the server in this program, as the root of an account.
func newInnerAPI(s *server.Server, scope declared.Scope, region string) (*declaredAPI, error) {
	root, ok := s.RootOf(scope.Account)
	if !ok {
		return nil, fmt.Errorf("the server has no account %s: add it with --account", scope.Account)
	}
	if scope.Region != "" {
		region = scope.Region
	}
	one := &client{
		endpoints: []endpoint{{"http://localhost", "within the program"}}, keys: "the server",
		signer: signature.Signer{AccessKeyID: root.AccessKeyID, Secret: root.Secret, Region: region},
		http:   &http.Client{Transport: inner{s.Handler()}},
	}
	api := &declaredAPI{make(map[string]*client)}
	for _, service := range declaredServices {
		api.clients[service] = one
	}
	return api, nil
}

// inner passes requests to a handler without a network. It implements http.RoundTripper.
type inner struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (i inner) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.RequestURI, in.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:0"
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	w := &innerAnswer{header: make(http.Header), status: http.StatusOK}
	i.handler.ServeHTTP(w, in)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// innerAnswer records an answer. It implements http.ResponseWriter.
type innerAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *innerAnswer) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *innerAnswer) WriteHeader(status int) { w.status = status }

// Write implements http.ResponseWriter.
func (w *innerAnswer) Write(p []byte) (int, error) { return w.body.Write(p) }

// Flush implements http.Flusher.
func (w *innerAnswer) Flush() {}
