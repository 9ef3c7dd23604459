package keyservice

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/sluicemq/sluice/internal/keyring"
)

// opener returns the service at a URL. It does not contact it.
type opener func(ctx context.Context, u *url.URL) (keyring.Service, error)

// kind is a kind of key service.
type kind struct {
	form       string // of the URL
	parameters []string
	open       opener
}

var kinds = map[string]kind{
	"awskms":        {"awskms://KEY?region=REGION", []string{"region", endpoint}, openAWS},
	"hashivault":    {"hashivault://KEY?engine=transit", []string{"engine", endpoint}, openVault},
	"gcpkms":        {googleForm, []string{endpoint}, openGoogle},
	"azurekeyvault": {azureForm, []string{endpoint}, openAzure},
}

// endpoint is the parameter with the URL of another server than the usual one.
const endpoint = "endpoint"

// Check returns an error that describes a mistake in the URL of a key service.
func Check(text string) error {
	_, _, err := parse(text)
	return err
}

// Open returns the key service at a URL. It does not contact the service yet.
func Open(ctx context.Context, text string) (keyring.Service, error) {
	u, k, err := parse(text)
	if err != nil {
		return nil, err
	}
	return k.open(ctx, u)
}

func parse(text string) (*url.URL, kind, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, kind{}, fmt.Errorf("it is no URL: %w", err)
	}
	k, ok := kinds[u.Scheme]
	if !ok {
		return nil, k, fmt.Errorf("%q: want awskms://, hashivault://, gcpkms:// or azurekeyvault://", text)
	}
	if u.User != nil || u.Fragment != "" || keyOf(u) == "" {
		return nil, k, fmt.Errorf("%q: want %s", text, k.form)
	}
	for name, values := range u.Query() {
		if len(values) != 1 || !slices.Contains(k.parameters, name) {
			return nil, k, fmt.Errorf("%q: the parameters are %v, each once", text, k.parameters)
		}
	}
	if at := u.Query().Get(endpoint); at != "" {
		if e, err := url.Parse(at); err != nil || !isBase(e) {
			return nil, k, fmt.Errorf("endpoint=%s: want a URL such as https://keys.example.com", at)
		}
	}
	return u, k, nil
}

// isBase reports whether paths can be added to a URL, which the log and the status show.
func isBase(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "" &&
		u.Fragment == ""
}

// keyOf returns the name of the key in a URL: the part between the scheme and the parameters.
func keyOf(u *url.URL) string {
	if u.Host == "" {
		return trimSlashes(u.Path)
	}
	return trimSlashes(u.Host + u.Path)
}
