package signin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/session"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// Register adds CreateSignInLink to the service "sluice", with the authorizer of that service.
func (s *Service) Register(wire *protocol.Service, authorizer *service.Authorizer) {
	protocol.Register(
		wire,
		"CreateSignInLink",
		func(ctx context.Context, c *protocol.Call, _ *service.Empty) (*createSignInLinkOutput, error) {
			return s.createSignInLink(ctx, c, authorizer)
		},
		protocol.Control,
	)
}

type createSignInLinkOutput struct {
	Url        string `hidden:""` // signing in is enough
	Expiration time.Time
}

// createSignInLink creates a link with which the caller can sign in to the console, once. The session keeps every
// restriction of the caller, so the operation needs no permission; a policy can deny it.
func (s *Service) createSignInLink(
	ctx context.Context, c *protocol.Call, authorizer *service.Authorizer,
) (*createSignInLinkOutput, error) {
	switch {
	case service.Anonymous(c):
		return nil, service.Denied(c)
	case s.o.Off:
		return nil, service.Modelled(
			"NoConsoleException", "NoConsole", http.StatusBadRequest, "This server serves no console.",
		)
	}
	if err := authorizer.Forbidden(
		c, service.Subject{Resource: service.ARN("*")}, "sluice:CreateSignInLink",
	); err != nil {
		return nil, err
	}
	link, expires, err := s.link(ctx, service.Caller(c), s.guard.base(c.Host, c.Scheme == "https"), authorizer.Now())
	switch {
	case errors.Is(err, session.ErrSessionKeys):
		return nil, protocol.AccessDenied("Keys of a console session cannot create a link that begins another session.")
	case errors.Is(err, session.ErrNoPrincipal):
		return nil, service.Denied(c)
	case err != nil:
		return nil, service.Failure(err)
	}
	return &createSignInLinkOutput{link, expires}, nil
}

// Link returns a URL with which the root of an account can sign in. It is for the server that has just made that root's
// key.
func (s *Service) Link(ctx context.Context, root identity.Identity, endpoint string, now time.Time) (string, error) {
	link, _, err := s.link(ctx, root, endpoint, now)
	return link, err
}

func (s *Service) link(
	ctx context.Context, who identity.Identity, endpoint string, now time.Time,
) (string, time.Time, error) {
	g, err := session.GrantOf(who, now)
	if err != nil {
		return "", time.Time{}, err
	}
	token, expires, err := s.o.Sessions.NewLink(ctx, g, now)
	if err != nil {
		return "", time.Time{}, err
	}
	return endpoint + "/console/#k=" + token, expires, nil // browsers send no fragments: it is in no log
}

// TooLarge answers a request whose body has more than MaxBody bytes, and was not read.
func (s *Service) TooLarge() *Answer {
	return s.failed(refuse(http.StatusRequestEntityTooLarge, "TooLarge", "The body has more than %d bytes.", MaxBody))
}
