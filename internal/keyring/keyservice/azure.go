package keyservice

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/sluicemq/sluice/internal/keyring"
)

// azure is an RSA key of Azure Key Vault. The server needs the permissions get, wrapKey and unwrapKey for it.
type azure struct {
	client *http.Client
	url    string // of the key, without a version
	token  func(ctx context.Context) (string, error)
}

const (
	azureForm      = "azurekeyvault://VAULT.vault.azure.net/keys/KEY"
	azureResource  = "https://vault.azure.net"
	azureVersion   = "?api-version=7.4"
	azureAlgorithm = "RSA-OAEP-256"
)

func openAzure(_ context.Context, u *url.URL) (keyring.Service, error) {
	name, ok := strings.CutPrefix(trimSlashes(u.Path), "keys/")
	if u.Host == "" || !ok || name == "" || strings.Contains(name, "/") {
		return nil, fmt.Errorf("%q: want %s", u, azureForm)
	}
	at := cmp.Or(u.Query().Get(endpoint), "https://"+u.Host)
	a := &azure{client: newClient(nil), url: strings.TrimSuffix(at, "/") + "/keys/" + name, token: azureMachineToken}
	if tenant := os.Getenv("AZURE_TENANT_ID"); tenant != "" {
		a.token = func(ctx context.Context) (string, error) { return azureAppToken(ctx, tenant) }
	}
	return a, nil
}

// azureAppToken asks for a token of an application, by a secret or, in Kubernetes, by the token of a service account.
func azureAppToken(ctx context.Context, tenant string) (string, error) {
	host := cmp.Or(os.Getenv("AZURE_AUTHORITY_HOST"), "https://login.microsoftonline.com")
	c := clientcredentials.Config{
		ClientID: os.Getenv("AZURE_CLIENT_ID"), ClientSecret: os.Getenv("AZURE_CLIENT_SECRET"),
		TokenURL: strings.TrimSuffix(host, "/") + "/" + url.PathEscape(tenant) + "/oauth2/v2.0/token",
		Scopes:   []string{azureResource + "/.default"}, AuthStyle: oauth2.AuthStyleInParams,
	}
	if file := os.Getenv("AZURE_FEDERATED_TOKEN_FILE"); file != "" && c.ClientSecret == "" {
		assertion, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("AZURE_FEDERATED_TOKEN_FILE: %w", err)
		}
		c.EndpointParams = url.Values{
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
			"client_assertion":      {strings.TrimSpace(string(assertion))},
		}
	}
	return oauthToken(ctx, c.TokenSource)
}

// azureMachineToken asks the metadata server of the machine.
func azureMachineToken(ctx context.Context) (string, error) {
	host := cmp.Or(os.Getenv("AZURE_POD_IDENTITY_AUTHORITY_HOST"), "http://169.254.169.254")
	q := url.Values{"api-version": {"2018-02-01"}, "resource": {azureResource}}
	if id := os.Getenv("AZURE_CLIENT_ID"); id != "" {
		q.Set("client_id", id)
	}
	return machineToken(
		ctx, "Azure's metadata server", host+"/metadata/identity/oauth2/token?"+q.Encode(), "Metadata", "true",
	)
}

// wrapped is a key sealed by Azure. It must be opened under the version of its key that has sealed it.
type wrapped struct {
	KID   string `json:"kid"`
	Value string `json:"value"` // base64 for URLs
}

// Seal implements keyring.Service. It uses the latest version of the key.
func (a *azure) Seal(ctx context.Context, _ string, key []byte) ([]byte, error) {
	var latest struct{ Key struct{ KID string } }
	if err := a.call(ctx, http.MethodGet, a.url, nil, &latest); err != nil {
		return nil, err
	}
	var out wrapped
	if err := a.onVersion(ctx, latest.Key.KID, "wrapkey", base64.RawURLEncoding.EncodeToString(key), &out); err != nil {
		return nil, err
	}
	return json.Marshal(wrapped{latest.Key.KID, out.Value})
}

// Open implements keyring.Service.
func (a *azure) Open(ctx context.Context, _ string, sealed []byte) ([]byte, error) {
	var in, out wrapped
	if err := json.Unmarshal(sealed, &in); err != nil {
		return nil, fmt.Errorf("%w: Azure Key Vault has not sealed it", keyring.ErrNoKey)
	}
	if err := a.onVersion(ctx, in.KID, "unwrapkey", in.Value, &out); err != nil {
		return nil, err
	}
	key, err := base64.RawURLEncoding.DecodeString(out.Value)
	if err != nil {
		return nil, fmt.Errorf("%w: Azure Key Vault: its answer is not a key", keyring.ErrNoAnswer)
	}
	return key, nil
}

// onVersion calls an operation of a version of the key. The version comes from a file or an answer, so only the part
// behind the name of the key is used.
func (a *azure) onVersion(ctx context.Context, kid, operation, value string, out *wrapped) error {
	_, version, ok := strings.Cut(kid, "/keys/"+a.url[strings.LastIndexByte(a.url, '/')+1:]+"/")
	if !ok || version == "" || strings.Trim(version, "0123456789abcdefABCDEF") != "" {
		return fmt.Errorf("%w: %q is not a version of the key %s", keyring.ErrNoKey, kid, a.url)
	}
	in := map[string]string{"alg": azureAlgorithm, "value": value}
	return a.call(ctx, "", a.url+"/"+version+"/"+operation, in, out)
}

func (a *azure) call(ctx context.Context, method, at string, in, out any) error {
	c := call{client: a.client, name: "Azure Key Vault", method: method, url: at + azureVersion, body: in, reason: azureReason}
	c.prepare = withToken(a.token)
	return c.do(ctx, out)
}

// azureReason returns why Azure Key Vault refuses, or nil if it may answer later.
func azureReason(a *answer) error {
	var e struct {
		Error struct {
			Message    string
			InnerError struct{ Code string }
		}
	}
	_ = json.Unmarshal(a.body, &e) // the status says enough
	disabled := e.Error.InnerError.Code == "KeyDisabled" || strings.Contains(e.Error.Message, "disabled")
	switch {
	case a.status == http.StatusForbidden && disabled:
		return keyring.ErrDisabled
	case a.status == http.StatusForbidden, a.status == http.StatusUnauthorized:
		return keyring.ErrDenied
	case a.status == http.StatusNotFound:
		return keyring.ErrNoKey
	case a.status == http.StatusBadRequest, a.status == http.StatusConflict:
		return keyring.ErrInvalidState
	}
	return nil
}
