package login

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/tool/sortedlist"
)

// Profile is the password of a user. It is immutable.
type Profile struct {
	User    string // the user's id
	Hash    string
	Created time.Time
	Changed time.Time // when the password was set
	Reset   bool      // the user must set another one
	Earlier []string  `json:",omitempty"` // hashes of earlier passwords, the newest first

	MaxSignIn time.Duration `json:",omitempty"` // of a session of the console; 0: as long as usual
}

// Device is a second factor. It is immutable.
type Device struct {
	Account string
	Name    string
	Path    string // begins and ends with a slash
	Created time.Time
	Sealed  []byte    // the seed, encrypted under the device's serial number
	User    string    `json:",omitempty"` // the id of the user who has it
	Enabled time.Time `json:",omitzero"`
	Step    int64     `json:",omitempty"` // of the last accepted code
	Drift   int64     `json:",omitempty"` // by how many steps its clock is ahead, since it was resynchronized

	Tags map[string]string `json:",omitempty"`
}

// Serial returns the device's serial number, an ARN.
func (d *Device) Serial() string { return "arn:aws:iam::" + d.Account + ":mfa" + d.Path + d.Name }

// Options configures Logins.
type Options struct {
	Control *control.Control
	Vault   *identity.Vault
	Formats control.Formats
}

// Logins is the set of records. Its methods are safe for concurrent use.
type Logins struct {
	*Hasher
	*Tries
	o       Options
	records *control.Set[records]
}

// records holds the records of the store.
type records struct {
	profiles map[string]*Profile // by user
	devices  map[string]*Device  // by deviceKey
	rules    map[string]*Rules   // by account
	order    *sortedlist.List[*Device]
}

// Prefix begins the keys of all records of this package.
const Prefix = "login/"

var (
	profiles = control.Table[string, Profile]{Prefix: Prefix + "profile/", Key: control.Text, Format: formats.SignIn}
	devices  = control.Table[string, Device]{Prefix: Prefix + "device/", Key: control.Text, Format: formats.SignIn}
	rules    = control.Table[string, Rules]{Prefix: Prefix + "rules/", Key: control.Text, Format: formats.SignIn}
)

func newRecords() (*records, control.Kinds) {
	r := &records{order: sortedlist.New(func(a, b *Device) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Serial(), b.Serial()))
	})}
	return r, control.Kinds{
		profiles.Into(&r.profiles), devices.Into(&r.devices, control.InOrder[string](r.order)), rules.Into(&r.rules),
	}
}

// Open reads the records from the control store and follows their changes.
func Open(o Options) (*Logins, error) {
	l := &Logins{Hasher: NewHasher(), Tries: NewTries(), o: o}
	l.records = control.NewSet(control.SetOptions[records]{
		Control: o.Control, Prefix: Prefix, Formats: o.Formats, New: newRecords,
	})
	return l, l.records.Register()
}

// HoldsSecrets reports whether s has seeds, which only the vault that encrypted them can decrypt.
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

// Devices returns the second factors of an account that satisfy keep, sorted by serial number.
func (l *Logins) Devices(account string, keep func(*Device) bool) (out []*Device) {
	r := l.records.RLock()
	defer l.records.RUnlock()
	for d := range r.order.Range(&Device{Account: account}, func(d *Device) bool { return d.Account == account }) {
		if keep(d) {
			out = append(out, d)
		}
	}
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

// NewDevice returns a second factor without a user, and its seed in the form for authenticators.
func (l *Logins) NewDevice(account, path, name string, now time.Time) (*Device, string) {
	seed := make([]byte, SeedSize)
	rand.Read(seed)
	d := &Device{Account: account, Path: path, Name: name, Created: now.UTC().Truncate(time.Second)}
	d.Sealed = l.o.Vault.Seal(d.Serial(), string(seed))
	return d, base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(seed)
}

// Enable returns the device assigned to a user who has shown two codes, or nil if they are wrong.
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

// Resync returns the device with the clock of an authenticator that has shown two codes, or nil if they are wrong or
// older than the last accepted one.
func (l *Logins) Resync(d *Device, first, second string, now time.Time) (*Device, error) {
	seed, err := l.o.Vault.Open(d.Serial(), d.Sealed)
	if err != nil {
		return nil, err
	}
	at := stepOf(now)
	step := matchWithin([]byte(seed), first, second, max(d.Step, at-resyncDrift-1), at+resyncDrift)
	if step == 0 {
		return nil, nil
	}
	c := *d
	c.Step, c.Drift = step, step-at
	return &c, nil
}

// clock returns the time that the device shows.
func (d *Device) clock(now time.Time) time.Time {
	return now.Add(time.Duration(d.Drift) * stepSeconds * time.Second)
}

// Disable returns the device without a user.
func (d *Device) Disable() *Device {
	c := *d
	c.User, c.Enabled, c.Drift = "", time.Time{}, 0
	return &c
}

// Tagged returns the device with these tags instead of its own.
func (d *Device) Tagged(tags map[string]string) *Device {
	c := *d
	c.Tags = tags
	return &c
}

// Accept returns the user's device that generated a code, with the code marked as used; nil if there is none.
func (l *Logins) Accept(account, userID, code string, now time.Time) (*Device, error) {
	for _, d := range l.DevicesOf(account, userID) {
		if accepted, err := l.AcceptFrom(d, code, now); accepted != nil || err != nil {
			return accepted, err
		}
	}
	return nil, nil
}

// AcceptFrom returns the device with a code of it marked as used, or nil if the code is wrong or was used before.
func (l *Logins) AcceptFrom(d *Device, code string, now time.Time) (*Device, error) {
	seed, err := l.o.Vault.Open(d.Serial(), d.Sealed)
	if err != nil {
		return nil, err
	}
	step := match([]byte(seed), code, d.clock(now), d.Step)
	if step == 0 {
		return nil, nil
	}
	c := *d
	c.Step = step
	return &c, nil
}

// NewProfile returns a profile for a user without one. hash is a result of Hash.
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

// ErrReused reports that a password is one of the user's earlier ones.
var ErrReused = errors.New("Password has been used before")

// CheckNew returns the reason why a user of an account may not use a password. An error of Hasher means that the check
// was not possible.
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

// SetRules sets the rules of an account, or removes them with nil.
func (tx *Tx) SetRules(account string, r *Rules) {
	if r == nil {
		rules.Delete(tx.tx, account)
		return
	}
	rules.Put(tx.tx, account, r)
}

func deviceKey(d *Device) string { return d.Account + "/" + strings.ToLower(d.Name) }

// Check reads the records of a store without changing anything. It returns the numbers of passwords and second factors
// and a list of inconsistencies. Without a vault it does not check the seeds. An error means that the store cannot be
// read.
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
