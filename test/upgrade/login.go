package upgrade

import (
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// Login is a user with a password and a device for second factors.
type Login struct{ Name, ID, Secret, Password, Device string }

// logins makes a user who can sign in to the console.
func (f *filler) logins() error {
	const document = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"iam:ChangePassword","Resource":"*"}}`
	l := Login{Name: "bea", Password: "Correct-horse-1"}
	if err := f.Query(f.ctx, "iam", "CreateUser", nil, "UserName", l.Name); err != nil {
		return err
	}
	if err := f.Query(
		f.ctx, "iam", "PutUserPolicy", nil, "UserName", l.Name, "PolicyName", "own", "PolicyDocument", document,
	); err != nil {
		return err
	}
	if err := f.Query(f.ctx, "iam", "CreateLoginProfile", nil, "UserName", l.Name, "Password", l.Password); err != nil {
		return err
	}
	var key struct {
		ID     string `xml:"CreateAccessKeyResult>AccessKey>AccessKeyId"`
		Secret string `xml:"CreateAccessKeyResult>AccessKey>SecretAccessKey"`
	}
	if err := f.Query(f.ctx, "iam", "CreateAccessKey", &key, "UserName", l.Name); err != nil {
		return err
	}
	l.ID, l.Secret = key.ID, key.Secret
	var made struct {
		Number string `xml:"CreateVirtualMFADeviceResult>VirtualMFADevice>SerialNumber"`
		Seed   string `xml:"CreateVirtualMFADeviceResult>VirtualMFADevice>Base32StringSeed"`
	}
	if err := f.Query(f.ctx, "iam", "CreateVirtualMFADevice", &made, "VirtualMFADeviceName", "phone"); err != nil {
		return err
	}
	now := time.Now()
	last, err := apitest.TOTP(made.Seed, now.Add(-30*time.Second))
	if err != nil {
		return err
	}
	code, err := apitest.TOTP(made.Seed, now)
	if err != nil {
		return err
	}
	if err := f.Query(f.ctx, "iam", "EnableMFADevice", nil, "UserName", l.Name, "SerialNumber", made.Number,
		"AuthenticationCode1", last, "AuthenticationCode2", code); err != nil {
		return err
	}
	l.Device = made.Number
	f.content.Logins = append(f.content.Logins, l)
	return nil
}

// login checks that a password is known, and no other, and so is the device.
func (k *checker) login(l Login) error {
	as := *k.Client
	as.ID, as.Secret = l.ID, l.Secret
	var refusal *Refusal
	err := as.Query(k.ctx, "iam", "ChangePassword", nil, "OldPassword", "wrong", "NewPassword", "Another-horse-2")
	if !errors.As(err, &refusal) {
		return fmt.Errorf("user %s changes a password without it: %w", l.Name, err)
	}
	if err := as.Query(
		k.ctx, "iam", "ChangePassword", nil, "OldPassword", l.Password, "NewPassword", "Another-horse-2",
	); err != nil {
		return fmt.Errorf("user %s: %w", l.Name, err)
	}
	var found struct {
		Numbers []string `xml:"ListMFADevicesResult>MFADevices>member>SerialNumber"`
	}
	if err := k.Query(k.ctx, "iam", "ListMFADevices", &found, "UserName", l.Name); err != nil {
		return err
	}
	if len(found.Numbers) != 1 || found.Numbers[0] != l.Device {
		return fmt.Errorf("user %s has the devices %q, not %q", l.Name, found.Numbers, l.Device)
	}
	return nil
}
