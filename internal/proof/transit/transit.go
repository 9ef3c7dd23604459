// Package transit gives tests a key service that speaks the protocol of Vault's transit engine.
package transit

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Token is the token that the service accepts.
const Token = "hvs.test"

// Service is a key service with one key, "sluice".
type Service struct {
	URL string

	mu      sync.Mutex
	aead    cipher.AEAD
	status  int    // 0: it answers
	refusal string // the body of a refusal
	calls   int
}

// Start runs the service until the test ends, and sets the environment by which programs of this test find it.
func Start(t *testing.T) *Service {
	t.Helper()
	s := StartAt(t)
	t.Setenv("VAULT_ADDR", s.URL)
	t.Setenv("VAULT_TOKEN", Token)
	t.Setenv("VAULT_TOKEN_FILE", "")
	return s
}

// StartAt runs the service until the test ends.
func StartAt(t *testing.T) *Service {
	t.Helper()
	block, err := aes.NewCipher([]byte("the key of the key service: 256b"))
	if err != nil {
		t.Fatal(err)
	}
	s := new(Service)
	if s.aead, err = cipher.NewGCMWithRandomNonce(block); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Refuse lets the service answer all calls with a status and a reason. Status 0 lets it answer again.
func (s *Service) Refuse(status int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.refusal = status, `{"errors":["`+reason+`"]}`
}

// Calls returns the number of calls so far.
func (s *Service) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	status, body := s.status, s.refusal
	if status == 0 {
		status, body = s.answer(r)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

const prefix = "vault:v1:"

func (s *Service) answer(r *http.Request) (status int, body string) {
	if r.Header.Get("X-Vault-Token") != Token {
		return http.StatusForbidden, `{"errors":["permission denied"]}`
	}
	var in struct {
		Plaintext  []byte
		Ciphertext string
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return http.StatusBadRequest, `{"errors":["malformed"]}`
	}
	switch r.URL.Path {
	case "/v1/transit/encrypt/sluice":
		sealed := s.aead.Seal(nil, nil, in.Plaintext, nil)
		return http.StatusOK, `{"data":{"ciphertext":"` + prefix + base64.StdEncoding.EncodeToString(sealed) + `"}}`
	case "/v1/transit/decrypt/sluice":
		sealed, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(in.Ciphertext, prefix))
		if err != nil {
			return http.StatusBadRequest, `{"errors":["invalid ciphertext"]}`
		}
		plain, err := s.aead.Open(nil, nil, sealed, nil)
		if err != nil {
			return http.StatusBadRequest, `{"errors":["unable to decrypt"]}`
		}
		return http.StatusOK, `{"data":{"plaintext":"` + base64.StdEncoding.EncodeToString(plain) + `"}}`
	}
	return http.StatusBadRequest, `{"errors":["encryption key not found"]}`
}
