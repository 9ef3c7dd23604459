package console

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/test/program"
)

// People sign in through a certified third-party OpenID Connect provider; see test/oidc.
func TestSignInByProvider(t *testing.T) {
	program := buildProvider(t)
	for name, args := range map[string][]string{"claims in UserInfo": nil, "claims in the ID token": {"-claims"}} {
		t.Run(name, func(t *testing.T) {
			s, _ := startWithProvider(t, program, args...)
			for user, want := range map[string]string{
				"ann": "admin/ann@example.com", "bob": "#oidc=NoRole", "eve": "#oidc=NoName",
			} {
				if got := signInAs(t, s, user); got != want {
					t.Errorf("%s is signed in as %q, want %q", user, got, want)
				}
			}
		})
	}
}

// The same in a browser, which does not send its cookies to every place that another site leads to.
func TestPagesOfProvider(t *testing.T) {
	installed(t)
	s, issuer := startWithProvider(t, buildProvider(t))
	browse(t, s, s.Endpoint(), "test/provider/*.test.mjs", "SLUICE_CONSOLE_PROVIDER="+issuer)
}

// buildProvider builds the provider, or skips the test if it cannot.
func buildProvider(t *testing.T) string {
	t.Helper()
	program.Long(t)
	program := filepath.Join(t.TempDir(), "oidc")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	cmd.Dir = "../oidc"
	cmd.Env = append(os.Environ(), "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the provider cannot be built; scripts/dev install gets what it takes: %v\n%s", err, out)
	}
	return program
}

const (
	providersClient   = "sluice"
	providersSecret   = "a secret of the client"
	providersPassword = "a password of the person"
)

// startWithProvider starts a provider and a server that uses it for sign-in: members of the group admins have the role
// admin.
func startWithProvider(t *testing.T, program string, args ...string) (s *server.Server, issuer string) {
	t.Helper()
	addresses, err := freeport.Take(1)
	if err != nil {
		t.Fatal(err)
	}
	issuer, _ = startProvider(t, program,
		append(args, "-redirect", "http://"+addresses[0]+"/console/api/oidc/callback")...)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(providersSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const role = "arn:aws:iam::000000000000:role/admin"
	s = start(t, func(c *server.Config) {
		c.Listen = addresses[0]
		c.OpenID.Issuer, c.OpenID.ClientID, c.OpenID.ClientSecretFile, c.OpenID.Name = issuer, providersClient, secret,
			"Our provider"
		c.OpenID.Roles = []string{"admins=" + role}
	})
	root := s.Root()
	client := iam.New(iam.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(s.Endpoint()),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: root.AccessKeyID, SecretAccessKey: root.Secret}, nil
		}),
	})
	key := strings.TrimPrefix(issuer, "http://")
	trust := fmt.Sprintf(`{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRoleWithWebIdentity",
		"Principal": {"Federated": "arn:aws:iam::000000000000:oidc-provider/%s"}, "Condition": {"StringEquals": {"%s:aud": "sluice"}}}]}`, key, key)
	if _, err := client.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("admin"), AssumeRolePolicyDocument: &trust,
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.AttachRolePolicy(t.Context(), &iam.AttachRolePolicyInput{
		RoleName: aws.String("admin"), PolicyArn: aws.String("arn:aws:iam::aws:policy/AdministratorAccess"),
	}); err != nil {
		t.Fatal(err)
	}
	return s, issuer
}

// startProvider starts the provider and returns its issuer and, with TLS, the SHA-1 of its certificate. It ends with
// the test.
func startProvider(t *testing.T, program string, args ...string) (issuer, thumbprint string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	said := bufio.NewReader(out)
	for _, line := range []*string{&issuer, &thumbprint} {
		if *line, err = said.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		*line = strings.TrimSpace(*line)
	}
	return issuer, thumbprint
}

var attemptID = regexp.MustCompile(`name="id" value="([^"]+)"`)

// signInAs signs in as a person does, and returns the displayed name, or the text behind the # if signing in fails.
func signInAs(t *testing.T, s *server.Server, user string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	read := func(res *http.Response, err error) (*url.URL, string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %v", res.Request.URL, res.StatusCode, err)
		}
		return res.Request.URL, string(body)
	}
	at, page := read(client.Get(s.Endpoint() + "/console/api/oidc"))
	id := attemptID.FindStringSubmatch(page)
	if id == nil {
		t.Fatalf("%s: %s", at, page)
	}
	login := url.URL{Scheme: at.Scheme, Host: at.Host, Path: "/login/username"}
	at, _ = read(client.PostForm(login.String(), url.Values{
		"id": {id[1]}, "username": {user}, "password": {providersPassword},
	}))
	if at.Path != "/console/" {
		t.Fatalf("the browser is at %s", at)
	}
	if at.Fragment != "" {
		return "#" + at.Fragment
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Endpoint()+"/console/api/session", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Sluice-Console", "1")
	_, body := read(client.Do(r))
	var who struct{ User string }
	if err := json.Unmarshal([]byte(body), &who); err != nil {
		t.Fatal(err)
	}
	return who.User
}
