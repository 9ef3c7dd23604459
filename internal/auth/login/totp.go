package login

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"net/url"
	"time"
)

// Second factors are time-based one-time passwords, RFC 6238, as all authenticators make them: SHA-1, six digits, half
// a minute.
const (
	stepSeconds = 30
	codeDigits  = 6
	// drift is how many steps the clock of an authenticator may be off.
	drift = 1
)

// SeedSize is how many bytes the seed of a second factor has, as RFC 4226 advises.
const SeedSize = 20

// stepOf returns the step that a time is in.
func stepOf(now time.Time) int64 { return now.Unix() / stepSeconds }

// code returns the code of a step.
func code(seed []byte, step int64) string {
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(step))
	mac := hmac.New(sha1.New, seed)
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 0xf
	n := binary.BigEndian.Uint32(sum[at:]) & 0x7fffffff
	return fmt.Sprintf("%0*d", codeDigits, n%1_000_000)
}

// match returns the step that a code is of, if that is about now and later than after; otherwise 0.
func match(seed []byte, written string, now time.Time, after int64) int64 {
	found := int64(0)
	for step := stepOf(now) - drift; step <= stepOf(now)+drift; step++ {
		if subtle.ConstantTimeCompare([]byte(code(seed, step)), []byte(written)) == 1 && step > after {
			found = step
		}
	}
	return found
}

// matchTwo returns the step of the second of two codes that follow each other and are about now; otherwise 0.
func matchTwo(seed []byte, first, second string, now time.Time) int64 {
	for step := stepOf(now) - drift - 1; step <= stepOf(now)+drift; step++ {
		if code(seed, step) == first && code(seed, step+1) == second {
			return step + 1
		}
	}
	return 0
}

// URI returns what authenticators read from a QR code: the seed and whose it is.
func URI(user, seed string) string {
	q := url.Values{"secret": {seed}, "issuer": {"Sluice"}}
	return "otpauth://totp/" + url.PathEscape("Sluice:"+user) + "?" + q.Encode()
}
