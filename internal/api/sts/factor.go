package sts

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// secondFactor checks the code of a second factor that a request shows, and marks it as used. It returns the time, or
// zero if the request shows none. A wrong code counts as a wrong password of the user.
func (s *Service) secondFactor(ctx context.Context, c *protocol.Call, serial, code *string) (time.Time, error) {
	if serial == nil && code == nil {
		return time.Time{}, nil
	}
	id, now := service.Caller(c), s.now().UTC().Truncate(time.Second)
	if serial == nil || code == nil || id.Kind != policy.User || s.ownDevice(id.Account, id.UserID, *serial) == nil {
		return time.Time{}, errNotOwnDevice()
	}
	try, ok := s.logins.Begin(id.Account, id.UserName, c.SourceIP, now)
	if !ok {
		return time.Time{}, protocol.Throttled()
	}
	err := s.logins.Change(ctx, func(tx *login.Tx) error {
		d := s.ownDevice(id.Account, id.UserID, *serial)
		if d == nil {
			return errNotOwnDevice()
		}
		used, err := s.logins.AcceptFrom(d, *code, now)
		if err != nil {
			return err
		}
		if used == nil {
			return errWrongCode()
		}
		tx.PutDevice(used)
		return nil
	})
	if err != nil {
		return time.Time{}, service.Failure(err)
	}
	try.GiveBack()
	return now, nil
}

// ownDevice returns the second factor with a serial number if it is the user's, or nil.
func (s *Service) ownDevice(account, userID, serial string) *login.Device {
	if d := s.logins.Device(account, serial); d != nil && d.User == userID {
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
