package iam

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// providers serves the operations about OpenID Connect providers, whose tokens STS accepts for sessions of roles.
type providers struct{ *core }

func (s providers) register(wire *protocol.Service) {
	protocol.Register(wire, "CreateOpenIDConnectProvider", s.create, protocol.Control)
	protocol.Register(wire, "GetOpenIDConnectProvider", s.get)
	protocol.Register(wire, "ListOpenIDConnectProviders", s.list)
	protocol.Register(wire, "DeleteOpenIDConnectProvider", s.delete, protocol.Control)
	protocol.Register(wire, "AddClientIDToOpenIDConnectProvider", s.addClient, protocol.Control)
	protocol.Register(wire, "RemoveClientIDFromOpenIDConnectProvider", s.removeClient, protocol.Control)
	protocol.Register(wire, "UpdateOpenIDConnectProviderThumbprint", s.setThumbprints, protocol.Control)
	protocol.Register(wire, "TagOpenIDConnectProvider", s.tag, protocol.Control)
	protocol.Register(wire, "UntagOpenIDConnectProvider", s.untag, protocol.Control)
	protocol.Register(wire, "ListOpenIDConnectProviderTags", s.listTags)
}

const (
	maxProviders   = 100
	maxClients     = 100 // of a provider
	maxThumbprints = 5   // of a provider
)

type createProviderInput struct {
	Url            *string  `max:"255"`
	ClientIDList   []string `max:"200,255" wrap:"member"` // more than maxClients, whose error is a quota's
	ThumbprintList []string `max:"100,40"  wrap:"member"`
	Tags           []Tag    `max:"50"      wrap:"member"`
}

type createProviderOutput struct {
	OpenIDConnectProviderArn string
	Tags                     []Tag `wrap:"member"`
}

func (s providers) create(
	ctx context.Context, c *protocol.Call, in *createProviderInput,
) (*createProviderOutput, error) {
	name, err := in.name()
	if err != nil {
		return nil, err
	}
	e := directory.NewEntity(directory.Provider, service.Caller(c).Account, "/", name, s.now())
	for _, client := range in.ClientIDList {
		if !slices.Contains(e.Clients, client) {
			e.Clients = append(e.Clients, client)
		}
	}
	if len(e.Clients) > maxClients {
		return nil, errQuota("ClientIdsPerOpenIdConnectProvider", maxClients)
	}
	e.Thumbprints = in.ThumbprintList
	if e.Tags, err = checkTags(in.Tags); err != nil {
		return nil, err
	}
	if err := s.allowNew(c, "OpenIDConnectProvider", subject{arn: e.ARN(), newTags: e.Tags}); err != nil {
		return nil, err
	}
	err = s.change(ctx, func(tx *directory.Tx) error {
		switch {
		case s.directory.Find(e.Kind, e.Account, e.Name) != nil:
			return errExists("Provider with url https://%s already exists.", e.Name)
		case len(s.directory.List(e.Kind, e.Account)) >= maxProviders:
			return errQuota("OpenIdConnectProvidersPerAccount", maxProviders)
		}
		tx.PutEntity(e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &createProviderOutput{e.ARN(), service.TagList(e.Tags)}, nil
}

// name returns the provider's name: its URL without the scheme.
func (in *createProviderInput) name() (string, error) {
	written := orEmpty(in.Url)
	if err := checkThumbprints(in.ThumbprintList); err != nil {
		return "", err
	}
	if !isProviderURL(written) {
		return "", protocol.ValidationError("Invalid Open ID Connect Provider URL")
	}
	return strings.TrimPrefix(written, secure), nil
}

// secure begins the URL of a provider.
const secure = "https://"

// isProviderURL reports whether text is a URL with TLS, a host and optionally a path.
func isProviderURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && strings.HasPrefix(text, secure) && u.Host != "" && u.User == nil &&
		!strings.ContainsAny(text, "?# ") && service.Printable(text)
}

// checkThumbprints refuses invalid thumbprints, and too many.
func checkThumbprints(thumbprints []string) error {
	var v protocol.Violations
	for _, one := range thumbprints {
		v.Characters("thumbprintList.member", &one, isHex, "[0-9a-fA-F]{40}")
	}
	if err := v.Err(); err != nil {
		return err
	}
	if len(thumbprints) > maxThumbprints {
		return errInput("Thumbprint list must contain fewer than %d entries.", maxThumbprints)
	}
	return nil
}

func isHex(r rune) bool { return strings.ContainsRune("0123456789abcdefABCDEF", r) }

// providerInput names a provider, and holds the changes of some operations.
type providerInput struct {
	OpenIDConnectProviderArn *string `max:"2048"`

	ClientID       *string  `max:"255"`
	ThumbprintList []string `max:"100,40" wrap:"member"`
	Tags           []Tag    `max:"50"     wrap:"member"`
	TagKeys        []string `max:"50,128" wrap:"member"`
	Marker         *string  `max:"2048"`
	MaxItems       *int32
}

// about returns the provider that a request names, or nil if it does not exist, if the caller may take the action on
// it.
func (s providers) about(c *protocol.Call, in *providerInput, about subject) (*directory.Entity, error) {
	arn := orEmpty(in.OpenIDConnectProviderArn)
	e := s.directory.ByARN(arn)
	if e != nil && (e.Kind != directory.Provider || e.Account != service.Caller(c).Account) {
		e = nil
	}
	about.arn = service.Shorten(arn)
	if e != nil {
		about.tags = e.Tags
	}
	if err := s.allow(c, c.Operation, about); err != nil {
		return nil, err
	}
	if !isARN(arn) {
		return nil, errInput("ARN %s is not valid.", about.arn)
	}
	return e, nil
}

// find is about, and fails if there is no such provider.
func (s providers) find(c *protocol.Call, in *providerInput, about subject) (*directory.Entity, error) {
	e, err := s.about(c, in, about)
	if err == nil && e == nil {
		err = errNotFound("OpenIDConnect Provider not found for arn %s", service.Shorten(*in.OpenIDConnectProviderArn))
	}
	return e, err
}

// edit changes the provider that a request names.
func (s providers) edit(
	ctx context.Context, c *protocol.Call, in *providerInput, about subject, change func(*directory.Entity) error,
) (*service.Empty, error) {
	e, err := s.find(c, in, about)
	if err != nil {
		return nil, err
	}
	return nil, s.core.edit(ctx, e, change)
}

type getProviderOutput struct {
	Url            string
	ClientIDList   []string `json:",always" wrap:"member"`
	ThumbprintList []string `json:",always" wrap:"member"`
	CreateDate     time.Time
	Tags           []Tag `json:",always" wrap:"member"`
}

func (s providers) get(_ context.Context, c *protocol.Call, in *providerInput) (*getProviderOutput, error) {
	e, err := s.find(c, in, subject{})
	if err != nil {
		return nil, err
	}
	return &getProviderOutput{e.Name, e.Clients, e.Thumbprints, e.Created, service.TagList(e.Tags)}, nil
}

// ListedProvider is a provider in a list.
type ListedProvider struct{ Arn string }

type listProvidersOutput struct {
	OpenIDConnectProviderList []ListedProvider `json:",always" wrap:"member"`
}

func (s providers) list(_ context.Context, c *protocol.Call, _ *service.Empty) (*listProvidersOutput, error) {
	account := service.Caller(c).Account
	if err := s.allow(c, "ListOpenIDConnectProviders", subject{
		arn: "arn:aws:iam::" + account + ":oidc-provider/*",
	}); err != nil {
		return nil, err
	}
	all := s.directory.List(directory.Provider, account)
	listed := func(e *directory.Entity) ListedProvider { return ListedProvider{e.ARN()} }
	return &listProvidersOutput{service.Convert(all, listed)}, nil
}

// delete removes a provider. A missing provider is no error, as on AWS.
func (s providers) delete(ctx context.Context, c *protocol.Call, in *providerInput) (*service.Empty, error) {
	e, err := s.about(c, in, subject{})
	if e == nil || err != nil {
		return nil, err
	}
	return nil, s.change(ctx, func(tx *directory.Tx) error {
		tx.DeleteEntity(e)
		return nil
	})
}

func (s providers) addClient(ctx context.Context, c *protocol.Call, in *providerInput) (*service.Empty, error) {
	client := orEmpty(in.ClientID)
	return s.edit(ctx, c, in, subject{}, func(e *directory.Entity) error {
		switch {
		case slices.Contains(e.Clients, client):
			return nil
		case len(e.Clients) >= maxClients:
			return errQuota("ClientIdsPerOpenIdConnectProvider", maxClients)
		}
		e.Clients = append(e.Clients, client)
		return nil
	})
}

func (s providers) removeClient(ctx context.Context, c *protocol.Call, in *providerInput) (*service.Empty, error) {
	client := orEmpty(in.ClientID)
	return s.edit(ctx, c, in, subject{}, func(e *directory.Entity) error {
		e.Clients = slices.DeleteFunc(e.Clients, func(one string) bool { return one == client })
		return nil
	})
}

func (s providers) setThumbprints(ctx context.Context, c *protocol.Call, in *providerInput) (*service.Empty, error) {
	if err := checkThumbprints(in.ThumbprintList); err != nil {
		return nil, err
	}
	return s.edit(ctx, c, in, subject{}, func(e *directory.Entity) error {
		e.Thumbprints = in.ThumbprintList
		return nil
	})
}

func (in *providerInput) tags() *tagsInput {
	return &tagsInput{Tags: in.Tags, TagKeys: in.TagKeys, Marker: in.Marker, MaxItems: in.MaxItems}
}

func (s providers) tag(ctx context.Context, c *protocol.Call, in *providerInput) (*service.Empty, error) {
	added, err := in.tags().added()
	if err != nil {
		return nil, err
	}
	return s.edit(ctx, c, in, subject{newTags: added}, func(e *directory.Entity) (err error) {
		e.Tags, err = addTags(e.Tags, added)
		return err
	})
}

func (s providers) untag(ctx context.Context, c *protocol.Call, in *providerInput) (*service.Empty, error) {
	removed, err := in.tags().removed()
	if err != nil {
		return nil, err
	}
	return s.edit(ctx, c, in, subject{tagKeys: removed}, func(e *directory.Entity) error {
		e.Tags = removeTags(e.Tags, removed)
		return nil
	})
}

func (s providers) listTags(_ context.Context, c *protocol.Call, in *providerInput) (*listTagsOutput, error) {
	e, err := s.find(c, in, subject{})
	if err != nil {
		return nil, err
	}
	return in.tags().page(e.Tags)
}
