package sts_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/auth/openid/openidtest"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

type object = openidtest.Object

// federation is a server whose first account has registered a provider.
type federation struct {
	*openidtest.Provider
	t      *testing.T
	server *server.Server
	root   *apitest.Actor
	nobody *apitest.Actor // its keys are not valid
	arn    string         // of the provider
	roles  int
}

func newFederation(t *testing.T) *federation {
	t.Helper()
	c := servertest.InMemory()
	c.EgressAllow = []string{"127.0.0.1"}
	s, _ := servertest.Start(t, c)
	f := &federation{
		Provider: openidtest.NewTLS(t, time.Now), t: t, server: s, root: apitest.RootActor(s.Endpoint(), s.Root()),
	}
	f.nobody = apitest.NewActor(s.Endpoint(), "AKIAIOSFODNN7EXAMPLE", "x", "", nil)
	made, err := f.root.IAM.CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: &f.URL, ClientIDList: []string{openidtest.Client}, ThumbprintList: []string{f.Thumbprint},
	})
	f.arn = *apitest.Must(t, made, err).OpenIDConnectProviderArn
	return f
}

// key returns a condition key of the provider.
func (f *federation) key() string { return strings.TrimPrefix(f.URL, "https://") }

// role creates a role that a principal may assume by these actions, and that may send to queues.
func (f *federation) role(principal, actions, condition string) string {
	f.t.Helper()
	f.roles++
	trust := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":%s,"Action":[%s],"Condition":{%s}}]}`, principal, actions, condition)
	name := fmt.Sprint("r", f.roles)
	out, err := f.root.IAM.CreateRole(f.t.Context(), &iam.CreateRoleInput{
		RoleName: &name, AssumeRolePolicyDocument: &trust,
	})
	arn := *apitest.Must(f.t, out, err).Role.Arn
	_, err = f.root.IAM.PutRolePolicy(f.t.Context(), &iam.PutRolePolicyInput{
		RoleName: &name, PolicyName: aws.String("own"), PolicyDocument: aws.String(apitest.Allow("sqs:*", "*")),
	})
	apitest.Must(f.t, 0, err)
	return arn
}

const byToken = `"sts:AssumeRoleWithWebIdentity"`

func (f *federation) trusted() string { return fmt.Sprintf(`{"Federated":%q}`, f.arn) }

// A program without keys gets those of a role for a token of a registered provider, with the unsigned request of its
// SDK.
func TestAssumeRoleWithWebIdentity(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	arn := f.role(f.trusted(), byToken,
		fmt.Sprintf(`"StringEquals":{"%s:aud":%q},"StringLike":{"%s:sub":"repo:acme/app:*"}`, f.key(),
			openidtest.Client, f.key()))
	out, err := f.nobody.STS.AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &arn, RoleSessionName: aws.String("build-7"), WebIdentityToken: aws.String(f.Issue(nil)),
	})
	got := apitest.Must(t, out, err)
	//nolint:staticcheck // PackedPolicySize is deprecated, and still answered
	if *got.SubjectFromWebIdentityToken != "repo:acme/app:ref:refs/heads/main" || *got.Audience != openidtest.Client ||
		*got.Provider != f.arn ||
		got.PackedPolicySize != nil || *got.AssumedRoleUser.Arn != "arn:aws:sts::"+account+":assumed-role/r1/build-7" {
		t.Errorf("the answer is %+v", got)
	}
	q, err := f.root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
	program := f.root.Temporary(got.Credentials)
	if err := program.Send(t, *apitest.Must(t, q, err).QueueUrl); err != nil {
		t.Errorf("the program sends: %v", err)
	}
	e, text := lookUp(t, f.root, f.server.Endpoint(), "AssumeRoleWithWebIdentity")
	var who struct {
		UserIdentity struct{ Type, PrincipalID, UserName, IdentityProvider string }
	}
	apitest.Must(t, 0, json.Unmarshal([]byte(text), &who))
	if u := who.UserIdentity; u.Type != "WebIdentityUser" || u.IdentityProvider != f.arn ||
		u.UserName != *got.SubjectFromWebIdentityToken ||
		u.PrincipalID != f.arn+":"+openidtest.Client+":"+u.UserName {
		t.Errorf("the event is %s", text)
	}
	if e.ResponseElements.Credentials.AccessKeyID == "" || len(e.Resources) != 1 || e.Resources[0].ARN != arn ||
		strings.Contains(text, "eyJ") {
		t.Errorf("the event is %s", text)
	}
	limited, err := f.nobody.STS.AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &arn, RoleSessionName: aws.String("s1"), WebIdentityToken: aws.String(f.Issue(nil)),
		Policy: aws.String(apitest.Allow("sqs:ReceiveMessage", "*")),
	})
	//nolint:staticcheck // PackedPolicySize is deprecated, and still answered
	if keys := apitest.Must(t, limited,
		err); apitest.Code(f.root.Temporary(keys.Credentials).Send(t, *q.QueueUrl)) != "AccessDenied" ||
		*keys.PackedPolicySize == 0 {
		t.Errorf("a session policy restricts nothing: %+v", keys)
	}
}

// Each invalid token, role or request gets AWS's error, and no keys.
func TestAssumeRoleWithWebIdentityErrors(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	trusted := f.role(f.trusted(), byToken, "")
	others := f.role(`{"Federated":"arn:aws:iam::`+account+`:oidc-provider/other.example"}`, byToken, "")
	everybody := f.role(`{"AWS":"*"}`, byToken, "")
	branch := f.role(f.trusted(), byToken,
		fmt.Sprintf(`"StringEquals":{"%s:sub":"repo:acme/app:ref:refs/heads/release"}`, f.key()))
	methods := f.role(f.trusted(), byToken, fmt.Sprintf(`"ForAnyValue:StringEquals":{"%s:amr":"mfa"}`, f.key()))
	claim := func(name string, value any) string { return f.Issue(func(c object) { c[name] = value }) }
	header, past := object{"alg": "RS256", "kid": "k1"}, time.Now().Add(-time.Minute).Unix()
	unsigned := openidtest.JWT(object{"alg": "none"},
		object{"iss": f.URL, "sub": "s", "aud": openidtest.Client, "exp": past + 3600, "iat": past},
		func([]byte) []byte { return nil })
	confused := openidtest.JWT(object{"alg": "HS256", "kid": "k1"},
		object{"iss": f.URL, "sub": "s", "aud": openidtest.Client, "exp": past + 3600, "iat": past}, openidtest.HS256)
	forged := openidtest.JWT(header,
		object{"iss": f.URL, "sub": "s", "aud": openidtest.Client, "exp": past + 3600, "iat": past},
		openidtest.RS256(openidtest.Other))
	const (
		invalid, denied = "InvalidIdentityToken", "AccessDenied"
		noJWT           = "The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)"
		notAuthorized   = "Not authorized to perform sts:AssumeRoleWithWebIdentity"
		noKey           = "Couldn't retrieve verification key from your identity provider,  please reference AssumeRoleWithWebIdentity documentation for requirements"
	)
	for _, c := range []struct {
		what, role, token string
		more              with
		status            int
		code, text        string
	}{
		{what: "no token", role: trusted, status: 400, code: "ValidationError",
			text: "Value null at 'webIdentityToken'"},
		{what: "a short token", role: trusted, token: "abc", status: 400, code: "ValidationError",
			text: "greater than or equal to 4"},
		{what: "a huge token", role: trusted, token: strings.Repeat("x", 20_001), status: 400, code: "ValidationError",
			text: "less than or equal to 20000"},
		{what: "no JWT", role: trusted, token: "opaque", status: 400, code: invalid, text: noJWT},
		{what: "alg none", role: trusted, token: unsigned, status: 400, code: invalid, text: noJWT},
		{what: "key confusion", role: trusted, token: confused, status: 400, code: invalid, text: noJWT},
		{what: "another's key", role: trusted, token: forged, status: 400, code: invalid, text: noKey},
		{what: "another issuer", role: trusted, token: claim("iss", "https://evil.example"), status: 400, code: invalid,
			text: "No OpenIDConnect provider found in your account for https://evil.example"},
		{what: "http", role: trusted, token: claim("iss", "http://"+f.key()), status: 400, code: invalid,
			text: "No OpenIDConnect provider found in your account for http://"},
		{what: "another audience", role: trusted, token: claim("aud", "other"), status: 400, code: invalid,
			text: "Incorrect token audience"},
		{what: "another party", role: trusted, token: claim("azp", "other"), status: 400, code: invalid,
			text: "Incorrect token audience"},
		{what: "no subject", role: trusted, token: claim("sub", nil), status: 400, code: invalid,
			text: "Missing a required claim: sub"},
		{what: "expired", role: trusted, token: claim("exp", past), status: 400, code: "ExpiredTokenException",
			text: fmt.Sprintf("must be before the expiration date/time%d", past)},
		{what: "from the future", role: trusted, token: claim("iat", past+3600), status: 400, code: invalid,
			text: "issued in the future"},
		{what: "another provider's role", role: others, token: f.Issue(nil), status: 403, code: denied,
			text: notAuthorized},
		{what: "a role for everybody", role: everybody, token: f.Issue(nil), status: 403, code: denied,
			text: notAuthorized},
		{what: "another branch", role: branch, token: f.Issue(nil), status: 403, code: denied, text: notAuthorized},
		{what: "no method", role: methods, token: f.Issue(nil), status: 403, code: denied, text: notAuthorized},
		{what: "no role", role: trusted + "x", token: f.Issue(nil), status: 403, code: denied, text: notAuthorized},
		{what: "tags that it may not set", role: trusted,
			token:  claim("https://aws.amazon.com/tags", object{"principal_tags": object{"a": []string{"b"}}}),
			status: 403, code: denied, text: notAuthorized},
		{what: "a source that it may not set", role: trusted,
			token: claim("https://aws.amazon.com/source_identity", "ann"), status: 403, code: denied,
			text: notAuthorized},
		{what: "no ARN", role: "a-role-that-is-no-arn", token: f.Issue(nil), status: 400, code: "ValidationError",
			text: "a-role-that-is-no-arn is invalid"},
		{what: "an ARN of another service", role: "arn:aws:sqs:us-east-1:" + account + ":q", token: f.Issue(nil),
			status: 400, code: "ValidationError", text: "Request ARN is invalid"},
		{what: "another account", role: strings.Replace(trusted, account, otherAccount, 1), token: f.Issue(nil),
			status: 400, code: invalid, text: "No OpenIDConnect provider found"},
		{what: "too long", role: trusted, token: f.Issue(nil), more: with{"DurationSeconds", "7200"}, status: 400,
			code: "ValidationError", text: "exceeds the MaxSessionDuration"},
		{what: "a bad policy", role: trusted, token: f.Issue(nil), more: with{"Policy", "{}"}, status: 400,
			code: "MalformedPolicyDocument"},
		{what: "a bad policy of who may not", role: others, token: f.Issue(nil), more: with{"Policy", "{}"},
			status: 403, code: denied, text: notAuthorized},
		{what: "too many tags", role: trusted, token: f.Issue(nil),
			more: with{"Policy", apitest.Allow("sqs:*", "arn:aws:sqs:*:*:"+strings.Repeat("q", 2048))}, status: 400,
			code: "ValidationError", text: "2048"},
		{what: "a provider of OAuth", role: trusted, token: f.Issue(nil), more: with{"ProviderId", "www.amazon.com"},
			status: 400, code: "ValidationError", text: "www.amazon.com is not supported"},
	} {
		form := url.Values{
			"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleArn": {c.role},
			"RoleSessionName": {"s1"},
		}
		if c.token != "" {
			form.Set("WebIdentityToken", c.token)
		}
		for i := 0; i < len(c.more); i += 2 {
			form.Set(c.more[i], c.more[i+1])
		}
		status, body := apitest.Query(t, f.server.Endpoint(), "sts", form.Encode(), nil)
		if status != c.status || !strings.Contains(body, "<Code>"+c.code+"</Code>") || !strings.Contains(body, c.text) {
			t.Errorf("%s: %d %s\nwant %d %s %s", c.what, status, body, c.status, c.code, c.text)
		}
	}
}

// A provider's token can set the tags and the source identity of the session, if the role's trust policy allows it.
func TestTagsFromTokens(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	arn := f.role(f.trusted(), `"sts:AssumeRoleWithWebIdentity","sts:TagSession","sts:SetSourceIdentity"`,
		`"StringEquals":{"aws:RequestTag/team":"red","sts:SourceIdentity":"ann"}`)
	token := f.Issue(func(c object) {
		c["https://aws.amazon.com/tags"] = object{
			"principal_tags": object{"team": []string{"red"}}, "transitive_tag_keys": []string{"team"},
		}
		c["https://aws.amazon.com/source_identity"] = "ann"
	})
	out, err := f.nobody.STS.AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &arn, RoleSessionName: aws.String("s1"), WebIdentityToken: &token,
	})
	if got := apitest.Must(t, out, err); aws.ToString(got.SourceIdentity) != "ann" {
		t.Errorf("the answer is %+v", got)
	}
	deny := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sqs:CreateQueue","Resource":"*","Condition":{"StringEquals":
		{"aws:PrincipalTag/team":"red","aws:SourceIdentity":"ann","aws:FederatedProvider":%q}}}]}`, f.arn)
	_, err = f.root.IAM.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
		RoleName: aws.String("r1"), PolicyName: aws.String("own"), PolicyDocument: &deny,
	})
	apitest.Must(t, 0, err)
	if _, err := f.root.Temporary(out.Credentials).SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{
		QueueName: aws.String("q"),
	}); err != nil {
		t.Errorf("the session lacks the claims of its token: %v", err)
	}
}

// A change of a provider takes effect with the next request.
func TestChangedProvider(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	arn := f.role(f.trusted(), byToken, "")
	assume := func(audience string) string {
		t.Helper()
		token := f.Issue(func(c object) { c["aud"] = audience })
		_, err := f.nobody.STS.AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
			RoleArn: &arn, RoleSessionName: aws.String("s1"), WebIdentityToken: &token,
		})
		return apitest.Code(err)
	}
	want := func(what, audience, code string) {
		t.Helper()
		if got := assume(audience); got != code {
			t.Errorf("%s: %q, want %q", what, got, code)
		}
	}
	const invalid = "InvalidIdentityToken"
	want("a client", openidtest.Client, "")
	want("another client", "other", invalid)
	_, err := f.root.IAM.AddClientIDToOpenIDConnectProvider(t.Context(), &iam.AddClientIDToOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: &f.arn, ClientID: aws.String("other"),
	})
	apitest.Must(t, 0, err)
	want("a client that was added", "other", "")
	_, err = f.root.IAM.UpdateOpenIDConnectProviderThumbprint(t.Context(),
		&iam.UpdateOpenIDConnectProviderThumbprintInput{
			OpenIDConnectProviderArn: &f.arn, ThumbprintList: []string{strings.Repeat("0", 40)},
		})
	apitest.Must(t, 0, err)
	want("another thumbprint", "other", invalid)
	_, err = f.root.IAM.UpdateOpenIDConnectProviderThumbprint(t.Context(),
		&iam.UpdateOpenIDConnectProviderThumbprintInput{
			OpenIDConnectProviderArn: &f.arn, ThumbprintList: []string{f.Thumbprint},
		})
	apitest.Must(t, 0, err)
	want("the thumbprint again", "other", "")
	_, err = f.root.IAM.RemoveClientIDFromOpenIDConnectProvider(t.Context(),
		&iam.RemoveClientIDFromOpenIDConnectProviderInput{
			OpenIDConnectProviderArn: &f.arn, ClientID: aws.String("other"),
		})
	apitest.Must(t, 0, err)
	want("a client that was removed", "other", invalid)
	_, err = f.root.IAM.DeleteOpenIDConnectProvider(t.Context(), &iam.DeleteOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: &f.arn,
	})
	apitest.Must(t, 0, err)
	want("no provider", openidtest.Client, invalid)
}

// For the owner of an account, the server connects only to permitted addresses.
func TestProviderBehindTheFirewall(t *testing.T) {
	t.Parallel()
	p := openidtest.NewTLS(t, time.Now)
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	made, err := root.IAM.CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: &p.URL, ClientIDList: []string{openidtest.Client}, ThumbprintList: []string{p.Thumbprint},
	})
	apitest.Must(t, made, err)
	form := url.Values{
		"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"},
		"RoleArn":         {"arn:aws:iam::" + account + ":role/r"},
		"RoleSessionName": {"s1"}, "WebIdentityToken": {p.Issue(nil)},
	}
	status, body := apitest.Query(t, s.Endpoint(), "sts", form.Encode(), nil)
	if status != http.StatusBadRequest || !strings.Contains(body, "<Code>IDPCommunicationError</Code>") ||
		p.Described != 0 || strings.Contains(body, "egress") {
		t.Errorf("%d %s, asked %d times", status, body, p.Described)
	}
}

// The source identity of a chain of sessions, and its transitive tags, are those of the first session.
func TestChainsOfSessions(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	all := `"sts:AssumeRole","sts:TagSession","sts:SetSourceIdentity"`
	bob, _ := root.User(t, "bob",
		fmt.Sprintf(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":[%s],"Resource":"*"}}`, all))
	role := func(name, actions, condition string) *string {
		t.Helper()
		trust := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":%q},"Action":[%s],"Condition":{%s}}]}`, account, actions, condition)
		out, err := root.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{
			RoleName: &name, AssumeRolePolicyDocument: &trust,
		})
		arn := apitest.Must(t, out, err).Role.Arn
		_, err = root.IAM.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
			RoleName: &name, PolicyName: aws.String("p"),
			PolicyDocument: aws.String(fmt.Sprintf(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":[%s],"Resource":"*"}}`, all)),
		})
		apitest.Must(t, 0, err)
		return arn
	}
	first := role("first", all, "")
	second := role("second", all,
		`"StringEquals":{"aws:SourceIdentity":"ann","aws:PrincipalTag/team":"red"},"Null":{"aws:PrincipalTag/env":"false"}`)
	third := role("third", all, `"StringEquals":{"aws:PrincipalTag/team":"red"},"Null":{"aws:PrincipalTag/env":"true"}`)
	plain := role("plain", `"sts:AssumeRole"`, "")
	tag := func(key, value string) ststypes.Tag { return ststypes.Tag{Key: &key, Value: &value} }
	assume := func(who *apitest.Actor, in sts.AssumeRoleInput) (*sts.AssumeRoleOutput, error) {
		in.RoleSessionName = aws.String("s1")
		return who.STS.AssumeRole(t.Context(), &in)
	}
	out, err := assume(bob, sts.AssumeRoleInput{
		RoleArn: first, SourceIdentity: aws.String("ann"), Tags: []ststypes.Tag{tag("team", "red"), tag("env", "prod")},
		TransitiveTagKeys: []string{"team"},
	})
	if aws.ToString(apitest.Must(t, out, err).SourceIdentity) != "ann" {
		t.Errorf("the source identity is %v", out.SourceIdentity)
	}
	session := root.Temporary(out.Credentials)
	out, err = assume(session, sts.AssumeRoleInput{RoleArn: second, SourceIdentity: aws.String("ann")})
	next := root.Temporary(apitest.Must(t, out, err).Credentials)
	out, err = assume(next, sts.AssumeRoleInput{RoleArn: third})
	if apitest.Must(t, out, err); aws.ToString(out.SourceIdentity) != "ann" {
		t.Errorf("the source identity is lost: %+v", out)
	}
	for what, c := range map[string]struct {
		who  *apitest.Actor
		in   sts.AssumeRoleInput
		code string
	}{
		"another source identity": {session,
			sts.AssumeRoleInput{RoleArn: second, SourceIdentity: aws.String("eve")}, "AccessDenied"},
		"a role that takes no sources": {bob,
			sts.AssumeRoleInput{RoleArn: plain, SourceIdentity: aws.String("ann")}, "AccessDenied"},
		"one that is passed on to it": {session, sts.AssumeRoleInput{RoleArn: plain}, "AccessDenied"},
		"a tag that is inherited": {session,
			sts.AssumeRoleInput{RoleArn: second, Tags: []ststypes.Tag{tag("Team", "blue")}}, "InvalidParameterValue"},
		"a transitive key without a tag": {bob,
			sts.AssumeRoleInput{RoleArn: first, TransitiveTagKeys: []string{"team"}}, "InvalidParameterValue"},
		"two tags that differ in case": {bob,
			sts.AssumeRoleInput{RoleArn: first, Tags: []ststypes.Tag{tag("team", "a"), tag("TEAM", "b")}},
			"InvalidParameterValue"},
		"a tag of AWS": {bob,
			sts.AssumeRoleInput{RoleArn: first, Tags: []ststypes.Tag{tag("aws:team", "a")}}, "InvalidParameterValue"},
		"a source identity that is too bad": {bob,
			sts.AssumeRoleInput{RoleArn: first, SourceIdentity: aws.String("a b")}, "ValidationError"},
		"a malformed ARN": {bob, sts.AssumeRoleInput{RoleArn: aws.String("a-role-that-is-no-arn")}, "ValidationError"},
	} {
		if _, err := assume(c.who, c.in); apitest.Code(err) != c.code {
			t.Errorf("%s: %v, want %s", what, err, c.code)
		}
	}
	out, err = assume(bob, sts.AssumeRoleInput{
		RoleArn: first, Tags: []ststypes.Tag{tag("Team", "red")}, TransitiveTagKeys: []string{"TEAM"},
	})
	apitest.Must(t, out, err)
	out, err = assume(bob, sts.AssumeRoleInput{RoleArn: plain})
	//nolint:staticcheck // PackedPolicySize is deprecated, and still answered
	if got := apitest.Must(t, out, err); got.PackedPolicySize != nil || got.SourceIdentity != nil {
		t.Errorf("a plain session is %+v", got)
	}
	used, err := root.IAM.GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("first")})
	if u := apitest.Must(t, used, err).Role.RoleLastUsed; u == nil || u.LastUsedDate == nil ||
		aws.ToString(u.Region) != "us-east-1" {
		t.Errorf("the role was used %+v", u)
	}
}
