package login

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
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
	// Ready is called before the first record is written. Its error says that some program which reads the control store
	// does not know of passwords. A nil Ready means that all do.
	Ready func() error
	// Require is called before the first record is written, and when one is first read here. It writes down that the data
	// directory needs a program that knows of passwords. It may be nil.
	Require func() error
}

// Logins is the set of records. Its methods may be called from any goroutine.
type Logins struct {
	*Hasher
	*Tries
	o        Options
	required atomic.Bool // Require was called, and had no error

	mu sync.RWMutex
	records
}

// records are what there is in the store.
type records struct {
	profiles map[string]*Profile // by user
	devices  map[string]*Device  // by key
	rules    map[string]*Rules   // by account
}

func newRecords() records {
	return records{make(map[string]*Profile), make(map[string]*Device), make(map[string]*Rules)}
}

// Keys of the store.
const (
	Prefix     = "login/" // of all of them
	keyProfile = Prefix + "profile/"
	keyDevice  = Prefix + "device/"
	keyRules   = Prefix + "rules/"
)

// Open reads the records from the control store and follows their changes.
func Open(o Options) (*Logins, error) {
	if o.Ready == nil {
		o.Ready = func() error { return nil }
	}
	if o.Require == nil {
		o.Require = func() error { return nil }
	}
	l := &Logins{Hasher: NewHasher(), Tries: NewTries(), o: o, records: newRecords()}
	return l, o.Control.Register(Prefix, reader{l})
}

// HoldsSecrets reports whether there are seeds in s, which only the vault that has encrypted them can open.
func HoldsSecrets(s *store.Store) (bool, error) {
	found := false
	err := control.Records(s, keyDevice, func(string, []byte) bool {
		found = true
		return false
	})
	return found, err
}

// Profile returns the password of a user, or nil.
func (l *Logins) Profile(userID string) *Profile {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.profiles[userID]
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
	l.mu.RLock()
	defer l.mu.RUnlock()
	if r := l.rules[account]; r != nil {
		return *r, true
	}
	return usual, false
}

// Devices returns the second factors of an account for which keep is true, sorted by serial number.
func (l *Logins) Devices(account string, keep func(*Device) bool) (out []*Device) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, d := range l.devices {
		if d.Account == account && keep(d) {
			out = append(out, d)
		}
	}
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

// Accept returns that one of a user's devices that a code is of, as it is when the code has counted; nil if it is of none.
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

// CheckNew returns an error that says why a user of an account may not have a password. An error of Hasher says that it cannot be found out.
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
	l.mu.RLock()
	none := len(l.profiles)+len(l.devices)+len(l.rules) == 0
	l.mu.RUnlock()
	if none {
		if err := l.o.Ready(); err != nil {
			return nil, err
		}
	}
	return &Tx{tx}, l.needFormat()
}

// needFormat calls Options.Require unless that is done.
func (l *Logins) needFormat() error {
	if l.required.Load() {
		return nil
	}
	if err := l.o.Require(); err != nil {
		return err
	}
	l.required.Store(true)
	return nil
}

// PutProfile adds a profile or replaces the user's.
func (tx *Tx) PutProfile(p *Profile) { tx.tx.Put(keyProfile+p.User, encode(p)) }

// DeleteProfile removes a profile.
func (tx *Tx) DeleteProfile(p *Profile) { tx.tx.Delete(keyProfile + p.User) }

// PutDevice adds a second factor or replaces the one of its name.
func (tx *Tx) PutDevice(d *Device) { tx.tx.Put(deviceKey(d), encode(d)) }

// DeleteDevice removes a second factor.
func (tx *Tx) DeleteDevice(d *Device) { tx.tx.Delete(deviceKey(d)) }

// SetRules gives an account rules, or with nil takes them.
func (tx *Tx) SetRules(account string, r *Rules) {
	if r == nil {
		tx.tx.Delete(keyRules + account)
		return
	}
	tx.tx.Put(keyRules+account, encode(r))
}

func deviceKey(d *Device) string { return keyDevice + d.Account + "/" + strings.ToLower(d.Name) }

// encode is for values of this package, all of which have a JSON form.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// reader reads the control store for Logins.
type reader struct{ l *Logins }

// Load implements control.Reader.
func (r reader) Load(all iter.Seq2[string, []byte]) error {
	fresh := newRecords()
	for k, v := range all {
		if err := r.l.needFormat(); err != nil {
			return err
		}
		if err := fresh.put(k, v); err != nil {
			return err
		}
	}
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	r.l.records = fresh
	return nil
}

// Apply implements control.Reader.
func (r reader) Apply(changes []control.Change) error {
	if err := r.l.needFormat(); err != nil {
		return err
	}
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	for _, ch := range changes {
		if ch.Removed {
			r.l.remove(ch.Key)
		} else if err := r.l.put(ch.Key, ch.Value); err != nil {
			return err
		}
	}
	return nil
}

// put adds a record or replaces it.
func (r *records) put(k string, v []byte) error {
	var err error
	switch {
	case strings.HasPrefix(k, keyProfile):
		p := new(Profile)
		if err = json.Unmarshal(v, p); err == nil {
			r.profiles[k[len(keyProfile):]] = p
		}
	case strings.HasPrefix(k, keyDevice):
		d := new(Device)
		if err = json.Unmarshal(v, d); err == nil {
			r.devices[k] = d
		}
	case strings.HasPrefix(k, keyRules):
		n := new(Rules)
		if err = json.Unmarshal(v, n); err == nil {
			r.rules[k[len(keyRules):]] = n
		}
	default:
		err = errors.New("unknown key, written by a newer program")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", k, err)
	}
	return nil
}

// remove forgets a record.
func (r *records) remove(k string) {
	switch {
	case strings.HasPrefix(k, keyProfile):
		delete(r.profiles, k[len(keyProfile):])
	case strings.HasPrefix(k, keyDevice):
		delete(r.devices, k)
	case strings.HasPrefix(k, keyRules):
		delete(r.rules, k[len(keyRules):])
	}
}

// Check reads the records of a store without changing anything, and returns how many passwords and second factors there are
// and what is not as it should be. Without a vault the seeds are not looked at. An error says that the store could not be
// read.
func Check(s *store.Store, v *identity.Vault) (passwords, devices int, problems []string, err error) {
	all := newRecords()
	err = control.Records(s, Prefix, func(k string, value []byte) bool {
		if bad := all.put(k, value); bad != nil {
			problems = append(problems, "record "+bad.Error())
		}
		return true
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
