package command

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/auth/login"
)

// newPassword is the answer of a command that has set a password.
type newPassword struct {
	UserName              string
	Password              string `json:",omitempty"` // if the command has chosen it
	PasswordResetRequired bool
}

func (p newPassword) text(w io.Writer) error {
	if p.Password == "" {
		_, err := fmt.Fprintf(w, "%s has the password\n", p.UserName)
		return err
	}
	_, err := fmt.Fprintln(w, p.Password)
	return err
}

func newUserPassword(server *clientFlags) *cobra.Command {
	var stdin, keep, remove bool
	cmd := &cobra.Command{
		Use:   "password NAME",
		Short: "Set a user's password for the console",
		Long: `Set a user's password for the console, and print it. The user must choose another one at
the first sign-in.`,
		Example: `  sluice user password ann
  sluice user password ann --stdin < password.txt
  sluice user password ann --delete`,
		Args:              arguments("NAME"),
		ValidArgsFunction: completeUsers(server),
	}
	f := cmd.Flags()
	f.BoolVar(&stdin, "stdin", false, "read the password from the first line of standard input")
	f.BoolVar(&keep, "keep", false, "the user need not choose another one")
	f.BoolVar(&remove, "delete", false, "remove the password")
	cmd.MarkFlagsMutuallyExclusive("delete", "stdin")
	cmd.MarkFlagsMutuallyExclusive("delete", "keep")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		name := c.args[0]
		if remove {
			if err := c.iam(ctx, "DeleteLoginProfile", nil, "UserName", name); err != nil {
				return nil, err
			}
			return done{name + " has no password any more"}, nil
		}
		password := login.NewPassword()
		if stdin {
			text, err := io.ReadAll(io.LimitReader(c.in, 1024))
			if err != nil {
				return nil, fmt.Errorf("read the password: %w", err)
			}
			if password, _, _ = strings.Cut(string(text), "\n"); strings.TrimSuffix(password, "\r") == "" {
				return nil, errors.New("there is no password on standard input")
			}
			password = strings.TrimSuffix(password, "\r")
		}
		params := []string{"UserName", name, "Password", password, "PasswordResetRequired", fmt.Sprint(!keep)}
		err := c.iam(ctx, "UpdateLoginProfile", nil, params...)
		if err != nil && c.iam(ctx, "GetLoginProfile", nil, "UserName", name) != nil {
			err = c.iam(ctx, "CreateLoginProfile", nil, params...)
		}
		if err != nil {
			return nil, err
		}
		set := newPassword{UserName: name, PasswordResetRequired: !keep}
		if !stdin {
			set.Password = password
		}
		return set, nil
	})
}

// newDevice is the answer of a command that has created a second factor.
type newDevice struct {
	UserName     string
	SerialNumber string
	Seed         string
	Uri          string
}

func (d newDevice) text(w io.Writer) error {
	_, err := fmt.Fprintf(
		w,
		"%s\n\nGive this to an authenticator, or type its seed there: %s\nThen show two codes that follow each other:\n\n  sluice user mfa %s CODE CODE\n",
		d.Uri,
		d.Seed,
		d.UserName,
	)
	return err
}

func newUserMFA(server *clientFlags) *cobra.Command {
	remove := false
	cmd := &cobra.Command{
		Use:   "mfa NAME [CODE CODE]",
		Short: "Give a user a second factor for the console",
		Long: `Give a user a second factor, which the console asks for after the password. Without
codes the command creates an authenticator, in place of one that is not in use yet, and
prints its seed once. Two successive codes activate it.`,
		Example: `  sluice user mfa ann
  sluice user mfa ann 123456 654321
  sluice user mfa ann --delete`,
		Args:              arguments("NAME", "[CODE]", "[CODE]"),
		ValidArgsFunction: completeUsers(server),
	}
	cmd.Flags().BoolVar(&remove, "delete", false, "remove the user's second factors")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		name := c.args[0]
		switch {
		case remove:
			if err := removeDevices(ctx, c.client, name); err != nil {
				return nil, err
			}
			return done{name + " has no second factor any more"}, nil
		case len(c.args) > 1:
			return enableDevice(ctx, c.client, name, c.args[1:])
		}
		return createDevice(ctx, c.client, name)
	})
}

// deviceOf returns the serial number of the second factor that the command creates for a user.
func deviceOf(ctx context.Context, c *client, name string) (string, error) {
	var user struct {
		Arn string `xml:"GetUserResult>User>Arn"`
	}
	if err := c.iam(ctx, "GetUser", &user, "UserName", name); err != nil {
		return "", err
	}
	parts := strings.Split(user.Arn, ":")
	if len(parts) < 6 {
		return "", fmt.Errorf("the user has the ARN %q", printable(user.Arn))
	}
	return "arn:aws:iam::" + parts[4] + ":mfa/" + name, nil
}

func createDevice(ctx context.Context, c *client, name string) (answer, error) {
	serial, err := deviceOf(ctx, c, name)
	if err != nil {
		return nil, err
	}
	var made struct {
		Serial string `xml:"CreateVirtualMFADeviceResult>VirtualMFADevice>SerialNumber"`
		Seed   string `xml:"CreateVirtualMFADeviceResult>VirtualMFADevice>Base32StringSeed"`
	}
	create := func() error {
		return c.iam(ctx, "CreateVirtualMFADevice", &made, "VirtualMFADeviceName", name)
	}
	if err = create(); err != nil && c.iam(ctx, "DeleteVirtualMFADevice", nil, "SerialNumber", serial) == nil {
		err = create()
	}
	if err != nil {
		return nil, err
	}
	seed, err := base64.StdEncoding.DecodeString(made.Seed)
	if err != nil {
		return nil, fmt.Errorf("read the seed: %w", err)
	}
	return newDevice{name, made.Serial, string(seed), login.URI(name, string(seed))}, nil
}

func enableDevice(ctx context.Context, c *client, name string, codes []string) (answer, error) {
	if len(codes) != 2 {
		return nil, errors.New("want two codes that follow each other")
	}
	serial, err := deviceOf(ctx, c, name)
	if err == nil {
		err = c.iam(
			ctx,
			"EnableMFADevice",
			nil,
			"UserName",
			name,
			"SerialNumber",
			serial,
			"AuthenticationCode1",
			codes[0],
			"AuthenticationCode2",
			codes[1],
		)
	}
	if err != nil {
		return nil, err
	}
	return done{name + " has a second factor"}, nil
}

// removeDevices deletes all second factors of a user.
func removeDevices(ctx context.Context, c *client, name string) error {
	var page struct {
		Serials []string `xml:"ListMFADevicesResult>MFADevices>member>SerialNumber"`
	}
	if err := c.iam(ctx, "ListMFADevices", &page, "UserName", name); err != nil { // there are eight at most
		return err
	}
	for _, serial := range page.Serials {
		if err := c.iam(ctx, "DeactivateMFADevice", nil, "UserName", name, "SerialNumber", serial); err != nil {
			return err
		}
		if err := c.iam(ctx, "DeleteVirtualMFADevice", nil, "SerialNumber", serial); err != nil {
			return err
		}
	}
	return nil
}
