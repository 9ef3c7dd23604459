package keyservice

import (
	"context"
	"errors"
	"net/http"

	"github.com/sluicemq/sluice/internal/keyring"
)

// machineToken asks the metadata server of a cloud's machine for an access token. No proxy is in between.
func machineToken(ctx context.Context, name, at, header, value string) (string, error) {
	var out struct {
		Token string `json:"access_token"`
	}
	c := call{
		client: newClient(&http.Transport{DisableKeepAlives: true}), name: name, method: http.MethodGet, url: at,
		prepare: func(r *http.Request, _ []byte) error { r.Header.Set(header, value); return nil },
		reason:  func(*answer) error { return keyring.ErrDenied },
	}
	if err := c.do(ctx, &out); err != nil {
		return "", err
	}
	if out.Token == "" {
		return "", errors.New("there is no token")
	}
	return out.Token, nil
}
