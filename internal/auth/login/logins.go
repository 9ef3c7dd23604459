package login

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/store"
)

// Profile is the password of a user. It is not changed in place.
type Profile struct {
	User    string // the user's id
	Hash    string
	Created time.Time
	Changed time.Time // when the password was set
	Reset   bool      // the user has to set another one
	Earlier []string  `json:",omitempty"` // hashes of earlier passwords, the newest first
}

// Device is a second factor. It is not changed in place.
type Device struct {
	Account string
	Name    string
	Path    string // begins and ends with a slash
	Created time.Time
	Sealed  []byte    // the seed, encrypted under the device's serial number
	User    string    `json:",omitempty"` // the id of the user who has it
	Enabled time.Time `json:",omitzero"`
	Step    int64     `json:",omitempty"` // of the last code that counted
}

// Serial returns the device's serial number, an ARN.
func (d *Device) Serial() string { return "arn:aws:iam::" + d.Account + ":mfa" + d.Path + d.Name }

// Options are what Logins are made of.
type Options struct {
	Control *control.Control
	Vault   *identity.Vault
	Formats control.Formats
}

// Logins is the set of records. Its methods may be called from any goroutine.
type Logins struct {
	*Hasher
	*Tries
	o       Options
	records *control.Set[records]
}

// records are what there is in the store.
type records struct {
	profiles map[string]*Profile // by user
	devices  map[string]*Device  // by deviceKey
	rules    map[string]*Rules   // by account
}

// Prefix is what the keys of all records of this package begin with.
const Prefix = "login/"

var (
	profiles = control.Table[string, Profile]{Prefix: Prefix + "profile/", Key: control.Text, Format: formats.SignIn}
	devices  = control.Table[string, Device]{Prefix: Prefix + "device/", Key: control.Text, Format: formats.SignIn}
	rules    = control.Table[string, Rules]{Prefix: Prefix + "rules/", Key: control.Text, Format: formats.SignIn}
)

func newRecords() (*records, control.Kinds) {
	r := new(records)
	return r, control.Kinds{profiles.Into(&r.profiles), devices.Into(&r.devices), rules.Into(&r.rules)}
}

// Open reads the records from the control store and follows their changes.
func Open(o Options) (*Logins, error) {
	l := &Logins{Hasher: NewHasher(), Tries: NewTries(), o: o}
	l.records = control.NewSet(control.SetOptions[records]{
		Control: o.Control, Prefix: Prefix, Formats: o.Formats, New: newRecords,
	})
	return l, l.records.Register()
}

// HoldsSecrets reports whether there are seeds in s, which only the vault that has encrypted them can open.
func HoldsSecrets(s *store.Store) (bool, error) { return devices.Any(s) }

// Profile returns the password of a user, or nil.
func (l *Logins) Profile(userID string) *Profile {
	r := l.records.RLock()
	defer l.records.RUnlock()
	return r.profiles[userID]
}

// PasswordSince returns when a user's password was set, or false if there is none.
func (l *Logins) PasswordSince(userID string) (time.Time, bool) {
	if p := l.Profile(userID); p != nil {
		return p.Changed, true
	}
	return time.Time{}, false
}

// Rules returns the rules of an account, and whether it has set them itself.
func (l *Logins) Rules(account string) (Rules, bool) {
	r := l.records.RLock()
	defer l.records.RUnlock()
	if own := r.rules[account]; own != nil {
		return *own, true
	}
	return usual, false
}

// Devices returns the second factors of an account for which keep is true, sorted by serial number.
func (l *Logins) Devices(account string, keep func(*Device) bool) []*Device {
	r := l.records.RLock()
	out := control.Where(r.devices, func(d *Device) bool { return d.Account == account && keep(d) })
	l.records.RUnlock()
	slices.SortFunc(out, func(a, b *Device) int { return cmp.Compare(a.Serial(), b.Serial()) })
	return out
}

// Device returns the second factor with a serial number, or nil.
func (l *Logins) Device(account, serial string) *Device {
	for _, d := range l.Devices(account, func(d *Device) bool { return d.Serial() == serial }) {
		return d
	}
	return nil
}

// DevicesOf returns the second factors of a user.
func (l *Logins) DevicesOf(account, userID string) []*Device {
	return l.Devices(account, func(d *Device) bool { return d.User == userID })
}

// NewDevice returns a second factor that belongs to no user yet, and its seed as authenticators take it.
func (l *Logins) NewDevice(account, path, name string, now time.Time) (*Device, string) {
	seed := make([]byte, SeedSize)
	rand.Read(seed)
	d := &Device{Account: account, Path: path, Name: name, Created: now.UTC().Truncate(time.Second)}
	d.Sealed = l.o.Vault.Seal(d.Serial(), string(seed))
	return d, base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(seed)
}

// Enable returns the device as a user's who has shown two codes of it, or nil if they are not right.
func (l *Logins) Enable(d *Device, userID, first, second string, now time.Time) (*Device, error) {
	seed, err := l.o.Vault.Open(d.Serial(), d.Sealed)
	if err != nil {
		return nil, err
	}
	step := matchTwo([]byte(seed), first, second, now)
	if step == 0 {
		return nil, nil
	}
	c := *d
	c.User, c.Enabled, c.Step = userID, now.UTC().Truncate(time.Second), step
	return &c, nil
}

// Disable returns the device as one that belongs to no user.
func (d *Device) Disable() *Device {
	c := *d
	c.User, c.Enabled = "", time.Time{}
	return &c
}

// Accept returns that one of a user's devices that a code is of, as it is when the code has counted; nil if it is of
// none.
func (l *Logins) Accept(account, userID, code string, now time.Time) (*Device, error) {
	for _, d := range l.DevicesOf(account, userID) {
		seed, err := l.o.Vault.Open(d.Serial(), d.Sealed)
		if err != nil {
			return nil, err
		}
		if step := match([]byte(seed), code, now, d.Step); step != 0 {
			c := *d
			c.Step = step
			return &c, nil
		}
	}
	return nil, nil
}

// NewProfile returns a profile for a user who has none, with a hash of Hash.
func NewProfile(userID, hash string, reset bool, now time.Time) *Profile {
	now = now.UTC().Truncate(time.Second)
	return &Profile{User: userID, Hash: hash, Created: now, Changed: now, Reset: reset}
}

// WithPassword returns the profile with another password.
func (p *Profile) WithPassword(hash string, now time.Time) *Profile {
	c := *p
	c.Earlier = append([]string{p.Hash}, p.Earlier[:min(len(p.Earlier), maxHistory-1)]...)
	c.Hash, c.Changed = hash, now.UTC().Truncate(time.Second)
	return &c
}

// ErrReused says that a password was the user's before.
var ErrReused = errors.New("Password has been used before")

// CheckNew returns an error that says why a user of an account may not have a password. An error of Hasher says that it
// cannot be found out.
func (l *Logins) CheckNew(ctx context.Context, account string, r *Rules, p *Profile, password string) (why, err error) {
	if err := r.Check(password); err != nil {
		return err, nil
	}
	if p == nil || r.Remembered == 0 {
		return nil, nil
	}
	earlier := append([]string{p.Hash}, p.Earlier...)
	for _, hash := range earlier[:min(len(earlier), r.Remembered)] {
		same, err := l.Verify(ctx, account, hash, password)
		if err != nil {
			return nil, err
		}
		if same {
			return ErrReused, nil
		}
	}
	return nil, nil
}

// Tx is a change that is being made.
type Tx struct{ tx *control.Tx }

// Change makes a change; see control.Control.Change.
func (l *Logins) Change(ctx context.Context, f func(*Tx) error) error {
	return l.o.Control.Change(ctx, func(tx *control.Tx) error {
		t, err := l.In(tx)
		if err != nil {
			return err
		}
		return f(t)
	})
}

// In returns a change of this package's records as part of another one.
func (l *Logins) In(tx *control.Tx) (*Tx, error) {
	return &Tx{tx}, l.records.MayWrite()
}

// PutProfile adds a profile or replaces the user's.
func (tx *Tx) PutProfile(p *Profile) { profiles.Put(tx.tx, p.User, p) }

// DeleteProfile removes a profile.
func (tx *Tx) DeleteProfile(p *Profile) { profiles.Delete(tx.tx, p.User) }

// PutDevice adds a second factor or replaces the one of its name.
func (tx *Tx) PutDevice(d *Device) { devices.Put(tx.tx, deviceKey(d), d) }

// DeleteDevice removes a second factor.
func (tx *Tx) DeleteDevice(d *Device) { devices.Delete(tx.tx, deviceKey(d)) }

// SetRules gives an account rules, or with nil takes them.
func (tx *Tx) SetRules(account string, r *Rules) {
	if r == nil {
		rules.Delete(tx.tx, account)
		return
	}
	rules.Put(tx.tx, account, r)
}

func deviceKey(d *Device) string { return d.Account + "/" + strings.ToLower(d.Name) }

// Check reads the records of a store without changing anything, and returns how many passwords and second factors there
// are and what is not as it should be. Without a vault the seeds are not looked at. An error says that the store could
// not be read.
func Check(s *store.Store, v *identity.Vault) (passwords, devices int, problems []string, err error) {
	all, err := control.Check(s, Prefix, newRecords, func(_ string, bad error) {
		problems = append(problems, "record "+bad.Error())
	})
	if err != nil {
		return 0, 0, problems, fmt.Errorf("check passwords: %w", err)
	}
	for user, p := range all.profiles {
		if _, err := parseHash(p.Hash); err != nil || p.User != user {
			problems = append(problems, fmt.Sprintf("the password of the user %s cannot be read", user))
		}
	}
	for _, d := range all.devices {
		if v == nil {
			continue
		}
		if _, err := v.Open(d.Serial(), d.Sealed); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return len(all.profiles), len(all.devices), problems, nil
}
