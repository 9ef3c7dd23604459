package sts

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/openid"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

type webIdentityInput struct {
	assumption
	WebIdentityToken *string `max:"20000" hidden:""`
	ProviderId       *string `max:"2048"`
}

type webIdentityOutput struct {
	SubjectFromWebIdentityToken string
	Audience                    string
	AssumedRoleUser             AssumedRoleUser
	Credentials                 Credentials
	Provider                    string
	PackedPolicySize            *int32
	tokenUse
	SourceIdentity string `json:",omitempty"`
}

const assumeWithWebIdentity = "sts:AssumeRoleWithWebIdentity"

// clockSkew is how far the clock of a provider may be ahead.
const clockSkew = 5 * time.Minute

// assumeRoleWithWebIdentity issues keys of a role for a token of an identity provider. The role's account must have
// registered the provider, and the trust policy of the role must name it. The request is unsigned: the token replaces
// the signature.
func (s *Service) assumeRoleWithWebIdentity(
	ctx context.Context, c *protocol.Call, in *webIdentityInput,
) (*webIdentityOutput, error) {
	who, err := s.identify(ctx, in)
	if err != nil {
		return nil, err
	}
	role, trust, ok := s.role(c, *in.RoleArn)
	if !ok {
		return nil, errNotTrusted()
	}
	l, refused := s.webLimits(role, in, who)
	if refused != nil {
		l = new(limits) // a caller that may not assume the role gets AccessDenied first
	}
	if !s.trusts(c, role, trust, who, &asked{called: *in.RoleSessionName, limits: l}) {
		return nil, errNotTrusted()
	}
	if c.About != nil { // only now: a caller that may not assume the role leaves no event in its account
		*c.About = protocol.About{ARN: role.ARN(), Owner: role.Account, By: &protocol.Vouched{
			Provider: who.provider.ARN(), ClientID: who.audience, Subject: who.token.Subject,
		}}
	}
	if refused != nil {
		return nil, refused
	}
	if err := in.checkLength(role); err != nil {
		return nil, err
	}
	keys, err := s.issue(
		policy.AssumedRole,
		role.Account,
		*in.RoleSessionName,
		s.session(role.ARN(), role.ID, in.seconds(), l),
		in.tokenSize,
	)
	if err != nil {
		return nil, err
	}
	return &webIdentityOutput{
		SubjectFromWebIdentityToken: who.token.Subject, Audience: who.audience,
		AssumedRoleUser: showSession(role, *in.RoleSessionName),
		Credentials:     keys, Provider: who.provider.ARN(), PackedPolicySize: l.packed, tokenUse: useOf(keys),
		SourceIdentity: l.SourceIdentity,
	}, nil
}

// webIdentity is a caller identified by a token.
type webIdentity struct {
	provider *directory.Entity
	token    *openid.Token
	audience string
}

// identify verifies the token of a request. It compares the token with the registered providers before it fetches a
// provider's keys.
func (s *Service) identify(ctx context.Context, in *webIdentityInput) (*webIdentity, error) {
	account, err := in.account()
	if err != nil {
		return nil, err
	}
	if in.ProviderId != nil {
		return nil, protocol.ValidationError(
			"The provider %s is not supported: ProviderId is for access tokens of OAuth 2.0.",
			service.Shorten(*in.ProviderId),
		)
	}
	token, err := openid.ParseToken(*in.WebIdentityToken)
	if err != nil {
		return nil, tokenError(err)
	}
	url, _ := strings.CutPrefix(token.Issuer, "https://")
	provider := s.directory.Find(directory.Provider, account, url)
	if provider == nil || "https://"+provider.Name != token.Issuer {
		e := errInvalidToken("No OpenIDConnect provider found in your account for %s", service.Shorten(token.Issuer))
		e.Absent = true
		return nil, e
	}
	who := &webIdentity{provider: provider, token: token}
	i := slices.IndexFunc(token.Audience, func(a string) bool { return slices.Contains(provider.Clients, a) })
	if i < 0 {
		e := errInvalidToken("Incorrect token audience")
		e.Absent = true
		return nil, e
	}
	who.audience = token.Audience[i]
	if err := s.checkTime(token); err != nil {
		return nil, err
	}
	r := openid.Registration{Account: account, Issuer: token.Issuer, Thumbprints: provider.Thumbprints}
	if err := s.webKeys.Verify(ctx, r, token); err != nil {
		return nil, errors.Join(verifyError(err), err)
	}
	return who, nil
}

func (s *Service) checkTime(token *openid.Token) error {
	now := s.now()
	switch {
	case token.Expires <= now.Unix():
		return service.Modelled("ExpiredTokenException", "ExpiredTokenException", http.StatusBadRequest,
			"Token expired: current date/time %d must be before the expiration date/time%d", now.Unix(), token.Expires)
	case token.Issued > now.Add(clockSkew).Unix():
		return errInvalidToken("Token issued in the future: current date/time %d, issue date/time %d", now.Unix(), token.Issued)
	}
	return nil
}

func errInvalidToken(format string, args ...any) *protocol.Error {
	return service.Modelled(
		"InvalidIdentityTokenException", "InvalidIdentityToken", http.StatusBadRequest, format, args...,
	)
}

func errNotTrusted() *protocol.Error {
	return protocol.AccessDenied("Not authorized to perform %s", assumeWithWebIdentity)
}

// tokenError describes an invalid token.
func tokenError(err error) error {
	if missing, ok := errors.AsType[*openid.MissingClaimError](err); ok {
		return errInvalidToken("Missing a required claim: %s", missing.Claim)
	}
	return errInvalidToken("The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)")
}

// verifyError explains why a token is not accepted. The provider's answer is for the operator only.
func verifyError(err error) *protocol.Error {
	const noKey = "Couldn't retrieve verification key from your identity provider,  please reference AssumeRoleWithWebIdentity documentation for requirements"
	if _, ok := errors.AsType[*openid.CertificateError](err); ok {
		return errInvalidToken("OpenIDConnect provider's HTTPS certificate doesn't match configured thumbprint")
	}
	switch {
	case errors.Is(err, openid.ErrBusy):
		return protocol.Throttled()
	case errors.Is(err, openid.ErrUnreachable):
		return service.Modelled("IDPCommunicationErrorException", "IDPCommunicationError", http.StatusBadRequest, noKey)
	}
	return errInvalidToken(noKey)
}

// webLimits returns the limits of the new session: those in the request, and those in the token.
func (s *Service) webLimits(role *directory.Entity, in *webIdentityInput, who *webIdentity) (*limits, error) {
	l, err := s.newLimits(role.Account, &in.restrictions, who.tags())
	if err != nil {
		return nil, err
	}
	if err := l.pass(who.token.Transitive); err != nil {
		return nil, err
	}
	l.Provider = who.provider.ARN()
	if source := who.token.Source; source != "" {
		l.SourceIdentity = source
		return l, checkSource(source)
	}
	return l, nil
}

// checkSource refuses the source identity of a token if a request could not have it.
func checkSource(source string) error {
	var v protocol.Violations
	v.Characters("sourceIdentity", &source, func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_+=,.@-", r)
	}, `[\w+=,.@-]*`)
	v.Length("sourceIdentity", &source, 2, 256)
	return v.Err()
}

func (who *webIdentity) tags() []Tag { return service.TagList(who.token.Tags) }

// trusts reports whether the role's trust policy allows the caller to assume the role.
func (s *Service) trusts(
	c *protocol.Call, role *directory.Entity, trust *policy.Policy, who *webIdentity, a *asked,
) bool {
	lookup := func(key string) (policy.Value, bool) {
		if claim, ours := strings.CutPrefix(key, strings.ToLower(who.provider.Name)+":"); ours {
			return who.claim(claim)
		}
		return a.lookup(key)
	}
	r := policy.Request{
		Caller:   policy.Caller{Kind: policy.WebIdentity, Provider: who.provider.ARN()},
		Resource: role.ARN(), Owner: role.Account, Rules: rules, ResourcePolicy: trust,
		Facts: s.authorizer.Facts(c, &service.Subject{NewTags: a.limits.Tags, Lookup: lookup}),
	}
	for _, r.Action = range a.actions(assumeWithWebIdentity) {
		if !policy.Decide(&r).Allowed() {
			return false
		}
	}
	return true
}

// claim returns the facts of a token for policies.
func (who *webIdentity) claim(name string) (policy.Value, bool) {
	switch name {
	case "aud":
		return policy.Text(who.audience), true
	case "sub":
		return policy.Text(who.token.Subject), true
	case "amr":
		return policy.List(who.token.Methods), len(who.token.Methods) > 0
	}
	return policy.Value{}, false
}
