package iam

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// passwords serves the operations about passwords.
type passwords struct{ *core }

func (s passwords) register(wire *protocol.Service) {
	protocol.Register(wire, "CreateLoginProfile", s.createLoginProfile, protocol.Control)
	protocol.Register(wire, "GetLoginProfile", s.getLoginProfile)
	protocol.Register(wire, "UpdateLoginProfile", s.updateLoginProfile, protocol.Control)
	protocol.Register(wire, "DeleteLoginProfile", s.deleteLoginProfile, protocol.Control)
	protocol.Register(wire, "ChangePassword", s.changePassword, protocol.Control)
}

func errNoProfile(user string) *protocol.Error {
	return errNotFound("Login Profile for User %s cannot be found.", user)
}

func errPassword(why error) *protocol.Error {
	return service.Modelled(
		"PasswordPolicyViolationException", "PasswordPolicyViolation", http.StatusBadRequest, "%s", why,
	)
}

// LoginProfile is a user's password as clients see it.
type LoginProfile struct {
	UserName              string
	CreateDate            time.Time
	PasswordResetRequired bool

	MaxSigninSessionDuration int32 `json:",omitempty"`
}

func showProfile(user *directory.Entity, p *login.Profile) *loginProfileOutput {
	return &loginProfileOutput{LoginProfile{
		UserName: user.Name, CreateDate: p.Created, PasswordResetRequired: p.Reset,
		MaxSigninSessionDuration: int32(p.MaxSignIn / time.Second),
	}}
}

type loginProfileInput struct {
	UserName              *string `max:"128"`
	Password              *string `max:"512" hidden:""`
	PasswordResetRequired *bool
	signInLimit
}

type loginProfileOutput struct{ LoginProfile LoginProfile }

// hashNew returns the hash of a new password, after checking it.
func (s passwords) hashNew(ctx context.Context, account string, p *login.Profile, password string) (string, error) {
	rules, _ := s.logins.Rules(account)
	why, err := s.logins.CheckNew(ctx, account, &rules, p, password)
	if why != nil {
		return "", errPassword(why)
	}
	var hash string
	if err == nil {
		hash, err = s.logins.Hash(ctx, account, password)
	}
	if errors.Is(err, login.ErrBusy) {
		return "", protocol.Throttled()
	}
	return hash, err
}

func (s passwords) createLoginProfile(
	ctx context.Context, c *protocol.Call, in *loginProfileInput,
) (*loginProfileOutput, error) {
	var v protocol.Violations
	password := v.Required("password", in.Password) // on AWS, some callers may omit it
	if err := v.Err(); err != nil {
		return nil, err
	}
	user, err := s.userOrCaller(c, in.UserName, "CreateLoginProfile")
	if err != nil {
		return nil, err
	}
	exists := errExists("Login Profile for user %s already exists.", user.Name)
	if s.logins.Profile(user.ID) != nil {
		return nil, exists
	}
	hash, err := s.hashNew(ctx, user.Account, nil, password)
	if err != nil {
		return nil, err
	}
	p := login.NewProfile(user.ID, hash, in.PasswordResetRequired != nil && *in.PasswordResetRequired, s.now())
	in.signInLimit.change(&p.MaxSignIn)
	err = s.changeLogins(ctx, func(tx *login.Tx) error {
		switch {
		case s.directory.Entity(user.ID) == nil:
			return errNoEntity(directory.User, user.Name)
		case s.logins.Profile(user.ID) != nil:
			return exists
		}
		tx.PutProfile(p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return showProfile(user, p), nil
}

func (s passwords) getLoginProfile(
	_ context.Context, c *protocol.Call, in *loginProfileInput,
) (*loginProfileOutput, error) {
	user, err := s.userOrCaller(c, in.UserName, "GetLoginProfile")
	if err != nil {
		return nil, err
	}
	p := s.logins.Profile(user.ID)
	if p == nil {
		return nil, errNoProfile(user.Name)
	}
	return showProfile(user, p), nil
}

func (s passwords) updateLoginProfile(
	ctx context.Context, c *protocol.Call, in *loginProfileInput,
) (*service.Empty, error) {
	user, err := s.find(c, directory.User, in.UserName, "UpdateLoginProfile")
	if err != nil {
		return nil, err
	}
	old := s.logins.Profile(user.ID)
	if old == nil {
		return nil, errNoProfile(user.Name)
	}
	if err := in.signInLimit.check(); err != nil {
		return nil, err
	}
	hash := ""
	if in.Password != nil {
		if hash, err = s.hashNew(ctx, user.Account, old, *in.Password); err != nil {
			return nil, err
		}
	}
	return nil, s.changeLogins(ctx, func(tx *login.Tx) error {
		p := s.logins.Profile(user.ID)
		if p == nil {
			return errNoProfile(user.Name)
		}
		if hash != "" {
			p = p.WithPassword(hash, s.now())
		}
		updated := *p
		if in.PasswordResetRequired != nil {
			updated.Reset = *in.PasswordResetRequired
		}
		in.signInLimit.change(&updated.MaxSignIn)
		tx.PutProfile(&updated)
		return nil
	})
}

func (s passwords) deleteLoginProfile(
	ctx context.Context, c *protocol.Call, in *loginProfileInput,
) (*service.Empty, error) {
	user, err := s.userOrCaller(c, in.UserName, "DeleteLoginProfile")
	if err != nil {
		return nil, err
	}
	if s.logins.Profile(user.ID) == nil {
		return nil, errNoProfile(user.Name)
	}
	return nil, s.changeLogins(ctx, func(tx *login.Tx) error {
		p := s.logins.Profile(user.ID)
		if p == nil {
			return errNoProfile(user.Name)
		}
		tx.DeleteProfile(p)
		return nil
	})
}

type changePasswordInput struct {
	OldPassword *string `max:"512" hidden:""`
	NewPassword *string `max:"512" hidden:""`
}

// changePassword sets the caller's own password.
func (s passwords) changePassword(
	ctx context.Context, c *protocol.Call, in *changePasswordInput,
) (*service.Empty, error) {
	old, password := orEmpty(in.OldPassword), orEmpty(in.NewPassword)
	id := service.Caller(c)
	if id.Kind != policy.User {
		return nil, service.Modelled(
			"InvalidUserTypeException",
			"InvalidUserType",
			http.StatusBadRequest,
			"Only IAM Users can change their own password.",
		)
	}
	if rules, _ := s.logins.Rules(id.Account); !rules.MayChange {
		if err := s.allow(c, "ChangePassword", subject{arn: id.ARN}); err != nil {
			return nil, err
		}
	}
	p := s.logins.Profile(id.UserID)
	if p == nil {
		return nil, errNoProfile(id.UserName)
	}
	try, ok := s.logins.Begin(id.Account, id.UserName, c.SourceIP, s.now()) // a guess counts as one at the console
	if !ok {
		return nil, protocol.Throttled()
	}
	right, err := s.logins.Verify(ctx, id.Account, p.Hash, old)
	switch {
	case errors.Is(err, login.ErrBusy):
		try.GiveBack()
		return nil, protocol.Throttled()
	case err != nil:
		return nil, err
	case !right:
		wrong := protocol.AccessDenied("The old password was incorrect.")
		wrong.Final = true // a second check would count as a second guess
		return nil, wrong
	}
	try.Succeed()
	hash, err := s.hashNew(ctx, id.Account, p, password)
	if err != nil {
		return nil, err
	}
	return nil, s.changeLogins(ctx, func(tx *login.Tx) error {
		now := s.logins.Profile(id.UserID)
		if now == nil || now.Hash != p.Hash {
			return errNoProfile(id.UserName)
		}
		updated := now.WithPassword(hash, s.now())
		updated.Reset = false
		tx.PutProfile(updated)
		return nil
	})
}
