package iam

import (
	"context"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// passwordRules serves the operations about the rules for passwords.
type passwordRules struct{ *core }

func (s passwordRules) register(wire *protocol.Service) {
	protocol.Register(wire, "GetAccountPasswordPolicy", s.getAccountPasswordPolicy)
	protocol.Register(wire, "UpdateAccountPasswordPolicy", s.updateAccountPasswordPolicy, protocol.Control)
	protocol.Register(wire, "DeleteAccountPasswordPolicy", s.deleteAccountPasswordPolicy, protocol.Control)
}

func errNoRules(account string) *protocol.Error {
	return errNotFound("The Password Policy with domain name %s cannot be found.", account)
}

// PasswordPolicy are the rules for passwords as clients see them.
type PasswordPolicy struct {
	MinimumPasswordLength      int32
	RequireSymbols             bool
	RequireNumbers             bool
	RequireUppercaseCharacters bool
	RequireLowercaseCharacters bool
	AllowUsersToChangePassword bool
	ExpirePasswords            bool
	MaxPasswordAge             *int32
	PasswordReusePrevention    *int32
	HardExpiry                 bool
}

type passwordPolicyOutput struct{ PasswordPolicy PasswordPolicy }

func (s passwordRules) getAccountPasswordPolicy(
	_ context.Context, c *protocol.Call, _ *service.Empty,
) (*passwordPolicyOutput, error) {
	if err := s.allow(c, "GetAccountPasswordPolicy", subject{arn: anything}); err != nil {
		return nil, err
	}
	r, set := s.logins.Rules(service.Caller(c).Account)
	if !set {
		return nil, errNoRules(service.Caller(c).Account)
	}
	positive := func(n int) *int32 {
		if n == 0 {
			return nil
		}
		n32 := int32(n)
		return &n32
	}
	return &passwordPolicyOutput{PasswordPolicy{
		MinimumPasswordLength: int32(r.MinimumLength), RequireSymbols: r.Symbols, RequireNumbers: r.Numbers,
		RequireUppercaseCharacters: r.Uppercase, RequireLowercaseCharacters: r.Lowercase,
		AllowUsersToChangePassword: r.MayChange,
		ExpirePasswords:            r.MaxAgeDays > 0, MaxPasswordAge: positive(r.MaxAgeDays),
		PasswordReusePrevention: positive(r.Remembered),
		HardExpiry:              r.HardExpiry,
	}}, nil
}

type passwordPolicyInput struct {
	MinimumPasswordLength      *int32
	RequireSymbols             *bool
	RequireNumbers             *bool
	RequireUppercaseCharacters *bool
	RequireLowercaseCharacters *bool
	AllowUsersToChangePassword *bool
	MaxPasswordAge             *int32
	PasswordReusePrevention    *int32
	HardExpiry                 *bool
}

// updateAccountPasswordPolicy sets all rules: missing ones get their defaults, as on AWS.
func (s passwordRules) updateAccountPasswordPolicy(
	ctx context.Context, c *protocol.Call, in *passwordPolicyInput,
) (*service.Empty, error) {
	if err := s.allow(c, "UpdateAccountPasswordPolicy", subject{arn: anything}); err != nil {
		return nil, err
	}
	number := func(n *int32, unset int) int {
		if n == nil {
			return unset
		}
		return int(*n)
	}
	yes := func(b *bool) bool { return b != nil && *b }
	r := &login.Rules{
		MinimumLength: number(in.MinimumPasswordLength, 6), Symbols: yes(in.RequireSymbols),
		Numbers:   yes(in.RequireNumbers),
		Uppercase: yes(in.RequireUppercaseCharacters), Lowercase: yes(in.RequireLowercaseCharacters),
		MayChange:  yes(in.AllowUsersToChangePassword),
		MaxAgeDays: number(in.MaxPasswordAge, 0), Remembered: number(in.PasswordReusePrevention, 0),
		HardExpiry: yes(in.HardExpiry),
	}
	return nil, s.changeLogins(ctx, func(tx *login.Tx) error {
		tx.SetRules(service.Caller(c).Account, r)
		return nil
	})
}

func (s passwordRules) deleteAccountPasswordPolicy(
	ctx context.Context, c *protocol.Call, _ *service.Empty,
) (*service.Empty, error) {
	if err := s.allow(c, "DeleteAccountPasswordPolicy", subject{arn: anything}); err != nil {
		return nil, err
	}
	account := service.Caller(c).Account
	if _, set := s.logins.Rules(account); !set {
		return nil, errNoRules(account)
	}
	return nil, s.changeLogins(ctx, func(tx *login.Tx) error {
		tx.SetRules(account, nil)
		return nil
	})
}
