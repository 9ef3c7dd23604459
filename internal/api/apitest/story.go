package apitest

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
)

// Story is calls of the Query protocol, one after the other, by one caller.
type Story struct {
	T        *testing.T
	Endpoint string
	Cred     identity.Credential
	Service  string // iam
	Version  string // 2010-05-08
	InURL    bool   // calls are made with GET
}

// With are names and values of parameters, in turn.
type With = []string

// Does makes a call that succeeds, and wants all of the texts in the answer.
func (st *Story) Does(action string, params With, want ...string) string {
	st.T.Helper()
	status, body := st.Call(action, params)
	if status != http.StatusOK {
		st.T.Errorf("%s %.300q: %d %s", action, params, status, body)
	}
	for _, w := range want {
		if !strings.Contains(body, w) {
			st.T.Errorf("%s %.300q: there is no %s in %s", action, params, w, body)
		}
	}
	return body
}

// Fails makes a call that is refused with a status, a code, and a message that contains the text.
func (st *Story) Fails(action string, params With, status int, code, text string) {
	st.T.Helper()
	got, body := st.Call(action, params)
	if got != status || !strings.Contains(body, "<Code>"+code+"</Code>") ||
		!strings.Contains(body, escaper.Replace(text)) {
		st.T.Errorf("%s %.300q: %d %s\nwant %d %s %s", action, params, got, body, status, code, text)
	}
}

// Refuses is Fails with the whole message.
func (st *Story) Refuses(action string, params With, status int, code, message string) {
	st.T.Helper()
	st.Fails(action, params, status, code, "")
	if _, body := st.Call(action, params); !strings.Contains(body, "<Message>"+escaper.Replace(message)+"</Message>") {
		st.T.Errorf("%s %.300q: %s\nwant %s", action, params, body, message)
	}
}

var escaper = strings.NewReplacer(`"`, "&quot;", "<", "&lt;", ">", "&gt;")

// Call makes a call.
func (st *Story) Call(action string, params With) (status int, body string) {
	st.T.Helper()
	form := url.Values{"Action": {action}, "Version": {st.Version}}
	for i := 0; i < len(params); i += 2 {
		form.Set(params[i], params[i+1])
	}
	if !st.InURL {
		return Query(st.T, st.Endpoint, st.Service, form.Encode(), &st.Cred)
	}
	r, err := http.NewRequest(http.MethodGet, st.Endpoint+"/?"+form.Encode(), nil)
	Must(st.T, r, err)
	SignAt(st.T, r, st.Cred, st.Service, "us-east-1", time.Now())
	return Exchange(st.T, r)
}

// Query makes a call of the Query protocol, which is not signed if cred is nil.
func Query(t *testing.T, endpoint, service, form string, cred *identity.Credential) (status int, body string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, endpoint, strings.NewReader(form))
	Must(t, r, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if cred != nil {
		SignAt(t, r, *cred, service, "us-east-1", time.Now())
	}
	return Exchange(t, r)
}

// Exchange sends a request unchanged.
func Exchange(t *testing.T, r *http.Request) (status int, body string) {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(Must(t, text, err))
}

var leaf = regexp.MustCompile(`<(\w+)>([^<]*)</`)

// Element returns the text of the first element of that name in an answer.
func Element(body, name string) string {
	for _, m := range leaf.FindAllStringSubmatch(body, -1) {
		if m[1] == name {
			return m[2]
		}
	}
	return ""
}
