package signin

import (
	"context"
	"net/http"
)

// signInInput is the input of one of the ways to sign in.
type signInInput struct {
	Link     string         `json:"link"`
	Signed   *signedRequest `json:"signed"`
	Password *password      `json:"password"`
}

// signIn begins a session.
func (s *Service) signIn(ctx context.Context, r *Request) (*Answer, error) {
	var in signInInput
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	switch {
	case in.Link != "" && in.Signed == nil && in.Password == nil:
		return s.links.signIn(ctx, r, in.Link)
	case in.Link == "" && in.Signed != nil && in.Password == nil:
		return s.keys.signIn(ctx, r, in.Signed)
	case in.Link == "" && in.Signed == nil && in.Password != nil:
		return s.passwords.signIn(ctx, r, in.Password)
	}
	return nil, refuse(http.StatusBadRequest, "BadRequest", `The body has to have one of "link", "signed" and "password".`)
}
