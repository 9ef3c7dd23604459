package signin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

type object = apitest.Object

// rig is a server with a clock that the test moves.
type rig struct {
	*server.Server
	clock apitest.Clock
	root  *apitest.Actor
}

func newRig(t *testing.T) *rig { return newRigOf(t, nil) }

// newRigOf starts a server whose configuration change has altered.
func newRigOf(t *testing.T, change func(*rig, *server.Config)) *rig {
	t.Helper()
	r := new(rig)
	c := servertest.InMemory()
	c.Now = r.clock.Now
	if change != nil {
		change(r, &c)
	}
	r.Server, _ = servertest.Start(t, c)
	cred := r.Root()
	r.root = apitest.NewActor(r.Endpoint(), cred.AccessKeyID, cred.Secret, "", r.clock.Now)
	return r
}

// browser is a browser that shows the console.
type browser struct {
	t      *testing.T
	url    string // of the server
	cookie string // that it has received, as it sends them
	set    *http.Cookie
}

func (r *rig) browser(t *testing.T) *browser { return &browser{t: t, url: r.Endpoint()} }

// ask makes a request as the console's page does, altered by change.
func (b *browser) ask(method, name, body string, change func(*http.Request)) (*http.Response, object) {
	b.t.Helper()
	r, err := http.NewRequest(method, b.url+"/console/api/"+name, strings.NewReader(body))
	apitest.Must(b.t, r, err)
	r.Header.Set("X-Sluice-Console", "1")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Origin", b.url)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if b.cookie != "" {
		r.Header.Set("Cookie", b.cookie)
	}
	if change != nil {
		change(r)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	apitest.Must(b.t, res, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	apitest.Must(b.t, text, err)
	for _, c := range res.Cookies() {
		b.set = c
		if b.cookie = c.Name + "=" + c.Value; c.MaxAge < 0 {
			b.cookie = ""
		}
	}
	var out object
	if len(bytes.TrimSpace(text)) > 0 {
		if err := json.Unmarshal(text, &out); err != nil {
			b.t.Errorf("%s %s: %d %s", method, name, res.StatusCode, text)
		}
	}
	return res, out
}

// do makes a request that must return a status.
func (b *browser) do(status int, method, name, body string) object {
	b.t.Helper()
	res, out := b.ask(method, name, body, nil)
	if res.StatusCode != status {
		b.t.Errorf("%s %s: %d %v, want %d", method, name, res.StatusCode, out, status)
	}
	return out
}

// refused makes a request that must be refused with a status and a code.
func (b *browser) refused(status int, code, method, name, body string) {
	b.t.Helper()
	if out := b.do(status, method, name, body); out["code"] != code || out["message"] == "" {
		b.t.Errorf("%s %s: %v, want %s", method, name, out, code)
	}
}

// link makes a caller create a link, and returns its code.
func link(t *testing.T, who *apitest.Actor) string {
	t.Helper()
	status, out := who.Sluice(t, "CreateSignInLink", object{})
	url, _ := out["Url"].(string)
	_, token, ok := strings.Cut(url, "/console/#k=")
	if status != http.StatusOK || !ok {
		t.Fatalf("CreateSignInLink: %d %v", status, out)
	}
	return `{"link":"` + token + `"}`
}

// signedIn returns a browser with a session.
func (r *rig) signedIn(t *testing.T, who *apitest.Actor) *browser {
	t.Helper()
	b := r.browser(t)
	b.do(http.StatusOK, "POST", "session", link(t, who))
	return b
}

// keys returns the caller whose keys the browser has.
func (b *browser) keys(r *rig) *apitest.Actor {
	b.t.Helper()
	k := b.do(http.StatusOK, "POST", "credentials", "")
	text := func(name string) string { s, _ := k[name].(string); return s }
	if expires, err := time.Parse(time.RFC3339, text("Expiration")); err != nil ||
		expires.Sub(r.clock.Now()) > 15*time.Minute {
		b.t.Errorf("the keys end at %v: %v", k["Expiration"], err)
	}
	return apitest.NewActor(r.Endpoint(), text("AccessKeyId"), text("SecretAccessKey"), text("SessionToken"),
		r.clock.Now)
}

// is checks whose keys they are.
func is(t *testing.T, a *apitest.Actor, arn string) {
	t.Helper()
	out, err := a.STS.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	if err != nil || aws.ToString(out.Arn) != arn {
		t.Errorf("the keys are not those of %s: %v", arn, err)
	}
}

// dead checks that keys are invalid.
func dead(t *testing.T, why string, a *apitest.Actor) {
	t.Helper()
	_, err := a.STS.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	if code := apitest.Code(err); code != "InvalidClientTokenId" && code != "ExpiredToken" {
		t.Errorf("%s: the keys are still good: %q", why, code)
	}
}

// events returns the events of a name as JSON, the newest first, when there are this many.
func (r *rig) events(t *testing.T, name string, want int) (out []string) {
	t.Helper()
	trail := cloudtrail.New(cloudtrail.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(r.Endpoint()),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return r.root.Keys, nil
		}),
	})
	eventually.Succeeds(t, func() error {
		found, err := trail.LookupEvents(t.Context(), &cloudtrail.LookupEventsInput{
			LookupAttributes: []types.LookupAttribute{{AttributeKey: types.LookupAttributeKeyEventName,
				AttributeValue: &name}},
		})
		if err != nil {
			return err
		}
		if len(found.Events) != want {
			return fmt.Errorf("%d events %s, want %d", len(found.Events), name, want)
		}
		out = nil
		for _, e := range found.Events {
			out = append(out, *e.CloudTrailEvent)
		}
		return nil
	})
	return out
}
