package iam

import (
	"context"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// absent serves operations on kinds of entities that this server does not have: SSH keys, certificates, SAML providers
// and more. Clients such as Terraform list them before they delete a user, and inventories of accounts list all. They
// get empty lists. The operations that would create the entities are unsupported.
type absent struct{ *core }

func (s absent) register(wire *protocol.Service) {
	protocol.Register(wire, "ListSSHPublicKeys", s.listSSHPublicKeys)
	protocol.Register(wire, "ListSigningCertificates", s.listSigningCertificates)
	protocol.Register(wire, "ListServiceSpecificCredentials", s.listServiceSpecificCredentials)
	protocol.Register(wire, "ListServerCertificates", s.listServerCertificates)
	protocol.Register(wire, "ListSAMLProviders", s.listSAMLProviders)
}

// noItems is a list that is always empty.
type noItems []string

// absentInput names a user, or is about the whole account.
type absentInput struct {
	UserName         *string `max:"128"`
	ServiceName      *string `max:"128"`
	AllUsers         *bool
	AssignmentStatus *string `max:"64"`
	Marker           *string `max:"2048"`
	MaxItems         *int32
}

// ofUser returns the user that a request names, or otherwise the caller, if the caller has permission for that user.
func (s absent) ofUser(c *protocol.Call, in *absentInput) (*directory.Entity, error) {
	user, err := s.userOrCaller(c, in.UserName, c.Operation)
	if err != nil {
		return nil, err
	}
	return user, in.checkPage()
}

// checkPage checks the page parameters of an empty list.
func (in *absentInput) checkPage() error {
	_, err := paginate(noItems(nil), func(string) string { return "" }, in.Marker, in.MaxItems)
	return err
}

type listSSHPublicKeysOutput struct {
	SSHPublicKeys noItems `json:",always" wrap:"member"`
	IsTruncated   bool
}

func (s absent) listSSHPublicKeys(
	_ context.Context, c *protocol.Call, in *absentInput,
) (*listSSHPublicKeysOutput, error) {
	_, err := s.ofUser(c, in)
	return nil, err
}

type listSigningCertificatesOutput struct {
	Certificates noItems `json:",always" wrap:"member"`
	IsTruncated  bool
}

func (s absent) listSigningCertificates(
	_ context.Context, c *protocol.Call, in *absentInput,
) (*listSigningCertificatesOutput, error) {
	_, err := s.ofUser(c, in)
	return nil, err
}

type listServiceSpecificCredentialsOutput struct {
	ServiceSpecificCredentials noItems `json:",always" wrap:"member"`
	IsTruncated                bool
}

func (s absent) listServiceSpecificCredentials(
	_ context.Context,
	c *protocol.Call,
	in *absentInput,
) (*listServiceSpecificCredentialsOutput, error) {
	_, err := s.ofUser(c, in)
	return nil, err
}

type serverCertificatesInput struct {
	PathPrefix *string `max:"512"`
	Marker     *string `max:"2048"`
	MaxItems   *int32
}

type listServerCertificatesOutput struct {
	ServerCertificateMetadataList noItems `json:",always" wrap:"member"`
	IsTruncated                   bool
}

func (s absent) listServerCertificates(
	_ context.Context, c *protocol.Call, in *serverCertificatesInput,
) (*listServerCertificatesOutput, error) {
	if err := s.allow(c, c.Operation, subject{arn: anything}); err != nil {
		return nil, err
	}
	return nil, (&absentInput{Marker: in.Marker, MaxItems: in.MaxItems}).checkPage()
}

type listSAMLProvidersOutput struct {
	SAMLProviderList noItems `json:",always" wrap:"member"`
}

func (s absent) listSAMLProviders(
	_ context.Context, c *protocol.Call, _ *service.Empty,
) (*listSAMLProvidersOutput, error) {
	return nil, s.allow(c, c.Operation, subject{arn: anything})
}
