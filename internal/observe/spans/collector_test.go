package spans

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// spansOf returns the spans of a scope with that name.
func spansOf(scope string) []*otlp.ResourceSpans {
	return []*otlp.ResourceSpans{{ScopeSpans: []*otlp.ScopeSpans{{SchemaUrl: scope}}}}
}

// Spans arrive complete at the path that the variables name, with their headers and compression.
func TestCollectorGetsSpans(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	service := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var in io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			in, _ = gzip.NewReader(in)
		}
		got = r
		body, _ = io.ReadAll(in)
	}))
	defer service.Close()
	authority := filepath.Join(t.TempDir(), "authority.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: service.Certificate().Raw})
	if err := os.WriteFile(authority, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env    map[string]string
		path   string
		header map[string]string
	}{
		{map[string]string{endpointVariable: service.URL}, "/v1/traces",
			map[string]string{"Content-Type": "application/x-protobuf"}},
		{map[string]string{endpointVariable: service.URL + "/otlp/"}, "/otlp/v1/traces", nil},
		{map[string]string{
			endpointVariable: "http://elsewhere", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": service.URL + "/in",
		}, "/in", nil},
		{
			map[string]string{
				endpointVariable: service.URL, "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b, other = c ,",
				"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
			},
			"/v1/traces", map[string]string{"Api-Key": "a b", "Other": "c", "Content-Encoding": "gzip"},
		},
	} {
		c.env["OTEL_EXPORTER_OTLP_CERTIFICATE"] = authority
		there, err := newCollector(environment(c.env))
		if err != nil {
			t.Fatal(err)
		}
		if err := there.UploadTraces(t.Context(), spansOf("x")); err != nil {
			t.Fatal(err)
		}
		var data otlp.TracesData
		if err := proto.Unmarshal(body, &data); err != nil ||
			!proto.Equal(&data, &otlp.TracesData{ResourceSpans: spansOf("x")}) {
			t.Errorf("%v: got %v, %v", c.env, &data, err)
		}
		if got.URL.Path != c.path {
			t.Errorf("%v: sent to %s", c.env, got.URL.Path)
		}
		for name, want := range c.header {
			if v := got.Header.Get(name); v != want {
				t.Errorf("%v: %s is %q", c.env, name, v)
			}
		}
		_ = there.Stop(t.Context())
	}
}

func TestCollectorsSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, value, wrong string }{
		{endpointVariable, "collector:4318", `OTEL_EXPORTER_OTLP_ENDPOINT="collector:4318": want a URL`},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "x", `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="x": want a URL`},
		{"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", `"zstd": want gzip or none`},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "10s", `"10s": want milliseconds`},
		{"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "0", `"0": want milliseconds`},
		{"OTEL_EXPORTER_OTLP_HEADERS", "secret", "OTEL_EXPORTER_OTLP_HEADERS: want name=value"},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere", "OTEL_EXPORTER_OTLP_CERTIFICATE: open /nowhere"},
		{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/nowhere",
			"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE, with its key: open /nowhere"},
	} {
		env := map[string]string{endpointVariable: "http://127.0.0.1:4318"}
		env[c.name] = c.value
		if _, err := newCollector(environment(env)); err == nil || !strings.Contains(err.Error(), c.wrong) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s=%s: %v", c.name, c.value, err)
		}
	}
}

// answers is a connection to a collector that returns one answer after the other.
type answers struct {
	status     []int
	retryAfter string
}

// RoundTrip implements http.RoundTripper.
func (a *answers) RoundTrip(*http.Request) (*http.Response, error) {
	status := a.status[0]
	a.status = a.status[1:]
	w := httptest.NewRecorder()
	if status != http.StatusOK {
		w.Header().Set("Retry-After", a.retryAfter)
	}
	w.WriteHeader(status)
	return w.Result(), nil
}

// A busy collector gets the spans later, as long as there is time.
func TestCollectorIsAskedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers
		fails bool
		after time.Duration
	}{
		"soon":        {answers: answers{status: []int{503, 502, 200}}, after: 3 * time.Second},
		"as it asks":  {answers: answers{status: []int{429, 200}, retryAfter: "20"}, after: 20 * time.Second},
		"never":       {answers: answers{status: []int{503, 503, 503, 503, 503}}, fails: true, after: 29 * time.Second},
		"it refuses":  {answers: answers{status: []int{400}}, fails: true},
		"it is wrong": {answers: answers{status: []int{500}}, fails: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			there := &collector{url: "http://collector", client: &http.Client{Transport: &c.answers}}
			ctx, cancel := context.WithTimeout(t.Context(), 29*time.Second)
			defer cancel()
			began := time.Now()
			if err := there.UploadTraces(ctx, spansOf("x")); (err != nil) != c.fails || time.Since(began) != c.after {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
		})
	}
}
