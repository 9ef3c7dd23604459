package signin

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/auth/session"
	"github.com/sluicemq/sluice/internal/control"
)

// password is a user's input on the page.
type password struct {
	Account     string `json:"account"` // its number or alias; empty: the first of the server
	User        string `json:"user"`
	Password    string `json:"password"    hidden:""`
	Code        string `json:"code"`                  // of a second factor
	NewPassword string `json:"newPassword" hidden:""` // if the old one must be replaced
}

func tooMany() error {
	return refuse(
		http.StatusTooManyRequests,
		"TooManyAttempts",
		"There were too many wrong passwords. Try again in %d minutes, or sign in with a link or a key.",
		login.TriesWindow/time.Minute,
	)
}

// passwords signs users in with their passwords and codes.
type passwords struct{ *core }

// account returns the account in the person's input. An alias may be the number of another account, which counts first.
func (p *passwords) account(written string) string {
	switch {
	case written == "":
		return p.o.Accounts[0]
	case identity.IsAccount(written):
		return written
	}
	if account, ok := p.o.Directory.Aliased(strings.ToLower(written)); ok {
		return account
	}
	return written
}

// signIn signs in with a user's name and password.
func (p *passwords) signIn(ctx context.Context, r *Request, in *password) (*Answer, error) {
	if longest := max(
		len(in.Account), len(in.User), len(in.Password), len(in.NewPassword), len(in.Code),
	); longest > maxTyped {
		return nil, refuse(http.StatusBadRequest, "BadRequest", "The input is too long.")
	}
	account := p.account(in.Account)
	var who identity.Identity
	var profile *login.Profile
	if _, ok := p.o.Roots.Root(account); !ok {
		account = ""
	}
	user := p.o.Directory.Find(directory.User, account, in.User)
	if user != nil {
		who = directory.UserIdentity(user)
		profile = p.o.Logins.Profile(user.ID)
	}
	try, ok := p.o.Logins.Begin(account, in.User, r.SourceIP, r.At)
	if !ok {
		return nil, tooMany()
	}
	a := p.attempt(r, session.ByPassword, who)
	hash := ""
	if profile != nil {
		hash = profile.Hash
	}
	right, err := p.o.Logins.Verify(ctx, account, hash, in.Password)
	switch {
	case errors.Is(err, login.ErrBusy):
		try.GiveBack()
		return nil, refuse(http.StatusServiceUnavailable, "Busy", "Too many people are signing in at the moment. Please try again.")
	case err != nil:
		return nil, err
	case !right:
		return nil, a.fail("BadPassword", "The account, the user name or the password is not right.")
	}
	// A page asks for the code, and for a new password, after it has sent the password: this is no wrong guess.
	if in.Code == "" && p.needsCode(user) {
		try.GiveBack()
		return nil, refuse(http.StatusUnauthorized, "CodeNeeded", "Type the code that your authenticator shows.")
	}
	device, err := p.checkCode(a, user, in.Code)
	if err != nil {
		return nil, err
	}
	replaced, err := p.checkAge(ctx, a, user, profile, in)
	if err != nil {
		try.GiveBack()
		return nil, err
	}
	if device != nil { // according to the record
		who.MFA = r.At.UTC().Truncate(time.Second)
		a = p.attempt(r, session.ByPassword, who)
	}
	g := session.Grant{
		Kind:     who.Kind,
		Account:  who.Account,
		Issuer:   who.ARN,
		IssuerID: who.UserID,
		MFA:      who.MFA,
		Until:    r.At.Add(session.Lifetime(profile.MaxSignIn)),
	}
	answer, err := a.finish(p.o.Sessions.Begin(a.changes(ctx), g, a.arrival(), r.At, func(tx *control.Tx) error {
		return p.use(tx, profile, replaced, device)
	}))
	if err == nil {
		try.Succeed()
		p.o.Directory.Seen(user.ID, directory.SignIn, p.o.Region, r.At)
	}
	return answer, err
}

// use records the changes of a sign-in by password: the profile, if the password is replaced, and the device,
// if there was a code. Since they were checked, the password may have changed, and the code may have been used.
func (p *passwords) use(tx *control.Tx, profile, replaced *login.Profile, device *login.Device) error {
	if now := p.o.Logins.Profile(profile.User); now == nil || now.Hash != profile.Hash {
		return session.ErrNoPrincipal
	}
	if device == nil && replaced == nil {
		return nil
	}
	logins, err := p.o.Logins.In(tx)
	if err != nil {
		return err
	}
	if replaced != nil {
		logins.PutProfile(replaced)
	}
	if device != nil {
		if now := p.o.Logins.Device(device.Account, device.Serial()); now == nil || now.Step >= device.Step {
			return session.ErrUsed
		}
		logins.PutDevice(device)
	}
	return nil
}

// maxTyped is the maximum length of a person's input, in bytes.
const maxTyped = 512

// needsCode reports whether a user has a second factor.
func (p *passwords) needsCode(user *directory.Entity) bool {
	return len(p.o.Logins.DevicesOf(user.Account, user.ID)) > 0
}

// checkCode checks that a user with a second factor has shown a code. It returns the updated device, or nil if the user
// has none.
func (p *passwords) checkCode(a *attempt, user *directory.Entity, code string) (*login.Device, error) {
	if !p.needsCode(user) {
		return nil, nil
	}
	device, err := p.o.Logins.Accept(user.Account, user.ID, strings.ReplaceAll(code, " ", ""), a.r.At)
	if err == nil && device == nil {
		return nil, a.fail("BadCode", "The code is not right, or it was used already. Wait for the next one.")
	}
	return device, err
}

// checkAge checks that a password may still be used, or is replaced by a valid one. It returns the profile with the new
// one, or nil if the old one stays.
func (p *passwords) checkAge(
	ctx context.Context,
	a *attempt,
	user *directory.Entity,
	profile *login.Profile,
	in *password,
) (*login.Profile, error) {
	rules, _ := p.o.Logins.Rules(user.Account)
	expired := rules.Expired(profile.Changed, a.r.At)
	switch {
	case expired && rules.HardExpiry:
		return nil, a.fail("PasswordExpired", "The password is too old. Ask the administrator of the account for a new one.")
	case !profile.Reset && !expired && in.NewPassword == "":
		return nil, nil
	case in.NewPassword == "":
		return nil, refuse(http.StatusUnauthorized, "PasswordResetRequired", "Choose a new password.")
	case !profile.Reset && !expired:
		return nil, refuse(http.StatusBadRequest, "BadRequest", "The password need not be replaced. Change it after you have signed in.")
	case in.NewPassword == in.Password:
		return nil, refuse(http.StatusBadRequest, "BadNewPassword", "The new password is the old one.")
	}
	why, err := p.o.Logins.CheckNew(ctx, user.Account, &rules, profile, in.NewPassword)
	if why != nil {
		return nil, refuse(http.StatusBadRequest, "BadNewPassword", "%s.", why)
	}
	if err != nil {
		return nil, err
	}
	hash, err := p.o.Logins.Hash(ctx, user.Account, in.NewPassword)
	if err != nil {
		return nil, err
	}
	replaced := profile.WithPassword(hash, a.r.At)
	replaced.Reset = false
	return replaced, nil
}
