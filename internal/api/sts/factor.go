package sts

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// factor is a second factor that a request has proved. The zero factor means none.
type factor struct {
	serial, code string
	at           time.Time
}

// secondFactor checks the code of a second factor that a request shows. A wrong code counts as a wrong password of the
// user. The code can be shown until it is used: a request that is refused for another reason is run once more at a node
// that lags.
func (s *Service) secondFactor(c *protocol.Call, serial, code *string) (factor, error) {
	if serial == nil && code == nil {
		return factor{}, nil
	}
	id, now := service.Caller(c), s.now().UTC().Truncate(time.Second)
	if serial == nil || code == nil || id.Kind != policy.User {
		return factor{}, errNotOwnDevice()
	}
	d := s.ownDevice(&id, *serial)
	if d == nil {
		return factor{}, errNotOwnDevice()
	}
	try, ok := s.logins.Begin(id.Account, id.UserName, c.SourceIP, now)
	if !ok {
		return factor{}, protocol.Throttled()
	}
	right, err := s.logins.AcceptFrom(d, *code, now)
	if err != nil {
		return factor{}, err
	}
	if right == nil {
		return factor{}, errWrongCode()
	}
	try.GiveBack()
	return factor{*serial, *code, now}, nil
}

// use marks the code of a second factor as used. It returns an error if that has happened already.
func (s *Service) use(ctx context.Context, id *identity.Identity, f factor) error {
	if f.at.IsZero() {
		return nil
	}
	return service.Failure(s.logins.Change(ctx, func(tx *login.Tx) error {
		d := s.ownDevice(id, f.serial)
		if d == nil {
			return errNotOwnDevice()
		}
		used, err := s.logins.AcceptFrom(d, f.code, f.at)
		if err != nil {
			return err
		}
		if used == nil {
			return errWrongCode()
		}
		tx.PutDevice(used)
		return nil
	}))
}

// ownDevice returns the second factor with a serial number if it is the caller's, or nil.
func (s *Service) ownDevice(id *identity.Identity, serial string) *login.Device {
	if d := s.logins.Device(id.Account, serial); d != nil && d.User == id.UserID {
		return d
	}
	return nil
}

func errNotOwnDevice() *protocol.Error {
	return protocol.AccessDenied("MultiFactorAuthentication failed, unable to validate MFA code.  " +
		"Please verify your MFA serial number is valid and associated with this user.")
}

func errWrongCode() *protocol.Error {
	e := protocol.AccessDenied("MultiFactorAuthentication failed with invalid MFA one time pass code. ")
	e.Final = true // a second check would count as a second guess
	return e
}
