package keyservice

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/sluicemq/sluice/internal/keyring"
)

// vault is a key of a transit engine. The server needs the capability update for its encrypt and decrypt.
type vault struct {
	client    *http.Client
	url       string // of the engine
	key       string
	namespace string
}

// openVault finds the server where Vault's own programs look for it: VAULT_ADDR, VAULT_CACERT, VAULT_NAMESPACE.
func openVault(_ context.Context, u *url.URL) (keyring.Service, error) {
	at := cmp.Or(u.Query().Get(endpoint), os.Getenv("VAULT_ADDR"))
	if at == "" {
		return nil, errors.New("the address of Vault is not known: set VAULT_ADDR")
	}
	engine := trimSlashes(cmp.Or(u.Query().Get("engine"), "transit"))
	v := &vault{
		key: keyOf(u), namespace: os.Getenv("VAULT_NAMESPACE"), url: strings.TrimSuffix(at, "/") + "/v1/" + engine,
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if file := os.Getenv("VAULT_CACERT"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("VAULT_CACERT: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("VAULT_CACERT: %s has no certificate", file)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	v.client = newClient(transport)
	return v, nil
}

// vaultToken reads the token again for each call: an agent of Vault replaces the file of VAULT_TOKEN_FILE.
func vaultToken() (string, error) {
	file := os.Getenv("VAULT_TOKEN_FILE")
	if file == "" {
		if token := os.Getenv("VAULT_TOKEN"); token != "" {
			return token, nil
		}
		return "", errors.New("there is no token: set VAULT_TOKEN or VAULT_TOKEN_FILE")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("VAULT_TOKEN_FILE: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// Seal implements keyring.Service. The ciphertext names the version of the key.
func (v *vault) Seal(ctx context.Context, _ string, key []byte) ([]byte, error) {
	var out struct {
		Data struct{ Ciphertext string }
	}
	err := v.call(ctx, "encrypt", map[string]any{"plaintext": key}, &out)
	if err == nil && out.Data.Ciphertext == "" {
		err = fmt.Errorf("%w: Vault: its answer has no ciphertext", keyring.ErrNoAnswer)
	}
	return []byte(out.Data.Ciphertext), err
}

// Open implements keyring.Service.
func (v *vault) Open(ctx context.Context, _ string, sealed []byte) ([]byte, error) {
	var out struct {
		Data struct{ Plaintext []byte }
	}
	err := v.call(ctx, "decrypt", map[string]any{"ciphertext": string(sealed)}, &out)
	return out.Data.Plaintext, err
}

func (v *vault) call(ctx context.Context, operation string, in, out any) error {
	c := call{
		client: v.client, name: "Vault", url: v.url + "/" + operation + "/" + url.PathEscape(v.key), body: in,
		reason: vaultReason,
	}
	c.prepare = func(r *http.Request, _ []byte) error {
		token, err := vaultToken()
		if err != nil {
			return err
		}
		r.Header.Set("X-Vault-Token", token)
		r.Header.Set("X-Vault-Request", "true")
		if v.namespace != "" {
			r.Header.Set("X-Vault-Namespace", v.namespace)
		}
		return nil
	}
	return c.do(ctx, out)
}

// vaultReason returns why Vault refuses, or nil if it may answer later. Vault has a code for denials only.
func vaultReason(a *answer) error {
	text := string(a.body)
	switch {
	case a.status == http.StatusForbidden:
		return keyring.ErrDenied
	case a.status == http.StatusNotFound, strings.Contains(text, "encryption key not found"):
		return keyring.ErrNoKey
	case strings.Contains(text, "disallowed by policy"): // the version is below min_decryption_version
		return keyring.ErrDisabled
	case a.status == http.StatusBadRequest:
		return keyring.ErrInvalidState
	}
	return nil
}
