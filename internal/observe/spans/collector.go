package spans

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/sluicemq/sluice/internal/tool/wait"
)

const (
	// attemptTimeout limits one request to the collector, unless the environment sets another limit.
	attemptTimeout = 10 * time.Second
	// firstPause is the pause before spans are sent again. Each further pause is twice as long, up to maxPause.
	firstPause = time.Second
	maxPause   = 15 * time.Second
	// maxRefusal is the maximum size of a refusal's body that is read, in bytes.
	maxRefusal = 1 << 10
)

// collector sends spans over HTTP, in protobuf. It implements otlptrace.Client: OpenTelemetry's own client compiles
// gRPC as well, which is more code than all of this server's services.
type collector struct {
	url      string
	header   http.Header
	compress bool
	client   *http.Client
}

// newCollector returns the collector that the environment names.
func newCollector(getenv func(string) string) (*collector, error) {
	at, err := endpoint(getenv)
	if err != nil {
		return nil, err
	}
	c := &collector{url: at, header: http.Header{"Content-Type": {"application/x-protobuf"}}}
	if err := c.addHeaders(getenv); err != nil {
		return nil, err
	}
	switch name, value := lookUp(getenv, "COMPRESSION"); value {
	case "", "none":
	case "gzip":
		c.compress = true
		c.header.Set("Content-Encoding", "gzip")
	default:
		return nil, fmt.Errorf("%s=%q: want gzip or none", name, value)
	}
	timeout := attemptTimeout
	if name, value := lookUp(getenv, "TIMEOUT"); value != "" {
		ms, err := strconv.ParseUint(value, 10, 31)
		if err != nil || ms == 0 {
			return nil, fmt.Errorf("%s=%q: want milliseconds, such as 10000", name, value)
		}
		timeout = time.Duration(ms) * time.Millisecond
	}
	security, err := tlsOf(getenv)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = security
	c.client = &http.Client{Transport: transport, Timeout: timeout}
	return c, nil
}

// lookUp returns the value of a setting of the exporter, and its variable. A variable for traces alone takes
// precedence.
func lookUp(getenv func(string) string, setting string) (name, value string) {
	for _, prefix := range []string{"OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"} {
		name = prefix + setting
		if value = getenv(name); value != "" {
			break
		}
	}
	return name, value
}

// endpoint returns the URL for spans.
func endpoint(getenv func(string) string) (string, error) {
	name, value := lookUp(getenv, "ENDPOINT")
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%s=%q: want a URL such as http://127.0.0.1:4318", name, value)
	}
	if name == endpointVariable {
		u = u.JoinPath("v1/traces")
	}
	return u.String(), nil
}

// addHeaders adds the headers in the environment for the collector: name=value, with commas between them.
func (c *collector) addHeaders(getenv func(string) string) error {
	name, value := lookUp(getenv, "HEADERS")
	for pair := range strings.SplitSeq(value, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, escaped, ok := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		v, err := url.PathUnescape(strings.TrimSpace(escaped))
		if !ok || key == "" || err != nil { // values are secrets: the error has none
			return fmt.Errorf("%s: want name=value, with commas between several", name)
		}
		c.header.Set(key, v)
	}
	return nil
}

// tlsOf returns the certificate authorities that the connection trusts, and the certificate that it presents.
func tlsOf(getenv func(string) string) (*tls.Config, error) {
	security := &tls.Config{MinVersion: tls.VersionTLS12}
	if name, file := lookUp(getenv, "CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		security.RootCAs = x509.NewCertPool()
		if !security.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: %s has no certificate in PEM", name, file)
		}
	}
	name, certificate := lookUp(getenv, "CLIENT_CERTIFICATE")
	_, key := lookUp(getenv, "CLIENT_KEY")
	if certificate == "" && key == "" {
		return security, nil
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("%s, with its key: %w", name, err)
	}
	security.Certificates = []tls.Certificate{pair}
	return security, nil
}

// Start implements otlptrace.Client.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. While the collector is unreachable or overloaded, it sends the spans again,
// until ctx ends.
func (c *collector) UploadTraces(ctx context.Context, spans []*otlp.ResourceSpans) error {
	// The body is an ExportTraceServiceRequest of OTLP.
	body, err := proto.Marshal(&otlp.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	if c.compress {
		body = compressed(body)
	}
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		again, err := c.send(ctx, body)
		if again <= 0 {
			return err
		}
		if wait.For(ctx, max(again, pause)) != nil {
			return err
		}
	}
}

// send sends spans once. After a temporary error it returns the minimum time to wait, which is not 0.
func (c *collector) send(ctx context.Context, body []byte) (again time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("ask the collector: %w", err)
	}
	request.Header = c.header.Clone()
	response, err := c.client.Do(request)
	if err != nil {
		return 1, errors.Join(ctx.Err(), err)
	}
	said, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal)) // the status says enough
	_ = response.Body.Close()
	if response.StatusCode/100 == 2 {
		return 0, nil
	}
	err = fmt.Errorf("the collector answers with status %s: %q", response.Status, said)
	switch response.StatusCode { // as OTLP's specification says
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 16)
		return max(1, time.Duration(seconds)*time.Second), err
	}
	return 0, err
}

func compressed(body []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(body) // a Buffer does not fail
	_ = w.Close()
	return out.Bytes()
}
