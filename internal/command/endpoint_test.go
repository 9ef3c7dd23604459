package command_test

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// startTLS starts a server with an untrusted certificate, and returns its URL and a file with the certificate.
func startTLS(t *testing.T) (url, bundle string) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"Accounts":[{"AccountId":"000000000000","AccessKeyId":"AKID"}]}`)
	}))
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(s.Close)
	bundle = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(bundle, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "k")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	return s.URL, bundle
}

func TestAuthoritiesToTrust(t *testing.T) {
	url, bundle := startTLS(t)
	if _, _, err := run(t, "account", "list", "--endpoint", url); err == nil ||
		!strings.Contains(err.Error(), "certificate") {
		t.Errorf("without the authority: %v", err)
	}
	if out, _, err := run(t, "account", "list", "--endpoint", url, "--ca", bundle); err != nil ||
		!strings.Contains(out, "AKID") {
		t.Errorf("--ca: %v, %q", err, out)
	}
	t.Setenv("AWS_CA_BUNDLE", bundle)
	if out, _, err := run(t, "account", "list", "--endpoint", url); err != nil || !strings.Contains(out, "AKID") {
		t.Errorf("AWS_CA_BUNDLE: %v, %q", err, out)
	}
	// A server with an untrusted certificate gets no request: the next endpoint is tried.
	other, _ := startTLS(t)
	t.Setenv("AWS_CA_BUNDLE", "")
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w,
			`{}`)
	}))
	defer plain.Close()
	if _, _, err := run(t, "account", "list", "--endpoint", other+","+plain.URL); err != nil {
		t.Errorf("the next endpoint: %v", err)
	}
}

// A request that one endpoint may have carried out is not sent to another.
func TestNoSecondEndpointAfterTheFirstWasAsked(t *testing.T) {
	broken := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		panic(http.ErrAbortHandler)
	}))
	defer broken.Close()
	var asked atomic.Int64
	second := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, `{}`)
	}))
	defer second.Close()
	t.Setenv("AWS_ACCESS_KEY_ID", "k")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	_, _, err := run(t, "account", "create", "--endpoint", broken.URL, "--endpoint", second.URL)
	if err == nil || !strings.Contains(err.Error(), broken.URL+" (from --endpoint)") {
		t.Errorf("%v", err)
	}
	if asked.Load() > 0 {
		t.Error("the second endpoint was also called")
	}
}
