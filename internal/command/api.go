package command

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// api calls a running server as the owner of an access key.
type api struct {
	endpoint string
	region   string
	keyID    string
	secret   string
	token    string // of temporary keys
}

// apiError is what the server refuses a call with.
type apiError struct{ Code, Message string }

func (e *apiError) Error() string { return e.Code + ": " + e.Message }

// addEndpoint adds the flag that says where the server is. It is read when the
// command runs.
func addEndpoint(cmd *cobra.Command, endpoint *string) {
	cmd.PersistentFlags().StringVar(endpoint, "endpoint", "", "URL of the server (default: AWS_ENDPOINT_URL, or http://127.0.0.1:9324)")
}

// newAPI returns an api with the keys in the environment.
func newAPI(endpoint string) (*api, error) {
	first := func(values ...string) string {
		for _, v := range values {
			if v != "" {
				return v
			}
		}
		return ""
	}
	a := &api{
		endpoint: first(endpoint, os.Getenv("AWS_ENDPOINT_URL_IAM"), os.Getenv("AWS_ENDPOINT_URL"),
			os.Getenv("AWS_ENDPOINT_URL_SQS"), "http://127.0.0.1:9324"),
		region: first(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), "us-east-1"),
		keyID:  os.Getenv("AWS_ACCESS_KEY_ID"), secret: os.Getenv("AWS_SECRET_ACCESS_KEY"), token: os.Getenv("AWS_SESSION_TOKEN"),
	}
	if a.keyID == "" || a.secret == "" {
		return nil, errors.New("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be in the environment: sluice serve prints those of the root")
	}
	return a, nil
}

// iam calls an operation of IAM. params are names and values in turn; out gets
// the result, by the rules of encoding/xml, and may be nil.
func (a *api) iam(ctx context.Context, action string, out any, params ...string) error {
	form := url.Values{"Action": {action}, "Version": {"2010-05-08"}}
	for i := 0; i < len(params); i += 2 {
		form.Set(params[i], params[i+1])
	}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"}}
	body, err := a.call(ctx, "iam", header, []byte(form.Encode()), func(body []byte) *apiError {
		var e struct{ Error apiError }
		if xml.Unmarshal(body, &e) != nil {
			return new(apiError) // without a code
		}
		return &e.Error
	})
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	if out == nil {
		return nil
	}
	return xml.Unmarshal(body, out)
}

// names calls an operation that lists something, and returns the texts of the
// elements at path in its result.
func (a *api) names(ctx context.Context, action, path string, params ...string) ([]string, error) {
	var names []string
	for marker := []string(nil); ; {
		var body xmlText
		if err := a.iam(ctx, action, &body, append(marker, params...)...); err != nil {
			return nil, err
		}
		names = append(names, body.texts(action+"Result>"+path)...)
		next := body.texts(action + "Result>Marker")
		if len(next) == 0 {
			return names, nil
		}
		marker = []string{"Marker", next[0]}
	}
}

// xmlText is any XML element.
type xmlText struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Children []xmlText `xml:",any"`
}

// texts returns what stands in the elements at a path of names.
func (x *xmlText) texts(path string) []string {
	name, rest, deeper := strings.Cut(path, ">")
	var out []string
	for i := range x.Children {
		switch c := &x.Children[i]; {
		case c.XMLName.Local != name:
		case deeper:
			out = append(out, c.texts(rest)...)
		default:
			out = append(out, c.Text)
		}
	}
	return out
}

// sluice calls an operation that only Sluice has.
func (a *api) sluice(ctx context.Context, action string, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Target": {"Sluice." + action}}
	body, err := a.call(ctx, "sluice", header, text, func(body []byte) *apiError {
		var e struct {
			Type    string `json:"__type"`
			Message string // also as "message"
		}
		if json.Unmarshal(body, &e) != nil {
			return new(apiError)
		}
		return &apiError{e.Type[strings.IndexByte(e.Type, '#')+1:], e.Message}
	})
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	return json.Unmarshal(body, out)
}

const (
	callTimeout = 30 * time.Second
	maxAnswer   = 16 << 20
)

func (a *api) call(ctx context.Context, service string, header http.Header, body []byte, refusal func([]byte) *apiError) (_ []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(a.endpoint, "/")+"/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header
	a.sign(r, service, body, time.Now())
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return answer, nil
	}
	if e := refusal(answer); e.Code != "" {
		return nil, e
	}
	return nil, fmt.Errorf("the server answers %s: %.200s", response.Status, answer)
}

// sign signs r by Signature Version 4.
func (a *api) sign(r *http.Request, service string, body []byte, now time.Time) {
	stamp := now.UTC().Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", stamp)
	signed := []string{"content-type", "host", "x-amz-date"}
	if a.token != "" {
		r.Header.Set("X-Amz-Security-Token", a.token)
		signed = append(signed, "x-amz-security-token")
	}
	if r.Header.Get("X-Amz-Target") != "" {
		signed = append(signed, "x-amz-target")
	}
	var canonical strings.Builder
	fmt.Fprintf(&canonical, "%s\n%s\n\n", r.Method, r.URL.EscapedPath())
	for _, name := range signed {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.URL.Host
		}
		fmt.Fprintf(&canonical, "%s:%s\n", name, value)
	}
	names := strings.Join(signed, ";")
	fmt.Fprintf(&canonical, "\n%s\n%s", names, sum(body))
	scope := strings.Join([]string{stamp[:8], a.region, service, "aws4_request"}, "/")
	key := []byte("AWS4" + a.secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	text := strings.Join([]string{"AWS4-HMAC-SHA256", stamp, scope, sum([]byte(canonical.String()))}, "\n")
	r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s",
		a.keyID, scope, names, hex.EncodeToString(mac(key, text))))
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func mac(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}
