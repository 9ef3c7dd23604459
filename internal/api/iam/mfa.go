package iam

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// devices serves the operations about second factors.
type devices struct{ *core }

func (s devices) register(wire *protocol.Service) {
	protocol.Register(wire, "CreateVirtualMFADevice", s.createVirtualMFADevice, protocol.Control)
	protocol.Register(wire, "DeleteVirtualMFADevice", s.deleteVirtualMFADevice, protocol.Control)
	protocol.Register(wire, "EnableMFADevice", s.enableMFADevice, protocol.Control)
	protocol.Register(wire, "DeactivateMFADevice", s.deactivateMFADevice, protocol.Control)
	protocol.Register(wire, "ResyncMFADevice", s.resyncMFADevice, protocol.Control)
	protocol.Register(wire, "GetMFADevice", s.getMFADevice)
	protocol.Register(wire, "ListMFADevices", s.listMFADevices)
	protocol.Register(wire, "ListVirtualMFADevices", s.listVirtualMFADevices)
	protocol.Register(wire, "TagMFADevice", s.tagMFADevice, protocol.Control)
	protocol.Register(wire, "UntagMFADevice", s.untagMFADevice, protocol.Control)
	protocol.Register(wire, "ListMFADeviceTags", s.listMFADeviceTags)
}

const (
	maxDevices        = 8 // of a user
	maxVirtualDevices = 2 * maxUsers
)

func errNoDevice(serial string) *protocol.Error {
	return errNotFound("VirtualMFADevice with serial number %s does not exist.", serial)
}

// VirtualMFADevice is a second factor as clients see it.
type VirtualMFADevice struct {
	SerialNumber     string
	Base32StringSeed []byte     `json:",omitempty" hidden:""` // only of a new one
	QRCodePNG        []byte     `json:",omitempty" hidden:""` // likewise: a picture for authenticators
	User             *User      // its user
	EnableDate       *time.Time // since when
	Tags             []Tag      `json:",omitempty" wrap:"member"`
}

type createVirtualMFADeviceInput struct {
	VirtualMFADeviceName *string `max:"226"`
	Path                 *string `max:"512"`
	Tags                 []Tag   `max:"50"  wrap:"member"`
}

type createVirtualMFADeviceOutput struct{ VirtualMFADevice VirtualMFADevice }

func (s devices) createVirtualMFADevice(
	ctx context.Context,
	c *protocol.Call,
	in *createVirtualMFADeviceInput,
) (*createVirtualMFADeviceOutput, error) {
	name := orEmpty(in.VirtualMFADeviceName)
	path, err := checkPath("path", in.Path)
	if err != nil {
		return nil, err
	}
	account := service.Caller(c).Account
	d, seed := s.logins.NewDevice(account, path, name, s.now())
	if d.Tags, err = checkTags(in.Tags); err != nil {
		return nil, err
	}
	about := subject{arn: d.Serial(), newTags: d.Tags}
	if err := s.allow(c, "CreateVirtualMFADevice", about); err != nil {
		return nil, err
	}
	if err := s.allowTags(c, "TagMFADevice", about); err != nil {
		return nil, err
	}
	picture, err := login.QRCode(name, account, seed)
	if err != nil {
		return nil, err
	}
	err = s.changeLogins(ctx, func(tx *login.Tx) error {
		all := s.logins.Devices(account, func(*login.Device) bool { return true })
		for _, other := range all {
			if strings.EqualFold(other.Name, name) {
				return errExists("MFADevice entity at the same path and name already exists.")
			}
		}
		if len(all) >= maxVirtualDevices {
			return errQuota("VirtualMFADevicesPerAccount", maxVirtualDevices)
		}
		tx.PutDevice(d)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &createVirtualMFADeviceOutput{VirtualMFADevice{
		SerialNumber: d.Serial(), Base32StringSeed: []byte(seed), QRCodePNG: picture, Tags: service.TagList(d.Tags),
	}}, nil
}

type mfaDeviceInput struct {
	UserName            *string `max:"128"`
	SerialNumber        *string `max:"256"`
	AuthenticationCode1 *string `max:"6"   hidden:""`
	AuthenticationCode2 *string `max:"6"   hidden:""`
}

func (s devices) deleteVirtualMFADevice(
	ctx context.Context, c *protocol.Call, in *mfaDeviceInput,
) (*service.Empty, error) {
	found, err := s.device(c, in.SerialNumber, subject{})
	if err != nil {
		return nil, err
	}
	return nil, s.changeLogins(ctx, func(tx *login.Tx) error {
		d := s.logins.Device(found.Account, found.Serial())
		switch {
		case d == nil:
			return errNoDevice(found.Serial())
		case d.User != "":
			return service.Modelled(
				"DeleteConflictException",
				"DeleteConflict",
				http.StatusConflict,
				"MFA VirtualDevice in use. Must deactivate first.",
			)
		}
		tx.DeleteDevice(d)
		return nil
	})
}

// enableMFADevice assigns a second factor to a user who has shown two successive codes.
func (s devices) enableMFADevice(ctx context.Context, c *protocol.Call, in *mfaDeviceInput) (*service.Empty, error) {
	serial := orEmpty(in.SerialNumber)
	first, second := orEmpty(in.AuthenticationCode1), orEmpty(in.AuthenticationCode2)
	user, err := s.find(c, directory.User, in.UserName, "EnableMFADevice")
	if err != nil {
		return nil, err
	}
	return nil, s.changeLogins(ctx, func(tx *login.Tx) error {
		d := s.logins.Device(user.Account, serial)
		switch {
		case s.directory.Entity(user.ID) == nil:
			return errNoEntity(directory.User, user.Name)
		case d == nil:
			return errNoDevice(serial)
		case d.User != "":
			return errExists("MFADevice entity at the same path and name already exists.")
		case len(s.logins.DevicesOf(user.Account, user.ID)) >= maxDevices:
			return errQuota("MFADevicesPerUser", maxDevices)
		}
		enabled, err := s.logins.Enable(d, user.ID, first, second, s.now())
		if err != nil {
			return err
		}
		if enabled == nil {
			return errWrongCodes()
		}
		tx.PutDevice(enabled)
		return nil
	})
}

func errWrongCodes() error {
	return service.Modelled(
		"InvalidAuthenticationCodeException", "InvalidAuthenticationCode", http.StatusForbidden,
		"Authentication code for device is not valid.",
	)
}

func errNotOfUser() error { return errNotFound("MFA Device invalid for user.") }

// resyncMFADevice sets the clock of a second factor to that of an authenticator that has shown two successive codes.
func (s devices) resyncMFADevice(ctx context.Context, c *protocol.Call, in *mfaDeviceInput) (*service.Empty, error) {
	first, second := orEmpty(in.AuthenticationCode1), orEmpty(in.AuthenticationCode2)
	user, err := s.find(c, directory.User, in.UserName, "ResyncMFADevice")
	if err != nil {
		return nil, err
	}
	return nil, s.changeLogins(ctx, func(tx *login.Tx) error {
		d := s.logins.Device(user.Account, orEmpty(in.SerialNumber))
		if d == nil || d.User != user.ID {
			return errNotOfUser()
		}
		resynced, err := s.logins.Resync(d, first, second, s.now())
		if err != nil {
			return err
		}
		if resynced == nil {
			return errWrongCodes()
		}
		tx.PutDevice(resynced)
		return nil
	})
}

func (s devices) deactivateMFADevice(
	ctx context.Context, c *protocol.Call, in *mfaDeviceInput,
) (*service.Empty, error) {
	serial := orEmpty(in.SerialNumber)
	user, err := s.userOrCaller(c, in.UserName, "DeactivateMFADevice")
	if err != nil {
		return nil, err
	}
	return nil, s.changeLogins(ctx, func(tx *login.Tx) error {
		d := s.logins.Device(user.Account, serial)
		if d == nil || d.User != user.ID {
			return errNotOfUser()
		}
		tx.PutDevice(d.Disable())
		return nil
	})
}

// MFADevice is a user's second factor, as clients see it.
type MFADevice struct {
	UserName     string
	SerialNumber string
	EnableDate   time.Time
}

// getMFADevice returns one second factor of a user. AWS finds only security keys, which no user has here.
func (s devices) getMFADevice(_ context.Context, c *protocol.Call, in *mfaDeviceInput) (*MFADevice, error) {
	user, err := s.userOrCaller(c, in.UserName, "GetMFADevice")
	if err != nil {
		return nil, err
	}
	d := s.logins.Device(user.Account, orEmpty(in.SerialNumber))
	if d == nil || d.User != user.ID {
		return nil, errNotOfUser()
	}
	return &MFADevice{user.Name, d.Serial(), d.Enabled}, nil
}

type listMFADevicesOutput struct {
	MFADevices  []MFADevice `json:",always"    wrap:"member"`
	IsTruncated bool
	Marker      string `json:",omitempty"`
}

func (s devices) listMFADevices(_ context.Context, c *protocol.Call, in *absentInput) (*listMFADevicesOutput, error) {
	user, err := s.userOrCaller(c, in.UserName, "ListMFADevices")
	if err != nil {
		return nil, err
	}
	p, err := paginate(s.logins.DevicesOf(user.Account, user.ID), (*login.Device).Serial, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	devices := service.Convert(p.Items, func(d *login.Device) MFADevice {
		return MFADevice{user.Name, d.Serial(), d.Enabled}
	})
	return &listMFADevicesOutput{devices, p.Next != "", p.Next}, nil
}

type listVirtualMFADevicesOutput struct {
	VirtualMFADevices []VirtualMFADevice `json:",always"    wrap:"member"`
	IsTruncated       bool
	Marker            string `json:",omitempty"`
}

func (s devices) listVirtualMFADevices(
	_ context.Context, c *protocol.Call, in *absentInput,
) (*listVirtualMFADevicesOutput, error) {
	if err := s.allow(c, "ListVirtualMFADevices", subject{arn: anything}); err != nil {
		return nil, err
	}
	all := s.logins.Devices(service.Caller(c).Account, func(d *login.Device) bool {
		switch {
		case in.AssignmentStatus == nil || *in.AssignmentStatus == "Any":
			return true
		}
		return (*in.AssignmentStatus == "Assigned") == (d.User != "")
	})
	p, err := paginate(all, (*login.Device).Serial, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	devices := service.Convert(p.Items, func(d *login.Device) VirtualMFADevice {
		shown := VirtualMFADevice{SerialNumber: d.Serial()}
		if user := s.directory.Entity(d.User); user != nil {
			listed := s.listedUser(user)
			shown.User, shown.EnableDate = &listed, &d.Enabled
		}
		return shown
	})
	return &listVirtualMFADevicesOutput{devices, p.Next != "", p.Next}, nil
}
