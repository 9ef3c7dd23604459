package keyservice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"

	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/tool/excerpt"
)

// machineToken asks the metadata server of a cloud's machine for an access token. No proxy is in between.
func machineToken(ctx context.Context, name, at, header, value string) (string, error) {
	var out struct {
		Token string `json:"access_token"`
	}
	c := call{
		client: newClient(&http.Transport{DisableKeepAlives: true}), name: name, method: http.MethodGet, url: at,
		prepare: func(r *http.Request, _ []byte) error { r.Header.Set(header, value); return nil },
		reason:  machineReason,
	}
	if err := c.once(ctx, &out); err != nil { // the call that needs the token is repeated
		return "", err
	}
	if out.Token == "" {
		return "", errors.New("there is no token")
	}
	return out.Token, nil
}

// machineReason returns why a metadata server refuses, or nil if it may answer later: one that is being updated answers
// with the status 404 or 410.
func machineReason(a *answer) error {
	switch a.status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
		return keyring.ErrDenied
	}
	return nil
}

// oauthToken asks an authorization server for an access token. source makes the source of tokens, which uses the client
// of the context.
func oauthToken(ctx context.Context, source func(context.Context) oauth2.TokenSource) (string, error) {
	t, err := source(context.WithValue(ctx, oauth2.HTTPClient, newClient(nil))).Token()
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return "", oauthRefusal(&answer{refused.Response.StatusCode, refused.Body})
	}
	if err != nil {
		return "", err
	}
	return t.AccessToken, nil
}

// oauthRefusal returns the error for the answer of an authorization server that gives no token. Both clouds answer with
// the status 400 or 401 if the account, its secret or its key is wrong; RFC 6749, section 5.2 has the reasons. The
// server gets no token until its operator changes something, so the call counts as denied.
func oauthRefusal(a *answer) error {
	said := fmt.Errorf("status %d: %s", a.status, excerpt.Line(string(a.body), maxReason))
	switch a.status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
		var e struct{ Error string }
		_ = json.Unmarshal(a.body, &e) // a text of something in between has no reason
		if e.Error != "" && e.Error != "temporarily_unavailable" && e.Error != "slow_down" {
			return fmt.Errorf("%w: the authorization server refuses the credentials: %w", keyring.ErrDenied, said)
		}
	}
	return said
}
