package signin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/session"
	"github.com/sluicemq/sluice/internal/server"
)

const rootARN = "arn:aws:iam::" + apitest.Account + ":root"

func TestSignInByLink(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.browser(t)
	if s := b.do(http.StatusOK, "GET", "settings", ""); s["region"] != "us-east-1" || s["account"] != apitest.Account ||
		s["idleMinutes"] != 60.0 || fmt.Sprint(s["signIn"]) == "" || s["noUndo"] != nil {
		t.Errorf("settings: %v", s)
	}
	b.refused(http.StatusUnauthorized, "SignedOut", "GET", "session", "")
	b.refused(http.StatusUnauthorized, "SignedOut", "POST", "credentials", "")
	made := link(t, r.root)
	if s := b.do(http.StatusOK, "POST", "session", made); s["arn"] != rootARN || s["user"] != "root" ||
		s["method"] != "link" {
		t.Errorf("session: %v", s)
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(b.url, "http://"), ":")
	if c := b.set; c.Name != "sluice-"+port || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" ||
		c.Domain != "" || c.MaxAge > 12*60*60 || c.Secure {
		t.Errorf("cookie: %v", c)
	}
	if s := b.do(http.StatusOK, "GET", "session", ""); s["arn"] != rootARN || s["account"] != apitest.Account ||
		s["current"] != true {
		t.Errorf("session: %v", s)
	}
	keys := b.keys(r)
	is(t, keys, rootARN)
	_, err := keys.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
	apitest.Must(t, 0, err)
	_, err = keys.IAM.CreateUser(t.Context(), &iam.CreateUserInput{UserName: aws.String("ann")})
	apitest.Must(t, 0, err)
	r.browser(t).refused(http.StatusUnauthorized, "NoSuchLink", "POST", "session", made)

	if status, out := keys.Sluice(t, "CreateSignInLink", object{}); status != http.StatusForbidden {
		t.Errorf("the session makes a link to another one: %v", out)
	}
	_, err = keys.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
	if code := apitest.Code(err); code != "AccessDenied" {
		t.Errorf("the session makes keys that outlive it: %s", code)
	}

	token := b.cookie
	b.do(http.StatusNoContent, "DELETE", "session", "")
	if b.cookie != "" {
		t.Error("the cookie stays")
	}
	dead(t, "signed out", keys)
	b.cookie = token
	b.refused(http.StatusUnauthorized, "SignedOut", "GET", "session", "")
	b.do(http.StatusNoContent, "DELETE", "session", "")
}

// When several browsers use a link at once, one gets a session.
func TestLinkIsUsedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	made := link(t, r.root)
	statuses := make(chan int, 8)
	var all sync.WaitGroup
	for range cap(statuses) {
		all.Go(func() {
			res, _ := r.browser(t).ask("POST", "session", made, nil)
			statuses <- res.StatusCode
		})
	}
	all.Wait()
	close(statuses)
	got := make(map[int]int)
	for s := range statuses {
		got[s]++
	}
	if got[http.StatusOK] != 1 || got[http.StatusUnauthorized] != cap(statuses)-1 {
		t.Errorf("answers by status: %v", got)
	}
}

// An account that creates too many links and sessions loses its oldest ones. Those of another account stay.
func TestAccountsDoNotDisplaceEachOther(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	cred, _ := r.RootOf(apitest.OtherAccount)
	other := apitest.NewActor(r.Endpoint(), cred.AccessKeyID, cred.Secret, "", r.clock.Now)
	open, unused := r.signedIn(t, other), link(t, other)
	ours, oldest := r.signedIn(t, r.root), link(t, r.root)
	for range session.MaxSessions {
		r.clock.Forward(time.Second)
		r.signedIn(t, r.root)
	}
	for range session.MaxLinks {
		r.clock.Forward(time.Second)
		link(t, r.root)
	}
	ours.refused(http.StatusUnauthorized, "SignedOut", "GET", "session", "")
	r.browser(t).refused(http.StatusUnauthorized, "NoSuchLink", "POST", "session", oldest)
	open.do(http.StatusOK, "GET", "session", "")
	r.browser(t).do(http.StatusOK, "POST", "session", unused)
}

func TestTimesEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	old := link(t, r.root)
	r.clock.Forward(10 * time.Minute)
	r.browser(t).refused(http.StatusUnauthorized, "NoSuchLink", "POST", "session", old)

	b := r.signedIn(t, r.root)
	keys := b.keys(r)
	r.clock.Forward(15 * time.Minute)
	dead(t, "after 15 minutes", keys)
	for range 23 { // in use all day
		r.clock.Forward(30 * time.Minute)
		b.keys(r)
	}
	keys = b.keys(r)
	r.clock.Forward(15 * time.Minute)
	b.refused(http.StatusUnauthorized, "SignedOut", "POST", "credentials", "")
	dead(t, "after 12 hours", keys)

	b = r.signedIn(t, r.root)
	b.keys(r)
	r.clock.Forward(time.Hour)
	b.refused(http.StatusUnauthorized, "SignedOut", "GET", "session", "")
	b.refused(http.StatusUnauthorized, "SignedOut", "POST", "credentials", "")
}

// When the user or role of a session is deleted, the session ends with its keys.
func TestSessionsEndWithTheirUser(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	arn := func(name string) string { return "arn:aws:iam::" + apitest.Account + ":user/" + name }
	for name, end := range map[string]func(name, keyID string) error{
		"key-deleted": func(name, keyID string) error {
			_, err := r.root.IAM.DeleteAccessKey(t.Context(), &iam.DeleteAccessKeyInput{
				UserName: &name, AccessKeyId: &keyID,
			})
			return err
		},
		"key-inactive": func(name, keyID string) error {
			_, err := r.root.IAM.UpdateAccessKey(t.Context(), &iam.UpdateAccessKeyInput{
				UserName: &name, AccessKeyId: &keyID, Status: iamtypes.StatusTypeInactive,
			})
			return err
		},
		"user-deleted": func(name, keyID string) error {
			_, err := r.root.IAM.DeleteAccessKey(t.Context(), &iam.DeleteAccessKeyInput{
				UserName: &name, AccessKeyId: &keyID,
			})
			apitest.Must(t, 0, err)
			_, err = r.root.IAM.DeleteUser(t.Context(), &iam.DeleteUserInput{UserName: &name})
			return err
		},
		"ended-by-root": func(name, _ string) error {
			b := r.signedIn(t, r.root)
			for _, one := range b.do(http.StatusOK, "GET", "sessions", "")["sessions"].([]any) {
				if s := one.(object); s["arn"] == arn(name) {
					b.do(http.StatusNoContent, "DELETE", "sessions/"+s["id"].(string), "")
				}
			}
			return nil
		},
	} {
		user, keyID := r.root.User(t, name, "")
		b := r.signedIn(t, user)
		keys := b.keys(r)
		is(t, keys, arn(name))
		unused := link(t, user)
		apitest.Must(t, 0, end(name, keyID))
		dead(t, name, keys)
		b.refused(http.StatusUnauthorized, "SignedOut", "GET", "session", "")
		if name != "ended-by-root" {
			r.browser(t).refused(http.StatusUnauthorized, "NoSuchUser", "POST", "session", unused)
		}
	}
}

// A role's session in the console lasts as long as the keys that started it.
func TestRoleSignsIn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	user, _ := r.root.User(t, "ann", `{"Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"*"}}`)
	trust := `{"Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"` + apitest.Account + `"}}}`
	role, err := r.root.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("ops"), AssumeRolePolicyDocument: &trust,
	})
	arn := apitest.Must(t, role, err).Role.Arn
	assume := func() *apitest.Actor {
		out, err := user.STS.AssumeRole(t.Context(), &sts.AssumeRoleInput{
			RoleArn: arn, RoleSessionName: aws.String("ann"), DurationSeconds: aws.Int32(1800),
		})
		return user.Temporary(apitest.Must(t, out, err).Credentials)
	}
	b := r.signedIn(t, assume())
	keys := b.keys(r)
	is(t, keys, "arn:aws:sts::"+apitest.Account+":assumed-role/ops/ann")
	if s := b.do(http.StatusOK, "GET", "session", ""); s["user"] != "ops/ann" {
		t.Errorf("session: %v", s)
	}
	r.clock.Forward(20 * time.Minute)
	b.keys(r)
	r.clock.Forward(10 * time.Minute)
	b.refused(http.StatusUnauthorized, "SignedOut", "POST", "credentials", "")

	b = r.signedIn(t, assume())
	keys = b.keys(r)
	_, err = r.root.IAM.DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("ops")})
	apitest.Must(t, 0, err)
	dead(t, "role deleted", keys)
}

// Users see and end their own sessions, the root those of its account.
func TestSessionsAreListed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann, _ := r.root.User(t, "ann", "")
	bob, _ := r.root.User(t, "bob", "")
	anns, bobs, roots := r.signedIn(t, ann), r.signedIn(t, bob), r.signedIn(t, r.root)
	r.signedIn(t, ann)
	count := func(b *browser) (n int, first string) {
		all := b.do(http.StatusOK, "GET", "sessions", "")["sessions"].([]any)
		return len(all), all[0].(object)["id"].(string)
	}
	a, _ := count(anns)
	o, bobsID := count(bobs)
	all, _ := count(roots)
	if a != 2 || o != 1 || all != 4 {
		t.Errorf("ann sees %d sessions, bob %d, the root %d", a, o, all)
	}
	anns.refused(http.StatusNotFound, "NoSuchSession", "DELETE", "sessions/"+bobsID, "")
	anns.refused(http.StatusNotFound, "NoSuchSession", "DELETE", "sessions/nothing", "")
	bobs.do(http.StatusNoContent, "DELETE", "sessions/"+bobsID, "")
	bobs.refused(http.StatusUnauthorized, "SignedOut", "GET", "sessions", "")

	for range 60 {
		r.signedIn(t, bob)
	}
	if n, _ := count(r.signedIn(t, bob)); n != 50 {
		t.Errorf("bob has %d sessions", n)
	}
}

// signed is a call of GetCallerIdentity, signed as the page signs it.
func signed(t *testing.T, cred identity.Credential, url string, at time.Time, change func(*http.Request)) string {
	t.Helper()
	const body = "Action=GetCallerIdentity&Version=2011-06-15"
	r, err := http.NewRequest(http.MethodPost, url+"/", strings.NewReader(body))
	apitest.Must(t, r, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Amz-Sluice-Sign-In", r.Host)
	service := "sts"
	if change != nil {
		change(r)
	}
	if s := r.Header.Get("Test-Service"); s != "" {
		service = s
		r.Header.Del("Test-Service")
	}
	apitest.SignAt(t, r, cred, service, "us-east-1", at)
	headers := make(map[string]string)
	for name := range r.Header {
		headers[name] = r.Header.Get(name)
	}
	text, err := json.Marshal(object{"signed": object{"url": r.URL.String(), "headers": headers, "body": body}})
	apitest.Must(t, text, err)
	return string(text)
}

func TestSignInWithKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	now := r.clock.Now()
	good := signed(t, r.Root(), r.Endpoint(), now, nil)
	b := r.browser(t)
	if s := b.do(http.StatusOK, "POST", "session", good); s["arn"] != rootARN || s["method"] != "keys" {
		t.Errorf("session: %v", s)
	}
	is(t, b.keys(r), rootARN)
	r.browser(t).refused(http.StatusUnauthorized, "Used", "POST", "session", good)
	b.do(http.StatusNoContent, "DELETE", "session", "")
	r.browser(t).refused(http.StatusUnauthorized, "Used", "POST", "session", good)

	user, _ := r.root.User(t, "ann", "")
	ann := identity.Credential{
		Identity: identity.Identity{AccessKeyID: user.Keys.AccessKeyID}, Secret: user.Keys.SecretAccessKey,
	}
	if s := r.browser(t).do(http.StatusOK, "POST", "session",
		signed(t, ann, r.Endpoint(), now, nil)); s["user"] != "ann" {
		t.Errorf("session: %v", s)
	}
	wrong, unknown := r.Root(), r.Root()
	wrong.Secret += "x"
	unknown.AccessKeyID = "AKIAIOSFODNN7EXAMPLE"
	temporary, err := r.root.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
	keys := apitest.Must(t, temporary, err).Credentials
	short := identity.Credential{
		Identity: identity.Identity{AccessKeyID: *keys.AccessKeyId}, Secret: *keys.SecretAccessKey,
	}
	for _, c := range []struct {
		why    string
		status int
		code   string
		body   string
	}{
		{"a wrong secret", 401, "BadKeys", signed(t, wrong, r.Endpoint(), now, nil)},
		{"an unknown key", 401, "BadKeys", signed(t, unknown, r.Endpoint(), now, nil)},
		{"a temporary key", 401, "BadKeys", signed(t, short, r.Endpoint(), now, nil)},
		{"signed six minutes ago", 401, "BadClock", signed(t, r.Root(), r.Endpoint(), now.Add(-6*time.Minute), nil)},
		{"signed in six minutes", 401, "BadClock", signed(t, r.Root(), r.Endpoint(), now.Add(6*time.Minute), nil)},
		{"signed an hour ago", 401, "BadKeys", signed(t, r.Root(), r.Endpoint(), now.Add(-time.Hour), nil)},
		{"for another server", 400, "BadRequest", signed(t, r.Root(), "https://sts.amazonaws.com", now, nil)},
		{"for another service", 400, "BadRequest",
			signed(t, r.Root(), r.Endpoint(), now, func(r *http.Request) { r.Header.Set("Test-Service", "sqs") })},
		{"a call that was made for its own sake", 400, "BadRequest",
			signed(t, r.Root(), r.Endpoint(), now, func(r *http.Request) { r.Header.Del("X-Amz-Sluice-Sign-In") })},
		{"for a page of another server", 400, "BadRequest",
			signed(t, r.Root(), r.Endpoint(), now,
				func(r *http.Request) { r.Header.Set("X-Amz-Sluice-Sign-In", "evil.example") })},
		{"another header behind the signature", 401, "BadKeys",
			strings.Replace(signed(t, r.Root(), r.Endpoint(), now.Add(time.Second), nil), `"headers":{`,
				`"headers":{"X-Amz-More":"1",`, 1)},
		{"another call", 400, "BadRequest", strings.Replace(good, "GetCallerIdentity", "GetSessionToken", 1)},
		{"another body", 400, "BadRequest", strings.Replace(good, "2011-06-15", "2011-06-15&DurationSeconds=1", 1)},
		{"no URL", 400, "BadRequest", `{"signed":{}}`},
		{"both", 400, "BadRequest", `{"link":"x","signed":{}}`},
		{"neither", 400, "BadRequest", `{}`},
		{"something else", 400, "BadRequest", `{"links":"x"}`},
		{"no JSON", 400, "BadRequest", `link=x`},
		{"more than JSON", 400, "BadRequest", `{"link":"x"}{}`},
	} {
		res, out := r.browser(t).ask("POST", "session", c.body, nil)
		if res.StatusCode != c.status || out["code"] != c.code || len(res.Cookies()) > 0 {
			t.Errorf("%s: %d %v", c.why, res.StatusCode, out)
		}
	}
}

// The trail contains sign-ins and failures, in the form of CloudTrail's events for AWS's console.
func TestSignInsAreRecorded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	user, _ := r.root.User(t, "ann", "")
	made := link(t, user)
	b := r.browser(t)
	b.do(http.StatusOK, "POST", "session", made)
	r.browser(t).refused(http.StatusUnauthorized, "NoSuchLink", "POST", "session", made)
	all := r.events(t, "ConsoleLogin", 2)
	for i, want := range []string{`"ConsoleLogin":"Failure"`, `"ConsoleLogin":"Success"`} {
		for _, part := range []string{want, `"eventSource":"signin.amazonaws.com"`, `"eventType":"AwsConsoleSignIn"`,
			`"SignInMethod":"link"`, `"MFAUsed":"No"`} {
			if !strings.Contains(all[i], part) {
				t.Errorf("%s is not in %s", part, all[i])
			}
		}
	}
	if !strings.Contains(all[1], `"userName":"ann"`) ||
		!strings.Contains(all[0], `"errorMessage":"Failed authentication"`) {
		t.Errorf("events: %s", all)
	}
	if token := strings.Split(made, `"`)[3]; strings.Contains(strings.Join(all, ""), token) ||
		strings.Contains(strings.Join(r.events(t, "CreateSignInLink", 1), ""), token) {
		t.Error("a link is in the trail")
	}
}

// The page of a server without undo offers none.
func TestSettingsWithoutUndo(t *testing.T) {
	t.Parallel()
	r := newRigOf(t, func(_ *rig, c *server.Config) { c.NoUndo = true })
	if s := r.browser(t).do(http.StatusOK, "GET", "settings", ""); s["noUndo"] != true {
		t.Errorf("settings: %v", s)
	}
}
