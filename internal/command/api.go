package command

import (
	"bytes"
	"context"
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

	"github.com/sluicemq/sluice/internal/aws/signature"
	"github.com/sluicemq/sluice/internal/server"
)

// api calls a running server as the owner of an access key.
type api struct {
	endpoint string
	signer   signature.Signer
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
		signer: signature.Signer{
			AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), Secret: os.Getenv("AWS_SECRET_ACCESS_KEY"), Token: os.Getenv("AWS_SESSION_TOKEN"),
			Region: first(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), "us-east-1"),
		},
	}
	if a.signer.AccessKeyID == "" || a.signer.Secret == "" {
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

// sluice calls an operation that only Sluice has. out may be nil.
func (a *api) sluice(ctx context.Context, action string, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Target": {"Sluice." + action}}
	body, err := a.call(ctx, "sluice", header, text, jsonRefusal)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(body, out)
}

// jsonRefusal reads an error of AWS JSON.
func jsonRefusal(body []byte) *apiError {
	var e struct {
		Type    string `json:"__type"`
		Message string // also as "message"
	}
	if json.Unmarshal(body, &e) != nil {
		return new(apiError) // without a code
	}
	return &apiError{e.Type[strings.IndexByte(e.Type, '#')+1:], e.Message}
}

const (
	callTimeout = 30 * time.Second
	maxAnswer   = 16 << 20
)

func (a *api) call(ctx context.Context, service string, header http.Header, body []byte, refusal func([]byte) *apiError) (_ []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url("/"), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header
	a.signer.Sign(r, service, body, time.Now())
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
	return nil, refused(response, answer, refusal)
}

func refused(r *http.Response, answer []byte, refusal func([]byte) *apiError) error {
	if e := refusal(answer); e.Code != "" {
		return e
	}
	return fmt.Errorf("the server answers %s: %.200s", r.Status, answer)
}

// backup fetches a backup, however long that takes.
func (a *api) backup(ctx context.Context, w io.Writer) (err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url(server.BackupPath), nil)
	if err != nil {
		return err
	}
	a.signer.Sign(r, "sluice", nil, time.Now())
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode == http.StatusOK {
		if _, err := io.Copy(w, response.Body); err != nil {
			return fmt.Errorf("the backup was cut short; the server's log may say why: %w", err)
		}
		return nil
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return err
	}
	return refused(response, answer, jsonRefusal)
}

// url returns that of a path on the server.
func (a *api) url(path string) string { return strings.TrimRight(a.endpoint, "/") + path }
