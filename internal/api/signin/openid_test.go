package signin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/auth/openid/openidtest"
	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/internal/server"
)

// federation is a server whose users sign in through an identity provider.
type federation struct {
	*rig
	provider *openidtest.Provider
}

const adminARN = "arn:aws:iam::" + apitest.Account + ":role/admin"

func newFederation(t *testing.T, change func(*server.Config)) *federation {
	t.Helper()
	f := new(federation)
	f.rig = newRigOf(t, func(r *rig, c *server.Config) {
		f.provider = openidtest.New(t, r.clock.Now)
		c.OpenID.Issuer, c.OpenID.ClientID, c.OpenID.Name = f.provider.URL, openidtest.Client, "Ours"
		c.OpenID.Roles = []string{"admins=" + adminARN, "gone=arn:aws:iam::" + apitest.Account + ":role/gone"}
		if change != nil {
			change(c)
		}
	})
	return f
}

// trust is a trust policy for the provider's users, with conditions.
func (f *federation) trust(conditions string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::%s:oidc-provider/%s"},"Action":"sts:AssumeRoleWithWebIdentity","Condition":{%s}}]}`,
		apitest.Account, f.key(), conditions)
}

func (f *federation) key() string { return strings.TrimPrefix(f.provider.URL, "http://") }

// newRole creates the role of the admins.
func (f *federation) newRole(t *testing.T, trust string) {
	t.Helper()
	_, err := f.root.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("admin"), AssumeRolePolicyDocument: &trust, MaxSessionDuration: aws.Int32(7200),
	})
	apitest.Must(t, 0, err)
	_, err = f.root.IAM.AttachRolePolicy(t.Context(), &iam.AttachRolePolicyInput{
		RoleName: aws.String("admin"), PolicyArn: aws.String("arn:aws:iam::aws:policy/AmazonSQSFullAccess"),
	})
	apitest.Must(t, 0, err)
}

// visitor is a browser that follows redirects.
type visitor struct {
	t       *testing.T
	cookies map[string]string
	set     []*http.Cookie // by the last answer
}

func newVisitor(t *testing.T) *visitor { return &visitor{t: t, cookies: make(map[string]string)} }

// visit requests an address, with the cookies that a browser sends after a link from another site, and returns the
// redirect.
func (v *visitor) visit(address, site string) (*http.Response, string) {
	v.t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, nil)
	apitest.Must(v.t, r, err)
	r.Header.Set("Sec-Fetch-Site", site)
	r.Header.Set("Sec-Fetch-Mode", "navigate")
	for name, value := range v.cookies {
		if strings.HasSuffix(name, "-oidc") { // the others are SameSite=Strict
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	apitest.Must(v.t, res, err)
	defer res.Body.Close()
	v.set = res.Cookies()
	for _, c := range v.set {
		if v.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(v.cookies, c.Name)
		}
		if !c.HttpOnly || c.Path != "/" || (c.SameSite == http.SameSiteLaxMode) != strings.HasSuffix(c.Name, "-oidc") ||
			c.SameSite != http.SameSiteLaxMode && c.SameSite != http.SameSiteStrictMode {
			v.t.Errorf("cookie %v", c)
		}
	}
	to := res.Header.Get("Location")
	if to != "" {
		base, err := url.Parse(address)
		apitest.Must(v.t, base, err)
		next, err := base.Parse(to)
		apitest.Must(v.t, next, err)
		to = next.String()
	}
	return res, to
}

// begin starts at the server and returns the address to which the provider leads the browser back.
func (v *visitor) begin(f *federation) string {
	v.t.Helper()
	res, to := v.visit(f.Endpoint()+"/console/api/oidc", "same-origin")
	if res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, f.provider.URL+"/auth?") {
		v.t.Fatalf("%d %s", res.StatusCode, to)
	}
	_, back := v.visit(to, "cross-site")
	return back
}

// signIn signs in, and returns the error code with which the console opens, or "" after success.
func (v *visitor) signIn(f *federation) string {
	v.t.Helper()
	return v.finish(f, v.begin(f))
}

func (v *visitor) finish(f *federation, back string) string {
	v.t.Helper()
	res, to := v.visit(back, "cross-site")
	place, code, _ := strings.Cut(to, "#oidc=")
	if res.StatusCode != http.StatusSeeOther || place != f.Endpoint()+"/console/" ||
		res.Header.Get("Cache-Control") != "no-store" || res.ContentLength > 0 {
		v.t.Errorf("%d %s %v", res.StatusCode, to, res.Header)
	}
	for name := range v.cookies {
		if strings.HasSuffix(name, "-oidc") {
			v.t.Errorf("the attempt's cookie is still there: %v", v.cookies)
		}
	}
	if (code == "") != (len(v.cookies) == 1) {
		v.t.Errorf("%s: cookies %v", to, v.cookies)
	}
	return code
}

// page returns the console's page in the visitor's browser.
func (v *visitor) page(f *federation) *browser {
	b := f.browser(v.t)
	for name, value := range v.cookies {
		b.cookie = name + "=" + value
	}
	return b
}

func TestSignInByProvider(t *testing.T) {
	t.Parallel()
	f := newFederation(t, nil)
	f.newRole(t,
		f.trust(`"StringEquals":{"`+f.key()+`:aud":"sluice","`+f.key()+
			`:sub":"248289761001","sts:RoleSessionName":"ann@example.com"},"ForAnyValue:StringEquals":{"`+f.key()+
			`:amr":"otp"}`))
	out := f.browser(t).do(http.StatusOK, "GET", "settings", "")
	if fmt.Sprint(out["signIn"]) != "[link keys password oidc]" || out["oidc"].(object)["name"] != "Ours" {
		t.Errorf("settings: %v", out)
	}
	v := newVisitor(t)
	if code := v.signIn(f); code != "" {
		t.Fatal(code)
	}
	b := v.page(f)
	s := b.do(http.StatusOK, "GET", "session", "")
	if s["user"] != "admin/ann@example.com" || s["method"] != "oidc" || s["mfa"] != false {
		t.Errorf("session: %v", s)
	}
	if ends, err := time.Parse(time.RFC3339, s["expires"].(string)); err != nil ||
		ends.Sub(f.clock.Now()).Round(time.Minute) != 2*time.Hour {
		t.Errorf("it ends at %s, and the role allows two hours", s["expires"])
	}
	keys := b.keys(f.rig)
	is(t, keys, "arn:aws:sts::"+apitest.Account+":assumed-role/admin/ann@example.com")
	if status, out := keys.Sluice(t, "CreateSignInLink", object{}); status != http.StatusBadRequest &&
		status != http.StatusForbidden {
		t.Errorf("a session makes another: %d %v", status, out)
	}
	events := f.events(t, "ConsoleLogin", 1)
	for _, part := range []string{
		`"ConsoleLogin":"Success"`, `"SignInMethod":"oidc"`, `"type":"AssumedRole"`,
		`"arn":"arn:aws:sts::` + apitest.Account + `:assumed-role/admin/ann@example.com"`,
		`"webIdFederationData":{"federatedProvider":"arn:aws:iam::` + apitest.Account + `:oidc-provider/` + f.key() +
			`","attributes":{"aud":"sluice","sub":"248289761001"}}`,
	} {
		if !strings.Contains(events[0], part) {
			t.Errorf("%s is not in %s", part, events[0])
		}
	}
}

// A user who is not admitted gets no session, for every answer of the provider. The page gets a code, and the trail has
// the event.
func TestProviderUserNotAdmitted(t *testing.T) {
	t.Parallel()
	f := newFederation(t, nil)
	set := func(name string, value any) func(object) { return func(c object) { c[name] = value } }
	count := 0
	try := func(why, want string, token func(object)) {
		t.Helper()
		count++
		f.provider.Token = token
		if code := newVisitor(t).signIn(f); code != want {
			t.Errorf("%s: %q, want %q", why, code, want)
		}
	}
	try("a role that is not there", "NotTrusted", nil)
	f.newRole(t, apitest.Trusting(apitest.Account))
	retrust := func(document string) {
		t.Helper()
		_, err := f.root.IAM.UpdateAssumeRolePolicy(t.Context(), &iam.UpdateAssumeRolePolicyInput{
			RoleName: aws.String("admin"), PolicyDocument: &document,
		})
		apitest.Must(t, 0, err)
	}
	try("a role for others", "NotTrusted", nil)
	retrust(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:*"}]}`)
	try("a role for everybody", "NotTrusted", nil)
	retrust(strings.Replace(f.trust(""), f.key(), "login.example.com", 1))
	try("a role for another provider's people", "NotTrusted", nil)
	retrust(f.trust(`"StringEquals":{"` + f.key() + `:sub":"another"}`))
	try("a role for another", "NotTrusted", nil)
	retrust(f.trust(`"StringEquals":{"` + f.key() + `:aud":"another"}`))
	try("a role for another client", "NotTrusted", nil)
	retrust(f.trust(`"IpAddress":{"aws:SourceIp":"192.0.2.0/24"}`))
	try("a role for another place", "NotTrusted", nil)
	retrust(f.trust(""))
	try("no group that counts", "NoRole", set("groups", []string{"staff"}))
	try("no groups", "NoRole", set("groups", nil))
	try("the group of a role that is gone", "NotTrusted", set("groups", "gone"))
	try("an address that is not verified", "NoName", set("email_verified", false))
	try("a name that is none", "NoName", set("email", "<script>"))
	try("another nonce", "Refused", set("nonce", "x"))
	try("another audience", "Refused", set("aud", "x"))
	f.provider.Answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	try("it is ill", "Unreachable", nil)
	f.provider.Answer = nil
	try("all is well", "", nil)
	all := strings.Join(f.events(t, "ConsoleLogin", count), "\n")
	for part, want := range map[string]int{
		`"ConsoleLogin":"Failure"`: count - 1, `"type":"WebIdentityUser"`: count - 4, `"SignInMethod":"oidc"`: count,
	} {
		if n := strings.Count(all, part); n != want {
			t.Errorf("%d of %d events have %s, want %d", n, count, part, want)
		}
	}
	if strings.Contains(all, "script") {
		t.Errorf("the provider's answer is in the trail: %s", all)
	}
}

// An answer of the provider is valid once, and only in the browser that started the sign-in.
func TestAnswersOfTheProviderCannotBeMovedOrRepeated(t *testing.T) {
	t.Parallel()
	f := newFederation(t, nil)
	f.newRole(t, f.trust(""))
	victim, thief := newVisitor(t), newVisitor(t)
	back := victim.begin(f)
	lost := func(why string, v *visitor, address string) {
		t.Helper()
		if code := v.finish(f, address); code != "Lost" {
			t.Errorf("%s: %q", why, code)
		}
	}
	asked := len(f.provider.Asked)
	lost("a browser that has begun nothing", newVisitor(t), back)
	thief.begin(f)
	lost("a browser that has begun something else", thief, back)
	for why, change := range map[string]func(url.Values){
		"no state":      func(q url.Values) { q.Del("state") },
		"another state": func(q url.Values) { q.Set("state", strings.Repeat("A", 43)) },
		"a long state":  func(q url.Values) { q.Set("state", strings.Repeat("A", 4000)) },
	} {
		v := newVisitor(t)
		u, err := url.Parse(v.begin(f))
		apitest.Must(t, u, err)
		q := u.Query()
		change(q)
		u.RawQuery = q.Encode()
		lost(why, v, u.String())
	}
	if len(f.provider.Asked) != asked {
		t.Error("the provider was called for strangers")
	}
	kept := make(map[string]string)
	for name, value := range victim.cookies {
		kept[name] = value
	}
	if code := victim.finish(f, back); code != "" {
		t.Error(code)
	}
	again := newVisitor(t)
	again.cookies = kept
	lost("the same answer with the same cookie", again, back)

	// The provider's codes are replaced by ours.
	for answer, want := range map[string]string{
		"error=access_denied&error_description=%3Cscript%3E": "Denied", "error=server_error": "Refused",
		"error=%3Cscript%3E": "Refused", "code=": "Refused", "": "Refused",
		"code=x&iss=https%3A%2F%2Fevil.example": "Refused",
	} {
		v := newVisitor(t)
		u, err := url.Parse(v.begin(f))
		apitest.Must(t, u, err)
		u.RawQuery = "state=" + u.Query().Get("state") + "&" + answer
		if code := v.finish(f, u.String()); code != want {
			t.Errorf("%s: %s, want %s", answer, code, want)
		}
	}
}

// Requests to the provider are limited, and a user who reaches the limit can still sign in with a password.
func TestAttemptsAtTheProviderAreCounted(t *testing.T) {
	t.Parallel()
	f := newFederation(t, nil)
	f.newRole(t, f.trust(""))
	f.provider.Token = func(c object) { c["groups"] = nil }
	for range 50 {
		if code := newVisitor(t).signIn(f); code != "NoRole" {
			t.Fatal(code)
		}
	}
	f.provider.Token = nil
	if code := newVisitor(t).signIn(f); code != "TooManyAttempts" || len(f.provider.Asked) != 50 {
		t.Errorf("%s, asked %d times", code, len(f.provider.Asked))
	}
	f.newUser(t, "ann", "Correct-horse-1", false)
	f.browser(t).do(http.StatusOK, "POST", "session", typed("ann", "Correct-horse-1"))
	f.clock.Forward(15 * time.Minute)
	for range 60 { // a success is not counted
		if code := newVisitor(t).signIn(f); code != "" {
			t.Fatal(code)
		}
	}
}

// A session ends when its role does, or when the role admits others.
func TestSessionsOfTheProviderEnd(t *testing.T) {
	t.Parallel()
	f := newFederation(t, nil)
	f.newRole(t, f.trust(""))
	first := newVisitor(t)
	if code := first.signIn(f); code != "" {
		t.Fatal(code)
	}
	b := first.page(f)
	keys := b.keys(f.rig)
	ended := func(why string) {
		t.Helper()
		dead(t, why, keys)
		b.refused(http.StatusUnauthorized, "SignedOut", "GET", "session", "")
		b.refused(http.StatusUnauthorized, "SignedOut", "POST", "credentials", "")
	}
	again := func() {
		t.Helper()
		v := newVisitor(t)
		if code := v.signIn(f); code != "" {
			t.Fatal(code)
		}
		b = v.page(f)
		keys = b.keys(f.rig)
	}
	_, err := f.root.IAM.UpdateAssumeRolePolicy(t.Context(), &iam.UpdateAssumeRolePolicyInput{
		RoleName: aws.String("admin"), PolicyDocument: aws.String(f.trust(`"Bool":{"aws:SecureTransport":"false"}`)),
	})
	apitest.Must(t, 0, err)
	ended("its role is for others")
	again()
	f.clock.Forward(50 * time.Minute)
	b.keys(f.rig)
	f.clock.Forward(50 * time.Minute)
	keys = b.keys(f.rig)
	f.clock.Forward(20 * time.Minute)
	ended("after two hours")
	again()
	_, err = f.root.IAM.DetachRolePolicy(t.Context(), &iam.DetachRolePolicyInput{
		RoleName: aws.String("admin"), PolicyArn: aws.String("arn:aws:iam::aws:policy/AmazonSQSFullAccess"),
	})
	apitest.Must(t, 0, err)
	_, err = f.root.IAM.DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("admin")})
	apitest.Must(t, 0, err)
	ended("its role is gone")
	f.newRole(t, f.trust(""))
	ended("another role has its name")
}

// Each person sees only their own sessions, though all have the same role.
func TestPeopleOfOneRole(t *testing.T) {
	t.Parallel()
	f := newFederation(t, nil)
	f.newRole(t, f.trust(""))
	signIn := func(subject, email string) *browser {
		t.Helper()
		f.provider.Token = func(c object) { c["sub"], c["email"] = subject, email }
		v := newVisitor(t)
		if code := v.signIn(f); code != "" {
			t.Fatal(code)
		}
		return v.page(f)
	}
	ann := signIn("1", "ann@example.com")
	var bob *browser
	for range 51 {
		bob = signIn("2", "bob@example.com")
	}
	namesake := signIn("3", "ann@example.com") // the address now belongs to another person
	for who, b := range map[string]*browser{"ann": ann, "bob": bob, "her namesake": namesake} {
		want := map[string]int{"ann": 1, "bob": 50, "her namesake": 1}[who]
		if all := b.do(http.StatusOK, "GET", "sessions", "")["sessions"].([]any); len(all) != want {
			t.Errorf("%s sees %d sessions, want %d", who, len(all), want)
		}
	}
}

// Other sites cannot start actions on a person's behalf, and programs that do not act like a browser get nothing.
func TestBeginningAtTheProvider(t *testing.T) {
	t.Parallel()
	f := newFederation(t, nil)
	v := newVisitor(t)
	for _, site := range []string{"cross-site", "same-site"} {
		if res, to := v.visit(f.Endpoint()+"/console/api/oidc", site); res.StatusCode != http.StatusSeeOther ||
			to != f.Endpoint()+"/console/" || len(v.set) > 0 {
			t.Errorf("%s: %d %s", site, res.StatusCode, to)
		}
	}
	if _, to := v.visit(f.Endpoint()+"/console/api/oidc", "none"); !strings.HasPrefix(to, f.provider.URL) {
		t.Errorf("by its address: %s", to)
	}
	b := f.browser(t)
	for _, name := range []string{"oidc", "oidc/callback"} {
		for _, method := range []string{"POST", "DELETE", "PUT"} {
			b.refused(http.StatusMethodNotAllowed, "MethodNotAllowed", method, name, "")
		}
		res, out := b.ask("GET", name, "", func(r *http.Request) { r.Host = "evil.example" })
		if res.StatusCode != http.StatusMisdirectedRequest {
			t.Errorf("%s: %d %v", name, res.StatusCode, out)
		}
	}
	b.refused(http.StatusNotFound, "NotFound", "GET", "oidc/other", "")
	plain := newRig(t).browser(t)
	plain.refused(http.StatusNotFound, "NotFound", "GET", "oidc", "")
	plain.refused(http.StatusNotFound, "NotFound", "GET", "oidc/callback?code=a&state=b", "")
	ill := newFederation(t, func(c *server.Config) { c.OpenID.Issuer = "http://127.0.0.1:1" })
	if _, to := v.visit(ill.Endpoint()+"/console/api/oidc",
		"same-origin"); to != ill.Endpoint()+"/console/#oidc=Unreachable" {
		t.Errorf("an unreachable provider: %s", to)
	}
}

// Behind a proxy the provider gets the public address, and a visitor at another address is redirected there first.
func TestProviderBehindAProxy(t *testing.T) {
	t.Parallel()
	addresses, err := freeport.Take(1)
	apitest.Must(t, addresses, err)
	newFederation(t, func(c *server.Config) { c.Listen, c.PublicURL = addresses[0], "https://example.com/ops/sluice" })
	at := "http://" + addresses[0]
	v := newVisitor(t)
	if _, to := v.visit(at+"/console/api/oidc", "same-origin"); to != "https://example.com/ops/sluice/console/" ||
		len(v.set) > 0 {
		t.Errorf("by another address: %s", to)
	}
	r, err := http.NewRequest(http.MethodGet, at+"/ops/sluice/console/api/oidc", nil)
	apitest.Must(t, r, err)
	r.Host = "example.com"
	res, err := http.DefaultTransport.RoundTrip(r)
	apitest.Must(t, res, err)
	defer res.Body.Close()
	to, err := res.Location()
	apitest.Must(t, to, err)
	if back := to.Query().Get("redirect_uri"); back != "https://example.com/ops/sluice/console/api/oidc/callback" {
		t.Errorf("the provider leads back to %s", back)
	}
	if c := res.Cookies()[0]; c.Name != "__Host-sluice-oidc" || !c.Secure {
		t.Errorf("cookie %v", c)
	}
}
