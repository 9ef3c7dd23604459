package keyservice

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"golang.org/x/oauth2/jwt"

	"github.com/sluicemq/sluice/internal/keyring"
)

// google is a symmetric key of Google Cloud KMS. The server needs the role "Cloud KMS CryptoKey Encrypter/Decrypter".
type google struct {
	client *http.Client
	url    string // of the key
	token  func(ctx context.Context) (string, error)
}

const (
	googleForm  = "gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K"
	googleScope = "https://www.googleapis.com/auth/cloudkms"
	googleToken = "https://oauth2.googleapis.com/token"
)

func openGoogle(_ context.Context, u *url.URL) (keyring.Service, error) {
	key := keyOf(u)
	if parts := strings.Split(key, "/"); len(parts) != 8 || parts[0] != "projects" || parts[6] != "cryptoKeys" {
		return nil, fmt.Errorf("%q: want %s", u, googleForm)
	}
	at := cmp.Or(u.Query().Get(endpoint), "https://cloudkms.googleapis.com")
	g := &google{client: newClient(nil), url: strings.TrimSuffix(at, "/") + "/v1/" + key, token: googleMachineToken}
	if file := os.Getenv("GOOGLE_APPLICATION_CREDENTIALS"); file != "" {
		c, err := googleAccount(file)
		if err != nil {
			return nil, fmt.Errorf("GOOGLE_APPLICATION_CREDENTIALS: %w", err)
		}
		g.token = func(ctx context.Context) (string, error) { return oauthToken(ctx, c.TokenSource) }
	}
	return g, nil
}

// googleAccount reads the file of a service account.
func googleAccount(file string) (*jwt.Config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var account struct {
		Type         string
		Email        string `json:"client_email"`
		PrivateKey   string `json:"private_key"`
		PrivateKeyID string `json:"private_key_id"`
		TokenURI     string `json:"token_uri"`
	}
	if err := json.Unmarshal(text, &account); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if account.Type != "service_account" {
		return nil, fmt.Errorf("%s: its type is %q: want the file of a service account", file, account.Type)
	}
	return &jwt.Config{
		Email: account.Email, PrivateKey: []byte(account.PrivateKey), PrivateKeyID: account.PrivateKeyID,
		Scopes: []string{googleScope}, TokenURL: cmp.Or(account.TokenURI, googleToken),
	}, nil
}

// googleMachineToken asks the metadata server of the machine, or of the pod.
func googleMachineToken(ctx context.Context) (string, error) {
	host := cmp.Or(os.Getenv("GCE_METADATA_HOST"), "metadata.google.internal")
	return machineToken(ctx, "Google's metadata server",
		"http://"+host+"/computeMetadata/v1/instance/service-accounts/default/token", "Metadata-Flavor", "Google")
}

// Seal implements keyring.Service.
func (g *google) Seal(ctx context.Context, id string, key []byte) ([]byte, error) {
	var out struct{ Ciphertext []byte }
	err := g.call(ctx, "encrypt", map[string]any{"plaintext": key, "additionalAuthenticatedData": []byte(id)}, &out)
	return out.Ciphertext, err
}

// Open implements keyring.Service.
func (g *google) Open(ctx context.Context, id string, sealed []byte) ([]byte, error) {
	var out struct{ Plaintext []byte }
	err := g.call(ctx, "decrypt", map[string]any{"ciphertext": sealed, "additionalAuthenticatedData": []byte(id)}, &out)
	return out.Plaintext, err
}

func (g *google) call(ctx context.Context, operation string, in, out any) error {
	c := call{client: g.client, name: "Google Cloud KMS", url: g.url + ":" + operation, body: in, reason: googleReason}
	c.prepare = withToken(g.token)
	return c.do(ctx, out)
}

// withToken identifies a caller by a token.
func withToken(token func(context.Context) (string, error)) func(*http.Request, []byte) error {
	return func(r *http.Request, _ []byte) error {
		t, err := token(r.Context())
		if err != nil {
			return fmt.Errorf("get a token: %w", err)
		}
		r.Header.Set("Authorization", "Bearer "+t)
		return nil
	}
}

// googleReason returns why Google Cloud KMS refuses, or nil if it may answer later.
func googleReason(a *answer) error {
	var e struct {
		Error struct{ Status, Message string }
	}
	_ = json.Unmarshal(a.body, &e) // a text of something in between has no status
	switch e.Error.Status {
	case "NOT_FOUND":
		return keyring.ErrNoKey
	case "PERMISSION_DENIED", "UNAUTHENTICATED":
		return keyring.ErrDenied
	case "FAILED_PRECONDITION":
		if strings.Contains(e.Error.Message, "DISABLED") {
			return keyring.ErrDisabled
		}
		return keyring.ErrInvalidState
	case "INVALID_ARGUMENT":
		return keyring.ErrInvalidState
	}
	return nil
}
