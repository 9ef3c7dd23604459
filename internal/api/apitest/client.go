package apitest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/auth/identity"
)

const (
	Account      = "000000000000"
	OtherAccount = "111111111111"
)

// Dialect is a form of requests: a protocol and an encoding.
type Dialect int

const (
	InJSON Dialect = iota
	InForm         // Query, with POST
	InURL          // Query, with GET
)

func (d Dialect) String() string { return [...]string{"json", "query-post", "query-get"}[d] }

var Dialects = []Dialect{InJSON, InForm, InURL}

// Client makes signed requests, one at a time, and checks of each answer what
// must be so of all.
type Client struct {
	T       *testing.T
	Dialect Dialect
	Base    string // of the server
	Region  string
	Cred    identity.Credential
	Version string // of Query requests, may be empty
	Path    string // to send requests to
}

// As returns the client with other credentials.
func (c *Client) As(cred identity.Credential) *Client {
	other := *c
	other.Cred = cred
	return &other
}

// At returns the client with another path.
func (c *Client) At(path string) *Client {
	other := *c
	other.Path = path
	return &other
}

func (c *Client) URL(queue string) string { return c.Base + "/" + Account + "/" + queue }
func (c *Client) ARN(queue string) string {
	return "arn:aws:sqs:" + c.Region + ":" + Account + ":" + queue
}

// Make calls op and returns the result. A failure ends the test.
func (c *Client) Make(op string, in Object) Object {
	c.T.Helper()
	a := c.Call(op, in)
	if a.Status != http.StatusOK {
		c.T.Fatalf("%s %s: %d %s", op, brief(in), a.Status, a.Body)
	}
	return a.Result
}

// OK calls op and compares the whole result with want, including keys.
func (c *Client) OK(op string, in, want Object) Object {
	c.T.Helper()
	got := c.Make(op, in)
	if err := Match(want, got); err != nil {
		c.T.Errorf("%s %s: %v\ngot %v", op, brief(in), err, got)
	}
	return got
}

// Fails calls op and expects a refusal.
func (c *Client) Fails(op string, in Object, want Refusal) {
	c.T.Helper()
	a := c.Call(op, in)
	if a.Status == http.StatusOK {
		c.T.Errorf("%s %v succeeded, want %s", op, brief(in), want.Code)
		return
	}
	c.Compare(op, in, a, want)
}

func (c *Client) Compare(op string, in Object, a *Answer, want Refusal) {
	c.T.Helper()
	message := want.Message
	if c.Dialect != InJSON {
		want.Shape = ""
		if want.QueryMessage != "" {
			message = want.QueryMessage
		}
	}
	if c.Dialect != InJSON {
		message = strings.ReplaceAll(message, "\x00", "\uFFFD") // which XML cannot represent
	}
	want.Message, want.QueryMessage = message, ""
	if a.Failed != want {
		c.T.Errorf("%s %s\ngot  %+v\nwant %+v", op, brief(in), a.Failed, want)
	}
}

func brief(in Object) string {
	text := fmt.Sprint(in)
	if len(text) > 300 {
		return text[:300] + "..."
	}
	return text
}

func (c *Client) Call(op string, in Object) *Answer {
	c.T.Helper()
	r := c.Request(op, in)
	c.Sign(r)
	return c.Send(op, r)
}

// Request makes an unsigned request.
func (c *Client) Request(op string, in Object) *http.Request {
	c.T.Helper()
	if c.Dialect == InJSON {
		if in == nil {
			in = Object{}
		}
		body, err := json.Marshal(in)
		if err != nil {
			c.T.Fatal(err)
		}
		return c.JSONRequest(op, string(body))
	}
	return c.FormRequest(c.Dialect, c.Form(op, in).Encode())
}

func (c *Client) Form(op string, in Object) url.Values {
	form := url.Values{"Action": {op}}
	if c.Version != "" {
		form.Set("Version", c.Version)
	}
	addForm(form, op, "", in)
	return form
}

func (c *Client) JSONRequest(op, body string) *http.Request {
	c.T.Helper()
	r := c.NewRequest(http.MethodPost, "", body)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AmazonSQS."+op)
	return r
}

func (c *Client) FormRequest(d Dialect, form string) *http.Request {
	c.T.Helper()
	const most = 32 << 10 // longest request as a URL
	if d == InURL && len(form) < most {
		return c.NewRequest(http.MethodGet, "?"+form, "")
	}
	r := c.NewRequest(http.MethodPost, "", form)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	return r
}

func (c *Client) NewRequest(method, query, body string) *http.Request {
	c.T.Helper()
	r, err := http.NewRequest(method, c.Base+c.Path+query, strings.NewReader(body))
	if err != nil {
		c.T.Fatal(err)
	}
	return r
}

// Send sends r and reads the answer to op.
func (c *Client) Send(op string, r *http.Request) *Answer {
	c.T.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.T.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		c.T.Fatal(err)
	}
	a := &Answer{Status: response.StatusCode, Header: response.Header, Body: body}
	a.Failed.Status = a.Status
	if r.Header.Get("X-Amz-Target") != "" {
		a.readJSON(c.T, op)
	} else if !strings.Contains(a.Header.Get("Content-Type"), "json") {
		a.readXML(c.T, op, c.Version)
	}
	h := a.Header
	switch {
	case !UUID.MatchString(h.Get("x-amzn-RequestId")):
		c.T.Errorf("%s: x-amzn-RequestId is %q", op, h.Get("x-amzn-RequestId"))
	case h.Get("Date") == "" || h.Get("Content-Length") != strconv.Itoa(len(body)):
		c.T.Errorf(
			"%s: Date %q and Content-Length %q of %d bytes", op, h.Get("Date"), h.Get("Content-Length"), len(body),
		)
	}
	return a
}
