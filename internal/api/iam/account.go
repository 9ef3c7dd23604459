package iam

import (
	"context"
	"regexp"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// account serves the operations about an account itself.
type account struct{ *core }

func (s account) register(wire *protocol.Service) {
	protocol.Register(wire, "GetAccountSummary", s.getAccountSummary)
	protocol.Register(wire, "ListAccountAliases", s.listAccountAliases)
	protocol.Register(wire, "CreateAccountAlias", s.createAccountAlias, protocol.Control)
	protocol.Register(wire, "DeleteAccountAlias", s.deleteAccountAlias, protocol.Control)
}

type summaryOutput struct {
	SummaryMap map[string]int32 `json:",always" wrap:"entry" entry:"key,value"`
}

func (s account) getAccountSummary(_ context.Context, c *protocol.Call, _ *service.Empty) (*summaryOutput, error) {
	if err := s.allow(c, "GetAccountSummary", subject{arn: anything}); err != nil {
		return nil, err
	}
	account := service.Caller(c).Account
	policies := s.directory.Policies(account)
	versions := 0
	for _, m := range policies {
		versions += len(m.Versions)
	}
	inUse := 0
	devices := s.logins.Devices(account, func(d *login.Device) bool {
		if d.User != "" {
			inUse++
		}
		return true
	})
	return &summaryOutput{map[string]int32{
		"AccountAccessKeysPresent": 1, // the root's
		"AccountMFAEnabled":        0,
		// The root has neither a password nor certificates, and there are no certificates of servers.
		"AccountPasswordPresent":            0,
		"AccountSigningCertificatesPresent": 0,
		"ServerCertificates":                0,
		"ServerCertificatesQuota":           0,
		"SigningCertificatesPerUserQuota":   0,
		"AccessKeysPerUserQuota":            maxKeys,
		"AssumeRolePolicySizeQuota":         policy.MaxTrust,
		"AttachedPoliciesPerGroupQuota":     maxAttached,
		"AttachedPoliciesPerRoleQuota":      maxAttached,
		"AttachedPoliciesPerUserQuota":      maxAttached,
		"GroupPolicySizeQuota":              policy.MaxGroupInline,
		"Groups":                            int32(len(s.directory.List(directory.Group, account))),
		"GroupsPerUserQuota":                maxGroupsPerUser,
		"GroupsQuota":                       maxGroups,
		"GlobalEndpointTokenVersion":        1,
		"InstanceProfiles":                  int32(len(s.directory.List(directory.Profile, account))),
		"InstanceProfilesQuota":             maxProfiles,
		"MFADevices":                        int32(len(devices)),
		"MFADevicesInUse":                   int32(inUse),
		"Policies":                          int32(len(policies)),
		"PoliciesQuota":                     maxPolicies,
		"PolicySizeQuota":                   policy.MaxManaged,
		"PolicyVersionsInUse":               int32(versions),
		"PolicyVersionsInUseQuota":          maxPolicies * maxVersions,
		"Providers":                         int32(len(s.directory.List(directory.Provider, account))),
		"RolePolicySizeQuota":               policy.MaxRoleInline,
		"Roles":                             int32(len(s.directory.List(directory.Role, account))),
		"RolesQuota":                        maxRoles,
		"UserPolicySizeQuota":               policy.MaxUserInline,
		"Users":                             int32(len(s.directory.List(directory.User, account))),
		"UsersQuota":                        maxUsers,
		"VersionsPerPolicyQuota":            maxVersions,
	}}, nil
}

type aliasInput struct {
	AccountAlias *string `max:"63"`
	Marker       *string `max:"2048"`
	MaxItems     *int32
}

type listAliasesOutput struct {
	AccountAliases []string `json:",always" wrap:"member"`
	IsTruncated    bool
}

func (s account) listAccountAliases(_ context.Context, c *protocol.Call, _ *aliasInput) (*listAliasesOutput, error) {
	if err := s.allow(c, "ListAccountAliases", subject{arn: anything}); err != nil {
		return nil, err
	}
	out := new(listAliasesOutput)
	if alias := s.directory.Alias(service.Caller(c).Account); alias != "" {
		out.AccountAliases = []string{alias}
	}
	return out, nil
}

var aliasPattern = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9]|-[a-z0-9])*$`)

func (s account) alias(c *protocol.Call, in *aliasInput, action string) (string, error) {
	var v protocol.Violations
	alias := v.Required("accountAlias", in.AccountAlias)
	v.Length("accountAlias", in.AccountAlias, 3, 63)
	if in.AccountAlias != nil && !aliasPattern.MatchString(alias) {
		v.Add(alias, "accountAlias", `Member must satisfy regular expression pattern: ^[a-z0-9]([a-z0-9]|-(?!-)){1,61}[a-z0-9]$`)
	}
	if err := v.Err(); err != nil {
		return "", err
	}
	return alias, s.allow(c, action, subject{arn: anything})
}

func (s account) createAccountAlias(ctx context.Context, c *protocol.Call, in *aliasInput) (*service.Empty, error) {
	alias, err := s.alias(c, in, "CreateAccountAlias")
	if err != nil {
		return nil, err
	}
	return nil, s.change(ctx, func(tx *directory.Tx) error {
		if _, taken := s.directory.Aliased(alias); taken { // also by the caller's account
			return errExists("The account alias %s already exists.", alias)
		}
		tx.SetAlias(service.Caller(c).Account, alias)
		return nil
	})
}

func (s account) deleteAccountAlias(ctx context.Context, c *protocol.Call, in *aliasInput) (*service.Empty, error) {
	alias, err := s.alias(c, in, "DeleteAccountAlias")
	if err != nil {
		return nil, err
	}
	return nil, s.change(ctx, func(tx *directory.Tx) error {
		if s.directory.Alias(service.Caller(c).Account) != alias {
			return errNotFound("The account alias %s cannot be found.", alias)
		}
		tx.SetAlias(service.Caller(c).Account, "")
		return nil
	})
}
