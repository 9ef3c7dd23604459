package iam_test

import (
	"bytes"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// refusals checks the error code of each call; "" means that it succeeds.
func refusals(t *testing.T, all []struct {
	what string
	err  error
	code string
}) {
	t.Helper()
	for _, c := range all {
		if got := apitest.Code(c.err); got != c.code {
			t.Errorf("%s: %q, want %q", c.what, got, c.code)
		}
	}
}

type outcome = struct {
	what string
	err  error
	code string
}

func TestLoginProfiles(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	ctx, ann := t.Context(), aws.String("ann")
	user, keyID := root.User(t, "ann", "")
	create := func(password string) error {
		_, err := root.IAM.CreateLoginProfile(ctx, &iam.CreateLoginProfileInput{
			UserName: ann, Password: &password, PasswordResetRequired: true,
		})
		return err
	}
	update := func(in *iam.UpdateLoginProfileInput) error {
		_, err := root.IAM.UpdateLoginProfile(ctx, in)
		return err
	}
	change := func(a *apitest.Actor, old, password string) error {
		_, err := a.IAM.ChangePassword(ctx, &iam.ChangePasswordInput{OldPassword: &old, NewPassword: &password})
		return err
	}
	remove := func() error {
		_, err := root.IAM.DeleteLoginProfile(ctx, &iam.DeleteLoginProfileInput{UserName: ann})
		return err
	}
	deleteUser := func() error {
		_, err := root.IAM.DeleteUser(ctx, &iam.DeleteUserInput{UserName: ann})
		return err
	}
	deleteKey := func() error {
		_, err := root.IAM.DeleteAccessKey(ctx, &iam.DeleteAccessKeyInput{UserName: ann, AccessKeyId: &keyID})
		return err
	}
	mayChange := func() error {
		_, err := root.IAM.UpdateAccountPasswordPolicy(ctx, &iam.UpdateAccountPasswordPolicyInput{
			AllowUsersToChangePassword: true, PasswordReusePrevention: aws.Int32(2), RequireNumbers: true,
		})
		return err
	}
	refusals(t, []outcome{
		{"update without a password",
			update(&iam.UpdateLoginProfileInput{UserName: ann, Password: aws.String("Correct-horse-1")}),
			"NoSuchEntity"},
		{"delete without a password", remove(), "NoSuchEntity"},
		{"too short", create("Ab-1"), "PasswordPolicyViolation"},
		{"too simple", create("abcdefghijk"), "PasswordPolicyViolation"},
		{"create", create("Correct-horse-1"), ""},
		{"create again", create("Correct-horse-1"), "EntityAlreadyExists"},
	})
	got, err := root.IAM.GetLoginProfile(ctx, &iam.GetLoginProfileInput{UserName: ann})
	if p := apitest.Must(t, got, err).LoginProfile; *p.UserName != "ann" || !p.PasswordResetRequired ||
		time.Since(*p.CreateDate) > time.Hour {
		t.Errorf("profile: %+v", p)
	}
	refusals(t, []outcome{
		{"no reset", update(&iam.UpdateLoginProfileInput{UserName: ann, PasswordResetRequired: aws.Bool(false)}), ""},
		{"change without permission", change(user, "Correct-horse-1", "Correct-horse-2"), "AccessDenied"},
		{"allow it", mayChange(), ""},
		{"change as the root", change(root, "Correct-horse-1", "Correct-horse-2"), "InvalidUserType"},
		{"change with a wrong password", change(user, "wrong", "Correct-horse-2"), "AccessDenied"},
		{"change to none", change(user, "Correct-horse-1", "nonumber"), "PasswordPolicyViolation"},
		{"change to the same", change(user, "Correct-horse-1", "Correct-horse-1"), "PasswordPolicyViolation"},
		{"change", change(user, "Correct-horse-1", "Correct-horse-2"), ""},
		{"change back", change(user, "Correct-horse-2", "Correct-horse-1"), "PasswordPolicyViolation"},
		{"delete the key", deleteKey(), ""},
		{"delete the user", deleteUser(), "DeleteConflict"},
		{"delete the password", remove(), ""},
		{"delete the user then", deleteUser(), ""},
	})
}

// A user's access key does not help to guess the user's password: attempts count like attempts at the console.
func TestChangePasswordCountsGuesses(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	ctx, ann := t.Context(), aws.String("ann")
	user, _ := root.User(t, "ann", apitest.Allow("iam:ChangePassword", "*"))
	_, err := root.IAM.CreateLoginProfile(ctx, &iam.CreateLoginProfileInput{
		UserName: ann, Password: aws.String("Correct-horse-1"),
	})
	apitest.Must(t, 0, err)
	change := func(old, password string) string {
		_, err := user.IAM.ChangePassword(ctx, &iam.ChangePasswordInput{OldPassword: &old, NewPassword: &password})
		return apitest.Code(err)
	}
	guess := func(times int) {
		for i := range times {
			if code := change("wrong", "Correct-horse-2"); code != "AccessDenied" {
				t.Errorf("guess %d of %d: %s", i, times, code)
			}
		}
	}
	guess(9)
	if code := change("Correct-horse-1", "Correct-horse-2"); code != "" {
		t.Errorf("after nine guesses: %s", code)
	}
	guess(10)
	if code := change("Correct-horse-2", "Correct-horse-3"); code != "Throttling" {
		t.Errorf("after ten guesses: %s", code)
	}
}

func TestPasswordPolicy(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	get := func() (*types.PasswordPolicy, error) {
		out, err := root.IAM.GetAccountPasswordPolicy(t.Context(), &iam.GetAccountPasswordPolicyInput{})
		if err != nil {
			return nil, err
		}
		return out.PasswordPolicy, nil
	}
	update := func(in *iam.UpdateAccountPasswordPolicyInput) error {
		_, err := root.IAM.UpdateAccountPasswordPolicy(t.Context(), in)
		return err
	}
	_, err := get()
	refusals(t, []outcome{
		{"none", err, "NoSuchEntity"},
		{"too short", update(&iam.UpdateAccountPasswordPolicyInput{MinimumPasswordLength: aws.Int32(5)}),
			"ValidationError"},
		{"too old", update(&iam.UpdateAccountPasswordPolicyInput{MaxPasswordAge: aws.Int32(1096)}), "ValidationError"},
		{"set",
			update(&iam.UpdateAccountPasswordPolicyInput{
				MinimumPasswordLength: aws.Int32(12), RequireSymbols: true, MaxPasswordAge: aws.Int32(90),
			}), ""},
	})
	p, err := get()
	if apitest.Must(t, p, err); *p.MinimumPasswordLength != 12 || !p.RequireSymbols || p.RequireNumbers ||
		!p.ExpirePasswords || *p.MaxPasswordAge != 90 || p.PasswordReusePrevention != nil {
		t.Errorf("policy: %+v", p)
	}
	_, err = root.IAM.DeleteAccountPasswordPolicy(t.Context(), &iam.DeleteAccountPasswordPolicyInput{})
	_, again := root.IAM.DeleteAccountPasswordPolicy(t.Context(), &iam.DeleteAccountPasswordPolicyInput{})
	refusals(t, []outcome{{"delete", err, ""}, {"delete again", again, "NoSuchEntity"}})
}

func TestVirtualMFADevices(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	ctx, ann := t.Context(), aws.String("ann")
	_, err := root.IAM.CreateUser(ctx, &iam.CreateUserInput{UserName: ann})
	apitest.Must(t, 0, err)
	made, err := root.IAM.CreateVirtualMFADevice(ctx, &iam.CreateVirtualMFADeviceInput{
		VirtualMFADeviceName: aws.String("phone"), Path: aws.String("/a/"),
	})
	device := apitest.Must(t, made, err).VirtualMFADevice
	if serial := *device.SerialNumber; serial != "arn:aws:iam::"+account+":mfa/a/phone" {
		t.Errorf("serial number: %s", serial)
	}
	seed := string(device.Base32StringSeed)
	if drawn, err := png.Decode(bytes.NewReader(device.QRCodePNG)); err != nil || drawn.Bounds().Dx() < 200 {
		t.Errorf("the QR code: %v", err)
	}
	code := func(ago time.Duration) *string { return aws.String(apitest.Code6(t, seed, time.Now().Add(-ago))) }
	enable := func(first, second *string) error {
		_, err := root.IAM.EnableMFADevice(ctx, &iam.EnableMFADeviceInput{
			UserName: ann, SerialNumber: device.SerialNumber, AuthenticationCode1: first, AuthenticationCode2: second,
		})
		return err
	}
	remove := func() error {
		_, err := root.IAM.DeleteVirtualMFADevice(ctx, &iam.DeleteVirtualMFADeviceInput{
			SerialNumber: device.SerialNumber,
		})
		return err
	}
	deactivate := func() error {
		_, err := root.IAM.DeactivateMFADevice(ctx, &iam.DeactivateMFADeviceInput{
			UserName: ann, SerialNumber: device.SerialNumber,
		})
		return err
	}
	deleteUser := func() error {
		_, err := root.IAM.DeleteUser(ctx, &iam.DeleteUserInput{UserName: ann})
		return err
	}
	_, twice := root.IAM.CreateVirtualMFADevice(ctx, &iam.CreateVirtualMFADeviceInput{
		VirtualMFADeviceName: aws.String("Phone"),
	})
	refusals(t, []outcome{
		{"the same name", twice, "EntityAlreadyExists"},
		{"wrong codes", enable(aws.String("000000"), aws.String("000000")), "InvalidAuthenticationCode"},
		{"one code twice", enable(code(0), code(0)), "InvalidAuthenticationCode"},
		{"long ago", enable(code(10*time.Minute), code(570*time.Second)), "InvalidAuthenticationCode"},
		{"short codes", enable(aws.String("1"), aws.String("2")), "ValidationError"},
		{"deactivate what is not active", deactivate(), "NoSuchEntity"},
		{"enable", enable(code(30*time.Second), code(0)), ""},
		{"enable again", enable(code(30*time.Second), code(0)), "EntityAlreadyExists"},
		{"delete what is active", remove(), "DeleteConflict"},
		{"delete the user", deleteUser(), "DeleteConflict"},
	})
	if err := deleteUser(); err == nil ||
		!strings.Contains(err.Error(), "Cannot delete entity, must delete MFA device first.") {
		t.Errorf("delete the user: %v", err)
	}
	own, err := root.IAM.ListMFADevices(ctx, &iam.ListMFADevicesInput{UserName: ann})
	if d := apitest.Must(t, own, err).MFADevices; len(d) != 1 || *d[0].SerialNumber != *device.SerialNumber ||
		*d[0].UserName != "ann" {
		t.Errorf("devices: %+v", d)
	}
	for status, want := range map[types.AssignmentStatusType]int{
		"": 1, types.AssignmentStatusTypeAssigned: 1, types.AssignmentStatusTypeUnassigned: 0,
	} {
		all, err := root.IAM.ListVirtualMFADevices(ctx, &iam.ListVirtualMFADevicesInput{AssignmentStatus: status})
		d := apitest.Must(t, all, err).VirtualMFADevices
		if len(d) != want ||
			want == 1 &&
				(d[0].User == nil || *d[0].User.UserName != "ann" ||
					len(d[0].Base32StringSeed)+len(d[0].QRCodePNG) > 0) {
			t.Errorf("%s: %+v", status, d)
		}
	}
	refusals(t,
		[]outcome{{"deactivate", deactivate(), ""}, {"delete", remove(), ""},
			{"delete again", remove(), "NoSuchEntity"}, {"delete the user", deleteUser(), ""}})
	if strings.Contains(seed, "=") {
		t.Errorf("the seed is padded: %s", seed)
	}
}
