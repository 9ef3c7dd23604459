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

// links creates links with which people sign in, and takes them.
type links struct{ *core }

// register adds CreateSignInLink to the service "sluice", with the authorizer of that service.
func (l *links) register(wire *protocol.Service, authorizer *service.Authorizer) {
	protocol.Register(
		wire,
		"CreateSignInLink",
		func(ctx context.Context, c *protocol.Call, _ *service.Empty) (*createSignInLinkOutput, error) {
			return l.createSignInLink(ctx, c, authorizer)
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
func (l *links) createSignInLink(
	ctx context.Context, c *protocol.Call, authorizer *service.Authorizer,
) (*createSignInLinkOutput, error) {
	switch {
	case service.Anonymous(c):
		return nil, service.Denied(c)
	case l.o.Off:
		return nil, service.Modelled(
			"NoConsoleException", "NoConsole", http.StatusBadRequest, "This server serves no console.",
		)
	}
	if err := authorizer.Forbidden(
		c, service.Subject{Resource: service.ARN("*")}, "sluice:CreateSignInLink",
	); err != nil {
		return nil, err
	}
	link, expires, err := l.create(ctx, service.Caller(c), l.guard.base(c.Host, c.Scheme == "https"), authorizer.Now())
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

func (l *links) create(
	ctx context.Context, who identity.Identity, endpoint string, now time.Time,
) (string, time.Time, error) {
	g, err := session.GrantOf(who, now)
	if err != nil {
		return "", time.Time{}, err
	}
	token, expires, err := l.o.Sessions.NewLink(ctx, g, now)
	if err != nil {
		return "", time.Time{}, err
	}
	return endpoint + "/console/#k=" + token, expires, nil // browsers send no fragments: it is in no log
}

// signIn signs in with the token of a link.
func (l *links) signIn(ctx context.Context, r *Request, link string) (*Answer, error) {
	who, _ := l.o.Sessions.Whose(link)
	a := l.attempt(r, session.ByLink, who)
	return a.finish(l.o.Sessions.Redeem(a.changes(ctx), link, a.arrival(), r.At))
}
