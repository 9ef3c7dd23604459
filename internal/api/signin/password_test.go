package signin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// typed is the page's request with a name and a password.
func typed(user, word string, more ...string) string {
	in := map[string]string{"user": user, "password": word}
	for i := 0; i < len(more); i += 2 {
		in[more[i]] = more[i+1]
	}
	text, _ := json.Marshal(object{"password": in}) // texts only
	return string(text)
}

// newUser creates a user with a password.
func (r *rig) newUser(t *testing.T, name, word string, reset bool) {
	t.Helper()
	_, err := r.root.IAM.CreateUser(t.Context(), &iam.CreateUserInput{UserName: &name})
	apitest.Must(t, 0, err)
	_, err = r.root.IAM.CreateLoginProfile(t.Context(), &iam.CreateLoginProfileInput{
		UserName: &name, Password: &word, PasswordResetRequired: reset,
	})
	apitest.Must(t, 0, err)
}

func TestSignInByPassword(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.newUser(t, "ann", "Correct-horse-1", false)
	b := r.browser(t)
	if s := b.do(http.StatusOK, "POST", "session", typed("ann", "Correct-horse-1")); s["user"] != "ann" ||
		s["method"] != "password" || s["mfa"] != false {
		t.Errorf("session: %v", s)
	}
	keys := b.keys(r)
	is(t, keys, "arn:aws:iam::"+apitest.Account+":user/ann")
	r.browser(t).do(http.StatusOK, "POST", "session", typed("ann", "Correct-horse-1", "account", apitest.Account))
	_, err := r.root.IAM.CreateAccountAlias(t.Context(), &iam.CreateAccountAliasInput{AccountAlias: aws.String("ours")})
	apitest.Must(t, 0, err)
	r.browser(t).do(http.StatusOK, "POST", "session", typed("ann", "Correct-horse-1", "account", "ours"))
	for why, body := range map[string]string{
		"a wrong password": typed("ann", "wrong"), "no password": typed("ann", ""),
		"no user":         typed("nobody", "Correct-horse-1"),
		"another account": typed("ann", "Correct-horse-1", "account", apitest.OtherAccount),
		"no account":      typed("ann", "Correct-horse-1", "account", "none"),
		"the root":        typed("root", "Correct-horse-1"),
	} {
		if out := r.browser(t).do(http.StatusUnauthorized, "POST", "session", body); out["code"] != "BadPassword" {
			t.Errorf("%s: %v", why, out)
		}
	}
	events := r.events(t, "ConsoleLogin", 9)
	if all := strings.Join(events, ""); strings.Contains(all, "orrect") || strings.Contains(all, "nobody") ||
		strings.Count(all, `"ConsoleLogin":"Failure"`) != 6 {
		t.Errorf("events: %s", all)
	}
	// A new password ends the sessions of the old one.
	r.clock.Forward(time.Minute)
	_, err = r.root.IAM.UpdateLoginProfile(t.Context(), &iam.UpdateLoginProfileInput{
		UserName: aws.String("ann"), Password: aws.String("Another-horse-2"),
	})
	apitest.Must(t, 0, err)
	dead(t, "password changed", keys)
	b.refused(http.StatusUnauthorized, "SignedOut", "GET", "session", "")
	b.refused(http.StatusUnauthorized, "BadPassword", "POST", "session", typed("ann", "Correct-horse-1"))
	b.do(http.StatusOK, "POST", "session", typed("ann", "Another-horse-2"))
	keys = b.keys(r)
	_, err = r.root.IAM.DeleteLoginProfile(t.Context(), &iam.DeleteLoginProfileInput{UserName: aws.String("ann")})
	apitest.Must(t, 0, err)
	dead(t, "password deleted", keys)
}

// An account's number is its own, even if another account has taken it as its alias.
func TestSignInByTheNumberOfAnAccount(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.newUser(t, "ann", "Correct-horse-1", false)
	other, _ := r.RootOf(apitest.OtherAccount)
	form := "Action=CreateAccountAlias&Version=2010-05-08&AccountAlias=" + apitest.Account
	if status, body := apitest.Query(t, r.Endpoint(), "iam", form, &other); status != http.StatusOK {
		t.Fatal(body)
	}
	r.browser(t).do(http.StatusOK, "POST", "session", typed("ann", "Correct-horse-1", "account", apitest.Account))
}

// A login profile can limit the length of sessions.
func TestSignInIsLimited(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.newUser(t, "ann", "Correct-horse-1", false)
	root := r.Root()
	for seconds, want := range map[string]time.Duration{"3600": time.Hour, "86400": 12 * time.Hour} {
		form := "Action=UpdateLoginProfile&Version=2010-05-08&UserName=ann&MaxSigninSessionDuration=" + seconds
		if status, body := apitest.Query(t, r.Endpoint(), "iam", form, &root); status != http.StatusOK {
			t.Fatal(body)
		}
		s := r.browser(t).do(http.StatusOK, "POST", "session", typed("ann", "Correct-horse-1"))
		if ends, err := time.Parse(time.RFC3339, s["expires"].(string)); err != nil ||
			ends.Sub(r.clock.Now()).Round(time.Minute) != want {
			t.Errorf("%s seconds: it ends at %v", seconds, s["expires"])
		}
	}
}

func TestPasswordMustBeReplaced(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.newUser(t, "ann", "Correct-horse-1", true)
	b := r.browser(t)
	b.refused(http.StatusUnauthorized, "PasswordResetRequired", "POST", "session", typed("ann", "Correct-horse-1"))
	b.refused(http.StatusBadRequest, "BadNewPassword", "POST", "session",
		typed("ann", "Correct-horse-1", "newPassword", "Correct-horse-1"))
	b.refused(http.StatusBadRequest, "BadNewPassword", "POST", "session",
		typed("ann", "Correct-horse-1", "newPassword", "short"))
	b.refused(http.StatusUnauthorized, "BadPassword", "POST", "session",
		typed("ann", "wrong", "newPassword", "Another-horse-2"))
	b.do(http.StatusOK, "POST", "session", typed("ann", "Correct-horse-1", "newPassword", "Another-horse-2"))
	b.do(http.StatusOK, "GET", "session", "")
	r.browser(t).do(http.StatusOK, "POST", "session", typed("ann", "Another-horse-2"))
	r.browser(t).refused(http.StatusUnauthorized, "BadPassword", "POST", "session", typed("ann", "Correct-horse-1"))
}

// Guessing locks a user out for a quarter of an hour, even with the right password; other users are not affected.
func TestGuessingEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.newUser(t, "ann", "Correct-horse-1", false)
	r.newUser(t, "bob", "Correct-horse-1", false)
	b := r.browser(t)
	for range 9 {
		b.refused(http.StatusUnauthorized, "BadPassword", "POST", "session", typed("Ann", "wrong"))
	}
	b.do(http.StatusOK, "POST", "session", typed("ann", "Correct-horse-1"))
	for range 10 {
		b.refused(http.StatusUnauthorized, "BadPassword", "POST", "session", typed("ann", "wrong"))
	}
	b.refused(http.StatusTooManyRequests, "TooManyAttempts", "POST", "session", typed("ann", "Correct-horse-1"))
	r.browser(t).do(http.StatusOK, "POST", "session", typed("bob", "Correct-horse-1"))
	r.clock.Forward(15 * time.Minute)
	b.do(http.StatusOK, "POST", "session", typed("ann", "Correct-horse-1"))
	for i := range 50 {
		b.refused(http.StatusUnauthorized, "BadPassword", "POST", "session", typed(fmt.Sprint("user", i), "wrong"))
	}
	b.refused(http.StatusTooManyRequests, "TooManyAttempts", "POST", "session", typed("bob", "Correct-horse-1"))
}

// A successful sign-in is not a wrong guess, however many requests it takes: others at that address still can sign in.
func TestSuccessGivesBackItsTries(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.newUser(t, "ann", "Correct-horse-1", false)
	r.newUser(t, "bob", "Correct-horse-1", true)
	code, _ := r.newDevice(t, "ann")
	for range 18 {
		r.browser(t).refused(http.StatusUnauthorized, "CodeNeeded", "POST", "session", typed("ann", "Correct-horse-1"))
		r.browser(t).refused(http.StatusUnauthorized, "PasswordResetRequired", "POST", "session",
			typed("bob", "Correct-horse-1"))
		r.browser(t).refused(http.StatusBadRequest, "BadNewPassword", "POST", "session",
			typed("bob", "Correct-horse-1", "newPassword", "short"))
	}
	for range 9 { // these are guesses at the code
		r.browser(t).refused(http.StatusUnauthorized, "BadCode", "POST", "session",
			typed("ann", "Correct-horse-1", "code", code(10*time.Minute)))
		r.browser(t).refused(http.StatusUnauthorized, "CodeNeeded", "POST", "session", typed("ann", "Correct-horse-1"))
	}
	r.clock.Forward(time.Minute)
	r.browser(t).do(http.StatusOK, "POST", "session", typed("ann", "Correct-horse-1", "code", code(0)))
	for range 10 {
		r.browser(t).refused(http.StatusUnauthorized, "BadCode", "POST", "session",
			typed("ann", "Correct-horse-1", "code", code(10*time.Minute)))
	}
	r.browser(t).refused(http.StatusTooManyRequests, "TooManyAttempts", "POST", "session",
		typed("ann", "Correct-horse-1"))
}

// newDevice gives a user a second factor. It returns a function that shows its code at a time ahead of now, and its
// serial number.
func (r *rig) newDevice(t *testing.T, user string) (code func(ahead time.Duration) string, serial *string) {
	t.Helper()
	r.clock.Forward(30*time.Second - time.Duration(r.clock.Now().UnixNano())%(30*time.Second)) // to the start of a code
	made, err := r.root.IAM.CreateVirtualMFADevice(t.Context(), &iam.CreateVirtualMFADeviceInput{
		VirtualMFADeviceName: aws.String("phone"),
	})
	device := apitest.Must(t, made, err).VirtualMFADevice
	seed := string(device.Base32StringSeed)
	code = func(ahead time.Duration) string { return apitest.Code6(t, seed, r.clock.Now().Add(ahead)) }
	_, err = r.root.IAM.EnableMFADevice(t.Context(), &iam.EnableMFADeviceInput{
		UserName: &user, SerialNumber: device.SerialNumber, AuthenticationCode1: aws.String(code(-30 * time.Second)),
		AuthenticationCode2: aws.String(code(0)),
	})
	apitest.Must(t, 0, err)
	return code, device.SerialNumber
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.newUser(t, "ann", "Correct-horse-1", false)
	code, serial := r.newDevice(t, "ann")
	b := r.browser(t)
	b.refused(http.StatusUnauthorized, "CodeNeeded", "POST", "session", typed("ann", "Correct-horse-1"))
	b.refused(http.StatusUnauthorized, "BadPassword", "POST", "session", typed("ann", "wrong", "code", code(0)))
	// it has counted
	b.refused(http.StatusUnauthorized, "BadCode", "POST", "session", typed("ann", "Correct-horse-1", "code", code(0)))
	r.clock.Forward(time.Minute)
	once := code(0)
	if s := b.do(http.StatusOK, "POST", "session", typed("ann", "Correct-horse-1", "code", once)); s["mfa"] != true {
		t.Errorf("session: %v", s)
	}
	r.browser(t).refused(http.StatusUnauthorized, "BadCode", "POST", "session",
		typed("ann", "Correct-horse-1", "code", once))
	r.browser(t).refused(http.StatusUnauthorized, "BadCode", "POST", "session",
		typed("ann", "Correct-horse-1", "code", code(10*time.Minute)))
	if all := strings.Join(r.events(t, "ConsoleLogin", 5), ""); strings.Count(all, `"MFAUsed":"Yes"`) != 1 {
		t.Errorf("events: %s", all)
	}
	// Policies see it.
	_, err := r.root.IAM.PutUserPolicy(t.Context(),
		&iam.PutUserPolicyInput{UserName: aws.String("ann"), PolicyName: aws.String("p"), PolicyDocument: aws.String(
			`{"Statement":{"Effect":"Allow","Action":"iam:ListUsers","Resource":"*","Condition":{"Bool":{"aws:MultiFactorAuthPresent":"true"}}}}`)})
	apitest.Must(t, 0, err)
	_, err = b.keys(r).IAM.ListUsers(t.Context(), &iam.ListUsersInput{})
	apitest.Must(t, 0, err)
	_, err = r.root.IAM.DeactivateMFADevice(t.Context(), &iam.DeactivateMFADeviceInput{
		UserName: aws.String("ann"), SerialNumber: serial,
	})
	apitest.Must(t, 0, err)
	b = r.browser(t)
	b.do(http.StatusOK, "POST", "session", typed("ann", "Correct-horse-1"))
	if _, err = b.keys(r).IAM.ListUsers(t.Context(), &iam.ListUsersInput{}); apitest.Code(err) != "AccessDenied" {
		t.Errorf("without a second factor: %v", err)
	}
}
