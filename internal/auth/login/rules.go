package login

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Rules are an account's rules for passwords.
type Rules struct {
	MinimumLength  int
	Symbols        bool // required
	Numbers        bool // required
	Uppercase      bool // required
	Lowercase      bool // required
	MayChange      bool // users may change their own passwords without a policy that allows it
	MaxAgeDays     int  // 0: passwords do not expire
	Remembered     int  // how many earlier passwords cannot be reused
	HardExpiry     bool // users with an expired password cannot change it
	threeOfTheFour bool // of the kinds of characters, whichever
}

// usual are the default rules.
var usual = Rules{MinimumLength: 8, threeOfTheFour: true}

const (
	maxPassword = 128 // characters
	maxHistory  = 24  // earlier passwords that are stored
	symbols     = "!@#$%^&*()_+-=[]{}|'"
)

// Check returns an error that describes what a password lacks.
func (r *Rules) Check(password string) error {
	length := utf8.RuneCountInString(password)
	has := func(of string) bool { return strings.ContainsAny(password, of) }
	lower, upper := has("abcdefghijklmnopqrstuvwxyz"), has("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	number, symbol := has("0123456789"), has(symbols)
	kinds := 0
	for _, there := range []bool{lower, upper, number, symbol} {
		if there {
			kinds++
		}
	}
	switch {
	case length < r.MinimumLength:
		return fmt.Errorf("Password should have a minimum length of %d", r.MinimumLength)
	case length > maxPassword:
		return fmt.Errorf("Password should have a maximum length of %d", maxPassword)
	case r.Symbols && !symbol:
		return fmt.Errorf("Password should have at least one symbol of %s", symbols)
	case r.Numbers && !number:
		return fmt.Errorf("Password should have at least one number")
	case r.Uppercase && !upper:
		return fmt.Errorf("Password should have at least one uppercase letter")
	case r.Lowercase && !lower:
		return fmt.Errorf("Password should have at least one lowercase letter")
	case r.threeOfTheFour && kinds < 3:
		return fmt.Errorf("Password should have at least three of: uppercase letters, lowercase letters, numbers, symbols")
	}
	return nil
}

// Expired reports whether a password that was set at a time has expired.
func (r *Rules) Expired(set, now time.Time) bool {
	return r.MaxAgeDays > 0 && now.Sub(set) >= time.Duration(r.MaxAgeDays)*24*time.Hour
}

// NewPassword returns a password that satisfies all rules of moderate length: 20 random characters with one of each
// kind.
func NewPassword() string {
	const plain = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789-_+=@()" // 64 characters
	for {
		b := make([]byte, 20)
		rand.Read(b)
		for i := range b {
			b[i] = plain[int(b[i])%len(plain)]
		}
		all := Rules{Symbols: true, Numbers: true, Uppercase: true, Lowercase: true}
		if all.Check(string(b)) == nil && b[0] != '-' { // which programs take for an option
			return string(b)
		}
	}
}
