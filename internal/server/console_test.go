package server

import (
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/auth/openid/openidtest"
)

// browse sends a browser's request, and follows no redirects.
func browse(t *testing.T, method, url string) (res *http.Response, body string) {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html,*/*")
	res, err = http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

// A person who opens the server's address gets to the console, at the root and behind a proxy that adds a path.
func TestVisitorsComeToTheConsole(t *testing.T) {
	t.Parallel()
	behind := inMemory()
	behind.PublicURL = "https://example.com/ops/sluice/"
	proxied, _ := start(t, behind)
	for _, c := range []struct {
		server       *Server
		path, target string
	}{
		{shared, "/", "/console/"},
		{shared, "/console", "/console/"},
		{proxied, "/", "/console/"},
		{proxied, "/console", "/console/"},
		{proxied, "/ops/sluice", "/ops/sluice/console/"},
		{proxied, "/ops/sluice/", "/ops/sluice/console/"},
		{proxied, "/ops/sluice/console", "/ops/sluice/console/"},
	} {
		at := "http://" + c.server.entrance.listener.Addr().String()
		res, _ := browse(t, "GET", at+c.path)
		if target := res.Header.Get("Location"); res.StatusCode != http.StatusFound || target != c.target {
			t.Errorf("%s: %d, to %q; want %q", c.path, res.StatusCode, target, c.target)
		}
		res, body := browse(t, "GET", at+c.target)
		if res.StatusCode != http.StatusOK || !strings.Contains(body, "<title>Sluice</title>") ||
			res.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d %v", c.target, res.StatusCode, res.Header)
		}
		if res, body := browse(t, "GET", at+c.target+"nothing"); res.StatusCode != http.StatusNotFound ||
			strings.Contains(body, "<title>") {
			t.Errorf("%snothing: %d", c.target, res.StatusCode)
		}
	}
}

func TestConsoleCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	config := inMemory()
	config.Console.Serve = false
	s, _ := start(t, config)
	if res, body := browse(t, "GET", s.Endpoint()+"/"); res.StatusCode != http.StatusOK ||
		!strings.Contains(body, "speaks Amazon SQS") {
		t.Errorf("/: %d %s", res.StatusCode, body)
	}
	for _, path := range []string{"/console", "/console/", "/console/index.html"} {
		if res, _ := browse(t, "GET", s.Endpoint()+path); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
}

// A user who has signed in at one node is signed in at all of them, and signing out at one node ends that.
func TestSignInAtAnotherNode(t *testing.T) {
	t.Parallel()
	p := newPair(t, alike)
	ask := func(s *Server, method, name, body, cookie string) (status int, set string) {
		t.Helper()
		r, err := http.NewRequest(method, s.Endpoint()+"/console/api/"+name, strings.NewReader(body))
		apitest.Must(t, r, err)
		r.Header.Set("X-Sluice-Console", "1")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Cookie", cookie)
		res, err := http.DefaultTransport.RoundTrip(r)
		apitest.Must(t, res, err)
		defer res.Body.Close()
		set, _, _ = strings.Cut(res.Header.Get("Set-Cookie"), ";")
		_, set, _ = strings.Cut(set, "=")
		return res.StatusCode, set
	}
	cookie := func(s *Server, token string) string {
		_, port, _ := net.SplitHostPort(s.entrance.listener.Addr().String())
		return "sluice-" + port + "=" + token
	}
	_, made := callAdmin(t, p.other, "CreateSignInLink", "{}")
	_, token, _ := strings.Cut(strings.Trim(made, "{}"), "#k=")
	token, _, _ = strings.Cut(token, `"`)
	p.setSlow(true)
	status, session := ask(p.other, "POST", "session", `{"link":"`+token+`"}`, "")
	if status != http.StatusOK || session == "" {
		t.Fatalf("sign in: %d", status)
	}
	for _, s := range []*Server{p.other, p.owner} {
		for method, name := range map[string]string{"GET": "session", "POST": "credentials"} {
			if status, _ := ask(s, method, name, "", cookie(s, session)); status != http.StatusOK {
				t.Errorf("%s %s: %d", method, name, status)
			}
		}
	}
	if status, _ := ask(p.owner, "DELETE", "session", "", cookie(p.owner, session)); status != http.StatusNoContent {
		t.Errorf("sign out: %d", status)
	}
	for _, s := range []*Server{p.other, p.owner} {
		if status, _ := ask(s, "POST", "credentials", "", cookie(s, session)); status != http.StatusUnauthorized {
			t.Errorf("after that: %d", status)
		}
	}
	p.broken.Store(true)
	if status, _ := ask(p.other, "POST", "session", `{"link":"x"}`, ""); status != http.StatusServiceUnavailable {
		t.Errorf("without the owner: %d", status)
	}
}

// The provider leads a browser to any node. The session begins at the owner of the control store, and all nodes know
// it.
func TestSignInByProviderAtAnotherNode(t *testing.T) {
	t.Parallel()
	provider := openidtest.New(t, time.Now)
	p := newPair(t, func(owner, other *Config) {
		for _, c := range []*Config{owner, other} {
			c.OpenID.Issuer, c.OpenID.ClientID = provider.URL, openidtest.Client
			c.OpenID.Roles = []string{"admins=arn:aws:iam::000000000000:role/admin"}
		}
	})
	root := p.owner.Root()
	_, err := apitest.RootActor(p.owner.Endpoint(), root).IAM.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("admin"),
		AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity","Principal":{"Federated":"arn:aws:iam::000000000000:oidc-provider/` +
			strings.TrimPrefix(provider.URL, "http://") + `"}}]}`),
	})
	apitest.Must(t, 0, err)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	client.Jar, err = cookiejar.New(nil)
	apitest.Must(t, 0, err)
	visit := func(address string) *url.URL {
		t.Helper()
		res, err := client.Get(address)
		apitest.Must(t, res, err)
		defer res.Body.Close()
		to, err := res.Location()
		apitest.Must(t, to, err)
		return to
	}
	callback := func() *url.URL { return visit(visit(p.other.Endpoint() + "/console/api/oidc").String()) }
	before := p.forwarded.Load()
	if to := visit(callback().String()); to.String() != p.other.Endpoint()+"/console/" ||
		p.forwarded.Load() != before+1 {
		t.Fatalf("%s, %d forwarded", to, p.forwarded.Load()-before)
	}
	r, err := http.NewRequest(http.MethodGet, p.other.Endpoint()+"/console/api/session", nil)
	apitest.Must(t, r, err)
	r.Header.Set("X-Sluice-Console", "1")
	res, err := client.Do(r)
	apitest.Must(t, res, err)
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("the session: %d", res.StatusCode)
	}
	// A person in a browser gets an explanation when the owner is unreachable.
	back := callback()
	p.broken.Store(true)
	if to := visit(back.String()); to.String() != p.other.Endpoint()+"/console/#oidc=Unavailable" {
		t.Errorf("without the owner: %s", to)
	}
}
