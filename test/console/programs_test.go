package console

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/sluicemq/sluice/internal/server"
)

// A token of a certified third-party provider gets keys of a role; see test/oidc.
func TestTokenOfProvider(t *testing.T) {
	const callback = "http://127.0.0.1:1/callback" // where nothing is: the test takes the code from the redirect
	issuer, thumbprint := startProvider(t, buildProvider(t), "-tls", "-redirect", callback)
	s := start(t, func(c *server.Config) { c.EgressAllow = []string{"127.0.0.1"} })
	root := s.Root()
	credentials := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: root.AccessKeyID, SecretAccessKey: root.Secret}, nil
	})
	users := iam.New(iam.Options{Region: "us-east-1", BaseEndpoint: aws.String(s.Endpoint()), Credentials: credentials})
	provider, err := users.CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: &issuer, ClientIDList: []string{providersClient}, ThumbprintList: []string{thumbprint},
	})
	if err != nil {
		t.Fatal(err)
	}
	key := strings.TrimPrefix(issuer, "https://")
	trust := fmt.Sprintf(`{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRoleWithWebIdentity",
		"Principal": {"Federated": "%s"}, "Condition": {"StringEquals": {"%s:aud": "sluice", "%s:sub": "248289761001"}}}]}`, *provider.OpenIDConnectProviderArn, key, key)
	role, err := users.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("program"), AssumeRolePolicyDocument: &trust,
	})
	if err != nil {
		t.Fatal(err)
	}
	tokens := sts.New(sts.Options{Region: "us-east-1", BaseEndpoint: aws.String(s.Endpoint())})
	assume := func(token string) (*sts.AssumeRoleWithWebIdentityOutput, error) {
		return tokens.AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
			RoleArn: role.Role.Arn, RoleSessionName: aws.String("s1"), WebIdentityToken: &token,
		})
	}
	ann := tokenOf(t, issuer, callback, "ann")
	out, err := assume(ann)
	if err != nil {
		t.Fatal(err)
	}
	if *out.SubjectFromWebIdentityToken != "248289761001" || *out.Audience != providersClient ||
		*out.Provider != *provider.OpenIDConnectProviderArn {
		t.Errorf("the answer is %+v", out)
	}
	for what, token := range map[string]string{
		"InvalidIdentityToken": ann[:len(ann)-6] + "AAAAAA", "AccessDenied": tokenOf(t, issuer, callback, "bob"),
	} {
		_, err := assume(token)
		if e, ok := errors.AsType[interface {
			error
			ErrorCode() string
		}](err); !ok || e.ErrorCode() != what {
			t.Errorf("%v, want %s", err, what)
		}
	}
}

// fetch makes a request and reads the answer.
func fetch(t *testing.T, send func() (*http.Response, error)) (*http.Response, string) {
	t.Helper()
	res, err := send()
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// tokenOf returns the ID token that the provider gives to a person who signs in.
func tokenOf(t *testing.T, issuer, callback, user string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	// this test is about the server's trust
	trusting := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(trusting.CloseIdleConnections)
	client := &http.Client{Jar: jar, Transport: trusting,
		CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			if strings.HasPrefix(r.URL.String(), callback) {
				return http.ErrUseLastResponse
			}
			return nil
		}}
	ctx := oidc.ClientContext(t.Context(), client)
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		t.Fatal(err)
	}
	o := oauth2.Config{
		ClientID: providersClient, ClientSecret: providersSecret, Endpoint: provider.Endpoint(), RedirectURL: callback,
		Scopes: []string{"openid"},
	}
	res, page := fetch(t, func() (*http.Response, error) { return client.Get(o.AuthCodeURL("state")) })
	id := attemptID.FindStringSubmatch(page)
	if id == nil {
		t.Fatalf("%s: %s", res.Request.URL, page)
	}
	login := issuer + "/login/username"
	res, _ = fetch(t, func() (*http.Response, error) {
		return client.PostForm(login, url.Values{"id": {id[1]}, "username": {user}, "password": {providersPassword}})
	})
	back, err := res.Location()
	if err != nil {
		t.Fatal(err)
	}
	token, err := o.Exchange(ctx, back.Query().Get("code"))
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := token.Extra("id_token").(string)
	return raw
}
