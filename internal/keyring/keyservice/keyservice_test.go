package keyservice_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/keyring/keyservice"
)

// service is a key service for tests: it answers a call with a status and a text, and has one key, which encrypts by
// reversing the text.
type service struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	refusal func(w http.ResponseWriter) // nil: it answers
	calls   int
}

// serve starts a service whose calls are answered by a function of the path and the body.
func serve(t *testing.T, answer func(r *http.Request, body map[string]any) any) *service {
	t.Helper()
	s := &service{t: t}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.calls++
		refusal := s.refusal
		s.mu.Unlock()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if refusal != nil {
			refusal(w)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		var body map[string]any
		_ = json.Unmarshal(text, &body) // forms have no JSON
		out := answer(r, body)
		if out == nil {
			t.Errorf("%s %s: %s", r.Method, r.URL, text)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(s.Close)
	return s
}

// refuse makes the service answer all calls with this refusal.
func (s *service) refuse(status int, text string) {
	s.refusal = func(w http.ResponseWriter) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// turned returns the services' ciphertext of a key.
func turned(b []byte) []byte {
	out := bytes.Clone(b)
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

func bytesOf(v any) []byte {
	text, _ := v.(string)
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return b
}

func open(t *testing.T, url string) keyring.Service {
	t.Helper()
	k, err := keyservice.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// checkSeals seals and opens a key.
func checkSeals(t *testing.T, k keyring.Service) {
	t.Helper()
	key := make([]byte, keyring.KeySize)
	rand.Read(key)
	sealed, err := k.Seal(t.Context(), "an id", key)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, key) {
		t.Error("the key is not sealed")
	}
	if got, err := k.Open(t.Context(), "an id", sealed); err != nil || !bytes.Equal(got, key) {
		t.Errorf("opened is %x, %v, want %x", got, err, key)
	}
}

// refusals are answers to a call with the resulting errors.
type refusals map[string]struct {
	status int
	want   error
}

// check compares the errors, which contain the service's reason.
func (r refusals) check(t *testing.T, s *service, k keyring.Service) {
	t.Helper()
	for text, c := range r {
		s.refuse(c.status, text)
		_, err := k.Open(t.Context(), "an id", []byte(`{"kid":"/keys/k/1","value":"x"}`))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), fmt.Sprint(c.status)) ||
			!strings.Contains(err.Error(), shortened(text)) {
			t.Errorf("%d %s: %v", c.status, text, err)
		}
		if keyring.IsRefusal(c.want) && errors.Is(err, keyring.ErrNoAnswer) {
			t.Errorf("%d %s: it is asked again: %v", c.status, text, err)
		}
	}
}

func shortened(text string) string { return strings.Join(strings.Fields(text), " ") }

const awsKey = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"

func awsService(t *testing.T) (*service, keyring.Service) {
	t.Setenv("AWS_ACCESS_KEY_ID", "user")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "password")
	t.Setenv("AWS_CONFIG_FILE", "/nowhere")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
	t.Setenv("AWS_REGION", "us-east-1")
	s := serve(t, func(r *http.Request, body map[string]any) any {
		signed := strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=user/") &&
			strings.Contains(r.Header.Get("Authorization"), "/eu-central-1/kms/aws4_request")
		inContext, _ := body["EncryptionContext"].(map[string]any)
		if !signed || r.Header.Get("Content-Type") != "application/x-amz-json-1.1" || body["KeyId"] != awsKey ||
			inContext["sluice:key"] != "an id" {
			return nil
		}
		switch r.Header.Get("X-Amz-Target") {
		case "TrentService.Encrypt":
			return map[string]any{"CiphertextBlob": turned(bytesOf(body["Plaintext"])), "KeyId": awsKey}
		case "TrentService.Decrypt":
			return map[string]any{"Plaintext": turned(bytesOf(body["CiphertextBlob"])), "KeyId": awsKey}
		}
		return nil
	})
	return s, open(t, "awskms:///"+awsKey+"?endpoint="+url.QueryEscape(s.URL))
}

func TestAWS(t *testing.T) {
	s, k := awsService(t)
	checkSeals(t, k)
	refusals{
		`{"__type":"NotFoundException","message":"Key 'arn' does not exist"}`:        {400, keyring.ErrNoKey},
		`{"__type":"IncorrectKeyException"}`:                                         {400, keyring.ErrNoKey},
		`{"__type":"com.amazonaws.kms#DisabledException"}`:                           {400, keyring.ErrDisabled},
		`{"__type":"KMSInvalidStateException","message":"arn is pending deletion."}`: {400, keyring.ErrInvalidState},
		`{"__type":"AccessDeniedException","Message":"User is not authorized"}`:      {400, keyring.ErrDenied},
		`{"__type":"UnrecognizedClientException"}`:                                   {400, keyring.ErrDenied},
		`{"__type":"ThrottlingException","message":"Rate exceeded"}`:                 {400, keyring.ErrNoAnswer},
		`{"__type":"KMSInternalException"}`:                                          {500, keyring.ErrNoAnswer},
		`{"__type":"DependencyTimeoutException"}`:                                    {503, keyring.ErrNoAnswer},
		"<html>a proxy</html>":                                                       {403, keyring.ErrNoAnswer},
	}.check(t, s, k)
}

// A service that does not answer properly is called three times. One that refuses is called once.
func TestServiceIsAskedAgain(t *testing.T) {
	s, k := awsService(t)
	answers := []int{503, 429}
	s.refusal = func(w http.ResponseWriter) {
		w.WriteHeader(answers[0])
		if answers = answers[1:]; len(answers) == 0 {
			s.refusal = nil
		}
	}
	checkSeals(t, k)
	if s.calls != 4 {
		t.Errorf("%d calls", s.calls)
	}
	for status, calls := range map[int]int{400: 1, 500: 3} {
		s.refuse(status, `{"__type":"DisabledException"}`)
		s.calls = 0
		if _, err := k.Seal(t.Context(), "an id", nil); err == nil || s.calls != calls {
			t.Errorf("%d: %v after %d calls", status, err, s.calls)
		}
	}
}

// No answer of a service leads to a key that it has not sent, or to a panic.
func TestWrongAnswers(t *testing.T) {
	s, k := awsService(t)
	for name, answer := range map[string]func(http.ResponseWriter){
		"no JSON": func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>secret-of-the-answer</html>") },
		"wrong type": func(w http.ResponseWriter) {
			_, _ = io.WriteString(w,
				`{"Plaintext":"secret-of-the-answer ="}`)
		},
		"too long": func(w http.ResponseWriter) { _, _ = w.Write(make([]byte, 1<<20)) },
		"a redirect": func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"nothing": func(w http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		s.mu.Lock() // nothing else orders this after an interrupted answer
		s.refusal = answer
		s.mu.Unlock()
		if key, err := k.Open(t.Context(), "an id", []byte("x")); !errors.Is(err, keyring.ErrNoAnswer) ||
			len(key) > 0 || strings.Contains(err.Error(), "secret-of") {
			t.Errorf("%s: %x, %v", name, key, err)
		}
	}
	s.Close()
	if _, err := k.Open(t.Context(), "an id", []byte("x")); !errors.Is(err, keyring.ErrNoAnswer) {
		t.Errorf("down: %v", err)
	}
}

// A slow service is abandoned when the caller's wait is over.
func TestSlowService(t *testing.T) {
	s, k := awsService(t)
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{})
	s.refusal = func(http.ResponseWriter) {
		cancel()
		<-asked
	}
	_, err := k.Open(ctx, "an id", []byte("x"))
	close(asked)
	if !errors.Is(err, keyring.ErrNoAnswer) {
		t.Error(err)
	}
}

func TestVault(t *testing.T) {
	t.Setenv("VAULT_NAMESPACE", "team")
	token := filepath.Join(t.TempDir(), "token")
	t.Setenv("VAULT_TOKEN_FILE", token)
	want := ""
	s := serve(t, func(r *http.Request, body map[string]any) any {
		if r.Header.Get("X-Vault-Token") != want || r.Header.Get("X-Vault-Namespace") != "team" {
			return nil
		}
		switch r.URL.Path {
		case "/v1/secret/transit/encrypt/sluice":
			return object{
				"data": object{
					"ciphertext": "vault:v1:" + base64.StdEncoding.EncodeToString(turned(bytesOf(body["plaintext"]))),
				},
			}
		case "/v1/secret/transit/decrypt/sluice":
			text, _ := strings.CutPrefix(body["ciphertext"].(string), "vault:v1:")
			return object{"data": object{"plaintext": turned(bytesOf(text))}}
		}
		return nil
	})
	t.Setenv("VAULT_ADDR", s.URL)
	k := open(t, "hashivault://sluice?engine=secret/transit")
	for want = range map[string]bool{"first": true, "second": true} { // an agent replaces the file
		if err := os.WriteFile(token, []byte(want+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		checkSeals(t, k)
	}
	refusals{
		`{"errors":["permission denied"]}`:        {403, keyring.ErrDenied},
		`{"errors":[]}`:                           {404, keyring.ErrNoKey},
		`{"errors":["encryption key not found"]}`: {400, keyring.ErrNoKey},
		`{"errors":["ciphertext or signature version is disallowed by policy (too old)"]}`: {400, keyring.ErrDisabled},
		`{"errors":["invalid ciphertext: unable to decrypt"]}`: {400,
			keyring.ErrInvalidState},
		`{"errors":["Vault is sealed"]}`: {503, keyring.ErrNoAnswer},
		`{"errors":["request path \"transit/decrypt/sluice\": rate limit quota exceeded"]}`: {429, keyring.ErrNoAnswer},
	}.check(t, s, k)
	if err := os.Remove(token); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Seal(t.Context(), "an id", nil); !errors.Is(err, keyring.ErrNoAnswer) ||
		!strings.Contains(err.Error(), "VAULT_TOKEN_FILE") {
		t.Error(err)
	}
}

type object = map[string]any

func TestGoogle(t *testing.T) {
	const key = "/v1/projects/p/locations/l/keyRings/r/cryptoKeys/k"
	s := serve(t, func(r *http.Request, body map[string]any) any {
		if r.URL.Path == "/computeMetadata/v1/instance/service-accounts/default/token" &&
			r.Header.Get("Metadata-Flavor") == "Google" {
			return object{"access_token": "of the machine", "expires_in": 3599, "token_type": "Bearer"}
		}
		if r.Header.Get("Authorization") != "Bearer of the machine" ||
			string(bytesOf(body["additionalAuthenticatedData"])) != "an id" {
			return nil
		}
		switch r.URL.Path {
		case key + ":encrypt":
			return object{"name": key + "/cryptoKeyVersions/1", "ciphertext": turned(bytesOf(body["plaintext"]))}
		case key + ":decrypt":
			return object{"plaintext": turned(bytesOf(body["ciphertext"]))}
		}
		return nil
	})
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(s.URL, "http://"))
	k := open(t, "gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k?endpoint="+url.QueryEscape(s.URL))
	checkSeals(t, k)
	metadata := serve(t, func(*http.Request, map[string]any) any { return object{"access_token": "of the machine"} })
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(metadata.URL, "http://"))
	refusals{
		`{"error":{"code":403,"status":"PERMISSION_DENIED"}}`: {403,
			keyring.ErrDenied},
		`{"error":{"code":401,"status":"UNAUTHENTICATED"}}`: {401,
			keyring.ErrDenied},
		`{"error":{"code":404,"status":"NOT_FOUND"}}`: {404,
			keyring.ErrNoKey},
		`{"error":{"status":"FAILED_PRECONDITION","message":"not enabled, current state is: DISABLED."}}`: {400,
			keyring.ErrDisabled},
		`{"error":{"status":"FAILED_PRECONDITION","message":"not enabled, current state is: DESTROYED."}}`: {400,
			keyring.ErrInvalidState},
		`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}`: {429, keyring.ErrNoAnswer},
	}.check(t, s, k)
}

func TestAzure(t *testing.T) {
	const version = "/keys/k/78deebed173b48e48f55abf87ed4cf71"
	assertion := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(assertion, []byte("of the service account"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, func(r *http.Request, body map[string]any) any {
		if r.URL.Path == "/tenant/oauth2/v2.0/token" {
			if r.FormValue("client_id") != "app" || r.FormValue("client_assertion") != "of the service account" ||
				r.FormValue("scope") != "https://vault.azure.net/.default" {
				return nil
			}
			return object{"access_token": "of the app", "expires_in": 3599, "token_type": "Bearer"}
		}
		if r.Header.Get("Authorization") != "Bearer of the app" || r.FormValue("api-version") == "" {
			return nil
		}
		value, _ := body["value"].(string)
		b, _ := base64.RawURLEncoding.DecodeString(value)
		switch r.Method + " " + r.URL.Path {
		case "GET /keys/k":
			return object{"key": object{"kid": "https://v.vault.azure.net" + version, "kty": "RSA"}}
		case "POST " + version + "/wrapkey", "POST " + version + "/unwrapkey":
			if body["alg"] == "RSA-OAEP-256" {
				return object{
					"kid":   "https://v.vault.azure.net" + version,
					"value": base64.RawURLEncoding.EncodeToString(turned(b)),
				}
			}
		}
		return nil
	})
	t.Setenv("AZURE_TENANT_ID", "tenant")
	t.Setenv("AZURE_CLIENT_ID", "app")
	t.Setenv("AZURE_CLIENT_SECRET", "")
	t.Setenv("AZURE_FEDERATED_TOKEN_FILE", assertion)
	t.Setenv("AZURE_AUTHORITY_HOST", s.URL)
	k := open(t, "azurekeyvault://v.vault.azure.net/keys/k?endpoint="+url.QueryEscape(s.URL))
	checkSeals(t, k)
	for _, kid := range []string{"https://evil.example.com/keys/other/1", "https://v/keys/k/../../x",
		"https://v/keys/k/"} {
		if _, err := k.Open(t.Context(), "an id", []byte(`{"kid":"`+kid+`","value":"x"}`)); !errors.Is(err,
			keyring.ErrNoKey) {
			t.Errorf("%s: %v", kid, err)
		}
	}
	// The machine's own identity.
	machine := serve(t, func(r *http.Request, _ map[string]any) any {
		if r.URL.Path != "/metadata/identity/oauth2/token" || r.Header.Get("Metadata") != "true" ||
			r.FormValue("resource") != "https://vault.azure.net" {
			return nil
		}
		return object{"access_token": "of the app", "expires_in": "3599"}
	})
	// No redirect receives the proof of identity, and a long refusal is shortened.
	elsewhere := serve(t, func(*http.Request, map[string]any) any { return object{"access_token": "of another"} })
	s.refusal = func(w http.ResponseWriter) {
		w.Header().Set("Location", elsewhere.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
		_, _ = w.Write(bytes.Repeat([]byte("x"), 10_000))
	}
	if _, err := k.Seal(t.Context(), "an id", nil); err == nil || elsewhere.calls > 0 || len(err.Error()) > 1000 {
		t.Errorf("%d calls, %v", elsewhere.calls, err)
	}
	oauthRefusals.check(t, s, k)
	s.refusal = nil
	t.Setenv("AZURE_TENANT_ID", "")
	t.Setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", machine.URL)
	k = open(t, "azurekeyvault://v.vault.azure.net/keys/k?endpoint="+url.QueryEscape(s.URL))
	checkSeals(t, k)
	refusals{
		`{"error":{"code":"Forbidden","innererror":{"code":"ForbiddenByRbac"}}}`: {403,
			keyring.ErrDenied},
		`{"error":{"code":"Unauthorized"}}`: {401, keyring.ErrDenied},
		`{"error":{"code":"Forbidden","message":"Operation wrapKey is not allowed on a disabled key."}}`: {403,
			keyring.ErrDisabled},
		`{"error":{"code":"KeyNotFound"}}`: {404, keyring.ErrNoKey},
		`{"error":{"code":"Throttled"}}`:   {429, keyring.ErrNoAnswer},
	}.check(t, s, k)
	refusals{
		`{"error":"invalid_request","error_description":"Identity not found"}`: {400, keyring.ErrDenied},
		`the metadata server is being updated`:                                 {410, keyring.ErrNoAnswer},
		`{"error":"not_found"}`:                                                {404, keyring.ErrNoAnswer},
	}.check(t, machine, k)
}

// oauthRefusals are answers of authorization servers to a request for a token: wrong credentials are the operator's
// mistake, and repeating the request does not help.
var oauthRefusals = refusals{
	`{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided."}`: {401,
		keyring.ErrDenied},
	`{"error":"unauthorized_client","error_description":"AADSTS700016: no such application"}`: {400, keyring.ErrDenied},
	`{"error":"invalid_grant","error_description":"Invalid JWT Signature."}`:                  {400, keyring.ErrDenied},
	`{"error":"invalid_request","error_description":"AADSTS90002: Tenant not found"}`:         {400, keyring.ErrDenied},
	`{"error":"temporarily_unavailable"}`: {503,
		keyring.ErrNoAnswer},
	`a text of a proxy`: {400, keyring.ErrNoAnswer},
}

// A service account of Google signs for its token.
func TestGoogleServiceAccount(t *testing.T) {
	s := serve(t, func(r *http.Request, _ map[string]any) any {
		if r.URL.Path == "/token" && r.FormValue("grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer" &&
			strings.Count(r.FormValue("assertion"), ".") == 2 {
			return object{"access_token": "of the account", "expires_in": 3599, "token_type": "Bearer"}
		}
		if r.Header.Get("Authorization") == "Bearer of the account" {
			return object{"ciphertext": []byte("sealed")}
		}
		return nil
	})
	account := object{
		"type": "service_account", "client_email": "sluice@example.com", "private_key": rsaKey(t),
		"private_key_id": "1", "token_uri": s.URL + "/token",
	}
	text, err := json.Marshal(account)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	const form = "gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k"
	k := open(t, form+"?endpoint="+url.QueryEscape(s.URL))
	if sealed, err := k.Seal(t.Context(), "an id", []byte("key")); err != nil || string(sealed) != "sealed" {
		t.Errorf("%q, %v", sealed, err)
	}
	oauthRefusals.check(t, s, k)
	if err := os.WriteFile(file, []byte(`{"type":"authorized_user"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := keyservice.Open(t.Context(), form); err == nil || !strings.Contains(err.Error(), "authorized_user") {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	for _, right := range []string{
		"awskms://alias/sluice?region=eu-central-1", "awskms:///" + awsKey,
		"awskms://1234abcd?endpoint=https://kms.example.com",
		"hashivault://sluice", "hashivault://sluice?engine=a/b",
		"gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k",
		"azurekeyvault://v.vault.azure.net/keys/k",
	} {
		if err := keyservice.Check(right); err != nil {
			t.Error(err)
		}
	}
	for wrong, says := range map[string]string{
		"":                                 "want awskms://",
		"vault://x":                        "want awskms://",
		"awskms://":                        "want awskms://KEY",
		"awskms://user:pw@key":             "want awskms://KEY",
		"hashivault://k?region=x":          "the parameters are",
		"hashivault://k?engine=a&engine=b": "each once",
		"awskms://k?endpoint=kms":          "want a URL such as",

		"awskms://k?endpoint=https://user:pw@kms.example.com": "want a URL such as",
		"awskms://k?endpoint=https://kms.example.com/%3fa=b":  "want a URL such as",
		"awskms://k\x00": "no URL",
	} {
		if err := keyservice.Check(wrong); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	for _, wrong := range []string{"gcpkms://projects/p", "azurekeyvault://v.vault.azure.net/secrets/k",
		"azurekeyvault://v/keys/k/v"} {
		if _, err := keyservice.Open(t.Context(), wrong); err == nil || !strings.Contains(err.Error(), "want ") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func rsaKey(t *testing.T) string {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)}))
}
